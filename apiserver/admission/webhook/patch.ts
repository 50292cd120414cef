import { deepEqual } from '../../../kube/deep.ts';
import type { Json, JsonObject, KubeObject } from '../../../kube/object.ts';
import { applyJsonPatch } from '../../../kube/patch/json.ts';
import { internalError } from '../../../kube/status.ts';
import { conform } from '../../decode/body.ts';
import { noDuplicates } from '../../decode/duplicates.ts';
import type { AdmissionRequest } from '../../plugins.ts';
import { defaulted } from '../../registry/context.ts';
import { toStored } from '../../registry/convert.ts';
import type { ServedResource } from '../../served.ts';
import type { Question } from './review.ts';

/** Brings a webhook's patch into `request.object`, in place. True when that changed anything. */
export function applyPatch(
  request: AdmissionRequest,
  asked: { hook: { name: string }; question: Question; as: ServedResource },
  patch: Json,
): boolean {
  if (Array.isArray(patch) && patch.length === 0) return false;
  const { object, stored, kind } = request;
  if (object === undefined) {
    const name = JSON.stringify(asked.hook.name);
    throw internalError(
      `admission webhook ${name} attempted to modify the object, which is not supported for this operation`,
    );
  }
  const before = asked.question.object as unknown as JsonObject;
  const patched = patchedJson(before, patch) as JsonObject;
  const next = kind === undefined ? decoded(patched, asked.as) : (patched as unknown as KubeObject);
  if (deepEqual(next, before)) return false;
  const { uid, creationTimestamp } = object.metadata;
  const metadata = { ...next.metadata };
  if (uid !== undefined) metadata.uid = uid;
  if (creationTimestamp !== undefined) metadata.creationTimestamp = creationTimestamp;
  const whole = { ...next, metadata };
  replace(object, kind === undefined ? defaulted(toStored(whole, asked.as), stored) : whole);
  return true;
}

function decoded(value: JsonObject, as: ServedResource): KubeObject {
  try {
    return conform(value, noDuplicates, as, { validation: 'Ignore', warn: () => {} });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw internalError(message.slice(Math.max(0, message.indexOf('json: cannot unmarshal'))));
  }
}

function patchedJson(before: JsonObject, patch: Json): Json {
  try {
    return applyJsonPatch(before, patch);
  } catch (error) {
    throw internalError(whyNot(before, patch) ?? (error instanceof Error ? error.message : String(error)));
  }
}

/** Which operation does not apply, in the words of the library that kube-apiserver patches with. */
function whyNot(before: JsonObject, patch: Json): string | undefined {
  let value: Json = before;
  for (const operation of Array.isArray(patch) ? patch : []) {
    try {
      value = applyJsonPatch(value, [operation]);
    } catch {
      const { op, path } = operation as { op?: string; path?: string };
      if (op === 'test') return `testing value ${path} failed: test failed`;
      if (op === 'replace')
        return `replace operation does not apply: doc is missing path: ${path}: missing value`;
      return `${op} operation does not apply: doc is missing path: ${JSON.stringify(path)}: missing value`;
    }
  }
  return undefined;
}

function replace(object: KubeObject, next: KubeObject): void {
  for (const key of Object.keys(object)) delete object[key];
  Object.assign(object, next);
}
