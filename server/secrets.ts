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

/** One that is there; `change` is asked again when somebody wrote in between. */
export async function changeSecret<T extends object>(
  store: Store,
  name: string,
  change: (before: T) => T,
): Promise<T> {
  const key = `${prefix}${name}`;
  for (;;) {
    const entry = await store.get(key);
    if (entry === undefined) throw new Error(`there is no secret ${name}`);
    const after = change(JSON.parse(Buffer.from(entry.value).toString()) as T);
    try {
      await store.update(key, Buffer.from(JSON.stringify(after)), entry.revision);
      return after;
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'conflict') throw error;
    }
  }
}
