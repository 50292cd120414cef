import { indexNamespace, type NamespaceIndex, type PlacedObject, refKey } from '../cluster/closure.ts';
import { groupOf } from '../cluster/group.ts';
import { isFinished } from '../cluster/kinds.ts';
import { isReady } from '../cluster/life.ts';
import { isBeingOrphaned } from '../cluster/orphans.ts';
import { formatClusters } from '../cluster/placement.ts';
import { podsOn } from '../cluster/spread.ts';
import { decideClosure } from './along.ts';
import { choose, chooseEnded } from './choose.ts';
import { leaveData, withoutData } from './claims.ts';
import { Company } from './company.ts';
import { copiedToOne } from './copies.ts';
import { withoutCredentials } from './credentials.ts';
import { endOfStay, withEnds } from './ends.ts';
import { fleetOf } from './fleet.ts';
import { chooseInTurn } from './in-turn.ts';
import type { Choice, Situation } from './judge.ts';
import { endOfRest } from './kept.ts';
import { misfitsOn } from './node-choice.ts';
import { explained, movesOf, rebalancedAt } from './rebalance.ts';
import { homeOf, recordOf } from './record.ts';
import { hasStopped, placementOf, type Scene } from './scene.ts';
import { situationOf } from './situation.ts';
import { type Subject, subjectsOf } from './subjects.ts';
import { listenedSince } from './tolerations.ts';
import { leavingSince, rebalances, Turns, turnMs } from './turns.ts';
import type { Decided, Kept, NamespaceDecision, NamespaceInput } from './types.ts';
import { unmoved, unreadOf } from './unread.ts';
import { addUsage, settledUsage, type Usage, usageOf } from './usage.ts';
import { saysWhere, schedulersNote } from './wishes.ts';

/** A decision, with what a later one about a part of the Namespace goes by: see Standing. */
export interface Look {
  decision: NamespaceDecision;
  /** As it was looked at. */
  input: NamespaceInput;
  index: NamespaceIndex;
  workloads: readonly Taken[];
  /** Some of it is to be beside other workloads, or apart from them. */
  hasCompany: boolean;
}

/** A workload, and what it takes of the Namespace's usage and settled usage. */
export interface Taken {
  decided: Decided;
  usage: Usage;
  settled: Usage;
  /** The clusters that it leaves in a turn, and until when that, or its rest, counts: see turnUntil. */
  leaves: readonly string[];
  turnUntil: number;
}

/** Everything of one namespace at once, since workloads stay together and what they use follows them. */
export function decideNamespace(given: NamespaceInput): NamespaceDecision {
  return lookAt(given).decision;
}

export function lookAt(given: NamespaceInput): Look {
  const fleet = given.fleet ?? fleetOf(given.clusters);
  const input = { ...given, objects: withoutCredentials(given, fleet) };
  const index = input.beside?.index ?? indexNamespace(input.objects);
  const records = new Map(
    input.placements.flatMap((p) => (p.spec ? [[refKey(p.spec.ref), p] as const] : [])),
  );
  const scene = {
    input,
    index,
    records,
    fleet,
    clusters: fleet.named,
    listened: listenedSince(fleet.heard, input.startedAt ?? 0, input.now),
  };
  const { workloads, hasCompany, turns, kept, ...sums } = decideWorkloads(scene);
  const decided = workloads.map((one) => one.decided);
  const along = decideClosure(scene, decided);
  const all = [...decided, ...along];
  const finish = input.objects.filter((placed) => hasStopped(scene, placed)).map(({ object }) => object);
  const leaving = input.namespace?.metadata.deletionTimestamp !== undefined;
  const decision = {
    annotate: leaving ? [] : decided.flatMap((one) => annotationOf(scene, one)),
    ...recordOf({
      decided: all,
      placements: input.placements,
      mayCreate: !leaving,
      home: homeOf(input.namespace),
      isSilent: (name) => {
        const cluster = fleet.named.get(name);
        return cluster !== undefined && !isReady(cluster);
      },
      untouched: new Set([
        ...input.objects.flatMap(({ object }) =>
          isBeingOrphaned(object) ? [object.metadata.uid ?? ''] : [],
        ),
        ...(input.unknown ?? []),
      ]),
    }),
    leaveData: leaveData(scene, all),
    finish,
    ...sums,
    leaving: turns.leaving,
    // Only where no turn is free: else two that wait for another cluster would ask each other for ever.
    waiting: [...new Set(decided.flatMap(({ choice }) => choice.waits ?? []))].filter((c) =>
      turns.mustWait(c),
    ),
    blocked: all.some(({ choice }) => choice.blocked),
    lookAgain: all.some(({ choice }) => choice.lookAgain),
    open: decided.some(({ choice }) => choice.open),
    toleratedUntil: Math.min(Number.POSITIVE_INFINITY, ...decided.map((one) => endOfStay(scene, one))),
    turnUntil: workloads.reduce((soonest, one) => Math.min(soonest, one.turnUntil), Number.POSITIVE_INFINITY),
    kept: new Map([...kept].flatMap(([{ placement }, all]) => (placement ? [[placement, all]] : []))),
  };
  return { decision, input, index, workloads, hasCompany };
}

interface Workloads {
  workloads: Taken[];
  hasCompany: boolean;
  /** What they take; and what they take once all that is on its way has arrived. */
  usage: Usage;
  settled: Usage;
  turns: Turns;
  /** See movesOf. */
  kept: ReadonlyMap<Subject, readonly Kept[]>;
}

