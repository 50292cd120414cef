import type { Later } from '../../kube/later.ts';
import { type Entry, StoreError } from '../../storage/store.ts';
import { markStale } from '../registry/stale.ts';
import type { Rules } from './rules.ts';
import { Unlearned } from './transformer.ts';

/** Throws StoreError `corrupt`; Unlearned where the key of the value is to be asked for. */
export type Open = (entry: Entry) => Entry;

/** An entry as it was before it was encrypted. See Open. */
export function opened(rules: Rules, entry: Entry): Entry {
  const transformer = rules.of(entry.key);
  if (transformer === undefined) return entry;
  try {
    const { value, stale } = transformer.open(entry.key, entry.value);
    if (value === entry.value && !stale) return entry;
    const { key, revision, created } = entry;
    const plain = { key, value, revision, created };
    if (stale) markStale(plain);
    return plain;
  } catch (cause) {
    throw cause instanceof Unlearned ? cause : corrupt(entry.key, cause);
  }
}

/** As `open`, once what it needs was asked for. */
export function patiently(open: Open, entry: Entry): Later<Entry> {
  try {
    return open(entry);
  } catch (error) {
    if (error instanceof Unlearned) return learned(error, open, entry);
    throw error;
  }
}

async function learned({ learn }: Unlearned, open: Open, entry: Entry): Promise<Entry> {
  try {
    await learn();
  } catch (cause) {
    throw corrupt(entry.key, cause);
  }
  return patiently(open, entry);
}

/** Why the value of a key cannot be read. */
export function corrupt(key: string, cause: unknown): StoreError {
  const message = `unable to transform key "${key}": ${(cause as Error).message}`;
  return new StoreError('corrupt', message, { key, cause });
}
