import type { PhysicalCluster } from '../cluster/types.ts';
import { marginPoints } from './relief.ts';
import { freePart } from './score.ts';
import { rebalances } from './turns.ts';
import { nothingUsed, type Usage } from './usage.ts';

/** Between two clusters, by how many points of a hundred more room is news: autoscalers come and go by less. */
const newsPoints = 0.5;

/**
 * When all that is on a cluster that rebalances is asked anew. A Namespace that stays waits for nothing: what makes another place the
 * better one for it is load, and of that no event tells. So all are asked when others have left, once none is on its way any
 * more, and when elsewhere there has come to be more room than when they were asked last.
 */
export class Rounds {
  readonly #due = new Set<string>();
  /** By the two clusters, how much more is free on the second. */
  readonly #gaps = new Map<string, number>();

  /** Which are to be asked, now that this is so. Each is named once. */
  next(
    clusters: readonly PhysicalCluster[],
    {
      settled,
      leaves,
      isCalm,
    }: { settled: Usage; leaves: ReadonlySet<string>; isCalm(name: string): boolean },
  ): string[] {
    const names = clusters.filter(rebalances).map(({ metadata: { name = '' } }) => name);
    if (names.length === 0) {
      this.#due.clear();
      this.#gaps.clear();
      return [];
    }
    const free = new Map(
      clusters.map((cluster) => {
        const { name = '' } = cluster.metadata;
        return [name, 100 * freePart(cluster, settled.get(name) ?? nothingUsed)] as const;
      }),
    );
    for (const name of names) if (leaves.has(name) || this.#hasNews(name, free)) this.#due.add(name);
    const next = names.filter((name) => this.#due.has(name) && isCalm(name));
    for (const name of next) this.#due.delete(name);
    return next;
  }

  /** Also remembers what is so. */
  #hasNews(from: string, free: ReadonlyMap<string, number>): boolean {
    let isNews = false;
    for (const [to, points] of free) {
      const key = `${from}/${to}`;
      const gap = points - (free.get(from) ?? 0);
      const known = this.#gaps.get(key) ?? marginPoints;
      if (gap > known + newsPoints) isNews = true;
      else if (gap >= known) continue;
      this.#gaps.set(key, Math.max(gap, marginPoints));
    }
    return isNews;
  }
}
