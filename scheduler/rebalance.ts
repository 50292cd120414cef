import type { PlacedObject } from '../cluster/closure.ts';
import { isPaused } from '../cluster/drain.ts';
import { isFinished } from '../cluster/kinds.ts';
import { isReady } from '../cluster/life.ts';
import { addResources, type Resources, subtractResources } from '../cluster/pod-spec.ts';
import { deepEqual } from '../kube/deep.ts';
import { timestamp } from '../kube/timestamp.ts';
import { getOwn, textAt } from '../kube/untyped.ts';
import type { Company } from './company.ts';
import { isDrained, taintOf } from './filter.ts';
import { type Choice, judge, type Situation, universe } from './judge.ts';
import { mayOverflow } from './overflow.ts';
import { byRelief, type Load, reliefOf } from './relief.ts';
import type { Scene } from './scene.ts';
import { situationOf } from './situation.ts';
import type { Subject } from './subjects.ts';
import { rebalances, rebalanceWaitingWords, type Turns } from './turns.ts';
import { addUsage, nothingUsed, settledUsage, type Usage, usageOf } from './usage.ts';
import type { Wish } from './wishes.ts';

/**
 * How long what a rebalance has moved stays, whatever it would gain: what moves after it may make another place the better one for it.
 */
export const restMs = 3_600_000;

/** What a rebalance would have leave a cluster. */
export interface Move {
  from: string;
  /** Absent: it is not its turn. */
  to?: string;
  why: string;
}

export interface Deciding {
  company: Company;
  turns: Turns;
  /** What is taken. */
  used: Usage;
  groupAt(placed: PlacedObject): string | undefined;
}

/**
 * Which workloads of a Namespace leave clusters that rebalance, and for where. What is together stays together: all that there is of
 * the Namespace on a cluster leaves it, or nothing does.
 */
export function movesOf(scene: Scene, subjects: readonly Subject[], deciding: Deciding): Map<Subject, Move> {
  const moves = new Map<Subject, Move>();
  const sources = [...scene.clusters].filter(([, cluster]) => rebalances(cluster) && isReady(cluster));
  if (sources.length === 0) return moves;
  const loads = settledOf(scene, subjects);
  for (const [from, cluster] of sources.sort(([a], [b]) => (a < b ? -1 : 1))) {
    const unit = unitOn(from, scene, subjects, deciding.company);
    const need = unit.reduce((sum, one) => addResources(sum, needOf(one, from)), nothingUsed);
    const target = unit.length > 0 ? bestFor({ unit, from, need }, { scene, deciding, loads }) : undefined;
    if (!target) continue;
    if (deciding.turns.mustWait(from)) {
      const why = rebalanceWaitingWords(cluster);
      for (const one of unit) moves.set(one, { from, why });
      continue;
    }
    for (const one of unit) {
      deciding.turns.take(from, deciding.groupAt(one.placed));
      moves.set(one, { from, to: target.name, why: `moved by the rebalance of ${from}: ${target.words}` });
    }
    loads.set(target.name, addResources(loads.get(target.name) ?? nothingUsed, need));
    loads.set(from, subtractResources(loads.get(from) ?? nothingUsed, need));
  }
  return moves;
}

/** A choice with what the rebalance has to say of it: made as if what moves were there already. */
export function explained(choice: Choice, { from, to, why }: Move): Choice {
  const where = to ?? from;
  if (!choice.clusters.includes(where)) return choice;
  const reasons = { ...choice.reasons, [where]: why };
  return { ...choice, reasons, ...(to === undefined && { waits: [from] }) };
}

/** See Placement: said as long as it stays where it was brought. */
export function rebalancedAt(
  { placement }: Subject,
  { clusters }: Choice,
  move: Move | undefined,
  { input }: Scene,
): string | undefined {
  if (move?.to !== undefined) return timestamp(input.now);
  return deepEqual(placement?.spec?.clusters, clusters) ? placement?.spec?.rebalancedAt : undefined;
}

/** Until when what a rebalance has moved stays, in milliseconds since 1970. */
export function endOfRest(rebalancedAt: string | undefined): number {
  return rebalancedAt === undefined ? 0 : (Date.parse(rebalancedAt) || 0) + restMs;
}

