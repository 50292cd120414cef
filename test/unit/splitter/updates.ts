import type { ClusterSlice, Share } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { withBudgets } from '../../../splitter/budget.ts';
import { Controllers, type Told } from './controllers.ts';

/** A share, and of the root its generation, `of`, and the generation that its template is of. */
interface Seen {
  share: Share;
  of: number;
  template: number;
}

/** What a syncer did and saw of its Deployment: each of these may be behind. */
interface Syncer {
  view: Seen;
  /** On its way to the cluster. */
  sent: (Seen & { told: Told }) | undefined;
  applied: { generation: number; share: Share; of: number };
  observed: { share: Share; of: number };
  seen: { generation: number; status: Record<string, number> };
}

/**
 * A Deployment that is updated on clusters which stay: the real budgets and turns; controllers and syncers that are late, each for
 * itself. The splitter decides on the Placement as it is, as a write under its resourceVersion does, and on a root that may be an older one.
 */
export class Updates {
  root: KubeObject;
  /** As the splitter's cache has it. */
  known: KubeObject;
  shares: Record<string, Share>;
  template = 1;
  /** Nothing is heard of them; of the others nothing was ever not. */
  readonly silent = new Set<string>();
  readonly wereSilent = new Set<string>();
  slices: Record<string, ClusterSlice>;
  readonly names: readonly string[];
  readonly there: Map<string, Controllers>;
  readonly #syncers: Map<string, Syncer>;

