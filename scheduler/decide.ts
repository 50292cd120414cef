import { claimsMadeFor } from '../cluster/claims.ts';
import {
  closureOf,
  indexNamespace,
  isUsersEndpoints,
  type NamespaceIndex,
  type PlacedObject,
  refKey,
  refOf,
} from '../cluster/closure.ts';
import { isEnding } from '../cluster/deletion.ts';
import { isForgotten } from '../cluster/life.ts';
import { clustersAnnotation } from '../cluster/names.ts';
import { isBeingOrphaned, isTombstone } from '../cluster/orphans.ts';
import { isPlaceable } from '../cluster/placeable.ts';
import { formatClusters, parseClusters } from '../cluster/placement.ts';
import { podCount } from '../cluster/pod-spec.ts';
import type { ClosureRef, PhysicalCluster, Placement } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import { type Choice, choose, chooseAll, type Situation } from './choose.ts';
import { claimsOf, heldOn } from './claims.ts';
import { withoutCredentials } from './credentials.ts';
import { objection } from './filter.ts';
import { policiesFor } from './policies.ts';
import { homeOf, recordOf } from './record.ts';
import { isRolledOut } from './rollout.ts';
import type { Decided, NamespaceDecision, NamespaceInput } from './types.ts';
import { addUsage, nothingUsed, requestsOf, type Usage, usageOf } from './usage.ts';
import { closureWish, ownWord, schedulersNote, type Wish, wishOf } from './wishes.ts';

/** Everything of one namespace at once, since workloads stay together and what they use follows them. */
export function decideNamespace(given: NamespaceInput): NamespaceDecision {
  const input = { ...given, objects: withoutCredentials(given) };
  const index = indexNamespace(input.objects);
  const records = new Map(
    input.placements.flatMap((p) => (p.spec ? [[refKey(p.spec.ref), p] as const] : [])),
  );
  const world = {
    input,
    index,
    records,
    // One that is forgotten is as if it were gone: neither data nor want of another place holds anything there.
    clusters: new Map(input.clusters.flatMap((c) => (isForgotten(c) ? [] : [[c.metadata.name ?? '', c]]))),
  };
  const { decided, usage } = decideWorkloads(world);
  const along = decideClosure(world, decided);
  const all = [...decided, ...along];
  const finish = input.objects.filter((placed) => hasStopped(world, placed)).map(({ object }) => object);
  const leaving = input.namespace?.metadata.deletionTimestamp !== undefined;
  return {
    annotate: leaving ? [] : decided.flatMap(annotationOf),
    ...recordOf({
      decided: all,
      placements: input.placements,
      mayCreate: !leaving,
      home: homeOf(input.namespace),
      untouched: new Set(
        input.objects.flatMap(({ object }) => (isBeingOrphaned(object) ? [object.metadata.uid ?? ''] : [])),
      ),
    }),
    finish,
    usage,
    blocked: all.some(({ choice }) => choice.blocked),
    open: decided.some(({ choice }) => choice.open),
  };
}

const nothingRefused: ReadonlyMap<string, string> = new Map();

interface World {
  input: NamespaceInput;
  index: NamespaceIndex;
  records: ReadonlyMap<string, Placement>;
  clusters: ReadonlyMap<string, PhysicalCluster>;
}

/** The Placement that is about this very object, not about a former one of its name; or one that it takes over. */
function placementOf({ records }: World, placed: PlacedObject): Placement | undefined {
  const found = records.get(refKey(refOf(placed)));
  if (!found || isTombstone(found)) return found;
  return found.spec?.ref.uid === placed.object.metadata.uid ? found : undefined;
}

/** What is being deleted goes on where it is while it is kept, and begins nowhere. */
function isLive(world: World, placed: PlacedObject): boolean {
  const { kind, object } = placed;
  if (isEnding(object) || !isPlaceable(kind, object)) return false;
  return object.metadata.deletionTimestamp === undefined || placementOf(world, placed) !== undefined;
}

