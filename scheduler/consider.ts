import { type Look, lookAt } from './decide.ts';
import { isCalm, isOn, isRestful, partOf } from './part.ts';
import { Standing } from './standing.ts';
import type { NamespaceDecision, NamespaceInput } from './types.ts';
import { claimsIn, copiesIn, objectsOf, placementsIn, policiesIn, unknownIn } from './within.ts';
import type { World } from './world.ts';

/** Decides about one Namespace, and remembers what it takes then. Writes nothing: of a copy of the world this is a plan. */
export function consider(
  key: string,
  world: World,
  unread: ReadonlyMap<string, string> = new Map(),
): NamespaceDecision {
  const began = performance.now();
  const placed = placementsIn(world, key);
  const look = lookAt({
    ...surroundings(key, world),
    objects: objectsOf(world, key, placed),
    placements: placed,
    unknown: unknownIn(world, key, placed),
    unread,
    claims: claimsIn(world, key),
    usage: world.ledger.others(key),
    settled: world.settled.others(key),
  });
  const { usage, settled } = look.decision;
  world.ledger.set(key, usage);
  world.settled.set(key, settled);
  remember(key, world, look);
  world.standings.touch(key);
  if (isCalm(look) && isRestful(world.known().fleet, (name) => isOn(look, name)))
    world.standings.put(key, new Standing(look));
  world.pace.took(key, performance.now() - began);
  return look.decision;
}

/**
 * The same, by a look at what has been written since the last decision and what hangs together with that: what is taken is what that
 * takes. Undefined: nobody knows that the rest is as it was.
 */
export function considerPart(key: string, world: World): NamespaceDecision | undefined {
  const standing = world.standings.take(key);
  const given = surroundings(key, world);
  if (!standing || standing.concerned.size === 0) return undefined;
  if (!standing.isOf(given.namespace) || !isRestful(given.fleet, (name) => standing.isOn(name)))
    return undefined;
  const part = partOf(standing, key, world);
  if (!part) return undefined;
  const rest = standing.without(new Set(part.keys()));
  if (rest.turnUntil <= given.now) return undefined;
  const nodes = [...part.values()];
  const look = lookAt({
    ...given,
    objects: nodes.flatMap(({ placed }) => placed ?? []),
    placements: nodes.flatMap(({ placement }) => placement ?? []),
    claims: nodes.some(({ ref }) => ref.resource === 'statefulsets') ? claimsIn(world, key) : [],
    usage: world.ledger.without(rest.taken.usage),
    settled: world.settled.without(rest.taken.settled),
    beside: { index: standing.index, counts: rest.counts, needed: rest.needed },
  });
  if (look.hasCompany) return undefined;
  const decision = withRest(look.decision, rest);
  world.ledger.change(key, rest.taken.usage, decision.usage);
  world.settled.change(key, rest.taken.settled, decision.settled);
  remember(key, world, { decision });
  if (isCalm({ ...look, decision }) && isRestful(given.fleet, (name) => isOn(look, name))) {
    standing.settle(part, look.workloads, decision.create);
    standing.concerned.clear();
    world.standings.put(key, standing);
  }
  return decision;
}

/** Of the whole Namespace: who leaves which cluster, and until when that counts. */
function withRest(
  decision: NamespaceDecision,
  { leaving: others, turnUntil }: ReturnType<Standing['without']>,
): NamespaceDecision {
  const leaving = new Map(others);
  for (const [name, count] of decision.leaving) leaving.set(name, (leaving.get(name) ?? 0) + count);
  return { ...decision, leaving, turnUntil: Math.min(decision.turnUntil, turnUntil) };
}

/** What every decision about it goes by, however much of it that is about. */
function surroundings(key: string, world: World) {
  const { fleet, notTaken } = world.known();
  return {
    namespace: world.namespaces.get(key),
    clusters: fleet.list,
    fleet,
    notTaken,
    policies: policiesIn(world, key),
    copies: copiesIn(world, key),
    leaving: world.inTurns ? world.leavers.others(key) : undefined,
    now: Date.now(),
    startedAt: world.startedAt,
    explains: !world.inTurns,
  } satisfies Partial<NamespaceInput>;
}

/** Before anything is awaited: the next decision, of whatever namespace, counts with this one. */
function remember(key: string, world: World, { decision }: Pick<Look, 'decision'>): void {
  world.leavers.set(key, decision.leaving, decision.waiting);
  if (decision.open) world.open.add(key);
  else world.open.delete(key);
}