function decideWorkloads(scene: Scene): Workloads {
  const subjects = subjectsOf(scene);
  const company = new Company(subjects, scene.clusters);
  const used: Usage = new Map(scene.input.usage);
  const [own, settled]: [Usage, Usage] = [new Map(), new Map()];
  const rest = new Map(scene.input.beside?.counts);
  const count = (cluster: string, by: number) => rest.set(cluster, (rest.get(cluster) ?? 0) + by);
  const [takes, left] = [new Map<Subject, Usage>(), new Map<Subject, string[]>()];
  const turns = new Turns(scene.clusters, scene.input.leaving);
  const groupAt = ({ object }: PlacedObject) => groupOf(object, scene.input.namespace);
  for (const subject of subjects) {
    const { placed, placement, current } = subject;
    if (!isFinished(placed.object)) for (const c of current) count(c, 1);
    if (!placement) continue;
    // What has ended serves nobody where it leaves.
    const resume = () => turns.resume(placement, groupAt(placed), scene.input.now);
    if (!isFinished(placed.object)) left.set(subject, resume());
    takes.set(subject, usageOf(placed.object, placement));
    addUsage(used, takes.get(subject) ?? new Map());
  }
  const { moves, kept } = movesOf(scene, subjects, { company, turns, used, groupAt });
  const workloads = company.order.map((subject): Taken => {
    const { placed, placement, current, wish, requires, claims } = subject;
    company.leave(subject);
    const situation = situationOf(scene, subject, { used, company });
    const isEnded = isFinished(placed.object);
    if (!isEnded) for (const c of current) count(c, -1);
    const [move, there] = [moves.get(subject), Object.keys(placement?.spec?.shares ?? {})];
    const leaves = current.filter((c) => there.includes(c));
    const among = { scene, turns, leaves, turn: left.get(subject) ?? [], group: groupAt(placed) };
    const ofItself = (to = current) => choose(wish, { ...situation, current: to }, rest);
    const ended = isEnded
      ? (chooseEnded(situation, placement?.spec?.shares ?? {}, rest) ?? ofItself())
      : undefined;
    const chosen =
      unreadOf(scene, placed) !== undefined
        ? unmoved(scene, placed, ofItself())
        : move?.to === undefined
          ? (ended ?? chooseInTurn((waits) => choose(wish, { ...situation, waits }, rest), among))
          : ofItself([move.to]);
    const data = { placed, claims, there };
    const copied = copiedToOne(chosen, situation, data);
    const choice = withEnds(withoutData(move ? explained(copied, move) : copied, scene, data), scene, wish);
    company.settle(subject, choice.clusters);
    if (!isEnded) for (const c of choice.clusters) count(c, 1);
    const before = takes.get(subject) ?? new Map();
    const more = addedBy(choice, situation, before);
    const usage: Usage = new Map(before);
    for (const sum of [used, usage]) addUsage(sum, more);
    addUsage(own, usage);
    const takesThen = settledUsage(placed.object, placement, choice);
    addUsage(settled, takesThen);
    const decided = {
      placed,
      choice: company.concerns(subject) ? { ...choice, open: true } : choice,
      wish,
      requires,
      leavingSince: leavingSince(placement, choice.clusters, scene.input.now),
      copies: claims.copies,
      rebalancedAt: rebalancedAt(subject, choice, move, scene),
      misfits: misfitsOn(choice.clusters, situation.misfit),
    };
    return { decided, usage, settled: takesThen, leaves: among.turn, turnUntil: endOfMove(scene, decided) };
  });
  return { workloads, hasCompany: company.isAsked, usage: own, settled, turns, kept };
}

/** What a choice takes that is not counted yet. */
function addedBy(choice: Choice, { pods, need, had = new Map() }: Situation, before: Usage): Usage {
  const chosen = podsOn(pods, choice.clusters, choice.spread);
  const added = choice.clusters.filter((c) => !before.has(c));
  const more: Usage = new Map(added.map((c) => [c, need(chosen.get(c) ?? 0)]));
  // Where it overflows it grows by what it is given: the next one counts with that.
  if (choice.filled)
    for (const [c, n] of had) if ((chosen.get(c) ?? 0) > n) more.set(c, need((chosen.get(c) ?? 0) - n));
  return more;
}

/** What has ended counts no longer already. */
function endOfMove(
  { clusters, input: { now } }: Scene,
  { choice, leavingSince: since = {}, ...of }: Decided,
): number {
  const ends = Object.values(since).map((time) => (Date.parse(time) || 0) + turnMs);
  if (choice.clusters.some((c) => rebalances(clusters.get(c)))) ends.push(endOfRest(of.rebalancedAt));
  return Math.min(Number.POSITIVE_INFINITY, ...ends.filter((end) => end > now));
}

/**
 * On a workload that no annotation places the scheduler says where; elsewhere, and where what has ended is nowhere or on its way there, it
 * takes its word back.
 */
function annotationOf(scene: Scene, { placed, choice, wish }: Decided): NamespaceDecision['annotate'] {
  const note = schedulersNote(placed.object);
  const isAnnotated = wish?.layers.some(({ isPolicy, names }) => !isPolicy && names) === true;
  const shares = isFinished(placed.object) ? (placementOf(scene, placed)?.spec?.shares ?? {}) : undefined;
  const isNowhere = shares && !choice.clusters.some((c) => Object.hasOwn(shares, c));
  if (isAnnotated || isNowhere) return note === undefined ? [] : [{ placed, clusters: undefined }];
  if (saysWhere(placed.object)) return [];
  const clusters = formatClusters(choice.clusters);
  return clusters === '' || clusters === note ? [] : [{ placed, clusters }];
}
