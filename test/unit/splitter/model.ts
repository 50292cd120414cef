import type { ClusterSlice, Share } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { handover } from '../../../splitter/handover.ts';
import type { Shares } from '../../../splitter/plan.ts';

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
  waitingFor: string[] = [];
  readonly copies = new Map<string, Copy>();

  constructor(kind: string, replicas: number) {
    this.root = { apiVersion: 'apps/v1', kind, metadata: { name: 'web', generation: 1 }, spec: { replicas } };
  }

  get replicas(): number {
    return (this.root.spec as { replicas: number }).replicas;
  }

  scale(replicas: number): void {
    const generation = (this.root.metadata.generation ?? 0) + 1;
    this.root = { ...this.root, metadata: { ...this.root.metadata, generation }, spec: { replicas } };
  }

  split(): void {
    const { root, clusters, shares: previous, slices, now } = this;
    const gone = this.deleted;
    const done = handover({ root, gone, clusters, previous, slices, isKnown: () => true, now, settleMs });
    this.shares = done.shares;
    this.waitingFor = done.waitingFor;
    this.slices = Object.fromEntries(Object.entries(slices).filter(([c]) => !done.stale.includes(c)));
  }

  /** The syncer of `cluster` applies what it sees now. */
  apply(cluster: string): void {
    const share = this.shares[cluster];
    if (!share) return;
    if (share.phase === 'Leaving') {
      this.copies.delete(cluster);
      return;
    }
    const ordinals = ordinalsOf(share);
    const ready = [...(this.copies.get(cluster)?.ready ?? [])].filter((o) => ordinals.includes(o));
    // One ReplicaSet pod is as good as another: a smaller count keeps ready ones.
    const kept = this.root.kind === 'StatefulSet' ? ready : ready.slice(0, ordinals.length);
    this.copies.set(cluster, {
      share,
      generation: this.root.metadata.generation ?? 0,
      ready: new Set(kept),
    });
  }

  /** One more pod of `cluster` becomes ready. */
  progress(cluster: string): void {
    const copy = this.copies.get(cluster);
    const next = copy && ordinalsOf(copy.share).find((o) => !copy.ready.has(o));
    if (next !== undefined) copy?.ready.add(next);
  }

  /** The syncer of `cluster` says how things stand there. */
  report(cluster: string): void {
    if (!this.shares[cluster]) return;
    const copy = this.copies.get(cluster);
    if (!copy) {
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
    const slice = { present: true, observedGeneration: copy.generation, share, status };
    this.slices = { ...this.slices, [cluster]: slice };
  }

  /** Everybody does everything they can, many times over. */
  quiesce(names: readonly string[]): void {
    for (let i = 0; i < 80; i++) {
      this.split();
      for (const c of names) {
        this.apply(c);
        for (let pod = 0; pod < 12; pod++) this.progress(c);
        this.report(c);
      }
      this.now += settleMs;
    }
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
