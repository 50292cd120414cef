import { deepEqual } from '../../../kube/deep.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { prune } from '../../../kube/schema/prune.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Entry } from '../../../storage/store.ts';
import type { ServedResource } from '../../served.ts';
import { decodeStored, encodeStored } from '../codec.ts';

/**
 * A stored custom resource by its definition as it is now: with the defaults that came since it was written, without the
 * fields that went. What was written since is answered as it is, at the cost of a comparison. `old`: the bytes are older
 * than the entry's revision, as those of what was deleted are.
 */
export function asDefined(entry: Entry, served: ServedResource, old = false): Entry {
  const { definition } = served;
  if (definition === undefined || (entry.revision >= definition.since && !old)) return entry;
  let value = definition.forms.get(entry.value);
  if (value === undefined) {
    value = formOf(entry, served);
    definition.forms.set(entry.value, value);
  }
  return value === entry.value ? entry : { ...entry, value };
}

function formOf(entry: Entry, served: ServedResource): Uint8Array {
  const { metadata, ...rest } = decodeStored(entry);
  const before = decodeStored(entry);
  const pruned = pruneKnown(rest as unknown as Json, served);
  const object = { ...(pruned as unknown as KubeObject), metadata };
  const coerced = served.coerce?.(object).object ?? object;
  const now = served.defaults?.(coerced) ?? coerced;
  return deepEqual(now, before) ? entry.value : encodeStored(now);
}

function pruneKnown(value: Json, served: ServedResource): Json {
  try {
    return prune(value, served.schema).value;
  } catch (error) {
    // Too deep for any schema: nobody can have written that by this definition.
    if (isStatusError(error)) return value;
    throw error;
  }
}
