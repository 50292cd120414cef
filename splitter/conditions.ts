import { endedReason } from '../cluster/condition.ts';
import { isFinished, placedKind } from '../cluster/kinds.ts';
import { pausedAnnotation, waitAnnotation } from '../cluster/names.ts';
import { lackOfRoom, noCluster, unplacedPods } from '../cluster/no-room.ts';
import { isTombstone } from '../cluster/orphans.ts';
import { isHeldBack, podRefusal } from '../cluster/pod-admission.ts';
import { makesNone } from '../cluster/pod-spec.ts';
import { isStillLedTo, leavesUnheard } from '../cluster/share.ts';
import { type Silence, whichIs } from '../cluster/silence.ts';
import { unsatisfied } from '../cluster/spread.ts';
import type { Condition, Placement, Share } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import { awaitedWords, withWhy } from './awaited-words.ts';
import { copyVerdict } from './copy-words.ts';
import { clustersHeard } from './fold/silent.ts';
import { replicasOf } from './follow.ts';
import type { Handover } from './handover.ts';
import { paused, waitingReason } from './hold.ts';
import { onceWords } from './once-words.ts';
import type { Shares, Slices } from './plan.ts';
import { applyFailed, deletedWords, failureWords, few, givingOf, servingOf } from './said.ts';
import { otherwiseDivided } from './spread.ts';

interface ConditionsInput {
  placement: Placement;
  shares: Shares;
  slices: Slices;
  waitingFor: readonly string[];
  unled: readonly string[];
  /** See Handover. */
  blind: readonly string[];
  /** See Handover. */
  refusing: readonly string[];
  /** See Handover. */
  hold: Handover['hold'];
  /** It may not run twice. */
  once: boolean;
  /** See Handover. */
  begun: boolean;
  /** See Handover. */
  copied: Handover['copied'];
  gone: boolean;
  /** Another object has its name by now. */
  renewed?: boolean;
  /** The object, while there is one. */
  root?: KubeObject | undefined;
  /** How many replicas it has, where an autoscaler says it. */
  total?: number | undefined;
  /** Of a cluster that does not answer. */
  silenceAt?: ((cluster: string) => Silence | undefined) | undefined;
  /** Those whose grace is over. */
  silenceOf?: ((cluster: string) => Silence | undefined) | undefined;
  now: number;
}

type Verdict = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/**
 * Placed: every cluster that was asked for, or one at least, takes the object, and all of its pods. Settled: it is where it should be,
 * in full, and nowhere else; otherwise the message says what is waited for. ClustersHeard: of a workload, while some are silent.
 */
export function conditionsOf(input: ConditionsInput): Condition[] {
  const before = input.placement.status?.conditions ?? [];
  return [placed(input), settled(input), ...heard(input)].map((verdict) => {
    const old = before.find((c) => c.type === verdict.type);
    const same = old !== undefined && old.status === verdict.status;
    const lastTransitionTime = same ? old.lastTransitionTime : new Date(input.now).toISOString();
    return { ...verdict, lastTransitionTime };
  });
}

function heard({ placement, shares, silenceOf }: ConditionsInput): Verdict[] {
  const ref = placement.spec?.ref;
  if (!ref || placedKind(ref)?.role !== 'workload') return [];
  const silences = Object.keys(shares)
    .sort()
    .flatMap((c) => silenceOf?.(c) ?? []);
  return clustersHeard(silences).map(({ lastTransitionTime: _since, ...verdict }) => verdict);
}

const orphaned =
  'the object is deleted; what it made stays until it is deleted, or adopted by one of the same name';

/** Of what goes along: there may be clusters, and nothing needs it on any. */
const needless = 'no workload that is placed needs it';

