import type { Informer } from '../../client/informer.ts';
import { stateOf } from '../../cluster/summary.ts';
import type { Placement } from '../../cluster/types.ts';
import { own } from './definitions.ts';
import { type Definition, type Family, figures } from './family.ts';

const phases = ['Joining', 'Active', 'Withdrawing', 'Leaving'];
const states = [
  'Settled',
  'Waiting',
  'Joining',
  'Withdrawing',
  'Leaving',
  'Paused',
  'WaitingForOthers',
  'Copying',
  'CopyFailed',
  'Blocked',
  'ApplyFailed',
  'NoClusterFits',
  'ClusterRefused',
  'SpreadUnsatisfied',
  'NoRoom',
  'ClusterSilent',
  'Deleted',
  'Orphaned',
];

/** How the Placements are, kept as they change: a scrape costs the same for any number of them. */
export class PlacementMetrics {
  readonly #states = new Map(states.map((state) => [state, 0]));
  readonly #phases = new Map(phases.map((phase) => [phase, 0]));
  /** Since when each hand-over has been under way; milliseconds since 1970. */
  readonly #handovers = new Map<string, number>();
  /** Who does not follow them says nothing, rather than that there are none. */
  #follows = false;

  /** Until the answer is called; then they are somebody else's to count. */
  follow(placements: Pick<Informer<Placement>, 'on'>): () => void {
    this.#follows = true;
    const forget = placements.on({
      add: (placement, key) => this.#put(key, placement),
      update: (placement, old, key) => {
        this.#count(old, -1);
        this.#put(key, placement);
      },
      delete: (placement, key) => {
        this.#count(placement, -1);
        this.#handovers.delete(key);
      },
    });
    return () => {
      forget();
      this.#follows = false;
      for (const state of states) this.#states.set(state, 0);
      for (const phase of phases) this.#phases.set(phase, 0);
      this.#handovers.clear();
    };
  }

  families(now: number): Family[] {
    if (!this.#follows) return [own.placements, own.shares, own.handovers, own.oldestHandover].map(nothing);
    let oldest = now;
    for (const since of this.#handovers.values()) if (since < oldest) oldest = since;
    return [
      figures(
        own.placements,
        Array.from(this.#states, ([state, count]) => [[state], count] as const),
      ),
      figures(
        own.shares,
        Array.from(this.#phases, ([phase, count]) => [[phase], count] as const),
      ),
      figures(own.handovers, [[[], this.#handovers.size]]),
      figures(own.oldestHandover, [[[], (now - oldest) / 1000]]),
    ];
  }

  #put(key: string, placement: Placement): void {
    this.#count(placement, 1);
    const since = handoverSince(placement);
    if (since === undefined) this.#handovers.delete(key);
    else this.#handovers.set(key, since);
  }

  #count(placement: Placement, more: number): void {
    const state = stateOf(placement);
    add(this.#states, this.#states.has(state) ? state : 'Waiting', more);
    for (const { phase } of Object.values(placement.spec?.shares ?? {})) add(this.#phases, phase, more);
  }
}

function nothing(definition: Definition): Family {
  return figures(definition, []);
}

/**
 * Since when it has been handed over, by its condition Settled; undefined where it is not: it is nowhere that it is about
 * to leave, or leaves because it is deleted.
 */
export function handoverSince({ spec, status, metadata }: Placement): number | undefined {
  const { shares = {}, clusters = [] } = spec ?? {};
  if (clusters.length === 0) return undefined;
  const leaves = Object.entries(shares).some(
    ([name, { held }]) => !clusters.includes(name) || held !== undefined,
  );
  const conditions = status?.conditions ?? [];
  const gone = conditions.some(({ reason }) => reason === 'Deleted' || reason === 'Orphaned');
  if (!leaves || gone) return undefined;
  const settled = conditions.find(({ type }) => type === 'Settled');
  const since = Date.parse(settled?.lastTransitionTime ?? metadata.creationTimestamp ?? '');
  return Number.isNaN(since) ? undefined : since;
}

function add(counts: Map<string, number>, key: string, more: number): void {
  const before = counts.get(key);
  if (before !== undefined) counts.set(key, before + more);
}
