import type { KubeList, KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import { isTransportError, TransportError } from './errors.ts';
import type { Query } from './url.ts';

type ReadPage<T extends KubeObject> = (query: Query, read: Length) => Promise<KubeList<T>>;

/** A list whose revision the server forgets each time is read so often in pages. */
const mostTimes = 3;

/** A page counts as this much at least: one without items leads nowhere, however long it goes on. */
const leastPageBytes = 256 << 10;

/** How long one list is so far, and may be. */
export class Length {
  readonly #most: number;
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Throws TransportError EENDLESS. */
  add(page: number): void {
    this.#bytes += Math.max(page, leastPageBytes);
    if (this.#bytes > this.#most)
      throw new TransportError(
        'EENDLESS',
        `the list is longer than ${this.#most} bytes, or has pages without end`,
      );
  }
}

/**
 * Joins the pages of one list. When the server forgot the list's revision half-way (410), the whole list is read
 * again in one piece, or where that is too large for an answer in pages from the first, so that the caller never sees a
 * mixture of two moments. Objects that are too many for an answer's largest length are read in shorter pages. `most`: bytes of all
 * pages together; beyond it fails with EENDLESS.
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks
 */
export async function listPages<T extends KubeObject>(
  read: ReadPage<T>,
  limit: number,
  resourceVersion: string | undefined,
  most = Number.POSITIVE_INFINITY,
): Promise<KubeList<T>> {
  let size = limit;
  const page: ReadPage<T> = async (query, length) => {
    for (;;) {
      try {
        return await read({ limit: size, ...query }, length);
      } catch (error) {
        if (!isTooLarge(error) || size === 1) throw error;
        size = Math.max(1, Math.floor(size / 4));
      }
    }
  };
  let fitsOne = true;
  for (let times = 1; ; times++) {
    const { list, forgotten } = await joined(page, resourceVersion, new Length(most));
    if (list !== undefined) return withKinds(list);
    if (fitsOne && size === limit) {
      try {
        return withKinds(await read({ resourceVersion }, new Length(most)));
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
  length: Length,
): Promise<{ list?: KubeList<T>; forgotten?: unknown }> {
  const first = await page({ resourceVersion }, length);
  // A nil Go slice is `null` on the wire.
  const items: T[] = first.items ?? [];
  let next = first.metadata.continue;
  while (next) {
    try {
      const { items: more, metadata } = await page({ continue: next }, length);
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
export function withKinds<T extends KubeObject>(list: KubeList<T>): KubeList<T> {
  const kind = list.kind.replace(/List$/, '');
  const items = (list.items ?? []).map((item) =>
    item.kind ? item : { ...item, apiVersion: list.apiVersion, kind },
  );
  return { ...list, items };
}
