import { clustersAnnotation, placedByAnnotation } from '../cluster/names.ts';
import type { Placement, Share } from '../cluster/types.ts';
import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';

/* Which writes say nothing that whoever made them does not know. */

/**
 * The splitter's own word that there are shares, or that a Deployment comes to more clusters, where nothing else changes but how it is
 * rolled out: what follows comes from their clusters.
 */
export function begins(now: Placement, old: Placement): boolean {
  const [after, before] = [sharesOf(now), sharesOf(old)];
  if (after.size <= before.size || !isOneWrite(now, old)) return false;
  if (before.size === 0) return true;
  const isSame = ([c, share]: [string, Share]) => {
    const then = before.get(c);
    return then ? deepEqual(unrolled(share), unrolled(then)) : isNewcomer(share);
  };
  return now.spec?.ref.kind === 'Deployment' && [...after].every(isSame);
}

/** The splitter's own word that a Deployment is where it is to be, and leaves the rest: what follows comes from there. */
export function leaves(now: Placement, old: Placement): boolean {
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

/** The splitter's own word that nothing is to be done. */
export function settles(now: Placement, old: Placement): boolean {
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
