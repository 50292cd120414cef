import { isDrained, isReady } from '../cluster/life.ts';
import { isTombstone } from '../cluster/orphans.ts';
import type { PhysicalCluster, Placement } from '../cluster/types.ts';
import { getOwn } from '../kube/untyped.ts';

/** By physical cluster, how many workloads are on their way off it. */
export type Leaving = ReadonlyMap<string, number>;

/** What has not arrived for so long gives its turn to the next: nobody holds up a drain by what never becomes ready. */
export const turnMs = 600_000;

/**
 * The clusters that a workload has a share of and is not to be on. One that does not answer says of nothing that it is
 * gone: it is left by whoever is counted on wherever it is to be.
 */
function leftBy({ spec }: Placement, isHeard: (cluster: string) => boolean): string[] {
  const { shares = {}, clusters = [] } = spec ?? {};
  const hasArrived = clusters.every((name) => shares[name]?.phase === 'Active');
  return Object.keys(shares).filter((name) => !clusters.includes(name) && (!hasArrived || isHeard(name)));
}

/** Until when a move off this cluster counts, in milliseconds since 1970. Placements of before tell by their condition. */
export function endOfTurn(placement: Placement, name: string): number {
  const since = getOwn(placement.spec?.leavingSince ?? {}, name) ?? unsettledSince(placement);
  return since === undefined ? Number.POSITIVE_INFINITY : (Date.parse(since) || 0) + turnMs;
}

function unsettledSince({ status }: Placement): string | undefined {
  const settled = status?.conditions?.find(({ type }) => type === 'Settled');
  return settled?.status === 'False' ? settled.lastTransitionTime : undefined;
}

/**
 * Since when it leaves each cluster that it has a share on, once it is to be on `clusters`. Whether it is settled says
 * nothing of that: the splitter tells it later, and on a sick cluster it may not have been for long. Undefined: it leaves none.
 */
export function leavingSince(
  before: Placement | undefined,
  clusters: readonly string[],
  now: number,
): Record<string, string> | undefined {
  if (!before?.spec) return undefined;
  const { shares = {}, clusters: were, leavingSince: said = {} } = before.spec;
  const left = Object.keys(shares).filter((name) => !clusters.includes(name));
  // Most leave nothing, and all are asked at each decision.
  if (left.length === 0) return undefined;
  const ofBefore = isTombstone(before) ? undefined : unsettledSince(before);
  const since = left.map((name) => {
    const told = getOwn(said, name) ?? (were.includes(name) ? undefined : ofBefore);
    return [name, told ?? new Date(now).toISOString()] as const;
  });
  return Object.fromEntries(since);
}

/** Which clusters it leaves in a turn that has not ended. */
export function inTurn(placement: Placement, isHeard: (cluster: string) => boolean, now: number): string[] {
  if (isTombstone(placement)) return [];
  return leftBy(placement, isHeard).filter((name) => endOfTurn(placement, name) > now);
}

/**
 * Whose turn it is to leave a cluster that is drained or rebalanced, in one decision about a namespace. All who leave count,
 * whatever moves them; only whom the drain or the rebalance moves waits. What moves together has one turn: it goes whole, were that more than may.
 */
export class Turns {
  readonly #clusters: ReadonlyMap<string, PhysicalCluster>;
  /** Undefined: nobody waits. */
  readonly #others: Leaving | undefined;
  readonly #own = new Map<string, number>();
  readonly #begun = new Set<string>();

  constructor(clusters: ReadonlyMap<string, PhysicalCluster>, others: Leaving | undefined) {
    this.#clusters = clusters;
    this.#others = others;
  }

  /** How many of this namespace leave. */
  get leaving(): Leaving {
    return this.#own;
  }

