import { isObject } from '../../kube/deep.ts';
import { formatApiVersion } from '../../kube/gvk.ts';
import type { ApiResponse } from '../../kube/http.ts';
import { decodeJson } from '../../kube/json.ts';
import type { Json, JsonObject, KubeObject } from '../../kube/object.ts';
import { applyJsonPatch } from '../../kube/patch/json.ts';
import { applyMergePatch } from '../../kube/patch/merge.ts';
import { applyStrategicMergePatch } from '../../kube/patch/strategic.ts';
import { conversionProblem } from '../../kube/schema/convert.ts';
import type { Schema } from '../../kube/schema/schema.ts';
import { badRequest, StatusError } from '../../kube/status.ts';
import type { ResourceExchange } from '../core.ts';
import { conform, type FieldValidation } from '../decode/body.ts';
import { type WriteQuery, writeQuery } from '../decode/options.ts';
import { inPatchedOrder, type PatchType, refusedPatch, requireKind } from '../decode/patched.ts';
import { formOf, respondObject } from '../encode/respond.ts';
import type { ServedResource } from '../options.ts';
import { fromStored, toStored } from '../registry/convert.ts';
import { requireVersion } from '../registry/required.ts';
import { updateObject } from '../registry/write.ts';
import { handleApply } from './apply.ts';
import { checkNamespace, writeContext } from './create.ts';
import { changePod } from './running-pod.ts';
import { requireName } from './update.ts';

export type Patcher = (current: JsonObject) => JsonObject;

/** PATCH in its four dialects, by Content-Type. https://kubernetes.io/docs/reference/using-api/api-concepts/#patch-and-apply */
export async function handlePatch(exchange: ResourceExchange): Promise<ApiResponse> {
  formOf(exchange);
  const { core, info, stored } = exchange;
  const type = patchType(exchange);
  const query = writeQuery(exchange, 'PatchOptions', type === 'apply');
  if (type === 'apply') return handleApply(exchange, query);
  const patching = patcher(exchange, type);
  const context = {
    ...writeContext(exchange, query, 'UPDATE', info.subresource),
    pinned: patching.pinned,
    patched: true,
  };
  const change = patchedObject(exchange, query, patching);
  const made = await changePod(exchange, query.dryRun, (dryRun) =>
    updateObject(core.registry, stored, info, change, { ...context, dryRun }),
  );
  return 'refused' in made ? made.refused : respondObject(exchange, 200, made.object);
}

/** The current object, in the URL's version, patched, checked, and back in the stored version. */
function patchedObject(
  exchange: ResourceExchange,
  query: WriteQuery,
  { patch, value, type, duplicates }: Patching,
): (current: KubeObject) => KubeObject {
  const { served, stored } = exchange;
  const seen = new Set<string>();
  const warn = (message: string) => {
    if (!seen.has(message)) exchange.warnings.push(message);
    seen.add(message);
  };
  return (current) => {
    const before = fromStored(current, served) as unknown as JsonObject;
    const result = patch(before);
    const after = kindly(result, type, served);
    // A custom resource is no struct: its fields are in order of their names, like a map's.
    const schema: Schema = served.custom ? { type: 'any' } : served.schema;
    const patched = { type, patch: value, before, after, schema };
    const problem = () => (type === 'strategic' ? conversionProblem(result, served.info) : undefined);
    const refuse = { refuse: (why: string) => refusedPatch(patched, problem() ?? why) };
    if (served.custom) requireKind(patched, served.info);
    if (after !== result && !isNamed(result)) throw refusedPatch(patched, problem() ?? '');
    const { validation } = query;
    let clean = duplicates.length === 0;
    const probe: FieldValidation = validation === 'Strict' ? 'Warn' : validation;
    let object = conform(after, [], served, {
      validation: probe,
      warn: () => {
        clean = false;
      },
      ...refuse,
    });
    // What is unknown is told in the order in which kube-apiserver comes upon it.
    if (!clean) {
      const asGo = type === 'strategic' ? after : inPatchedOrder(patched);
      object = conform(asGo, duplicates, served, { validation, warn, ...refuse });
    }
    requireName(exchange, object);
    checkNamespace(exchange, object);
    requireVersion(object, stored);
    return toStored(object, served);
  };
}

const isText = (value: Json | undefined) => value === undefined || typeof value === 'string';

function isNamed(object: JsonObject): boolean {
  return isText(object['kind']) && isText(object['apiVersion']);
}

/** A strategic merge patch is decoded as the kind of the URL, whatever it says. */
function kindly(object: JsonObject, type: PatchType, served: ServedResource): JsonObject {
  if (type !== 'strategic') return object;
  return { ...object, kind: served.info.kind, apiVersion: formatApiVersion(served.info) };
}

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
  throw new StatusError(415, 'UnsupportedMediaType', message, {});
}

interface Patching {
  type: Exclude<PatchType, 'apply'>;
  patch: Patcher;
  /** As it was sent. */
  value: Json;
  /** The patch itself names the resourceVersion it is for. */
  pinned: boolean;
  duplicates: string[];
}

export function patcher({ request, served }: ResourceExchange, type: Exclude<PatchType, 'apply'>): Patching {
  const { value, duplicates } = decodePatch(request.body ?? new Uint8Array());
  if (type === 'json') {
    const pinned = Array.isArray(value) && value.some(namesVersion);
    return { type, patch: (current) => objectOf(applyJsonPatch(current, value)), value, pinned, duplicates };
  }
  const metadata = isObject(value) ? value['metadata'] : undefined;
  const pinned = isObject(metadata) && typeof metadata['resourceVersion'] === 'string';
  if (type === 'merge') {
    return { type, patch: (current) => objectOf(applyMergePatch(current, value)), value, pinned, duplicates };
  }
  if (!isObject(value)) {
    const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
    throw badRequest(`json: cannot unmarshal ${type} into Go value of type map[string]interface {}`);
  }
  return {
    type,
    patch: (current) => applyStrategicMergePatch(current, value as JsonObject, served.schema),
    value,
    pinned,
    duplicates,
  };
}

function namesVersion(operation: Json): boolean {
  return isObject(operation) && operation['path'] === '/metadata/resourceVersion';
}

function objectOf(value: Json): JsonObject {
  if (isObject(value)) return value as JsonObject;
  throw badRequest('the patched document is not an object');
}

function decodePatch(body: Uint8Array): { value: Json; duplicates: string[] } {
  try {
    return decodeJson(body, { strict: true });
  } catch (error) {
    throw badRequest(`error decoding patch: ${error instanceof Error ? error.message : String(error)}`);
  }
}