/** As a kubelet says it of a pod whose containers are gone: it was given its time, and nothing is left of it. */
function hasStopped(world: World, placed: PlacedObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = placed.object.metadata;
  if (placed.kind.resource !== 'pods' || deletionTimestamp === undefined || deletionGracePeriodSeconds === 0)
    return false;
  if (!isPlaceable(placed.kind, placed.object)) return false;
  const shares = world.records.get(refKey(refOf(placed)))?.spec?.shares ?? {};
  return Object.keys(shares).length === 0;
}

function currentOf(placement: Placement | undefined, object: KubeObject): string[] {
  const { clusters = [], shares = {} } = placement?.spec ?? {};
  if (clusters.length > 0) return clusters;
  const left = placement !== undefined && isTombstone(placement);
  const there = Object.entries(shares).flatMap(([c, s]) => (s.phase === 'Leaving' && !left ? [] : [c]));
  return there.length > 0 ? there.sort() : parseClusters(schedulersNote(object));
}

function decideWorkloads(world: World): { decided: Decided[]; usage: Usage } {
  const workloads = world.input.objects
    .filter((o) => o.kind.role === 'workload' && isLive(world, o))
    .sort(byRef);
  const used: Usage = new Map(world.input.usage);
  const own: Usage = new Map();
  const rest = new Map<string, number>();
  const count = (cluster: string, by: number) => rest.set(cluster, (rest.get(cluster) ?? 0) + by);
  const takes = new Map<PlacedObject, Usage>();
  for (const placed of workloads) {
    const placement = placementOf(world, placed);
    for (const c of currentOf(placement, placed.object)) count(c, 1);
    if (!placement) continue;
    takes.set(placed, usageOf(placed.object, placement));
    addUsage(used, takes.get(placed) ?? new Map());
  }
  const decided = workloads.map((placed): Decided => {
    const current = currentOf(placementOf(world, placed), placed.object);
    const wish = wishFor(world, placed);
    const requires = requiredBy(world, placed);
    const situation = situationOf(world, placed.object, { current, requires, used });
    for (const c of current) count(c, -1);
    const choice = choose(wish, situation, rest);
    for (const c of choice.clusters) count(c, 1);
    const before = takes.get(placed) ?? new Map();
    const added = choice.clusters.filter((c) => !before.has(c));
    const more = new Map(added.map((c) => [c, situation.need(choice.clusters.length)]));
    addUsage(used, more);
    addUsage(own, before);
    addUsage(own, more);
    return { placed, choice, wish, requires };
  });
  return { decided, usage: own };
}

function wishFor({ input: { namespace, policies = [] } }: World, placed: PlacedObject): Wish | undefined {
  return wishOf(placed.object, namespace, policiesFor(placed, namespace, policies));
}

/** What goes along with its pods: those of its template, and while others are left what these have. */
function requiredBy(world: World, placed: PlacedObject): ClosureRef[] {
  const { byKey } = world.index;
  const now = closureOf(placed.object, world.index);
  if (isRolledOut(placed.object)) return now;
  const keys = new Set(now.map(refKey));
  const former = (placementOf(world, placed)?.spec?.requires ?? []).filter((ref) => {
    const there = byKey.get(refKey(ref));
    return !keys.has(refKey(ref)) && there !== undefined && isPlaceable(there.kind, there.object);
  });
  return [...now, ...former].sort((a, b) => (refKey(a) < refKey(b) ? -1 : 1));
}

function situationOf(
  world: World,
  object: KubeObject,
  { current, requires, used }: { current: string[]; requires: readonly ClosureRef[]; used: Usage },
): Situation {
  const count = podCount(object);
  const placementAt = (ref: ClosureRef) => {
    const claim = world.index.byKey.get(refKey(ref));
    return claim && placementOf(world, claim);
  };
  return {
    clusters: world.clusters,
    notTaken: world.input.notTaken ?? nothingRefused,
    used,
    current,
    claims: new Map([...claimsMadeFor(object, world.input.claims ?? []), ...claimsOf(requires, placementAt)]),
    need: (among) => requestsOf(object, Math.ceil(count / Math.max(1, among))),
  };
}

/**
 * What goes along is wherever a workload that needs it is to be, or still is; where a user, or the Namespace,
 * wants it for its own sake; and a claim where it holds data.
 */
