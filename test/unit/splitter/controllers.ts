/** A template's pods: its ReplicaSet, and the controller of those, which is behind what the Deployment's asks of it. */
interface Replicas {
  /** The generation of the root whose template it has. */
  of: number;
  spec: number;
  status: { replicas: number; available: number };
  /** Whether each is ready. */
  pods: boolean[];
}

export interface Told {
  replicas: number;
  maxSurge: number;
  maxUnavailable: number;
  paused: boolean;
  /** The generation of the root whose template it has. */
  of: number;
}

const sum = (all: readonly Replicas[], of: (one: Replicas) => number) =>
  all.reduce((n, one) => n + of(one), 0);

/**
 * A Deployment of one cluster and its ReplicaSets, as pkg/controller/deployment and pkg/controller/replicaset of Kubernetes
 * 1.36 have them, each of which knows of the other what was last written. A pod that goes is gone at once.
 */
export class Controllers {
  generation = 1;
  spec: Told;
  status: Record<string, number>;
  #sets: Replicas[];
  #scaledTo: number;
  /** Of which it was said how many there are to be, or whose pods changed: in that order. */
  #queue: Replicas[] = [];

  constructor(spec: Told) {
    this.spec = spec;
    const { replicas, of } = spec;
    const pods = Array.from({ length: replicas }, () => true);
    this.#sets = [{ of, spec: replicas, status: { replicas, available: replicas }, pods }];
    this.#scaledTo = replicas;
    this.status = this.#counted();
  }

  apply(spec: Told): void {
    if (JSON.stringify(spec) === JSON.stringify(this.spec)) return;
    this.spec = spec;
    this.generation++;
  }

  /** The Deployment's controller. */
  sync(): void {
    const before = new Map(this.#sets.map((set) => [set, set.spec]));
    if (this.spec.paused || this.#scaledTo !== this.spec.replicas) this.#scale();
    else this.#roll();
    this.#scaledTo = this.spec.replicas;
    this.status = this.#counted();
    const isGone = (set: Replicas) =>
      set.of !== this.spec.of && set.spec + set.pods.length + set.status.replicas === 0;
    this.#sets = this.#sets.filter((set) => !isGone(set) || this.#queue.includes(set));
    for (const set of this.#sets) if (before.get(set) !== set.spec) this.#changed(set);
  }

  get #new(): Replicas | undefined {
    return this.#sets.find(({ of }) => of === this.spec.of);
  }

  /** Paused, or told of another number. */
  #scale(): void {
    const { replicas, maxSurge } = this.spec;
    const active = this.#sets.filter((set) => set.spec > 0);
    if (active.length < 2) {
      const one = active[0] ?? this.#new ?? this.#sets.at(-1);
      if (one) one.spec = replicas;
      return;
    }
    const fresh = this.#new;
    if (
      fresh &&
      fresh.spec === replicas &&
      this.#scaledTo === replicas &&
      fresh.status.available === replicas
    ) {
      for (const set of active) if (set !== fresh) set.spec = 0;
      return;
    }
    const allowed = replicas > 0 ? replicas + maxSurge : 0;
    let more = allowed - sum(active, (set) => set.spec);
    const order = [...active].sort((a, b) => b.spec - a.spec || (more > 0 ? b.of - a.of : a.of - b.of));
    const whole = sum(active, (set) => set.spec);
    const added = more;
    for (const set of order) {
      const share = Math.trunc((added * set.spec) / Math.max(1, whole));
      set.spec = Math.max(0, set.spec + share);
      more -= share;
    }
    const [first] = order;
    if (first) first.spec = Math.max(0, first.spec + more);
  }

  #roll(): void {
    const { replicas, maxSurge, maxUnavailable, of } = this.spec;
    let fresh = this.#new;
    const isMade = fresh === undefined;
    fresh ??= { of, spec: 0, status: { replicas: 0, available: 0 }, pods: [] };
    if (isMade) this.#sets.push(fresh);
    const all = sum(this.#sets, (set) => set.spec);
    if (fresh.spec > replicas) {
      fresh.spec = replicas;
      return;
    }
    const more = Math.min(replicas + maxSurge - all, replicas - fresh.spec);
    if (more > 0) {
      fresh.spec += more;
      return;
    }
    const old = this.#sets.filter((set) => set !== fresh);
    if (sum(old, (set) => set.spec) === 0) return;
    const least = replicas - maxUnavailable;
    let most = all - least - (fresh.spec - fresh.status.available);
    if (most <= 0) return;
    for (const set of old) {
      const n = Math.min(most, Math.max(0, set.spec - set.status.available));
      set.spec -= n;
      most -= n;
    }
    let left = sum(this.#sets, (set) => set.status.available) - least;
    for (const set of old) {
      const n = Math.min(Math.max(0, left), set.spec);
      set.spec -= n;
      left -= n;
    }
  }

  #counted(): Record<string, number> {
    const availableReplicas = sum(this.#sets, (set) => set.status.available);
    return {
      observedGeneration: this.generation,
      replicas: sum(this.#sets, (set) => set.status.replicas),
      updatedReplicas: this.#new?.status.replicas ?? 0,
      availableReplicas,
      unavailableReplicas: Math.max(0, sum(this.#sets, (set) => set.spec) - availableReplicas),
    };
  }

  #changed(set: Replicas): void {
    if (!this.#queue.includes(set)) this.#queue.push(set);
  }

  /** The controller of ReplicaSets, of one of them: its status is of before what it does. False: it has nothing to do. */
  syncSet(): boolean {
    const set = this.#queue.shift();
    if (!set) return false;
    set.status = { replicas: set.pods.length, available: set.pods.filter(Boolean).length };
    if (set.pods.length !== set.spec) this.#changed(set);
    while (set.pods.length < set.spec) set.pods.push(false);
    set.pods.sort((a, b) => Number(b) - Number(a));
    set.pods.length = Math.min(set.pods.length, set.spec);
    return true;
  }

  /** One that is not ready becomes so. */
  start(pick: (n: number) => number): void {
    const waiting = this.#sets.filter(({ pods }) => pods.includes(false));
    const set = waiting[pick(waiting.length)];
    if (!set) return;
    set.pods[set.pods.indexOf(false)] = true;
    this.#changed(set);
  }

  /** One that was ready is not any more. */
  fail(pick: (n: number) => number): void {
    const running = this.#sets.filter(({ pods }) => pods.includes(true));
    const set = running[pick(running.length)];
    if (!set) return;
    set.pods[set.pods.indexOf(true)] = false;
    this.#changed(set);
  }

  /** There are to be more pods than replicas, whatever the number of these was last. */
  get isSurging(): boolean {
    return sum(this.#sets, ({ spec }) => spec) > Math.max(this.#scaledTo, this.spec.replicas);
  }

  get #pods(): number {
    return sum(this.#sets, ({ pods }) => pods.length);
  }

  get ready(): number {
    return sum(this.#sets, ({ pods }) => pods.filter(Boolean).length);
  }

  /** It has, or is about to have, more pods than its replicas, or fewer that are ready. */
  get isUnderWay(): boolean {
    const { replicas } = this.spec;
    return (
      this.#pods !== replicas || this.ready !== replicas || sum(this.#sets, ({ spec }) => spec) !== replicas
    );
  }

  isAll(of: number): boolean {
    return (
      this.ready === this.spec.replicas && this.#sets.every((set) => set.of === of || set.pods.length === 0)
    );
  }

  get shown(): string {
    return JSON.stringify([this.spec, this.status, this.#sets]);
  }
}
