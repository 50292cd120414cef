import { placedKind } from '../../cluster/kinds.ts';
import { isSystemNamespace } from '../../cluster/names.ts';
import { lackingPods } from '../../cluster/no-room.ts';
import { isOfCustom, isPlaceable, scalesHere } from '../../cluster/placeable.ts';
import { reflectedFrom } from '../../cluster/reflected.ts';
import { isRefused } from '../../cluster/refusal.ts';
import { slicesOf } from '../../cluster/ruled.ts';
import { leavesUnheard } from '../../cluster/share.ts';
import { clustersHeardType, silencesIn } from '../../cluster/silence.ts';
import { countOf, hasEnded } from '../../cluster/summary.ts';
import type { ClusterSlice, ObjectRef, Placement, Share } from '../../cluster/types.ts';
import { copyFailed } from '../../cluster/volume-copy.ts';
import { groupResource } from '../../kube/gvk.ts';
import { listAt } from '../../kube/untyped.ts';
import { schedulersNote } from '../../scheduler/wishes.ts';
import { endsOn } from '../remaining.ts';
import { adviceFor } from './advice.ts';
import { leftBehind } from './claims.ts';
import { refusalOf, troublesOn } from './pods.ts';
import type { Section, Story, Told } from './told.ts';
import { whoAsked } from './who.ts';

/** The decision about one object, in words. Sections that have nothing to say are left out. */
export function storyOf(told: Told): Story {
  const { kind, object, placement } = told;
  const { name = '', namespace = '' } = object.metadata;
  const sections = [
    { title: 'Who asked', lines: whoAsked(told) },
    ...(typeof placement === 'string' ? [] : placedSections(told, placement)),
    { title: 'Data that is left', lines: leftBehind(told) },
    { title: 'What its Events say', lines: [...told.events] },
    { title: 'What you can do', lines: adviceFor(told) },
  ];
  return {
    logicalCluster: told.logicalCluster,
    namespace,
    object: `${groupResource(kind)}/${name}`,
    headline: plain(headlineOf(told)),
    sections: sections
      .filter(({ lines }) => lines.length > 0)
      .map(({ title, lines }) => ({ title, lines: lines.map(plain) })),
  };
}

/** Clusters, tenants and pods wrote these words: none of them may steer the reader's terminal. */
function plain(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ');
}

export function storyText({ logicalCluster, namespace, object, headline, sections }: Story): string {
  const told = sections.flatMap(({ title, lines }) => ['', `${title}:`, ...lines.map((line) => `  ${line}`)]);
  return [`${logicalCluster}/${namespace}/${object} ${headline}`, ...told].join('\n');
}

function headlineOf(told: Told): string {
  const { object, kind, placement } = told;
  if (placement === 'forbidden') {
    const note = schedulersNote(object);
    const where = note === undefined ? 'is placed somewhere' : `is to be on ${note}`;
    return `${where}: more is said by its Placement, which you may not read`;
  }
  if (placement !== 'absent') {
    const silences = silentWords(silencesOf(told, placement));
    return [placedHeadline(placement, silences.length === 0), ...silences].join('; ');
  }
  const { namespace = '', ownerReferences = [] } = object.metadata;
  const owner = ownerReferences.find(({ controller }) => controller === true);
  const from = reflectedFrom(object);
  if (isSystemNamespace(namespace)) return `is placed nowhere: nothing in ${namespace} is`;
  if (from.length > 0) return `is a copy of what ${and(from)} made: it is not placed itself`;
  if (scalesHere(object) || isOfCustom(kind, object))
    return 'is placed nowhere: it scales in its logical cluster, where its metrics or its target are';
  if (isPlaceable(kind, object))
    return kind.role === 'closure'
      ? 'is nowhere: no workload that is placed needs it'
      : 'has not been looked at by the scheduler yet';
  if (owner) return `is placed nowhere: ${owner.kind} ${owner.name} makes its own wherever that is`;
  return 'is placed nowhere: each cluster has its own';
}

/** Of those where something of it is: of the others its conditions say nothing. */
function silencesOf({ object }: Told, { status }: Placement): ReadonlyMap<string, string> {
  const said = silencesIn(listAt(object, 'status', 'conditions'));
  return said.size > 0 ? said : silencesIn(status?.conditions ?? []);
}

function silentWords(silences: ReadonlyMap<string, string>): string[] {
  return [...silences].map(([name, words]) => `its cluster ${name} ${words}`);
}