function decideClosure(world: World, workloads: readonly Decided[]): Decided[] {
  const needed = new Map<string, Set<string>>();
  const need = (refs: readonly ClosureRef[], clusters: readonly string[]) => {
    for (const ref of refs) {
      const set = needed.get(refKey(ref)) ?? new Set();
      for (const cluster of clusters) set.add(cluster);
      needed.set(refKey(ref), set);
    }
  };
  const live = new Set(workloads.map(({ placed }) => placed.object.metadata.uid));
  for (const { placed, choice, requires } of workloads) {
    const shares = Object.keys(placementOf(world, placed)?.spec?.shares ?? {});
    need(requires, [...choice.clusters, ...shares]);
  }
  for (const { spec } of world.input.placements) {
    if (spec && !live.has(spec.ref.uid)) need(spec.requires ?? [], Object.keys(spec.shares ?? {}));
  }
  return world.input.objects
    .filter((o) => o.kind.role === 'closure' && isLive(world, o) && isUsers(o, world.index))
    .flatMap((placed): Decided[] => {
      const along = needed.get(refKey(refOf(placed)));
      const wish = closureWish(placed.object, world.input.namespace);
      const placement = placementOf(world, placed);
      const held = placement ? heldOn(placement, wish, workloads).filter((c) => world.clusters.has(c)) : [];
      if (!along && !wish && held.length === 0) return [];
      const choice = chooseAlong(world, placed, { wish, along: along ?? new Set(), held });
      return [{ placed, wish, requires: [], choice }];
    });
}

function isUsers({ kind, object }: PlacedObject, index: NamespaceIndex): boolean {
  if (kind.role !== 'closure' || kind.reach !== 'backs') return true;
  return isUsersEndpoints(object, index);
}

function isDrivenAway({ clusters }: World, name: string): boolean {
  const cluster = clusters.get(name);
  return objection({ name, cluster, isThere: true, need: nothingUsed, used: nothingUsed }) !== undefined;
}

const holdsOwnData = `it holds data there, which cannot be moved; delete it, or annotate it with ${clustersAnnotation}`;

function chooseAlong(
  world: World,
  placed: PlacedObject,
  { wish, along, held }: { wish: Wish | undefined; along: ReadonlySet<string>; held: readonly string[] },
): Choice {
  const current = currentOf(placementOf(world, placed), placed.object);
  const situation: Situation = {
    clusters: world.clusters,
    notTaken: world.input.notTaken ?? nothingRefused,
    used: new Map(),
    current,
    claims: new Map(),
    need: () => nothingUsed,
  };
  const named = wish && chooseAll(wish, situation);
  // Where its own wish cannot be met it stays only for want of any other place.
  const own = named && !(named.blocked && along.size > 0) ? named.clusters : [];
  const reasons = new Map(Object.entries(named?.reasons ?? {}));
  const unmoved = held.filter((c) => !own.includes(c));
  for (const cluster of unmoved) reasons.set(cluster, holdsOwnData);
  for (const cluster of along) reasons.set(cluster, 'a workload that needs it is there');
  return {
    clusters: parseClusters(formatClusters([...own, ...along, ...unmoved])),
    reasons: Object.fromEntries(reasons),
    blocked: named?.blocked === true || unmoved.some((c) => !along.has(c) && isDrivenAway(world, c)),
    ...(named?.wanted && { wanted: named.wanted }),
  };
}

/** On a workload that no annotation places the scheduler says where; elsewhere it takes its word back. */
function annotationOf({ placed, choice, wish }: Decided): NamespaceDecision['annotate'] {
  const note = schedulersNote(placed.object);
  const isAnnotated = wish?.layers.some(({ isPolicy, names }) => !isPolicy && names) === true;
  if (isAnnotated) return note === undefined ? [] : [{ placed, clusters: undefined }];
  if (ownWord(placed.object)) return [];
  const clusters = formatClusters(choice.clusters);
  return clusters === '' || clusters === note ? [] : [{ placed, clusters }];
}

function byRef(a: PlacedObject, b: PlacedObject): number {
  return refKey(refOf(a)) < refKey(refOf(b)) ? -1 : 1;
}