function settledOf({ input: { settled, usage } }: Scene, subjects: readonly Subject[]): Usage {
  const all: Usage = new Map(settled ?? usage);
  for (const { placed, placement } of subjects) {
    const { clusters = [], spread } = placement?.spec ?? {};
    addUsage(all, settledUsage(placed.object, placement, { clusters, spread }));
  }
  return all;
}

function needOf({ placed: { object }, placement }: Subject, from: string): Resources {
  return (placement && usageOf(object, placement).get(from)) ?? nothingUsed;
}

/** All that runs there, if all of it may leave; empty where anything stays, or has no place yet. */
function unitOn(from: string, scene: Scene, subjects: readonly Subject[], company: Company): Subject[] {
  const { namespace, unknown } = scene.input;
  if (!namespace || isPaused(namespace) || namespace.metadata.deletionTimestamp !== undefined) return [];
  // Of what is not seen nobody knows whether it may leave.
  if (unknown && unknown.size > 0) return [];
  const all = subjects.filter(({ placed: { object } }) => !isFinished(object));
  if (all.some(({ current }) => current.length === 0)) return [];
  const there = all.filter(({ current }) => current.includes(from));
  return there.every((one) => mayLeave(one, from, scene) && !company.isOf(one)) ? there : [];
}

/** Whether nothing is lost by its move but the start of its pods elsewhere. */
function mayLeave({ placed, placement, wish, claims }: Subject, from: string, { input }: Scene): boolean {
  const { kind, object } = placed;
  const { spec } = placement ?? {};
  if (!spec || spec.ref.uid !== object.metadata.uid || object.metadata.deletionTimestamp !== undefined)
    return false;
  const [share, ...others] = Object.values(spec.shares ?? {});
  const isSettled = share !== undefined && others.length === 0 && getOwn(spec.shares ?? {}, from) === share;
  if (!isSettled || share.phase !== 'Active' || spec.clusters.join() !== from) return false;
  if (share.held !== undefined || share.goal !== undefined || isPaused(object)) return false;
  if (claims.hold.has(from) || claims.recreate.has(from)) return false;
  if (kind.identity === 'once' || textAt(object, 'spec', 'strategy', 'type') === 'Recreate') return false;
  // What runs to its end would begin anew.
  if (kind.kind === 'Pod' && (textAt(object, 'spec', 'restartPolicy') ?? 'Always') !== 'Always') return false;
  return endOfRest(spec.rebalancedAt) <= input.now && leavesChoice(wish);
}

/** Nobody says where it is, nor on how many: one cluster is as good as another that the wish leaves. */
function leavesChoice(wish: Wish | undefined): boolean {
  return !wish || ((wish.count === 'free' || wish.count === 1) && !wish.spread);
}

interface Leaving {
  unit: readonly Subject[];
  from: string;
  need: Resources;
}

function bestFor(
  { unit, from, need }: Leaving,
  { scene, deciding, loads }: { scene: Scene; deciding: Deciding; loads: Usage },
) {
  const load = (name: string): Load => ({
    name,
    cluster: scene.clusters.get(name),
    used: loads.get(name) ?? nothingUsed,
  });
  const better = [...scene.clusters.keys()].flatMap((name) => {
    if (name === from || isDrained(scene.clusters.get(name))) return [];
    const relief = reliefOf(need, load(from), load(name));
    return relief ? [{ ...relief, name }] : [];
  });
  const situations = unit.map((one) => ({
    wish: one.wish,
    // There is to be room for all of them.
    situation: { ...situationOf(scene, one, deciding), need: () => need },
  }));
  return better
    .sort(byRelief)
    .find(({ name }) => situations.every(({ wish, situation }) => mayCome(name, from, wish, situation)));
}

function mayCome(name: string, from: string, wish: Wish | undefined, situation: Situation): boolean {
  if (wish && (mayOverflow(wish, situation) || !universe(wish, situation).includes(name))) return false;
  // Nothing leaves those that are preferred.
  const groupOf = (cluster: string) => wish?.groups?.findIndex((group) => group.includes(cluster)) ?? 0;
  if (groupOf(name) > groupOf(from)) return false;
  const [judged] = judge([name], situation, { among: 1, ...(wish && { wish }) });
  return judged?.[1] === undefined && judged !== undefined && !taintOf(judged[0], 'PreferNoSchedule');
}
