import { askedSince } from '../cluster/heard.ts';
import { clustersAnnotation, placedByAnnotation } from '../cluster/names.ts';
import type { ClusterSlice, Placement, Share } from '../cluster/types.ts';
import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import { isRecord } from '../kube/untyped.ts';
import { firstWordMs, type Rush, wordMs } from './first-words.ts';
import { type Witness, wasHeard } from './trust.ts';

/* Which writes say nothing that whoever made them does not know. */

/** What mostly follows from what has just been written is looked at with what else comes, or then. */
export const followsMs = 500;

/** After how long what has become of a Placement is looked at, where nothing else comes; undefined: nothing follows from it. */
export function lookAfter(
  now: Placement,
  old: Placement,
  { heardAt, rush }: Pick<Witness, 'heardAt'> & { rush: Rush },
): number | undefined {
  if (begins(now, old) || leaves(now, old)) return wordMs(rush);
  if (settles(now, old) || forgets(now, old)) return undefined;
  // In a rush its last word mostly comes sooner, and says that, too. Where none does, whoever follows a rollout waits for this.
  if (observes(now, old)) return rush?.isOn ? firstWordMs : followsMs;
  if (!asks(now, old)) return 0;
  // Whoever has answered before the question was heard of here does not say it again.
  const asked = [...sharesOf(now)].filter(([, share]) => askedSince(share) !== undefined);
  return asked.some(([c, share]) => wasHeard({ heardAt }, c, share)) ? 0 : wordMs(rush);
}

/**
 * The splitter's own word that there are shares, or that a Deployment comes to more clusters, where nothing else changes but how it is
 * rolled out: what follows comes from their clusters.
 */
function begins(now: Placement, old: Placement): boolean {
  const [after, before] = [sharesOf(now), sharesOf(old)];
  if (after.size <= before.size || !isOneWrite(now, old)) return false;
  return before.size === 0 || comesToMore(now, old);
}

/** A Deployment comes to more clusters, beside others that change in nothing but how they roll. */
export function comesToMore(now: Placement, old: Placement): boolean {
  const [after, before] = [sharesOf(now), sharesOf(old)];
  if (after.size <= before.size || [...before.keys()].some((c) => !after.has(c))) return false;
  const isSame = ([c, share]: [string, Share]) => {
    const then = before.get(c);
    return then ? deepEqual(unrolled(share), unrolled(then)) : isNewcomer(share);
  };
  return now.spec?.ref.kind === 'Deployment' && [...after].every(isSame);
}

/** The splitter's own word that a Deployment is where it is to be, and leaves the rest: what follows comes from there. */
function leaves(now: Placement, old: Placement): boolean {
  const [after, before] = [sharesOf(now), sharesOf(old)];
  const wanted = now.spec?.clusters ?? [];
  const isThere = wanted.length > 0 && wanted.every((c) => after.get(c)?.phase === 'Active');
  const goes = ([c, { phase }]: [string, Share]) => wanted.includes(c) || phase === 'Leaving';
  const begun = [...after].some(
    ([c, { phase }]) => phase === 'Leaving' && before.get(c)?.phase !== 'Leaving',
  );
  const isDeployment = now.spec?.ref.kind === 'Deployment';
  return isDeployment && begun && isThere && [...after].every(goes) && isOneWrite(now, old);
}

/**
 * The splitter's own word that a Deployment is ready where it comes to, and nothing else: what follows comes with time, which whoever wrote it has
 * counted, or from those clusters.
 */
function asks(now: Placement, old: Placement): boolean {
  const [after, before] = [sharesOf(now), sharesOf(old)];
  if (now.spec?.ref.kind !== 'Deployment' || after.size !== before.size) return false;
  let isAsked = false;
  const isSame = ([c, share]: [string, Share]) => {
    const { readySince, ...rest } = share;
    const then = before.get(c);
    if (deepEqual(share, then)) return true;
    isAsked = readySince !== undefined && share.phase === 'Joining';
    return isAsked && deepEqual(rest, then);
  };
  return [...after].every(isSame) && isAsked && isOneWrite(now, old);
}

/** What clusters said that a Deployment has left, and is not to come back to, has gone, and nothing else: it counted no more. */
function forgets(now: Placement, old: Placement): boolean {
  if (now.spec?.ref.kind !== 'Deployment') return false;
  const [{ clusters: said = {} }, { clusters: was = {} }] = [now.status ?? {}, old.status ?? {}];
  const left = Object.keys(was).filter((c) => !Object.hasOwn(said, c));
  const isOver = (c: string) => !sharesOf(now).has(c) && now.spec?.clusters.includes(c) !== true;
  const still = Object.fromEntries(Object.entries(was).filter(([c]) => !left.includes(c)));
  return left.length > 0 && left.every(isOver) && deepEqual(said, still) && isBut(now, old);
}

