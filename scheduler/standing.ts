import { type NamespaceIndex, type PlacedObject, placedKey, refKey, refOf } from '../cluster/closure.ts';
import { isFinished } from '../cluster/kinds.ts';
import { isTombstone } from '../cluster/orphans.ts';
import type { ClosureRef, Placement } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Look, Taken } from './decide.ts';
import { namedBy } from './scope.ts';
import type { Decided } from './types.ts';
import { addUsage, type Usage } from './usage.ts';

/** An object by its reference, as it is now. */
export interface Node {
  ref: ClosureRef;
  placed: PlacedObject | undefined;
  placement: Placement | undefined;
}

/** Of a Namespace, what is not in the part that is looked at; and what that part takes. */
interface Rest {
  counts: Map<string, number>;
  needed: Map<string, string[]>;
  /** As in a decision. */
  leaving: Map<string, number>;
  turnUntil: number;
  taken: { usage: Usage; settled: Usage };
}

/**
 * What a decision about a Namespace leaves for the next, where none of its workloads has anything to do with the others but by what
 * both use: that next one is about what has changed and what hangs together with it. What is kept of the index is what closures
 * are found by; of workloads nothing in it counts.
 */
export class Standing {
  readonly index: NamespaceIndex & { byKey: Map<string, PlacedObject> };
  /** What has been written since the last decision. */
  readonly concerned = new Map<string, ClosureRef>();
  readonly #namespace: KubeObject | undefined;
  readonly #uses = new Map<string, readonly ClosureRef[]>();
  readonly #users = new Map<string, Map<string, ClosureRef>>();
  readonly #taken = new Map<string, Taken>();
  readonly #made = new Map<string, Placement['spec']>();
  readonly #counts = new Map<string, number>();
  readonly #there = new Map<string, number>();
  readonly #leaving = new Map<string, number>();
  /** Of those that leave something, until when that counts. */
  readonly #turns = new Map<string, number>();
  readonly #needs = new Needs();

  constructor({ input, index, workloads, decision }: Look) {
    this.index = { ...index, byKey: new Map(index.byKey) };
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
    this.settle(nodes, workloads, decision.create);
  }