  /** What left these clusters in earlier decisions, and is not gone yet: the answer. */
  resume(placement: Placement, group: string | undefined, now: number): string[] {
    const left = inTurn(placement, (name) => isHeard(this.#clusters.get(name)), now);
    for (const name of left) this.take(name, group);
    return left;
  }

  take(name: string, group: string | undefined): void {
    this.#own.set(name, (this.#own.get(name) ?? 0) + 1);
    if (group !== undefined) this.#begun.add(`${name}/${group}`);
  }

  mustWait(name: string, group?: string): boolean {
    const most = limitOf(this.#clusters.get(name));
    if (most === undefined || this.#others === undefined) return false;
    if (group !== undefined && this.#begun.has(`${name}/${group}`)) return false;
    return (this.#others.get(name) ?? 0) + (this.#own.get(name) ?? 0) >= most;
  }
}

export function isHeard(cluster: PhysicalCluster | undefined): boolean {
  return cluster !== undefined && isReady(cluster);
}

/** What need not be there may leave; of one that is drained all has to. */
export function rebalances(cluster: PhysicalCluster | undefined): boolean {
  return cluster?.spec?.rebalance === true && !isDrained(cluster);
}

/** How many may leave at a time. Undefined: any number. Nobody is in a hurry to rebalance: one that goes wrong is enough. */
export function limitOf(cluster: PhysicalCluster | undefined): number | undefined {
  const most = cluster?.spec?.drainConcurrent ?? (rebalances(cluster) ? 1 : undefined);
  return most === undefined ? undefined : Math.max(1, most);
}

export function waitingWords(most: number | undefined): string {
  return `it is being drained, and at most ${most} at a time leave it: it stays until its turn`;
}

export function rebalanceWaitingWords(cluster: PhysicalCluster | undefined): string {
  return `it is being rebalanced, and at most ${limitOf(cluster)} at a time leave it: it stays until its turn`;
}

/** What is drained of itself would be left now, but with these. */
export function togetherWords(late: readonly string[]): string {
  return `it is being drained, and left together with ${late.join(', ')}: it stays until its turn there`;
}

/** Who leaves each cluster, by namespace, and which namespaces have something that waits for its turn. */
export class Leavers {
  readonly #byNamespace = new Map<string, Leaving>();
  readonly #total = new Map<string, number>();
  readonly #waiting = new Map<string, Set<string>>();

  set(namespace: string, leaving: Leaving, waiting: readonly string[] = []): void {
    for (const [name, count] of this.#byNamespace.get(namespace) ?? []) this.#add(name, -count);
    for (const [name, count] of leaving) this.#add(name, count);
    if (leaving.size > 0) this.#byNamespace.set(namespace, leaving);
    else this.#byNamespace.delete(namespace);
    for (const [name, all] of this.#waiting) {
      if (!waiting.includes(name)) all.delete(namespace);
      if (all.size === 0) this.#waiting.delete(name);
    }
    for (const name of waiting)
      this.#waiting.set(name, (this.#waiting.get(name) ?? new Set()).add(namespace));
  }

  /** In all but this namespace. */
  others(namespace: string): Leaving {
    const own = this.#byNamespace.get(namespace);
    return new Map([...this.#total].map(([name, count]) => [name, count - (own?.get(name) ?? 0)]));
  }

  /** Nobody leaves it, and nobody waits to. */
  isCalm(name: string): boolean {
    return !this.#total.has(name) && !this.#waiting.has(name);
  }

  /**
   * As many of those who wait as there are turns free, the longest first: each is decided about, and takes its turn or
   * leaves it to the next.
   */
  next(limit: (cluster: string) => number | undefined, but: string): string[] {
    const next: string[] = [];
    for (const [name, all] of this.#waiting) {
      let free = (limit(name) ?? all.size) - (this.#total.get(name) ?? 0);
      for (const key of all) {
        if (free <= 0) break;
        if (key === but) continue;
        next.push(key);
        free--;
      }
    }
    return next;
  }

  #add(name: string, count: number): void {
    const sum = (this.#total.get(name) ?? 0) + count;
    if (sum > 0) this.#total.set(name, sum);
    else this.#total.delete(name);
  }
}
