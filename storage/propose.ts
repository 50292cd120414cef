import { owned } from './owned.ts';
import { type Entry, StoreError, type StoreEvent } from './store.ts';

/** The event that a write would be, given what is there. It must be applied to the same state, and may be kept. */
export type Propose = (current: Entry | undefined, revision: number) => StoreEvent;

/** Throws `exists`. */
export function proposeCreate(
  key: string,
  value: Uint8Array,
  current: Entry | undefined,
  revision: number,
): StoreEvent {
  if (current !== undefined) throw new StoreError('exists', `${key} exists`, { key, current });
  return { type: 'put', entry: { key, value: owned(value), revision, created: revision } };
}

/** Throws `missing` or `conflict`. */
export function proposeUpdate(
  key: string,
  value: Uint8Array,
  expected: number,
  current: Entry | undefined,
  revision: number,
): StoreEvent {
  const previous = expect(key, expected, current);
  const entry = { key: previous.key, value: owned(value), revision, created: previous.created };
  return { type: 'put', entry, previous };
}

/** Throws `missing` or `conflict`. */
export function proposeDelete(
  key: string,
  expected: number,
  current: Entry | undefined,
  revision: number,
): StoreEvent {
  const previous = expect(key, expected, current);
  return { type: 'delete', entry: { ...previous, revision }, previous };
}

function expect(key: string, expected: number, current: Entry | undefined): Entry {
  if (current === undefined) throw new StoreError('missing', `${key} does not exist`, { key });
  if (current.revision !== expected) {
    const message = `${key} is at revision ${current.revision}, not ${expected}`;
    throw new StoreError('conflict', message, { key, current });
  }
  return current;
}
