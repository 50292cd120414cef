import { keyOf, parseKey } from '../client/url.ts';
import { closureOf, placedAs, refKey } from '../cluster/closure.ts';
import { placedKind } from '../cluster/kinds.ts';
import { placementName } from '../cluster/placement.ts';
import type { ClosureRef } from '../cluster/types.ts';
import { withoutCredentials } from './credentials.ts';
import type { Look } from './decide.ts';
import { isDrained } from './filter.ts';
import type { Fleet } from './fleet.ts';
import { isUsedByName, namedBy } from './scope.ts';
import type { Node, Standing } from './standing.ts';
import type { World } from './world.ts';

/**
 * What has been written and all that hangs together with it: whatever one of it uses, and whoever else uses that. Undefined:
 * it cannot be told without a look at all.
 */
export function partOf(standing: Standing, key: string, world: World): Map<string, Node> | undefined {
  const part = new Map<string, Node>();
  const { fleet } = world.known();
  const read = (ref: ClosureRef) => readAt(ref, key, { world, fleet });
  let next: readonly ClosureRef[] = [...standing.concerned.values()];
  for (const ref of next) {
    const kind = placedKind(ref);
    // What others are found by: who is concerned may be anybody.
    if (!kind || (kind.role === 'closure' && !isUsedByName(kind))) return undefined;
  }
  while (next.length > 0) {
    const found: Node[] = [];
    for (const ref of next) {
      if (part.has(refKey(ref))) continue;
      const node = read(ref);
      if (!node) return undefined;
      part.set(refKey(ref), node);
      found.push(node);
      note(standing, node);
    }
    next = found.flatMap((node) => [...named(node), ...standing.beside(refKey(node.ref))]);
    // What is found by labels and names of others is known once all that is named is.
    if (next.every((ref) => part.has(refKey(ref))))
      next = [...part.values()].flatMap((n) => required(n, standing));
    next = next.filter((ref) => !part.has(refKey(ref)));
  }
  return part;
}

function readAt(
  ref: ClosureRef,
  key: string,
  { world, fleet }: { world: World; fleet: Fleet },
): Node | undefined {
  const kind = placedKind(ref);
  const informer = kind && world.objects.get(kind);
  if (!informer) return undefined;
  const { cluster, name: namespace } = parseKey(key);
  const object = informer.get(keyOf(cluster, namespace, ref.name));
  const [placed] = object ? withoutCredentials({ objects: [placedAs(kind, object)] }, fleet) : [];
  const placement = world.placements.get(keyOf(cluster, namespace, placementName(ref)));
  return { ref, placed, placement };
}

/** As a look at all would have it in its index. */
function note({ index, mentioned }: Standing, { ref, placed }: Node): void {
  const kind = placedKind(ref);
  if (!kind || !isUsedByName(kind)) return;
  mentioned?.add(refKey(ref));
  if (placed) index.byKey.set(refKey(ref), placed);
  else index.byKey.delete(refKey(ref));
}

function named({ placed, placement }: Node): readonly ClosureRef[] {
  return [...(placed ? namedBy(placed) : []), ...(placement?.spec?.requires ?? [])];
}

function required({ placed }: Node, { index }: Standing): readonly ClosureRef[] {
  return placed?.kind.role === 'workload' ? closureOf(placed.object, index) : [];
}

/** Nothing of it waits for a time, a turn, room or another cluster, so that what is not concerned stays as it is. */
export function isCalm({ decision, input, workloads, hasCompany }: Look): boolean {
  const { namespace, unknown, unread } = input;
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
    decision.turnUntil === never &&
    decision.leaving.size === 0 &&
    decision.waiting.length === 0 &&
    decision.leaveData.length === 0 &&
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

/** None of them is to be left by anything. */
export function isRestful({ named, rebalanced }: Fleet): boolean {
  return rebalanced.length === 0 && ![...named.values()].some(isDrained);
}
