import { deepEqual } from '../../kube/deep.ts';
import type { KubeObject } from '../../kube/object.ts';
import { StoreError, type StoreEvent } from '../../storage/store.ts';
import { shownStored } from '../registry/codec.ts';

/** An event is told to all clusters that have a share of its object. */
const known = new WeakMap<StoreEvent, boolean>();

/**
 * It changed nothing of the object that any cluster is told of: its status, or who wrote what of it. False also where that is not
 * known.
 */
export function isOfStatus(event: StoreEvent): boolean {
  const before = known.get(event);
  if (before !== undefined) return before;
  const found = compare(event);
  known.set(event, found);
  return found;
}

function compare({ type, entry, previous }: StoreEvent): boolean {
  if (type === 'delete' || previous === undefined) return false;
  try {
    const [before, now] = [shownStored(previous), shownStored(entry)];
    return before.metadata.generation === now.metadata.generation && deepEqual(told(before), told(now));
  } catch (error) {
    // What cannot be read is another's to say.
    if (error instanceof StoreError) return false;
    throw error;
  }
}

function told({ metadata, status: _status, ...rest }: KubeObject): unknown {
  const { resourceVersion: _version, managedFields: _managers, ...own } = metadata;
  return [rest, own];
}