function placedHeadline(placement: Placement, isHeard: boolean): string {
  const { spec, status } = placement;
  const { clusters = [], shares = {}, blocked, waits = [], noRoom, unplaced, ref } = spec ?? {};
  const there = Object.keys(shares).sort();
  const old = there.filter((name) => !clusters.includes(name));
  const isSettled = status?.conditions?.some(({ type, status: is }) => type === 'Settled' && is === 'True');
  // Of what is settled, and of a Job that is not divided over all of them, no more clusters are owed a share.
  const isWhole = clusters.some((name) => shares[name]) && (isSettled || isUndivided(ref));
  const owed = isWhole ? clusters.filter((name) => shares[name]) : clusters;
  const coming = owed.filter((name) => shares[name]?.phase !== 'Active');
  if (there.length === 0 && clusters.length === 0) return 'runs nowhere: no cluster takes it';
  const lacking = noRoom?.on ? noRoom : unplaced;
  if (lacking) return `is on ${and(there.length > 0 ? there : clusters)}, and ${lackingPods(lacking)}`;
  if (status?.conditions?.some(({ reason }) => reason === copyFailed)) {
    const runs = there.filter((name) => shares[name]?.replicas !== 0);
    return `is on ${and(runs)}, and cannot get where it ought to be`;
  }
  if (blocked === true)
    return `is on ${and(there.length > 0 ? there : clusters)}, and cannot get where it ought to be`;
  if (waits.length > 0) return `is on ${and(clusters)}, and leaves ${and(waits)} when it is its turn`;
  if (clusters.length === 0) return `is leaving ${and(old)}, and is to be nowhere`;
  if (isUndivided(ref) && isSettled && there.length === 0) return 'has ended, and is nowhere any more';
  if (old.some((name) => endsOn(name, placement)))
    return `is on ${and(old)} until it ends, and is to be on ${and(clusters)}`;
  if (old.length > 0) return `is moving from ${and(old)} to ${and(coming.length > 0 ? coming : clusters)}`;
  if (coming.length > 0) return `is on its way to ${and(coming)}`;
  const isSpread = !status?.conditions?.some(({ type, status: is }) => type === 'Placed' && is === 'False');
  return `is on ${and(owed)}${isSettled && isSpread && isHeard ? ', as it should be' : ''}`;
}

/** It has as many parts as it has pods, or one only. */
function isUndivided(ref: ObjectRef | undefined): boolean {
  const spread = ref && placedKind(ref)?.spread;
  return spread === 'batch' || spread === 'one';
}

function placedSections(told: Told, placement: Placement): Section[] {
  const { kind, object, pods } = told;
  const { spec, status } = placement;
  const { clusters = [], wanted = [], reasons = {}, shares = {}, waits = [], ref } = spec ?? {};
  const spoken = new Set([...wanted, ...Object.keys(reasons)]);
  const refused = [...spoken].filter((name) => !clusters.includes(name));
  const whyOf = (name: string) => (Object.hasOwn(reasons, name) ? reasons[name] : 'no reason was given');
  const say = (name: string) => `${name}: ${whyOf(name)}`;
  const isOver = hasEnded(placement);
  const former = ref !== undefined && ref.uid !== object.metadata.uid;
  const silences = silencesOf(told, placement);
  const under = (status?.conditions ?? []).flatMap(({ type, status: is, message }) =>
    is === 'False' && type !== clustersHeardType ? [message] : [],
  );
  const slices = slicesOf(placement);
  const whereIs = (name: string) => {
    const share = shares[name];
    const slice = slices[name];
    if (!share) return [];
    const count = kind.role === 'workload' ? countOf(share, slice?.status) : undefined;
    const refusal = refusalOf(slice?.status);
    const missing = refusal === undefined ? [] : [`pods are refused there: ${refusal}`];
    const troubles = [...missing, ...troublesOn(name, pods)].map((line) => `  ${line}`);
    return [`${name}: ${shareWords(share, slice, { count, silence: silences.get(name) })}`, ...troubles];
  };
  return [
    { title: 'Where it is to be', lines: isOver ? [] : [...clusters].sort().map(say) },
    { title: 'Where it is not to be', lines: isOver ? [] : refused.sort().map(say) },
    { title: 'Where it is', lines: Object.keys(shares).sort().flatMap(whereIs) },
    {
      title: 'What it waits for',
      lines: [
        ...waits.map((name) => `its turn to leave ${name}: others leave it now`),
        ...silentWords(silences),
        ...(former ? ['a former object of this name to leave its clusters'] : []),
        ...new Set(under.filter((message) => message !== '')),
      ],
    },
  ];
}

const phases: Readonly<Record<Share['phase'], string>> = {
  Joining: 'joining, not counted on yet',
  Active: 'there, and counted on',
  Withdrawing: 'there, and gets no new connections',
  Leaving: 'being removed',
};

interface Counted {
  count: string | undefined;
  /** Of a cluster that is not heard of: since when. */
  silence: string | undefined;
}

function shareWords(share: Share, slice: ClusterSlice | undefined, { count, silence }: Counted): string {
  const words = [leavesUnheard(share) ? 'silent; removed when it is heard of' : phases[share.phase]];
  if (count !== undefined) words.push(`${count} ${share.completions === undefined ? 'ready' : 'done'}`);
  if (silence !== undefined) words.push(`this is what was heard last: it ${silence}`);
  if (!slice && share.phase !== 'Leaving') words.push('the cluster has not said anything of it yet');
  const { reason, message } = slice?.error ?? {};
  if (reason !== undefined)
    words.push(`${isRefused(slice) ? 'it does not take it: ' : ''}${reason}: ${message}`);
  return words.join('; ');
}

/** `a`, `a and b`, `a, b and c`. */
function and(names: readonly string[]): string {
  const rest = names.slice(0, -1);
  return rest.length === 0 ? names.join() : `${rest.join(', ')} and ${names.at(-1)}`;
}