function placed(input: ConditionsInput): Verdict {
  const { placement, gone, root, total } = input;
  const { clusters = [], wanted = [], reasons = {} } = placement.spec ?? {};
  const type = 'Placed';
  if (gone && isTombstone(placement)) return { type, status: 'False', reason: 'Orphaned', message: orphaned };
  if (gone)
    return { type, status: 'False', reason: 'Deleted', message: deletedWords(input.shares, input.renewed) };
  if (isOver(input)) return { type, status: 'True', reason: endedReason, message: overWords };
  const why = (names: readonly string[]) =>
    names.map((name) => `${name}: ${Object.hasOwn(reasons, name) ? reasons[name] : 'not chosen'}`).join('; ');
  // Of what is nowhere all reasons are told.
  const told = clusters.length === 0 ? { reasons: {} } : {};
  const lacking = placement.spec && lackOfRoom({ ...placement.spec, ...told });
  if (clusters.length === 0) {
    const refused = Object.keys(reasons).sort();
    const isAlong = placement.spec && placedKind(placement.spec.ref)?.role === 'closure';
    const message = refused.length > 0 ? why(refused) : isAlong ? needless : noCluster;
    if (lacking !== undefined)
      return { type, status: 'False', reason: 'NoRoom', message: `${lacking}; ${message}` };
    return { type, status: 'False', reason: 'NoClusterFits', message };
  }
  const refused = wanted.filter((name) => !clusters.includes(name));
  if (refused.length > 0) return { type, status: 'False', reason: 'ClusterRefused', message: why(refused) };
  const message = `placed on ${clusters.join(', ')}`;
  if (lacking !== undefined)
    return { type, status: 'False', reason: 'NoRoom', message: `${message}; ${lacking}` };
  const unplaced = placement.spec && unplacedPods(placement.spec);
  if (unplaced !== undefined)
    return { type, status: 'False', reason: 'Blocked', message: `${message}; ${unplaced}` };
  const spread = placement.spec?.spread;
  const missing = spread && unsatisfied(spread);
  if (missing !== undefined)
    return { type, status: 'False', reason: 'SpreadUnsatisfied', message: `${message}; ${missing}` };
  const other = spread && root && otherwiseDivided(root, total ?? replicasOf(root), spread);
  return {
    type,
    status: 'True',
    reason: 'Placed',
    message: other === undefined ? message : `${message}; ${other}`,
  };
}

/** At the end of what waits for so long and no longer. */
export const goesWithout = ' it goes without';

/** Whom what is ready elsewhere waits for before it leaves, and what the user can do about it. */
export function waitingWords({ held, until, firm }: Handover['hold'], stays: string): string {
  const end =
    until === undefined
      ? `to go without, annotate it or its Namespace with ${waitAnnotation}: "0"`
      : `at ${new Date(until).toISOString()}${goesWithout}`;
  if (firm) return `waiting for ${few(held)}; until then it stays on ${stays}`;
  return `waiting for what moves with it: ${few(held)}; until then it stays on ${stays}; ${end}`;
}

