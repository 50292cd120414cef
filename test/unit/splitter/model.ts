import type { ClusterSlice, Share } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { type HandoverInput, handover } from '../../../splitter/handover.ts';
import type { Shares } from '../../../splitter/plan.ts';
import { restored } from '../../../splitter/withdraw.ts';

/** One physical cluster's copy: the ordinals it runs, and which of them are ready. */
interface Copy {
  share: Share;
  generation: number;
  ready: Set<number>;
}

export const settleMs = 2000;

/** A few clusters with syncers that lag, driven step by step; no time passes unless told. */
export class Model {
  now = 1_000_000;
  root: KubeObject;
  clusters: string[] = [];
  shares: Shares = {};
  slices: Record<string, ClusterSlice> = {};
  deleted = false;
  waitingFor: readonly string[] = [];
  held: string[] = [];
  /** Whom it did not wait for any longer. */
  went: string[] = [];
  drainMs = 0;
  paused = false;
  awaited: HandoverInput['awaited'];
  /** When each cluster was last heard of; nothing is carried to or from a silent one, and in time it is known to be. */
  readonly heard = new Map<string, number>();
  readonly silent = new Set<string>();
  readonly unready = new Set<string>();
  readonly copies = new Map<string, Copy>();
  /** Ordinals whose pods are there and have been told to go. */
  readonly ending = new Map<string, Set<number>>();

  constructor(kind: string, replicas: number, spec: object = {}) {
    const metadata = { name: 'web', generation: 1 };
    this.root = { apiVersion: 'apps/v1', kind, metadata, spec: { ...spec, replicas } };
  }

  get replicas(): number {
    return (this.root.spec as { replicas: number }).replicas;
  }

  scale(replicas: number): void {
    const generation = (this.root.metadata.generation ?? 0) + 1;
    this.root = {
      ...this.root,
      metadata: { ...this.root.metadata, generation },
      spec: { ...(this.root.spec as object), replicas },
    };
  }

  heardAt(cluster: string): number | undefined {
    return this.unready.has(cluster) ? undefined : (this.heard.get(cluster) ?? 0);
  }

  /** The syncer of `cluster` says that it is there. */
  beat(cluster: string): void {
    if (this.silent.has(cluster)) return;
    this.heard.set(cluster, this.now);
    this.unready.delete(cluster);
  }

  /** A silent one has been so for longer than the grace. */
  notice(cluster: string): void {
    if (this.silent.has(cluster)) this.unready.add(cluster);
  }

  /** A pod that was ready fails by itself; where the cluster is heard of, that is said at once. */
  fail(cluster: string): void {
    const [first] = this.copies.get(cluster)?.ready ?? [];
    if (first === undefined || (this.silent.has(cluster) && this.isVouchedFor(cluster))) return;
    this.copies.get(cluster)?.ready.delete(first);
    this.report(cluster);
  }

  /** Its last word is all that anybody can ask for now: what happens after it cannot be known. */
  isVouchedFor(cluster: string): boolean {
    const { readySince, heardSince } = this.shares[cluster] ?? {};
    const asked = Date.parse(readySince ?? heardSince ?? '');
    return (this.heardAt(cluster) ?? -1) >= asked;
  }

  split(): void {
    const { root, clusters, shares: previous, slices, now } = this;
    const gone = this.deleted;
    const done = handover({
      root,
      gone,
      clusters,
      previous: restored(previous),
      slices,
      drainMs: this.drainMs,
      paused: this.paused,
      awaited: this.awaited,
      isKnown: () => true,
      heardAt: (c) => this.heardAt(c),
      now,
      settleMs,
    });
    this.shares = done.shares;
    this.waitingFor = done.waitingFor;
    this.held = done.hold.held;
    this.went.push(...done.hold.without);
    this.slices = Object.fromEntries(Object.entries(slices).filter(([c]) => !done.stale.includes(c)));
  }

  /** The syncer of `cluster` applies what it sees now. */
  apply(cluster: string): void {
    const share = this.shares[cluster];
    if (!share || this.silent.has(cluster)) return;
    if (share.phase === 'Leaving') {
      this.#end(cluster, []);
      this.copies.delete(cluster);
      return;
    }
    const ordinals = ordinalsOf(share);
    this.#end(cluster, ordinals);
    const ready = [...(this.copies.get(cluster)?.ready ?? [])];
    // One ReplicaSet pod is as good as another: a smaller count keeps ready ones.
    const kept =
      this.root.kind === 'StatefulSet'
        ? ready.filter((o) => ordinals.includes(o))
        : ordinals.slice(0, ready.length);
    this.copies.set(cluster, {
      share,
      generation: this.root.metadata.generation ?? 0,
      ready: new Set(kept),
    });
  }

