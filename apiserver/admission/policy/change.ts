import type { Json, JsonObject } from '../../../kube/object.ts';
import { applyJsonPatch } from '../../../kube/patch/json.ts';
import { whyNoJsonPatch } from '../../../kube/patch/json-problem.ts';
import { atomicsIn, merge, validate } from '../../../kube/patch/typed.ts';
import type { Schema } from '../../../kube/schema/schema.ts';
import { StatusError } from '../../../kube/status.ts';

/** As it was where one of its tests fails. Throws an Error for one that does not apply. */
export function withJsonPatch(before: JsonObject, patch: readonly JsonObject[]): JsonObject {
  try {
    return applyJsonPatch(before, patch as Json) as JsonObject;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const why = whyNoJsonPatch(before, patch as Json);
    if (why?.startsWith('testing value ')) return before;
    throw new Error(`JSON Patch: ${why ?? error.message}`);
  }
}

/**
 * Laid over the object as server-side apply does it, but that nobody owns it then. Throws an Error for what its schema does not
 * know, and for what would replace a whole of which it says a part only.
 */
export function withConfiguration(before: JsonObject, given: JsonObject, schema: Schema): JsonObject {
  const { apiVersion, kind } = before;
  const wanted = {
    ...given,
    ...(apiVersion !== undefined && { apiVersion }),
    ...(kind !== undefined && { kind }),
  };
  try {
    validate(wanted, schema);
  } catch (error) {
    throw new Error(
      `error applying patch: failed to convert patch object to typed object: ${messageOf(error)}`,
    );
  }
  const atomics = atomicsIn(wanted, schema);
  if (atomics.length > 0) {
    const where = atomics.join(', ');
    throw new Error(
      `error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${where}`,
    );
  }
  return merge(before, wanted, schema) as JsonObject;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
