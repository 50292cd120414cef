import type { Placement } from '../cluster/types.ts';
import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';

/* Which writes say nothing that whoever made them does not know. */

/** The splitter's own word that there are shares: what follows comes from their clusters. */
export function begins(now: Placement, old: Placement): boolean {
  const count = ({ spec }: Placement) => Object.keys(spec?.shares ?? {}).length;
  return count(old) === 0 && count(now) > 0 && isOneWrite(now, old);
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
