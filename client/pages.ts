import type { KubeList, KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import { isTransportError } from './errors.ts';
import type { Query } from './url.ts';

type ReadPage<T extends KubeObject> = (query: Query) => Promise<KubeList<T>>;

/** A list whose revision the server forgets each time is read so often in pages. */
const mostTimes = 3;

/**
 * Joins the pages of one list. When the server forgot the list's revision half-way (410), the whole list is read
 * again in one piece, or where that is too large for an answer in pages from the first, so that the caller never sees a
 * mixture of two moments. Objects that are too many for an answer's largest length are read in shorter pages.
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks
 */
export async function listPages<T extends KubeObject>(
  read: ReadPage<T>,
  limit: number,
  resourceVersion: string | undefined,
): Promise<KubeList<T>> {
  let size = limit;
  const page = async (query: Query): Promise<KubeList<T>> => {
    for (;;) {
      try {
        return await read({ limit: size, ...query });
      } catch (error) {
        if (!isTooLarge(error) || size === 1) throw error;
        size = Math.max(1, Math.floor(size / 4));
      }
    }
  };
  let fitsOne = true;
  for (let times = 1; ; times++) {
    const { list, forgotten } = await joined(page, resourceVersion);
    if (list !== undefined) return withKinds(list);
    if (fitsOne && size === limit) {
      try {
        return withKinds(await read({ resourceVersion }));
      } catch (error) {
        if (!isTooLarge(error)) throw error;
        fitsOne = false;
      }
    }
    if (times === mostTimes) throw forgotten;
  }
}

/** `forgotten`: the 410 of a page after the first. */
async function joined<T extends KubeObject>(
  page: ReadPage<T>,
  resourceVersion: string | undefined,
): Promise<{ list?: KubeList<T>; forgotten?: unknown }> {
  const first = await page({ resourceVersion });
  // A nil Go slice is `null` on the wire.
  const items: T[] = first.items ?? [];
  let next = first.metadata.continue;
  while (next) {
    try {
      const { items: more, metadata } = await page({ continue: next });
      for (const item of more ?? []) items.push(item);
      next = metadata.continue;
    } catch (error) {
      if (!isStatusError(error, 'Expired')) throw error;
      return { forgotten: error };
    }
  }
  const { continue: _c, remainingItemCount: _r, ...metadata } = first.metadata;
  return { list: { ...first, metadata, items } };
}

function isTooLarge(error: unknown): boolean {
  return isTransportError(error) && error.code === 'ETOOLARGE';
}

/** Items of built-in lists come without kind and apiVersion: callers may count on them all the same. */
function withKinds<T extends KubeObject>(list: KubeList<T>): KubeList<T> {
  const kind = list.kind.replace(/List$/, '');
  const items = (list.items ?? []).map((item) =>
    item.kind ? item : { ...item, apiVersion: list.apiVersion, kind },
  );
  return { ...list, items };
}
