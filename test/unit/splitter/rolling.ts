import type { ClusterSlice, Share } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { withBudgets } from '../../../splitter/budget.ts';
import { handover } from '../../../splitter/handover.ts';
import type { Shares } from '../../../splitter/plan.ts';

interface Pod {
  /** The generation of the root whose template it has. */
  of: number;
  ready: boolean;
}

/** One cluster: of the share and the generation that were applied last, and its pods. */
interface Place {
  share: Share;
  generation: number;
  pods: Pod[];
  refused?: { paused: boolean };
}

interface Numbers {
  maxSurge: number;
  maxUnavailable: number;
}

const settleMs = 2000;

/**
 * A Deployment that is updated while it moves, scales and fails, by the real hand-over and budgets: controllers that roll as
 * Kubernetes' do, in clusters with little room, some of which refuse what is applied, with syncers that lag.
 */
export class Moving {
  now = 1_000_000;
  root: KubeObject;
  clusters: string[];
  shares: Shares = {};
  slices: Record<string, ClusterSlice> = {};
  readonly names: readonly string[];
  readonly there = new Map<string, Place>();
  /** False: nobody waits for anybody's update. */
  hasTurns = true;
  /** How many pods can be ready in a cluster; default: any number. */
  readonly room = new Map<string, number>();
  /** Those that refuse every apply. */
  readonly refusing = new Set<string>();
  readonly #refusedHalfWay = new Set<string>();

