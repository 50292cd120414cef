import { isClaimName, isClaimRef, ordinalOf, templateOf } from '../cluster/claims.ts';
import { type PlacedObject, refKey } from '../cluster/closure.ts';
import type { Copies } from '../cluster/copies.ts';
import { isFinished } from '../cluster/kinds.ts';
import type { ClosureRef, PhysicalCluster, Placement } from '../cluster/types.ts';
import { copierBetween, isClaimCopied, templateCopied } from '../cluster/volume-copy.ts';
import { isInPlace, type Volumes, volumesOf } from '../cluster/volumes.ts';
import type { KubeObject } from '../kube/object.ts';
import { listAt, numberAt, textAt } from '../kube/untyped.ts';
import { type Choice, record, type Situation, stay, uncopiedWords } from './judge.ts';
import { placementOf, type Scene } from './scene.ts';

/** Those that can be told to stop, and heard to have stopped, before anything is copied. */
const stoppable = ['StatefulSet', 'Deployment', 'ReplicaSet', 'ReplicationController'];

/** What is said of a claim of this workload; while its data is being brought along, `hold` does not mean to leave it behind. */
export function wordOf(
  scene: Scene,
  { object: workload }: PlacedObject,
  claim: KubeObject | undefined,
  name: string,
  placement: Placement | undefined,
): Volumes {
  const word = volumesOf(claim, templateOf(workload, name), workload, scene.input.namespace);
  return word === 'hold' &&
    isUnderWay(placement, workload) &&
    isClaimCopied(workload, placement?.spec?.copies, name)
    ? 'copy'
    : word;
}

function isUnderWay(placement: Placement | undefined, workload: KubeObject): boolean {
  return placement?.spec !== undefined && !isInPlace(placement.spec, workload);
}

/** Why the data of a claim that is to be copied cannot be, wherever to; undefined: it can. `on`: the clusters that have data of it, of what runs there. */
export function whyUncopied(
  scene: Scene,
  placed: PlacedObject,
  ref: ClosureRef,
  on: readonly string[],
): string | undefined {
  const { object: workload, kind } = placed;
  if (kind.rule || !stoppable.includes(workload.kind))
    return `is copied only for what can be stopped first: ${stoppable.join(', ')}`;
  const replicas = numberAt(workload, 'spec', 'replicas') ?? 1;
  if (isClaimName(workload, ref.name)) {
    const first = numberAt(workload, 'spec', 'ordinals', 'start') ?? 0;
    const ordinal = ordinalOf(ref.name) ?? first;
    const isAsked = ordinal >= first && ordinal < first + replicas;
    return isAsked && isTold(placementOf(scene, placed), ordinal, first)
      ? undefined
      : 'is of no pod that there is: scale up, or delete it';
  }
  const other = otherUser(scene, placed, ref);
  if (other) return `is used by ${other.kind} ${other.metadata.name}, too`;
  if (workload.kind === 'StatefulSet' && replicas > 1) return 'is shared by pods that move one by one';
  return on.length > 1 ? `has other data on each of ${[...on].sort().join(', ')}` : undefined;
}

/** It runs somewhere, or has just been stopped there. What is only asked for begins where its set belongs by then. */
function isTold(placement: Placement | undefined, ordinal: number, first: number): boolean {
  return Object.values(placement?.spec?.shares ?? {}).some((share) =>
    [share, share.held].some((part) => {
      if (!part) return false;
      const start = part.ordinalsStart ?? first;
      return start <= ordinal && ordinal < start + (part.replicas ?? Number.POSITIVE_INFINITY);
    }),
  );
}

function otherUser(scene: Scene, placed: PlacedObject, ref: ClosureRef): KubeObject | undefined {
  const { uid } = placed.object.metadata;
  const records = [...scene.records.values()].filter(
    ({ spec }) => spec?.ref.uid !== uid && spec?.requires?.some((other) => refKey(other) === refKey(ref)),
  );
  const uids = new Set(records.map(({ spec }) => spec?.ref.uid));
  // What has ended reads and writes no more.
  return scene.input.objects.find(({ object }) => uids.has(object.metadata.uid ?? '') && !isFinished(object))
    ?.object;
}