function settled(input: ConditionsInput): Verdict {
  const { placement, shares, slices, waitingFor, blind, refusing, once, hold } = input;
  const type = 'Settled';
  const clusters = placement.spec?.clusters ?? [];
  const failed = Object.keys(shares).flatMap((c) => failureWords(slices, c) ?? []);
  const leaving = Object.keys(shares).filter((c) => !clusters.includes(c));
  const awaited = (c: string) => {
    const silence = input.silenceOf?.(c);
    if (silence) return `, ${whichIs(silence)}`;
    return awaitedWords(input, c);
  };
  const stays = givingOf(shares, clusters).join(', ');
  const held = heldBy(hold, stays);
  const refused = input.gone ? undefined : input.root && podRefusal(input.root);
  if (input.root && refused !== undefined) {
    const words = refusalWords(input.root, refused);
    if (!held) return { type, status: 'False', reason: podsRefused, message: words };
    return { ...held, message: `${held.message}; ${words}` };
  }
  if (failed.length > 0) return { type, status: 'False', reason: applyFailed, message: failed.join('; ') };
  const copied = copyVerdict(input.copied);
  if (copied) return { type, ...copied };
  // What may not run twice is where it is to be only when it has left: nothing there is waited for before.
  if (held && (once || waitingFor.length === 0)) return held;
  if (waitingFor.length > 0) {
    const giving = servingOf(shares).filter((c) => leaving.includes(c));
    const until = giving.length > 0 ? `; until then it stays on ${giving.join(', ')}` : '';
    const givers = Object.keys(shares).filter((c) => leaving.includes(c) || shares[c]?.held !== undefined);
    const end = (once && onceWords({ blind, refusing, givers })) || until;
    return {
      type,
      status: 'False',
      reason: 'Joining',
      message: `waiting for ${withWhy(waitingFor, awaited)}${end}`,
    };
  }
  const withdrawing = Object.entries(shares).filter(([, { phase }]) => phase === 'Withdrawing');
  if (withdrawing.length > 0) {
    return { type, status: 'False', reason: 'Withdrawing', message: withdrawingWords(withdrawing) };
  }
  if (leaving.length > 0) {
    const begun = input.begun ? servingOf(shares).filter((c) => leaving.includes(c)) : [];
    const ends = begun.length > 0 && `; it has started there, and ends there`;
    const message = `${leavingWords(leaving, input.silenceAt)}${ends || ''}`;
    return { type, status: 'False', reason: 'Leaving', message };
  }
  // What is nowhere is not where it should be.
  if (!input.gone && clusters.length === 0 && !isOver(input)) return { ...placed(input), type };
  const message = isOver(input) ? overWords : 'every share is where it should be';
  return { type, status: 'True', reason: 'Settled', message };
}

/** It has left all clusters, and comes to none. */
function isOver({ root, shares }: ConditionsInput): boolean {
  return root !== undefined && isFinished(root) && Object.keys(shares).length === 0;
}

const overWords = 'it has ended, and is not made again';

function heldBy(hold: Handover['hold'], stays: string): Verdict | undefined {
  const said = { type: 'Settled', status: 'False' } as const;
  if (hold.held.includes(paused)) {
    const message = `paused by annotation ${pausedAnnotation}; until it is removed, it stays on ${stays}`;
    return { ...said, reason: 'Paused', message };
  }
  if (hold.held.length === 0) return undefined;
  return { ...said, reason: waitingReason, message: waitingWords(hold, stays) };
}

export const podsRefused = 'PodsRefused';

function refusalWords(root: KubeObject, refused: string): string {
  // Its end tells whether an Event has said so: see words.ts.
  if (makesNone(root)) return `its pods would be refused: ${refused}; it is to have none`;
  const runs = isHeldBack(root) ? 'none is made of it' : 'what runs keeps the template that it has';
  return `its pods are refused, so ${runs}; asked again now and then: ${refused}`;
}

function leavingWords(leaving: readonly string[], silenceAt?: ConditionsInput['silenceAt']): string {
  const silences = leaving.flatMap((name) => silenceAt?.(name)?.words ?? []);
  const silent =
    silences.length > 0 && `; ${silences.join('; ')}: it goes from there when that answers again`;
  return `still on ${leaving.join(', ')}${silent || ''}`;
}

/** What a deletion waits for that may never come; undefined: it goes on. */
export function deletionWords(shares: Shares, silenceAt: ConditionsInput['silenceAt']): string | undefined {
  const leaving = Object.keys(shares).filter((c) => shares[c]?.phase === 'Leaving');
  return leaving.some((c) => silenceAt?.(c)) ? leavingWords(leaving, silenceAt) : undefined;
}

function withdrawingWords(withdrawing: readonly (readonly [string, Share])[]): string {
  const unheard = withdrawing.filter(([, share]) => leavesUnheard(share));
  if (unheard.length > 0)
    return `${namesOf(unheard)} is silent; what may run there is removed when it is heard of`;
  const open = withdrawing.filter(([, share]) => isStillLedTo(share));
  return open.length > 0
    ? `${namesOf(open)} has yet to take its Services out of it; it leaves when the time to drain is over after that`
    : `${namesOf(withdrawing)} gets no new connections, and leaves when the time to drain is over`;
}

function namesOf(shares: readonly (readonly [string, Share])[]): string {
  return shares.map(([name]) => name).join(', ');
}