/** Clusters where a Deployment is not to stay have seen its newest generation, and say nothing else: all have to, and others have more to say. */
function observes(now: Placement, old: Placement): boolean {
  if (now.spec?.ref.kind !== 'Deployment') return false;
  const [said, was] = [now, old].map(({ status }) => Object.entries(status?.clusters ?? {})) as [Said, Said];
  const isSame = ([c, slice]: Said[number]) => {
    const then = was.find(([name]) => name === c)?.[1];
    if (!then || now.spec?.clusters.includes(c)) return deepEqual(slice, then);
    return deepEqual(unobserved(slice), unobserved(then));
  };
  return said.length === was.length && said.every(isSame) && !deepEqual(said, was) && isBut(now, old);
}

type Said = [cluster: string, slice: ClusterSlice][];

function unobserved({ observedGeneration: _seen, status, ...rest }: ClusterSlice): object {
  return { ...rest, status: isRecord(status) ? { ...status, observedGeneration: 0 } : status };
}

/** Nothing is another but what clusters say. */
function isBut({ status: now, ...rest }: Placement, { status: old, ...before }: Placement): boolean {
  return deepEqual({ ...now, clusters: {} }, { ...old, clusters: {} }) && deepEqual(rest, before);
}

function sharesOf({ spec }: Placement): ReadonlyMap<string, Share> {
  return new Map(Object.entries(spec?.shares ?? {}));
}

function unrolled({ maxSurge: _surge, maxUnavailable: _missing, ...share }: Share): object {
  return share;
}

/** And nothing more is asked of it. */
function isNewcomer(share: Share): boolean {
  const { phase, replicas: _replicas, ...rest } = unrolled(share) as Share;
  return phase === 'Joining' && Object.keys(rest).length === 0;
}

/**
 * The splitter's own word that nothing is to be done. A cluster that has failed anew before it came may have been looked at beside its former
 * word, which says the same.
 */
function settles(now: Placement, old: Placement): boolean {
  if (Object.values(now.status?.clusters ?? {}).some(({ error }) => error)) return false;
  const isSettled = ({ status }: Placement) =>
    status?.conditions?.some(({ type, status: is }) => type === 'Settled' && is === 'True') === true;
  return isSettled(now) && !isSettled(old) && isOneWrite(now, old);
}

/** Of the Placement itself, and no word of its clusters, nor of the scheduler: who was cut off for a while hears of several at once. */
function isOneWrite(now: Placement, old: Placement): boolean {
  const isAnother = now.metadata.resourceVersion !== old.metadata.resourceVersion;
  const isHeard = deepEqual(now.status?.clusters, old.status?.clusters);
  return isAnother && isHeard && deepEqual(others(now), others(old));
}

/** What the splitter does not write. */
function others({ metadata, spec }: Placement): unknown {
  const { resourceVersion: _, generation: _generation, managedFields: _fields, ...head } = metadata;
  const { shares: _shares, scale: _scale, leavingSince: _since, ...decided } = spec ?? {};
  return { head, decided };
}

/** Nothing of it has changed but its status. */
export function isOfStatus(now: KubeObject, old: KubeObject): boolean {
  const { status: _now, metadata: a, ...rest } = now;
  const { status: _old, metadata: b, ...before } = old;
  return deepEqual({ ...a, resourceVersion: '' }, { ...b, resourceVersion: '' }) && deepEqual(rest, before);
}

/** Of a Deployment, nothing has changed but where it says that it is, which its Placement said before; each cluster tells that it has seen it. */
export function isPlacing(now: KubeObject, old: KubeObject): boolean {
  if (now.kind !== 'Deployment') return false;
  const unplaced = ({ metadata, ...rest }: KubeObject) => {
    const { resourceVersion: _, generation: _generation, managedFields: _fields, ...head } = metadata;
    const {
      [clustersAnnotation]: _where,
      [placedByAnnotation]: _who,
      ...annotations
    } = head.annotations ?? {};
    return { ...rest, metadata: { ...head, annotations } };
  };
  const isOther =
    now.metadata.annotations?.[clustersAnnotation] !== old.metadata.annotations?.[clustersAnnotation];
  return isOther && deepEqual(unplaced(now), unplaced(old));
}