/** What the Placement says of whose data comes along: of claims that are yet to come, too. */
export function copiesOf(
  scene: Scene,
  placed: PlacedObject,
  requires: readonly ClosureRef[],
  isUncopied: (claim: string) => boolean,
): Copies | undefined {
  const { object: workload } = placed;
  const placement = placementOf(scene, placed);
  const found = new Map<string, KubeObject>();
  for (const claim of scene.input.claims ?? []) found.set(claim.metadata.name ?? '', claim);
  for (const ref of requires.filter(isClaimRef)) {
    const own = scene.index.byKey.get(refKey(ref));
    if (own) found.set(ref.name, own.object);
  }
  const word = (name: string) => wordOf(scene, placed, found.get(name), name, placement);
  const patterns = stoppable.includes(workload.kind) ? patternsOf(workload) : [];
  const whole = patterns.filter(({ claim }) => word(claim) === 'copy').map(({ pattern }) => pattern);
  const mine = [...found.keys()].filter(
    (name) => isClaimName(workload, name) || requires.some((ref) => isClaimRef(ref) && ref.name === name),
  );
  const covered = (name: string) => isClaimCopied(workload, { claims: whole }, name);
  // What is on its way goes on: without it what was stopped would start empty, or with half of it.
  const goesOn = (name: string) =>
    isUnderWay(placement, workload) && isClaimCopied(workload, placement?.spec?.copies, name);
  const isCopied = (name: string) => word(name) === 'copy' && (!isUncopied(name) || goesOn(name));
  const claims = [...whole, ...mine.filter((name) => !covered(name) && isCopied(name))].sort();
  const except = mine.filter((name) => covered(name) && word(name) !== 'copy').sort();
  return claims.length === 0 ? undefined : { claims, ...(except.length > 0 && { except }) };
}

/** Of each template: a claim that nobody has, and that nothing is said of; what stands for all of them. */
function patternsOf(set: KubeObject): { claim: string; pattern: string }[] {
  const { name = '' } = set.metadata;
  return listAt(set, 'spec', 'volumeClaimTemplates').map((template) => {
    const of = textAt(template, 'metadata', 'name') ?? '';
    return { claim: `${of}-${name}-9999999999`, pattern: templateCopied(of, name) };
  });
}

/** Of the claims that it uses: one that another workload is stopped for, to be copied; and that workload. */
export function underCopy(
  scene: Scene,
  placed: PlacedObject,
  requires: readonly ClosureRef[],
): { claim: string; by: KubeObject } | undefined {
  for (const { name } of requires.filter(isClaimRef)) {
    const by = scene.input.objects.find((other) => {
      const spec = other === placed ? undefined : placementOf(scene, other)?.spec;
      if (!spec || !isClaimCopied(other.object, spec.copies, name)) return false;
      const copy = scene.input.copies?.get(name);
      const hasEnded = copy?.status?.phase === 'Copied' || copy?.status?.phase === 'Failed';
      const isWritten = copy?.spec?.workload.uid === spec.ref.uid && !hasEnded;
      return isWritten || Object.values(spec.shares ?? {}).some(({ held }) => held !== undefined);
    });
    if (by) return { claim: name, by: by.object };
  }
  return undefined;
}

export interface Copied {
  /** See `underCopy`. */
  busy?: ReturnType<typeof underCopy>;
  /** By cluster where it has data that is copied along: the first such claim. */
  copied: ReadonlyMap<string, string>;
  /** A claim whose data is to be copied and cannot be, and why. */
  uncopied?: string | undefined;
  /** Where it has shares. */
  there: readonly string[];
}

/** Why what is to bring its data along, or uses what somebody else brings, cannot come to a cluster where it is not. */
export function copyRefusal(
  { copied, uncopied, busy, there }: Copied,
  name: string,
  clusters: ReadonlyMap<string, PhysicalCluster>,
): string | undefined {
  if (busy && !there.includes(name))
    return `its claim ${busy.claim} is about to be copied for ${busy.by.kind} ${busy.by.metadata.name}, and nobody begins to use it before that is done`;
  if (there.includes(name) || there.length === 0) return undefined;
  if (uncopied !== undefined) return uncopiedWords(uncopied);
  for (const [from, claim] of copied) {
    const source = clusters.get(from);
    // What is forgotten holds nothing.
    if (!there.includes(from) || !source || copierBetween(source, clusters.get(name)) !== undefined) continue;
    return `its claim ${claim} on ${from} is to be copied along, and no copier is between the two (spec.copier)`;
  }
  return undefined;
}

/**
 * Claims that all pods use are copied to one cluster: what is named for several stays where it is. Also beside the one where they
 * are it would start empty, and what it wrote there would be copied over the rest once that is left.
 */
export function copiedToOne(
  choice: Choice,
  situation: Situation,
  { placed, claims, there }: { placed: PlacedObject; claims: Data; there: readonly string[] },
): Choice {
  const { clusters, wanted } = choice;
  if (clusters.length < 2 || placed.kind.spread !== 'counts') return choice;
  const source = there.find((c) => claims.copy.has(c) && situation.clusters.has(c));
  if (source === undefined) return choice;
  const why = `its claim ${claims.copy.get(source)} on ${source} is to be copied along, and what has one comes to one cluster alone`;
  const stays = stay(situation, []);
  const reasons = record(clusters.filter((c) => !stays.clusters.includes(c)).map((c) => [c, why]));
  return { ...stays, reasons: { ...stays.reasons, ...reasons }, ...(wanted && { wanted }) };
}

interface Data {
  /** By cluster: a claim that is copied from there. */
  copy: ReadonlyMap<string, string>;
}
