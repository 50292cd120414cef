import { createHash } from 'node:crypto';
import { kindNamed, placedKind } from '../cluster/kinds.ts';
import { changed } from '../cluster/refusal.ts';
import type { ClusterSlice, ObjectRef, ShareView, ToldShare } from '../cluster/types.ts';
import { encodeJson } from '../kube/json.ts';
import type { KubeObject, OwnerReference } from '../kube/object.ts';
import { at, numberAt, textAt } from '../kube/untyped.ts';
import { isScaled, replicasThere, withoutReplicas } from './scaled.ts';
import type { TargetId } from './target.ts';

type Numbers = NonNullable<ClusterSlice['share']>;

/** What this syncer did about one target since it started. All of it can be found again by doing it again. */
export interface TargetRecord {
  /** Of the manifest that was last applied. */
  manifest?: string;
  /** Of our fields of the physical object as that apply left them. */
  fingerprint?: string;
  /** See Rush.isNew, by its clock; undefined: not by this one, or what was made long before elsewhere. */
  madeAt?: number;
  applied?: { uid: string; physicalGeneration: number; generation: number; share: Numbers };
  /** What the physical controller has seen of what was applied. */
  observed?: { generation: number; share: Numbers };
  error?: { reason: string; message: string } | undefined;
  /** With an error: what was refused said to wait for its turn. */
  waits?: boolean;
  /** Of its namespace there: which the cluster does not take. */
  refusedLabels?: readonly string[];
  /** Milliseconds since 1970: it is not let go there, as what it requires is not known or, a quota, not counted yet. */
  early?: { lacks: string; since: number } | undefined;
  /** The targets that had to be there before; they leave after. */
  requires: TargetId[];
  /** Repairs in a row that were written, of drift or of an absence: each waits longer for the next. Milliseconds since 1970. */
  repairs: number;
  repairNotBefore: number;
  /** Milliseconds since 1970. */
  writtenAt?: number;
  /** What controls the Pod there and was not among ours when it was looked for, since when: milliseconds since 1970. */
  stranger?: { uid: string; since: number };
  /** The uid there of what of ours controlled it last: the one that replaces that has not. */
  controller?: string;
  /** It is a Service that is withdrawn, or was and slices may be left of that: the watch may not know it yet. */
  withdrawn?: boolean;
  /** The object is known to be absent. */
  absent: boolean;
  /** The generation there in which it was told to have no more than it leaves behind. */
  loweredTo?: number;
  /** It was read to be, and nothing was to be applied since. */
  gone?: boolean;
  /** It is absent, and what it left behind stays. */
  orphans?: boolean;
  /** It counts as absent and is there: its cluster was given up, and who was left behind needs it. */
  stays?: boolean;
  /** It was there when this syncer started, and had to be applied all the same: the next one is to know better. */
  remark?: boolean;
  /** What is beside the shares is refused as this manifest, since then: milliseconds since 1970. */
  refused?: { manifest: string; since: number };
}

/** No watch is late for so long: then the object is what it was before, as a backup of its cluster that was restored has it. */
const lateMs = 60_000;

/** The watch may not have come to our own write yet. */
export function isBehind(
  { metadata }: KubeObject,
  { applied, writtenAt = 0 }: Pick<TargetRecord, 'applied' | 'writtenAt'>,
  now = Date.now(),
): boolean {
  return (metadata.generation ?? 0) < (applied?.physicalGeneration ?? 0) && now - writtenAt < lateMs;
}

export function newRecord(): TargetRecord {
  return { requires: [], repairs: 0, repairNotBefore: 0, absent: false };
}

const digests = new WeakMap<object, string>();

/** Objects from a cache never change: each is digested once. */
export function digest(value: object): string {
  const known = digests.get(value);
  if (known !== undefined) return known;
  const made = createHash('sha1').update(encodeJson(value)).digest('base64');
  digests.set(value, made);
  return made;
}

/** Of what a manifest asks for: an autoscaler's replicas are not part of it. */
export function manifestDigest(manifest: KubeObject): string {
  if (!isScaled(manifest)) return digest(manifest);
  const known = scaledDigests.get(manifest);
  if (known !== undefined) return known;
  const made = digest(withoutReplicas(manifest));
  scaledDigests.set(manifest, made);
  return made;
}

const scaledDigests = new WeakMap<object, string>();

/**
 * Changes when somebody else changed what we apply: generation stands for the spec where the kind counts it, unless an
 * autoscaler changes it too, or, of a Deployment, any annotation does: its controller notes the revision in one at once. Of labels
 * and annotations only ours matter, since controllers add their own.
 */
export function fingerprint(object: KubeObject, manifest: KubeObject): string {
  const known = fingerprints.get(object);
  if (known?.manifest === manifest) return known.text;
  const text = takeFingerprint(object, manifest);
  fingerprints.set(object, { manifest, text });
  return text;
}

/** Each event of an object is followed by several looks at it. */
const fingerprints = new WeakMap<KubeObject, { manifest: KubeObject; text: string }>();