  constructor(names: readonly string[], replicas: number, spec: object) {
    this.names = names;
    this.clusters = [...names];
    this.root = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', generation: 1 },
      spec: { ...spec, replicas },
    };
  }

  get generation(): number {
    return this.root.metadata.generation ?? 0;
  }

  edit(spec: object = {}): void {
    const metadata = { ...this.root.metadata, generation: this.generation + 1 };
    this.root = { ...this.root, metadata, spec: { ...(this.root.spec as object), ...spec } };
  }

  split(): void {
    const { root, clusters, shares: previous, slices, now } = this;
    const done = handover({
      root,
      gone: false,
      clusters,
      previous,
      slices,
      isKnown: () => true,
      heardAt: () => now,
      now,
      settleMs,
    });
    const shares = withBudgets(root, done.shares, { clusters, slices });
    this.shares = this.hasTurns ? shares : withoutTurns(shares);
    this.slices = Object.fromEntries(Object.entries(slices).filter(([c]) => !done.stale.includes(c)));
  }

  apply(c: string): void {
    const share = this.shares[c];
    const here = this.there.get(c);
    if (!share) return;
    if (this.refusing.has(c)) {
      if (here) here.refused = { paused: share.paused ?? false };
      return;
    }
    if (share.phase === 'Leaving') this.there.delete(c);
    else this.there.set(c, { share, generation: this.generation, pods: here?.pods ?? [] });
  }

  report(c: string): void {
    if (!this.shares[c]) return;
    const here = this.there.get(c);
    if (!here) {
      this.slices = { ...this.slices, [c]: { present: false } };
      return;
    }
    const { share, generation, pods, refused } = here;
    const replicas = share.replicas ?? 0;
    const updatedReplicas = pods.filter((p) => p.of >= generation).length;
    const availableReplicas = pods.filter((p) => p.ready).length;
    const isAtRest = [pods.length, updatedReplicas, availableReplicas].every((n) => n === replicas);
    const waits = refused ? refused.paused && (share.paused === true || isAtRest) : share.paused === true;
    const slice: ClusterSlice = {
      present: true,
      observedGeneration: generation,
      share: { replicas, ...(waits && { paused: true }) },
      status: { replicas: pods.length, updatedReplicas, availableReplicas },
      ...(refused && { error: { reason: 'Forbidden', message: 'not here' } }),
    };
    this.slices = { ...this.slices, [c]: slice };
  }

  /** One step of a cluster's controller, or of a pod of its; false: there is none to take. */
  step(c: string): boolean {
    const here = this.there.get(c);
    if (!here) return false;
    return this.#rolls(here) || this.#scales(here) || this.#starts(c, here);
  }

  #rolls({ share, generation, pods }: Place): boolean {
    const { replicas = 0, paused } = share;
    const { maxSurge, maxUnavailable } = share.maxSurge === undefined ? this.#own : share;
    const isOld = (p: Pod) => p.of < generation;
    if (paused || !pods.some(isOld)) return false;
    if (pods.length < replicas + Number(maxSurge)) return pods.push({ of: generation, ready: false }) > 0;
    const unready = pods.findIndex((p) => isOld(p) && !p.ready);
    const old = unready >= 0 ? unready : pods.findIndex(isOld);
    const ready = pods.filter((p) => p.ready).length;
    if (ready - (unready >= 0 ? 0 : 1) < replicas - Number(maxUnavailable)) return false;
    return pods.splice(old, 1).length > 0;
  }

  get #own(): Numbers {
    return (this.root.spec as { strategy: { rollingUpdate: Numbers } }).strategy.rollingUpdate;
  }

  #scales({ share, generation, pods }: Place): boolean {
    const { replicas = 0, maxSurge = this.#own.maxSurge } = share;
    const isOld = (p: Pod) => p.of < generation;
    const most = pods.some(isOld) ? replicas + Number(maxSurge) : replicas;
    if (pods.length < replicas) {
      const of = share.paused ? Math.max(1, ...pods.map((p) => p.of)) : generation;
      return pods.push({ of, ready: false }) > 0;
    }
    if (pods.length <= most) return false;
    const first = [(p: Pod) => !p.ready, isOld, () => true]
      .map((is) => pods.findIndex(is))
      .find((i) => i >= 0);
    return pods.splice(first ?? 0, 1).length > 0;
  }

  #starts(c: string, { pods }: Place): boolean {
    const ready = pods.filter((p) => p.ready).length;
    const next = pods.find((p) => !p.ready);
    if (!next || ready >= (this.room.get(c) ?? Number.POSITIVE_INFINITY)) return false;
    next.ready = true;
    return true;
  }

  /** A pod that was ready fails. */
  fail(c: string): void {
    const pod = this.there.get(c)?.pods.find((p) => p.ready);
    if (pod) pod.ready = false;
  }

  /** Everybody does everything they can, many times over. */
  quiesce(): void {
    let calm = 0;
    for (let i = 0; i < 60 && calm < 5; i++) {
      const before = this.#all;
      for (const c of this.names) {
        this.split();
        this.apply(c);
        for (let steps = 0; steps < 60 && this.step(c); steps++);
        this.report(c);
      }
      this.now += settleMs;
      calm = before === this.#all ? calm + 1 : 0;
    }
  }

  get #all(): string {
    return JSON.stringify([this.shares, this.slices, [...this.there]]);
  }

  get pods(): Pod[] {
    return [...this.there.values()].flatMap((place) => place.pods);
  }

  /** There are as many pods as are wanted, all ready and of the present template. */
  get isDone(): boolean {
    const { replicas } = this.root.spec as { replicas: number };
    return this.pods.length === replicas && this.names.every((c) => this.isFresh(c));
  }

  /** What clusters have too many that refused half way: until they take something nobody can have them give it back. */
  get stuck(): number {
    return this.names.reduce((n, c) => n + this.#beyond(c), 0);
  }

  #beyond(c: string): number {
    const place = this.there.get(c);
    const more = Math.max(0, (place?.pods.length ?? 0) - (place?.share.replicas ?? 0));
    if (more > 0 && place?.refused) this.#refusedHalfWay.add(c);
    if (more === 0) this.#refusedHalfWay.delete(c);
    return this.#refusedHalfWay.has(c) ? more : 0;
  }

  isFresh(c: string): boolean {
    return (this.there.get(c)?.pods ?? []).every((p) => p.ready && p.of === this.generation);
  }
}

function withoutTurns(shares: Shares): Shares {
  return Object.fromEntries(
    Object.entries(shares).map(([c, { paused: _waits, ...share }]) => [
      c,
      share.maxSurge === undefined ? share : { ...share, maxSurge: 1, maxUnavailable: 0 },
    ]),
  );
}