  /** What was decided of these, and of nothing else; `made`: what has yet to be there. */
  settle(nodes: ReadonlyMap<string, Node>, workloads: readonly Taken[], made: readonly Placement[]): void {
    for (const key of nodes.keys()) this.#leave(key);
    for (const { spec } of made) if (spec) this.#made.set(refKey(spec.ref), spec);
    const requires = new Map<string, readonly ClosureRef[]>();
    for (const taken of workloads) {
      const key = placedKey(taken.decided.placed);
      requires.set(key, taken.decided.requires);
      this.#taken.set(key, taken);
      if (taken.turnUntil < Number.POSITIVE_INFINITY) this.#turns.set(key, taken.turnUntil);
      this.#count(taken, 1);
    }
    for (const [key, node] of nodes) {
      const { ref, placed, placement } = node;
      this.#needs.set(key, neededBy(node, this.#taken.get(key)));
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

  /** Some of its workloads are to be there. */
  isOn(cluster: string): boolean {
    return this.#there.has(cluster);
  }

  /** Of a workload about which nothing has been written since that is no part of it. */
  decided(key: string): Decided | undefined {
    return this.concerned.has(key) ? undefined : this.#taken.get(key)?.decided;
  }

  /** As its Placement was to be made by the last decision about it. */
  made(key: string): Placement['spec'] {
    return this.#made.get(key);
  }

  /** What was used by it when it was decided about last. */
  usedBy(key: string): readonly ClosureRef[] {
    return this.#uses.get(key) ?? [];
  }

  usersOf(key: string): Iterable<ClosureRef> {
    return this.#users.get(key)?.values() ?? [];
  }

  /** All but these. */
  without(keys: ReadonlySet<string>): Rest {
    const [counts, leaving] = [new Map(this.#counts), new Map(this.#leaving)];
    const taken = { usage: new Map(), settled: new Map() };
    for (const key of keys) {
      const its = this.#taken.get(key);
      if (!its) continue;
      for (const c of companyAt(its.decided)) count(counts, c, -1);
      for (const c of its.leaves) count(leaving, c, -1);
      addUsage(taken.usage, its.usage);
      addUsage(taken.settled, its.settled);
    }
    let turnUntil = Number.POSITIVE_INFINITY;
    for (const [key, until] of this.#turns) if (!keys.has(key)) turnUntil = Math.min(turnUntil, until);
    return { counts, needed: this.#needs.without(keys), taken, leaving, turnUntil };
  }

  #leave(key: string): void {
    for (const used of this.#uses.get(key) ?? []) {
      const users = this.#users.get(refKey(used));
      users?.delete(key);
      if (users?.size === 0) this.#users.delete(refKey(used));
    }
    this.#uses.delete(key);
    this.#needs.set(key, []);
    const taken = this.#taken.get(key);
    this.#taken.delete(key);
    this.#turns.delete(key);
    this.#made.delete(key);
    if (taken) this.#count(taken, -1);
  }

  #count({ decided, leaves }: Taken, by: 1 | -1): void {
    for (const c of leaves) count(this.#leaving, c, by);
    for (const c of companyAt(decided)) count(this.#counts, c, by);
    for (const c of decided.choice.clusters) count(this.#there, c, by);
  }
}

/** Where it draws the rest of its Namespace to: what has ended nowhere. */
function companyAt({ placed, choice }: Decided): readonly string[] {
  return isFinished(placed.object) ? [] : choice.clusters;
}

/** What is needed where by one: as decideClosure has it. */
type Needed = readonly (readonly [refs: readonly ClosureRef[], clusters: readonly string[]])[];

function neededBy({ placed, placement }: Node, taken: Taken | undefined): Needed {
  const { ref, shares = {}, requires = [] } = placement?.spec ?? {};
  const there = Object.keys(shares);
  const isSame = ref !== undefined && ref.uid === placed?.object.metadata.uid;
  const left = [[requires, there]] as const;
  if (!taken) return placement ? left : [];
  const isIts = isSame || (placement !== undefined && isTombstone(placement));
  const { decided } = taken;
  const own = [decided.requires, [...decided.choice.clusters, ...(isIts ? there : [])]] as const;
  return placement && !isSame ? [own, ...left] : [own];
}

/** By what is needed, on which clusters, by how many. */
class Needs {
  readonly #by = new Map<string, Needed>();
  readonly #all = new Map<string, { users: number; clusters: Map<string, number> }>();

  set(key: string, needed: Needed): void {
    this.#add(this.#by.get(key) ?? [], -1);
    this.#add(needed, 1);
    if (needed.length > 0) this.#by.set(key, needed);
    else this.#by.delete(key);
  }

  /** Of these, where others need them. */
  without(keys: ReadonlySet<string>): Map<string, string[]> {
    for (const key of keys) this.#add(this.#by.get(key) ?? [], -1);
    const found = new Map<string, string[]>();
    for (const key of keys) {
      const all = this.#all.get(key);
      if (all) found.set(key, [...all.clusters.keys()]);
    }
    for (const key of keys) this.#add(this.#by.get(key) ?? [], 1);
    return found;
  }

  #add(needed: Needed, by: 1 | -1): void {
    for (const [refs, clusters] of needed)
      for (const ref of refs) {
        const all = this.#all.get(refKey(ref)) ?? { users: 0, clusters: new Map<string, number>() };
        all.users += by;
        for (const c of clusters) count(all.clusters, c, by);
        if (all.users > 0) this.#all.set(refKey(ref), all);
        else this.#all.delete(refKey(ref));
      }
  }
}

function count(counts: Map<string, number>, name: string, by: number): void {
  const sum = (counts.get(name) ?? 0) + by;
  if (sum > 0) counts.set(name, sum);
  else counts.delete(name);
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

  get(key: string): Standing | undefined {
    return this.#all.get(key);
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
