import type { KubeObject } from '../../kube/object.ts';
import { type Entry, type Range, type Store, StoreError } from '../../storage/store.ts';
import { encodeStored } from '../registry/codec.ts';

/** As it is page by page: what is moved to where the pages have not come yet is looked at once more, and is right. */
export async function* pages(store: Store, range: Range): AsyncGenerator<readonly Entry[]> {
  let after: string | undefined;
  for (let more = true; more; ) {
    const page = await store.list(range, { limit: 500, ...(after !== undefined && { after }) });
    if (page.entries.length > 0) yield page.entries;
    after = page.entries.at(-1)?.key;
    more = page.more;
  }
}

/** What is there already was made before it was killed. */
export async function createOnce(store: Store, key: string, object: KubeObject): Promise<void> {
  try {
    await store.create(key, encodeStored(object));
  } catch (error) {
    if (!(error instanceof StoreError && error.code === 'exists')) throw error;
  }
}
