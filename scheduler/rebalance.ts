import type { PlacedObject } from '../cluster/closure.ts';
import { isPaused } from '../cluster/drain.ts';
import { isFinished } from '../cluster/kinds.ts';
import { isDrained, isReady } from '../cluster/life.ts';
import { addResources, type Resources, subtractResources } from '../cluster/pod-spec.ts';
import { deepEqual } from '../kube/deep.ts';
import { timestamp } from '../kube/timestamp.ts';
import type { Company } from './company.ts';
import { taintOf } from './filter.ts';
import { type Choice, judge, type Situation, universe } from './judge.ts';
import { type Keeping, keepingOf } from './kept.ts';
import { mayOverflow } from './overflow.ts';
import { byRelief, type Load, reliefOf } from './relief.ts';
import type { Scene } from './scene.ts';
import { situationOf } from './situation.ts';
import type { Subject } from './subjects.ts';
import { rebalanceWaitingWords, type Turns } from './turns.ts';
import type { Kept } from './types.ts';
import { addUsage, nothingUsed, settledUsage, type Usage, usageOf } from './usage.ts';
import type { Wish } from './wishes.ts';

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
 * the Namespace on a cluster leaves it, or nothing does. Told by `explains`, also what keeps it where there is clearly more room elsewhere.
 */
export function movesOf(scene: Scene, subjects: readonly Subject[], deciding: Deciding): Moves {
  const [moves, kept]: [Moves['moves'], Moves['kept']] = [new Map(), new Map()];
  const sources = scene.fleet.rebalanced.filter(([, cluster]) => isReady(cluster));
  if (sources.length === 0) return { moves, kept };
  const loads = settledOf(scene, subjects);
  for (const [from, cluster] of sources.sort(([a], [b]) => (a < b ? -1 : 1))) {
    const { there: unit, kept: keeping } = unitOn(from, scene, subjects, deciding.company);
    if (unit.length === 0 || (keeping.length > 0 && !scene.input.explains)) continue;
    const need = unit.reduce((sum, one) => addResources(sum, needOf(one, from)), nothingUsed);
    const target = bestFor({ unit, from, need }, { scene, deciding, loads });
    if (!target) continue;
    if (keeping.length > 0) {
      for (const { subject, why } of keeping)
        kept.set(subject, [...(kept.get(subject) ?? []), { from, why: `${target.words}, but ${why}` }]);
      continue;
    }
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
  return { moves, kept };
}

interface Moves {
  moves: Map<Subject, Move>;
  /** What keeps the rest of its Namespace where it is, with the reason. */
  kept: Map<Subject, Kept[]>;
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

/** All that runs there, and what of it keeps the rest with it; empty where nobody knows all of it, or somebody has said that it stays. */
function unitOn(from: string, scene: Scene, subjects: readonly Subject[], company: Company): Unit {
  const { namespace, unknown } = scene.input;
  const nothing = { there: [], kept: [] };
  if (!namespace || isPaused(namespace) || namespace.metadata.deletionTimestamp !== undefined) return nothing;
  // Of what is not seen nobody knows whether it may leave.
  if (unknown && unknown.size > 0) return nothing;
  const all = subjects.filter(({ placed: { object } }) => !isFinished(object));
  const there = all.filter(({ current }) => current.includes(from));
  const nowhere = all.filter(({ current }) => current.length === 0);
  const kept = [...there, ...nowhere].flatMap((subject) => {
    const keeping = keepingOf(subject, from, scene, company);
    return keeping ? [{ subject, ...keeping }] : [];
  });
  return kept.some(({ isAsked }) => isAsked) ? nothing : { there, kept };
}

interface Unit {
  there: Subject[];
  kept: (Keeping & { subject: Subject })[];
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
  if (situation.misfit?.(name) !== undefined) return false;
  // Nothing leaves those that are preferred.
  const groupOf = (cluster: string) => wish?.groups?.findIndex((group) => group.includes(cluster)) ?? 0;
  if (groupOf(name) > groupOf(from)) return false;
  const [judged] = judge([name], situation, { among: 1, ...(wish && { wish }) });
  return judged?.[1] === undefined && judged !== undefined && !taintOf(judged[0], 'PreferNoSchedule');
}