  constructor(sizes: readonly number[], budget: { maxSurge: number; maxUnavailable: number }) {
    this.names = sizes.map((_, i) => 'abcdef'.charAt(i));
    const replicas = sizes.reduce((a, b) => a + b, 0);
    this.root = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', generation: 1 },
      spec: { replicas, strategy: { type: 'RollingUpdate', rollingUpdate: budget } },
    };
    this.known = this.root;
    this.slices = {};
    const entries = this.names.map((c, i): [string, Share] => [
      c,
      { phase: 'Active', replicas: sizes[i] ?? 0 },
    ]);
    this.shares = withBudgets(this.root, Object.fromEntries(entries)) as Record<string, Share>;
    const made = this.names.map((c): [string, Controllers] => [
      c,
      new Controllers(this.#told(this.#share(c), 1)),
    ]);
    this.there = new Map(made);
    this.#syncers = new Map(
      made.map(([c, { generation, status }]) => {
        const share = this.#share(c);
        const seen = { generation, status };
        return [
          c,
          {
            view: { share, of: 1, template: 1 },
            sent: undefined,
            applied: { generation, share, of: 1 },
            observed: { share, of: 1 },
            seen,
          },
        ];
      }),
    );
    for (const c of this.names) this.report(c);
  }

  get generation(): number {
    return this.root.metadata.generation ?? 0;
  }

  #share(c: string): Share {
    return this.shares[c] ?? { phase: 'Active' };
  }

  #told({ replicas = 0, maxSurge, maxUnavailable, paused }: Share, of: number): Told {
    const { rollingUpdate } = (this.root.spec as { strategy: { rollingUpdate: Told } }).strategy;
    return {
      replicas,
      maxSurge: Number(maxSurge ?? rollingUpdate.maxSurge),
      maxUnavailable: Number(maxUnavailable ?? rollingUpdate.maxUnavailable),
      paused: paused === true,
      of,
    };
  }

  edit(): void {
    this.#write({});
    this.template = this.generation;
  }

  /** Another number of replicas of `c`, and so of all. */
  resize(c: string, by: number): void {
    const replicas = Math.max(1, (this.#share(c).replicas ?? 0) + by);
    this.shares = { ...this.shares, [c]: { ...this.#share(c), replicas } };
    this.#write({ replicas: Object.values(this.shares).reduce((n, share) => n + (share.replicas ?? 0), 0) });
  }

  #write(spec: object): void {
    const metadata = { ...this.root.metadata, generation: this.generation + 1 };
    this.root = { ...this.root, metadata, spec: { ...(this.root.spec as object), ...spec } };
  }

  silence(c: string): void {
    this.silent.add(c);
    this.wereSilent.add(c);
  }

  learn(): void {
    this.known = this.root;
  }

  /** Whether somebody is told to go on, or to wait. */
  split(): boolean {
    const told = () => this.names.map((c) => this.#share(c).paused).join();
    const before = told();
    const silenceOf = (c: string) => (this.silent.has(c) ? { since: '', words: '' } : undefined);
    const rolling = { clusters: this.names, slices: this.slices, silenceOf };
    this.shares = withBudgets(this.known, this.shares, rolling) as Record<string, Share>;
    return told() !== before;
  }

  #syncer(c: string): Syncer {
    const found = this.#syncers.get(c);
    if (!found) throw new Error(c);
    return found;
  }

  #controllers(c: string): Controllers {
    const found = this.there.get(c);
    if (!found) throw new Error(c);
    return found;
  }

  hearShare(c: string): void {
    const syncer = this.#syncer(c);
    syncer.view = { ...syncer.view, share: this.#share(c) };
  }

  hearRoot(c: string): void {
    const syncer = this.#syncer(c);
    syncer.view = { ...syncer.view, of: this.generation, template: this.template };
  }

  send(c: string): void {
    const syncer = this.#syncer(c);
    const { share, template } = syncer.view;
    syncer.sent ??= { told: this.#told(share, template), ...syncer.view };
  }

  /** It arrives; where the answer is lost, nobody knows that it did. */
  land(c: string, isLost = false): void {
    const syncer = this.#syncer(c);
    if (!syncer.sent || this.silent.has(c)) return;
    const { told, share, of } = syncer.sent;
    syncer.sent = undefined;
    const controllers = this.#controllers(c);
    controllers.apply(told);
    if (!isLost) syncer.applied = { generation: controllers.generation, share, of };
  }

  watch(c: string): void {
    const { generation, status } = this.#controllers(c);
    this.#syncer(c).seen = { generation, status };
  }

  sliceOf(c: string): ClusterSlice {
    const syncer = this.#syncer(c);
    const { status } = syncer.seen;
    const { generation, ...applied } = syncer.applied;
    if ((status['observedGeneration'] ?? 0) >= generation) syncer.observed = applied;
    const { share, of } = syncer.observed;
    const { replicas = 0, paused } = share;
    return {
      present: true,
      observedGeneration: of,
      share: { replicas, ...(paused && { paused }) },
      status,
    };
  }

  report(c: string): void {
    if (this.silent.has(c)) return;
    this.slices = { ...this.slices, [c]: this.sliceOf(c) };
  }

  /** A syncer that knows nothing of before: it hears, and applies, all anew. */
  restart(c: string): void {
    const syncer = this.#syncer(c);
    this.hearShare(c);
    this.hearRoot(c);
    syncer.sent = undefined;
    syncer.observed = { share: { phase: 'Active' }, of: 0 };
    this.send(c);
    this.land(c);
    this.watch(c);
  }

  /** Everybody does everything they can, until that is nothing. */
  quiesce(): void {
    this.silent.clear();
    for (let i = 0, calm = 0; i < 200 && calm < 2; i++) {
      const before = this.shown;
      this.learn();
      this.split();
      for (const c of this.names) {
        this.hearShare(c);
        this.hearRoot(c);
        this.send(c);
        this.land(c);
        const one = this.#controllers(c);
        one.sync();
        while (one.syncSet());
        one.start(() => 0);
        while (one.syncSet());
        one.sync();
        this.watch(c);
        this.report(c);
      }
      calm = before === this.shown ? calm + 1 : 0;
    }
  }

  get isDone(): boolean {
    return [...this.there].every(
      ([c, one]) => one.isAll(this.template) && one.ready === this.shares[c]?.replicas,
    );
  }

  get shown(): string {
    return JSON.stringify([
      this.shares,
      this.slices,
      [...this.there].map(([c, { shown }]) => [c, JSON.parse(shown)]),
    ]);
  }
}
