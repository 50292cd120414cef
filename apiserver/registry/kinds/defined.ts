import { deepEqual } from '../../../kube/deep.ts';
import { refuseDeep } from '../../../kube/depth.ts';
import type { Json, JsonObject, KubeObject } from '../../../kube/object.ts';
import { prune } from '../../../kube/schema/prune.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Entry } from '../../../storage/store.ts';
import type { ServedResource } from '../../served.ts';
import { decodeStored, encodeStored } from '../codec.ts';
import { servedAs } from './versions.ts';

/**
 * A stored custom resource by its definition as it is now: with the defaults that came since it was written, without the
 * fields that went. What was written since is answered as it is, at the cost of a comparison. `old`: the bytes are older
 * than the entry's revision, as those of what was deleted are.
 */
export function asDefined(entry: Entry, served: ServedResource, old = false): Entry {
  const { definition, conversion } = served;
  if (definition === undefined) return entry;
  // What a webhook made for the store has no defaults yet.
  if (conversion === undefined && entry.revision >= definition.since && !old) return entry;
  let value = definition.forms.get(entry.value);
  if (value === undefined) {
    // What a webhook would convert is as the definition has the version in which it is stored.
    const own = servedAs(served, entry.value);
    value = own === undefined ? entry.value : formOf(entry, own);
    definition.forms.set(entry.value, value);
  }
  return value === entry.value ? entry : { ...entry, value };
}

function formOf(entry: Entry, served: ServedResource): Uint8Array {
  const before = decodeStored(entry);
  let known: KubeObject;
  try {
    known = shaped(decodeStored(entry), served);
  } catch (error) {
    // Too deep: it was written before that was refused.
    if (isStatusError(error)) return entry.value;
    throw error;
  }
  const now = served.defaults?.(known) ?? known;
  return deepEqual(now, before) ? entry.value : encodeStored(now);
}

/**
 * Without the fields that its definition does not know, and without nulls that have no place. Changes its argument. Throws
 * a StatusError for what nests too deep.
 */
export function shaped(given: KubeObject, served: ServedResource): KubeObject {
  refuseDeep(given as unknown as JsonObject, served.info);
  const { metadata, ...rest } = given;
  const pruned = prune(rest as unknown as Json, served.schema).value;
  const object = { ...(pruned as unknown as KubeObject), metadata };
  return served.coerce?.(object).object ?? object;
}
