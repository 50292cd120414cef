import { boundOn } from '../cluster/claims.ts';
import { isFinished } from '../cluster/kinds.ts';
import { readyOf } from '../cluster/life.ts';
import type { PhysicalCluster, Placement } from '../cluster/types.ts';
import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import { at } from '../kube/untyped.ts';
import { mayTakeOver } from './orphans.ts';
import { isRolledOut } from './rollout.ts';

/**
 * Whether a change to a placed object can change where anything goes. Statuses and payloads cannot, but that the last
 * pod of a former template is gone: what only that used goes, too; and that it has ended: it takes no room any more.
 */
export function objectMatters(now: KubeObject, old: KubeObject): boolean {
  const metadata = ({ metadata: m }: KubeObject) => [
    m.uid,
    m.deletionTimestamp,
    m.deletionTimestamp && m.finalizers,
    m.labels,
    m.annotations,
    m.ownerReferences,
  ];
  const rest = (o: KubeObject) => [o.spec, o['secrets'], o['imagePullSecrets'], o['type']];
  return !deepEqual(metadata(now), metadata(old)) || !deepEqual(rest(now), rest(old)) || isDone(now, old);
}

function isDone(now: KubeObject, old: KubeObject): boolean {
  if (isFinished(now) !== isFinished(old)) return true;
  return (now.metadata.generation ?? 0) > 1 && isRolledOut(now) && !isRolledOut(old);
}

export function placementMatters(now: Placement, old: Placement): boolean {
  return (
    !deepEqual(decidedBy(now), decidedBy(old)) ||
    !deepEqual(boundOn(now), boundOn(old)) ||
    mayTakeOver(now) !== mayTakeOver(old) ||
    !deepEqual(now.metadata.finalizers, old.metadata.finalizers) ||
    now.metadata.deletionTimestamp !== old.metadata.deletionTimestamp
  );
}

/** Nothing leaves, nor has left: shares come, and become what they are to be. */
export function onlyBegins(now: Placement, old: Placement): boolean {
  const shares = ({ spec }: Placement) => Object.entries(spec?.shares ?? {});
  const left = shares(old).some(([c]) => !Object.hasOwn(now.spec?.shares ?? {}, c));
  const leaves = [...shares(old), ...shares(now)].some(([, { phase }]) => phase === 'Leaving');
  const { shares: _now, ...rest } = now.spec ?? {};
  const { shares: _old, ...before } = old.spec ?? {};
  return (
    !left && !leaves && deepEqual(rest, before) && deepEqual(now.metadata.finalizers, old.metadata.finalizers)
  );
}

/** Without what a hand-over notes for itself and for syncers, step by step. */
function decidedBy({ spec }: Placement): unknown {
  if (!spec?.shares) return spec;
  const shares = Object.entries(spec.shares).map(([c, share]) => {
    const {
      readySince: _since,
      heardSince: _asked,
      awaitedSince: _awaited,
      maxSurge: _surge,
      maxUnavailable: _missing,
      paused: _paused,
      ...kept
    } = share;
    return [c, kept];
  });
  return { ...spec, shares: Object.fromEntries(shares) };
}

/** Heartbeats do not matter; readiness, drain, cordon, taints, labels, what it serves and room do. */
export function clusterMatters(now: PhysicalCluster, old: PhysicalCluster): boolean {
  const ready = (c: PhysicalCluster) => readyOf(c)?.status;
  return (
    !deepEqual(now.spec, old.spec) ||
    !deepEqual(now.metadata.labels, old.metadata.labels) ||
    ready(now) !== ready(old) ||
    now.status?.version !== old.status?.version ||
    !deepEqual(now.status?.serves, old.status?.serves) ||
    now.metadata.deletionTimestamp !== old.metadata.deletionTimestamp ||
    !deepEqual(at(now, 'status', 'allocatable'), at(old, 'status', 'allocatable'))
  );
}

/** To whoever asks for a node. */
export function nodeLabelsMatter(now: PhysicalCluster, old: PhysicalCluster): boolean {
  return !deepEqual(now.status?.nodeLabels, old.status?.nodeLabels);
}
