import { keyOf, type Remaining } from './remaining.ts';

/** How far a drain is. */
export interface Progress {
  /** Workloads that have left since it was begun to count, of all that were there then or came since. */
  moved: number;
  total: number;
  /** Of those that are there, how many leave when it is their turn. */
  waiting?: number;
  /** Of those on their way, the one that has been so for the longest. */
  slowest?: { object: string; state: string; seconds: number };
}

/** Counts as long as one command waits: another one, after Ctrl-C, counts what is still there anew. */
export class Tally {
  /** By key: since when each workload is known to be on its way, in milliseconds since 1970; 0: it is not yet. */
  readonly #since = new Map<string, number>();

  /** `remaining` as it is at `now`. */
  count(remaining: readonly Remaining[], now: number): Progress {
    const workloads = remaining.filter((item) => item.workload);
    for (const item of workloads) {
      const moving = item.state !== undefined && !item.blocked && !item.waits;
      const before = this.#since.get(keyOf(item)) ?? 0;
      this.#since.set(keyOf(item), moving ? before || now : 0);
    }
    const total = this.#since.size;
    const slowest = this.#slowest(workloads, now);
    const waiting = workloads.filter((item) => item.waits).length;
    return {
      moved: total - workloads.length,
      total,
      ...(waiting > 0 && { waiting }),
      ...(slowest && { slowest }),
    };
  }

  #slowest(workloads: readonly Remaining[], now: number): NonNullable<Progress['slowest']> | undefined {
    const [first] = workloads
      .map((item) => ({ item, since: this.#since.get(keyOf(item)) ?? 0 }))
      .filter(({ since }) => since > 0)
      .sort((a, b) => a.since - b.since || keyOf(a.item).localeCompare(keyOf(b.item)));
    if (!first) return undefined;
    const seconds = Math.floor((now - first.since) / 1000);
    return { object: keyOf(first.item), state: first.item.state ?? '', seconds };
  }
}

/** `3 of 12 workloads moved, 7 wait for their turn; slowest: root/shop/deployments.apps/web, for 42 s: joining west 1/3 ready`. */
export function progressText({ moved, total, waiting = 0, slowest }: Progress): string {
  const turns = waiting === 1 ? ', 1 waits for its turn' : `, ${waiting} wait for their turn`;
  const all = `${moved} of ${total} workload${total === 1 ? '' : 's'} moved`;
  const counts = waiting === 0 ? all : all + turns;
  if (!slowest) return counts;
  return `${counts}; slowest: ${slowest.object}, for ${slowest.seconds} s: ${slowest.state}`;
}
