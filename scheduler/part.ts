import { keyOf, parseKey } from '../client/url.ts';
import { closureOf, type PlacedObject, placedAs, placedKey, refKey } from '../cluster/closure.ts';
import { placedKind } from '../cluster/kinds.ts';
import { placementName } from '../cluster/placement.ts';
import type { ClosureRef } from '../cluster/types.ts';
import { withoutCredentials } from './credentials.ts';
import type { Look } from './decide.ts';
import type { Fleet } from './fleet.ts';
import { isUsedByName, namedBy } from './scope.ts';
import type { Node, Standing } from './standing.ts';
import { limitOf } from './turns.ts';
import type { World } from './world.ts';

/**
 * What has been written and all that hangs together with it: what one of it uses, and whoever uses what has been written. Of what
 * others use besides, the rest says where it needs it. Undefined: it cannot be told without a look at all.
 */
export function partOf(standing: Standing, key: string, world: World): Map<string, Node> | undefined {
  const concerned = [...standing.concerned.values()];
  // What others are found by: who is concerned may be anybody.
  if (!concerned.every(isNamed)) return undefined;
  const part = new Map<string, Node>();
  const stirred = new Set<string>();
  let next = concerned.map((ref) => ({ ref, stirs: true }));
  while (next.length > 0) {
    // A list that grows while it is walked is walked to its end.
    for (const { ref, stirs } of next) {
      const its = refKey(ref);
      const node = part.get(its) ?? readAt(ref, key, world);
      if (!node) return undefined;
      if (!part.has(its)) {
        part.set(its, node);
        note(standing, node, (name) => world.mentioned.add(key, name));
        for (const used of [...named(node), ...standing.usedBy(its)]) next.push({ ref: used, stirs: false });
      }
      if (stirred.has(its) || !(stirs || hangsOnUsers(node))) continue;
      stirred.add(its);
      // What an account or an Ingress names is needed by whoever needs these.
      for (const user of standing.usersOf(its)) next.push({ ref: user, stirs: isClosure(user) });
    }
    // What is found by labels and by names of others is known once all that is named is.
    next = [...part.values()]
      .flatMap((node) => required(node, standing))
      .filter((ref) => !part.has(refKey(ref)))
      .map((ref) => ({ ref, stirs: false }));
  }
  return part;
}

function isClosure(ref: ClosureRef): boolean {
  return placedKind(ref)?.role === 'closure';
}

function isNamed(ref: ClosureRef): boolean {
  const kind = placedKind(ref);
  return kind !== undefined && (kind.role === 'workload' || isUsedByName(kind));
}

/** Whose decision is by more than where its users need it: what holds data, and what is gone but for its shares. */
function hangsOnUsers({ ref, placed, placement }: Node): boolean {
  return ref.resource === 'persistentvolumeclaims' || (placed === undefined && placement !== undefined);
}

function readAt(ref: ClosureRef, key: string, world: World): Node | undefined {
  const kind = placedKind(ref);
  const informer = kind && world.objects.get(kind);
  if (!informer) return undefined;
  const { cluster, name: namespace } = parseKey(key);
  const object = informer.get(keyOf(cluster, namespace, ref.name));
  const [placed] = object
    ? withoutCredentials({ objects: [placedAs(kind, object)] }, world.known().fleet)
    : [];
  const placement = world.placements.get(keyOf(cluster, namespace, placementName(ref)));
  return { ref, placed, placement };
}

/** As a look at all would have it in its index. */
function note({ index }: Standing, { ref, placed }: Node, mention: (name: string) => void): void {
  const kind = placedKind(ref);
  if (!kind || !isUsedByName(kind)) return;
  mention(refKey(ref));
  if (placed) index.byKey.set(refKey(ref), placed);
  else index.byKey.delete(refKey(ref));
}

function named({ placed, placement }: Node): readonly ClosureRef[] {
  return [...(placed ? namedBy(placed) : []), ...(placement?.spec?.requires ?? [])];
}

function required({ placed }: Node, { index }: Standing): readonly ClosureRef[] {
  return placed?.kind.role === 'workload' ? closureOf(placed.object, index) : [];
}

/**
 * Nothing of it waits for a time, a turn, room or another cluster, so that what is not concerned stays as it is. What leaves where any
 * number may takes nobody's turn.
 */
export function isCalm({ decision, input, workloads, hasCompany }: Look): boolean {
  const { namespace, unknown, unread, clusters } = input;
  const never = Number.POSITIVE_INFINITY;
  return (
    !hasCompany &&
    namespace !== undefined &&
    namespace.metadata.deletionTimestamp === undefined &&
    (unknown?.size ?? 0) === 0 &&
    (unread?.size ?? 0) === 0 &&
    !decision.blocked &&
    !decision.lookAgain &&
    !decision.open &&
    decision.toleratedUntil === never &&
    clusters.every((one) => limitOf(one) === undefined || !decision.leaving.has(one.metadata.name ?? '')) &&
    decision.waiting.length === 0 &&
    decision.leaveData.length === 0 &&
    waitsForNoName(input, workloads) &&
    workloads.every(({ decided: { choice, wish } }) => {
      const { clusters, wanted = [], waits = [], spread, filled, noRoom, unplaced } = choice;
      // Where it has no room it comes once others leave some.
      if (wanted.some((name) => !clusters.includes(name))) return false;
      return (
        waits.length === 0 && !(spread ?? filled ?? noRoom ?? unplaced ?? wish?.overflowsBy ?? wish?.spread)
      );
    })
  );
}

/** One whose name a former one has yet to leave is on no cluster before: who comes next counts it there or not by which comes first. */
function waitsForNoName({ placements }: Look['input'], workloads: Look['workloads']): boolean {
  const uids = new Map(workloads.map(({ decided: { placed } }) => [placedKey(placed), uidOf(placed)]));
  return placements.every(({ spec }) => {
    const uid = spec && uids.get(refKey(spec.ref));
    return uid === undefined || uid === spec?.ref.uid;
  });
}

function uidOf({ object }: PlacedObject): string | undefined {
  return object.metadata.uid;
}

/** No cluster on which it is to be is to be left, by all or by some. */
export function isRestful({ drained, rebalanced }: Fleet, isOn: (cluster: string) => boolean): boolean {
  return rebalanced.length === 0 && !drained.some(isOn);
}

/** Something of what was looked at is to be there, or was. What is there that has been told to leave it leaves it. */
export function isOn({ input, workloads }: Look, cluster: string): boolean {
  return (
    workloads.some(({ decided: { choice } }) => choice.clusters.includes(cluster)) ||
    input.placements.some(({ spec }) => spec?.clusters.includes(cluster))
  );
}
