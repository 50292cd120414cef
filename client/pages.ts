import type { KubeList, KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import { isTransportError } from './errors.ts';
import type { Query } from './url.ts';

type ReadPage<T extends KubeObject> = (query: Query) => Promise<KubeList<T>>;

/**
 * Joins the pages of one list. When the server forgot the list's revision half-way (410), the whole list is read
 * again in one piece, so that the caller never sees a mixture of two moments. Objects that are too many for an answer's
 * largest length are read in shorter pages.
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
        if (!isTransportError(error) || error.code !== 'ETOOLARGE' || size === 1) throw error;
        size = Math.max(1, Math.floor(size / 4));
      }
    }
  };
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
      return withKinds(await read({ resourceVersion }));
    }
  }
  const { continue: _c, remainingItemCount: _r, ...metadata } = first.metadata;
  return withKinds({ ...first, metadata, items });
}

/** Items of built-in lists come without kind and apiVersion: callers may count on them all the same. */
function withKinds<T extends KubeObject>(list: KubeList<T>): KubeList<T> {
  const kind = list.kind.replace(/List$/, '');
  const items = (list.items ?? []).map((item) =>
    item.kind ? item : { ...item, apiVersion: list.apiVersion, kind },
  );
  return { ...list, items };
}