function takeFingerprint(object: KubeObject, manifest: KubeObject): string {
  const scaled = isScaled(manifest);
  const of = scaled ? withoutReplicas(object) : object;
  const { metadata, status: _status, kind: _kind, apiVersion: _apiVersion, ...rest } = of;
  const pick = (of: Record<string, string> = {}, keys: Record<string, string> = {}) =>
    Object.keys(keys).map((key) => (Object.hasOwn(of, key) ? of[key] : null));
  return digest([
    metadata.uid,
    pick(metadata.labels, manifest.metadata.labels),
    pick(metadata.annotations, manifest.metadata.annotations),
    (scaled || manifest.kind === 'Deployment' ? undefined : metadata.generation) ?? rest,
  ]);
}

export function shareNumbers(share: ToldShare): Numbers {
  const { replicas, scaled, maxReplicas, completions, parallelism } = share;
  const { ordinalsStart, suspend, paused, withdrawn } = share;
  return {
    ...(replicas !== undefined && { replicas }),
    ...(scaled !== undefined && { scaled }),
    ...(maxReplicas !== undefined && { maxReplicas }),
    ...(completions !== undefined && { completions }),
    ...(parallelism !== undefined && { parallelism }),
    ...(ordinalsStart !== undefined && { ordinalsStart }),
    ...(suspend !== undefined && { suspend }),
    ...(paused !== undefined && { paused }),
    ...(withdrawn !== undefined && { withdrawn }),
  };
}

/** Whether the controller of the physical object has seen what was applied. */
export function hasObserved(object: KubeObject, physicalGeneration: number, ref?: ObjectRef): boolean {
  const kind = ref?.rule ? placedKind(ref) : kindNamed(object.kind);
  if (!kind?.countsGenerations) return true;
  const said = at(object.status, 'observedGeneration');
  // Some controllers say it as text.
  const observed = ref?.rule && typeof said === 'string' && /^\d{1,15}$/.test(said) ? Number(said) : said;
  return typeof observed === 'number' && observed >= physicalGeneration;
}

/**
 * Who is refused while it is told to wait, does wait where nothing is on its way: whatever is applied later is from that on.
 * While it is told to go on, it has not heard of that.
 */
function shareSaid(
  { observed, error, waits }: TargetRecord,
  object: KubeObject,
): Pick<ClusterSlice, 'share'> {
  const refused = error !== undefined && error.reason !== changed;
  const { paused, ...numbers } = observed ? replicasThere(observed.share, object) : {};
  const isWaiting = refused ? waits && (paused || isAtRest(object)) : paused;
  return observed || isWaiting ? { share: { ...numbers, ...(isWaiting && { paused: true }) } } : {};
}

/** Its controller has nothing left to do: all its pods are there, of its template as far as they are to be. */
function isAtRest(object: KubeObject): boolean {
  const { spec, status, metadata } = object;
  const said = (field: string) => numberAt(status, field) ?? 0;
  const replicas = numberAt(spec, 'replicas') ?? 1;
  const partition = numberAt(spec, 'updateStrategy', 'rollingUpdate', 'partition') ?? 0;
  return (
    hasObserved(object, metadata.generation ?? 0) &&
    said('replicas') === replicas &&
    said('availableReplicas') >= replicas &&
    said('updatedReplicas') >= replicas - partition
  );
}

/** Of a ReplicaSet that is gone: whose it was. */
function ownedBefore({ spec, status }: ShareView): Pick<ClusterSlice, 'owner'> {
  return spec?.ref.kind === 'ReplicaSet' && spec.manifest && status?.owner ? { owner: status.owner } : {};
}

const maxStatusBytes = 60 << 10;

/** What to say of a share; undefined while there is nothing to say yet. */
export function sliceOf(
  share: ShareView,
  record: TargetRecord,
  object: KubeObject | undefined,
  owner?: OwnerReference,
): ClusterSlice | undefined {
  const error = record.error && { error: record.error };
  if (!object || record.stays) {
    if (record.absent) return { present: false, ...ownedBefore(share), ...error };
    if (record.orphans && !share.spec?.manifest) return { present: true, orphans: true };
    // What is to leave and cannot be looked at may be there.
    const present = share.status?.present ?? (share.spec !== undefined && !share.spec.manifest);
    return error ? { present, ...error } : undefined;
  }
  const status = object.status as Record<string, unknown> | undefined;
  const fits = status === undefined || Buffer.byteLength(encodeJson(status)) <= maxStatusBytes;
  const tooLarge = { reason: 'StatusTooLarge', message: `status is longer than ${maxStatusBytes} bytes` };
  const nodeName = object.kind === 'Pod' ? textAt(object, 'spec', 'nodeName') : undefined;
  return {
    present: true,
    ...(nodeName && { nodeName }),
    ...(owner && { owner: { uid: owner.uid } }),
    ...(record.observed && { observedGeneration: record.observed.generation }),
    ...shareSaid(record, object),
    ...(record.refusedLabels?.length && { refusedLabels: [...record.refusedLabels] }),
    ...(status && fits && { status }),
    ...(fits ? error : { error: record.error ?? tooLarge }),
  };
}