  /** Those of its pods that it is to run no longer begin to end. */
  #end(cluster: string, kept: readonly number[]): void {
    const copy = this.copies.get(cluster);
    const ending = new Set(this.ending.get(cluster));
    for (const o of copy ? ordinalsOf(copy.share) : []) if (!kept.includes(o)) ending.add(o);
    // A StatefulSet waits for the old pod of a name.
    this.ending.set(cluster, ending);
  }

  /** What was ending on `cluster` has ended. */
  end(cluster: string): void {
    this.ending.delete(cluster);
  }

  /** Ordinals that run, or have yet to end, in two places. */
  get doubled(): number[] {
    const all = [...new Set([...this.copies.keys(), ...this.ending.keys()])].flatMap((c) => {
      const copy = this.copies.get(c);
      return [...new Set([...(copy ? ordinalsOf(copy.share) : []), ...(this.ending.get(c) ?? [])])];
    });
    return all.filter((o, i) => all.indexOf(o) !== i);
  }

  /** One more pod of `cluster` becomes ready. */
  progress(cluster: string): void {
    const copy = this.copies.get(cluster);
    const next = copy && ordinalsOf(copy.share).find((o) => !copy.ready.has(o));
    if (next !== undefined) copy?.ready.add(next);
  }

  /** The syncer of `cluster` says how things stand there. */
  report(cluster: string): void {
    if (!this.shares[cluster] || this.silent.has(cluster)) return;
    const copy = this.copies.get(cluster);
    if (!copy) {
      // Gone is said of an object whose pods have gone too.
      if (this.ending.get(cluster)?.size) return;
      this.slices = { ...this.slices, [cluster]: { present: false } };
      return;
    }
    const { replicas, ordinalsStart, suspend } = copy.share;
    const ready = copy.ready.size;
    const status = {
      replicas: ordinalsOf(copy.share).length,
      readyReplicas: ready,
      updatedReplicas: ready,
      availableReplicas: ready,
      currentRevision: 'r1',
      updateRevision: 'r1',
    };
    const share = {
      ...(replicas !== undefined && { replicas }),
      ...(ordinalsStart !== undefined && { ordinalsStart }),
      ...(suspend !== undefined && { suspend }),
    };
    const held = this.shares[cluster]?.held;
    const { replicas: told, ordinalsStart: from } = this.shares[cluster] ?? {};
    const isApplied = told === replicas && from === ordinalsStart;
    const pods = [...ordinalsOf(copy.share), ...(this.ending.get(cluster) ?? [])];
    const counted = held &&
      isApplied && {
        since: held.since,
        count: pods.length,
        ...(pods.length > 0 && { ordinals: { start: Math.min(...pods), end: Math.max(...pods) + 1 } }),
      };
    const slice = {
      present: true,
      observedGeneration: copy.generation,
      share,
      status,
      ...(counted && { pods: counted }),
    };
    this.slices = { ...this.slices, [cluster]: slice };
  }

  /** Everybody does everything they can, many times over. */
  quiesce(names: readonly string[]): void {
    this.silent.clear();
    let calm = 0;
    for (let i = 0; i < 160 && calm < 4; i++) {
      const before = JSON.stringify([this.shares, this.slices]);
      this.split();
      for (const c of names) {
        this.beat(c);
        this.end(c);
        this.apply(c);
        for (let pod = 0; pod < 12; pod++) this.progress(c);
        this.report(c);
      }
      this.now += settleMs;
      calm = before === JSON.stringify([this.shares, this.slices]) ? calm + 1 : 0;
    }
  }

  /** All that are there, those on their way out too. */
  get pods(): number {
    const ending = [...this.ending.values()].reduce((sum, set) => sum + set.size, 0);
    return [...this.copies.values()].reduce((sum, copy) => sum + ordinalsOf(copy.share).length, ending);
  }

  get ready(): number {
    return [...this.copies.values()].reduce((sum, copy) => sum + copy.ready.size, 0);
  }

  /** Ready, and not about to go by what has been decided already. */
  get firm(): number {
    return [...this.copies].reduce((sum, [c, copy]) => {
      const share = this.shares[c];
      const told = share === undefined || share.phase === 'Leaving' ? [] : ordinalsOf(share);
      const staying = [...copy.ready].filter((o) => this.root.kind !== 'StatefulSet' || told.includes(o));
      return sum + Math.min(staying.length, told.length);
    }, 0);
  }

  /** Clusters whose copy may start things: it is there and not suspended. */
  get running(): string[] {
    return [...this.copies].filter(([, copy]) => copy.share.suspend !== true).map(([c]) => c);
  }

  /** Replicas that the shares allow for, those on their way out not counted. */
  get allowed(): number {
    return Object.values(this.shares)
      .filter((share) => share.phase !== 'Leaving')
      .reduce((sum, share) => sum + (share.replicas ?? 1), 0);
  }
}

export function ordinalsOf(share: Share): number[] {
  return Array.from({ length: share.replicas ?? 1 }, (_, i) => (share.ordinalsStart ?? 0) + i);
}
