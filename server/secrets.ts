import { internalPrefix } from '../apiserver/registry/keys.ts';
import { type Store, StoreError } from '../storage/store.ts';

/** No resource of any API is stored below it: nobody reads it but who can read the store itself. */
const prefix = `${internalPrefix}secrets/`;

/**
 * What all servers on one store must agree on, such as signing keys. The first that needs it makes it; of several
 * that make it at once one wins, and all get that one's. A backup of the store has it.
 */
export async function sharedSecret<T extends object>(
  store: Store,
  name: string,
  make: () => Promise<T>,
): Promise<T> {
  const key = `${prefix}${name}`;
  const read = async (): Promise<T | undefined> => {
    const entry = await store.get(key);
    return entry && (JSON.parse(Buffer.from(entry.value).toString()) as T);
  };
  const there = await read();
  if (there !== undefined) return there;
  const made = await make();
  try {
    await store.create(key, Buffer.from(JSON.stringify(made)));
    return made;
  } catch (error) {
    const winner = error instanceof StoreError && error.code === 'exists' ? await read() : undefined;
    if (winner === undefined) throw error;
    return winner;
  }
}
