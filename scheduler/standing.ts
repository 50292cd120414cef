import { type NamespaceIndex, type PlacedObject, placedKey, refKey, refOf } from '../cluster/closure.ts';
import type { ClosureRef, Placement } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Look, Taken } from './decide.ts';
import { subtractUsage } from './ledger.ts';
import { namedBy } from './scope.ts';
import { addUsage, type Usage } from './usage.ts';

/** An object by its reference, as it is now. */
export interface Node {
  ref: ClosureRef;
  placed: PlacedObject | undefined;
  placement: Placement | undefined;
}

/**
 * What a decision about a Namespace leaves for the next, where none of its workloads has anything to do with the others but by what
 * both use: that next one is about what has changed and what hangs together with it. What is kept of the index is what closures
 * are found by; of workloads nothing in it counts.
 */
export class Standing {
  readonly index: NamespaceIndex & { byKey: Map<string, PlacedObject> };
  /** As World has it. Absent: all of the Namespace counts. */
  readonly mentioned: Set<string> | undefined;
  /** What has been written since the last decision. */
  readonly concerned = new Map<string, ClosureRef>();
  readonly #namespace: KubeObject | undefined;
  readonly #uses = new Map<string, readonly ClosureRef[]>();
  readonly #users = new Map<string, Map<string, ClosureRef>>();
  readonly #taken = new Map<string, Taken>();
  readonly #counts = new Map<string, number>();
  readonly #usage: Usage = new Map();
  readonly #settled: Usage = new Map();

  constructor({ input, index, workloads }: Look, mentioned: ReadonlySet<string> | undefined) {
    this.index = { ...index, byKey: new Map(index.byKey) };
    this.mentioned = mentioned as Set<string> | undefined;
    this.#namespace = input.namespace;
    const nodes = new Map<string, Node>(
      input.objects.map((placed) => [
        placedKey(placed),
        { ref: refOf(placed), placed, placement: undefined },
      ]),
    );
    for (const placement of input.placements) {
      const { ref } = placement.spec ?? {};
      if (ref) nodes.set(refKey(ref), { ref, placed: nodes.get(refKey(ref))?.placed, placement });
    }
    this.settle(nodes, workloads);
  }

  /** What was decided of these, and of nothing else. */
  settle(nodes: ReadonlyMap<string, Node>, workloads: readonly Taken[]): void {
    for (const key of nodes.keys()) this.#leave(key);
    const requires = new Map<string, readonly ClosureRef[]>();
    for (const taken of workloads) {
      const key = placedKey(taken.decided.placed);
      requires.set(key, taken.decided.requires);
      this.#taken.set(key, taken);
      this.#add(taken, 1);
    }
    for (const [key, { ref, placed, placement }] of nodes) {
      const named = placed ? namedBy(placed) : [];
      const all = [...named, ...(requires.get(key) ?? []), ...(placement?.spec?.requires ?? [])];
      if (all.length === 0) continue;
      this.#uses.set(key, all);
      for (const used of all) {
        const users = this.#users.get(refKey(used)) ?? new Map<string, ClosureRef>();
        this.#users.set(refKey(used), users.set(key, ref));
      }
    }
  }

  isOf(namespace: KubeObject | undefined): boolean {
    return this.#namespace === namespace;
  }

  /** What was used by it when it was decided about last, and who used it. */
  *beside(key: string): Iterable<ClosureRef> {
    yield* this.#uses.get(key) ?? [];
    yield* this.#users.get(key)?.values() ?? [];
  }

  /** All but these. */
  without(keys: Iterable<string>): { counts: Map<string, number>; usage: Usage; settled: Usage } {
    const [counts, usage, settled] = [new Map(this.#counts), new Map(this.#usage), new Map(this.#settled)];
    for (const key of keys) {
      const taken = this.#taken.get(key);
      if (!taken) continue;
      for (const c of taken.decided.choice.clusters) counts.set(c, (counts.get(c) ?? 0) - 1);
      subtractUsage(usage, taken.usage);
      subtractUsage(settled, taken.settled);
    }
    return { counts, usage, settled };
  }

  #leave(key: string): void {
    for (const used of this.#uses.get(key) ?? []) {
      const users = this.#users.get(refKey(used));
      users?.delete(key);
      if (users?.size === 0) this.#users.delete(refKey(used));
    }
    this.#uses.delete(key);
    const taken = this.#taken.get(key);
    this.#taken.delete(key);
    if (taken) this.#add(taken, -1);
  }

  #add({ decided, usage, settled }: Taken, by: 1 | -1): void {
    for (const c of decided.choice.clusters) this.#counts.set(c, (this.#counts.get(c) ?? 0) + by);
    const add = by === 1 ? addUsage : subtractUsage;
    add(this.#usage, usage);
    add(this.#settled, settled);
  }
}

/** Of so many Namespaces, those that were decided about last. */
const mostStandings = 256;

/** By Namespace. One that is not here is looked at whole. */
export class Standings {
  readonly #all = new Map<string, Standing>();

  /** Something was written that the next decision has to look at; without `ref` it looks at all. */
  touch(key: string, ref?: ClosureRef): void {
    if (ref) this.#all.get(key)?.concerned.set(refKey(ref), ref);
    else this.#all.delete(key);
  }

  has(key: string): boolean {
    return this.#all.has(key);
  }

  /** It is the caller's: whoever decides by it puts it back. */
  take(key: string): Standing | undefined {
    const found = this.#all.get(key);
    this.#all.delete(key);
    return found;
  }

  put(key: string, standing: Standing): void {
    this.#all.set(key, standing);
    const [oldest = ''] = this.#all.keys();
    if (this.#all.size > mostStandings) this.#all.delete(oldest);
  }
}
