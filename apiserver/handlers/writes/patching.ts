import { deepest, refuseDeeper } from '../../../kube/depth.ts';
import { jsonType } from '../../../kube/go-words.ts';
import type { GroupVersionKind } from '../../../kube/gvk.ts';
import { type DecodedJson, decodeJson } from '../../../kube/json.ts';
import type { Json, JsonObject } from '../../../kube/object.ts';
import { applyJsonPatch, unknownInOperations } from '../../../kube/patch/json.ts';
import { applyMergePatch } from '../../../kube/patch/merge.ts';
import { applyStrategicMergePatch } from '../../../kube/patch/strategic.ts';
import { marked, unmarked, type Written } from '../../../kube/patch/written.ts';
import { badRequest, StatusError } from '../../../kube/status.ts';
import { isRecord } from '../../../kube/untyped.ts';
import { isOwnController } from '../../authn/controllers.ts';
import type { ResourceExchange } from '../../core.ts';
import { type Duplicates, inOperations } from '../../decode/duplicates.ts';
import type { PatchType } from '../../decode/patched.ts';

/** `written`: how numbers are that the patch put where they are, where their values do not tell. */
type Patcher = (current: JsonObject) => { object: JsonObject; written?: Written };

const patchTypes: Readonly<Record<string, PatchType>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};

/** Throws StatusError 415; strategic merge patch is for built-in kinds. */
export function patchType({ request, served }: ResourceExchange): PatchType {
  const given = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const type = Object.hasOwn(patchTypes, given) ? patchTypes[given] : undefined;
  if (type !== undefined && (type !== 'strategic' || !served.custom)) return type;
  const accepted = Object.keys(patchTypes).filter(
    (name) => !served.custom || patchTypes[name] !== 'strategic',
  );
  const message =
    given.includes('patch') || served.custom
      ? `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`
      : '415: Unsupported Media Type';
  throw new StatusError(415, 'UnsupportedMediaType', message, served.custom ? undefined : {});
}

export interface Patching {
  type: Exclude<PatchType, 'apply'>;
  patch: Patcher;
  /** As it was sent. */
  value: Json;
  /** The patch itself names the resourceVersion it is for. */
  pinned: boolean;
  duplicates: Duplicates;
}

export function patcher(
  { request, served, user }: ResourceExchange,
  type: Exclude<PatchType, 'apply'>,
): Patching {
  const decoded = decodePatch(request.body ?? new Uint8Array(), type);
  const { duplicates, literals } = decoded;
  // To Go a null is a patch that says nothing; only a merge patch has to be an object.
  const value = type === 'merge' ? decoded.value : (decoded.value ?? (type === 'json' ? [] : {}));
  const gvk = isOwnController(user) ? undefined : served.info;
  const whole = (patched: Json, before: JsonObject) => objectOf(patched, before, gvk);
  const given = literals ? marked(value, literals) : value;
  const asWritten = (apply: (target: Json, patch: Json) => Json) => (current: JsonObject) => {
    const object = whole(apply(current, given), current);
    if (!literals) return { object };
    const { value: read, written } = unmarked(object);
    return { object: read as JsonObject, written };
  };
  if (type === 'json') {
    const pinned = Array.isArray(value) && value.some(namesVersion);
    return {
      type,
      patch: asWritten(applyJsonPatch),
      value,
      pinned,
      duplicates: inOperations(request.body ?? new Uint8Array(), duplicates, unknownInOperations(value)),
    };
  }
  const metadata = isRecord(value) ? value['metadata'] : undefined;
  const pinned = isRecord(metadata) && typeof metadata['resourceVersion'] === 'string';
  if (type === 'merge') {
    return {
      type,
      patch: asWritten(applyMergePatch),
      value,
      pinned,
      duplicates: { paths: duplicates },
    };
  }
  if (!isRecord(value)) {
    throw badRequest(
      `json: cannot unmarshal ${jsonType(value)} into Go value of type map[string]interface {}`,
    );
  }
  return {
    type,
    patch: (current) => ({
      object: whole(applyStrategicMergePatch(current, value as JsonObject, served.schema), current),
    }),
    value,
    pinned,
    duplicates: { paths: duplicates },
  };
}

function namesVersion(operation: Json): boolean {
  return isRecord(operation) && operation['path'] === '/metadata/resourceVersion';
}

/** Before anybody shows what is wrong with it: that may nest in more levels than there is stack for. */
function objectOf(value: Json, before: JsonObject, gvk: GroupVersionKind | undefined): JsonObject {
  if (!isRecord(value)) throw badRequest('the patched document is not an object');
  if (gvk) refuseDeeper(value as JsonObject, before, gvk);
  return value as JsonObject;
}

function decodePatch(body: Uint8Array, type: PatchType): DecodedJson {
  try {
    return decodeJson(body, { strict: true, depth: deepest });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw badRequest(type === 'strategic' ? why : `error decoding patch: ${why}`);
  }
}
