import { misfitIn } from '../cluster/node-fit.ts';
import { originOf } from '../cluster/ruled.ts';
import type { Placement } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import { at, listAt, numberAt, textAt } from '../kube/untyped.ts';
import type { Shares, Slices } from './plan.ts';

interface Awaited {
  placement: Placement;
  root?: KubeObject | undefined;
  shares: Shares;
  slices: Slices;
  unled: readonly string[];
}

/** Behind the name of a cluster that is waited for: why, where that is known. Else empty. */
export function awaitedWords(input: Awaited, cluster: string): string {
  const { placement, unled } = input;
  const misfit = misfitIn(placement.spec?.reasons?.[cluster]);
  const why = unled.includes(cluster)
    ? unledWords
    : (haltedWords(input, cluster) ??
      refusedWords(input.slices, cluster) ??
      misfit ??
      unplacedWords(input.slices, cluster));
  return why === undefined ? '' : ` (${why})`;
}

const unledWords = 'it is ready there, and its Services have yet to lead to all of it';

/**
 * Its user has paused its rollout: its controller there makes no pod of a template of which it has none yet. That of a custom resource
 * may do the same.
 */
function haltedWords({ root, shares, slices }: Awaited, cluster: string): string | undefined {
  const ruled = root && originOf(root)?.object;
  if ((!ruled && root?.kind !== 'Deployment') || at(ruled ?? root, 'spec', 'paused') !== true)
    return undefined;
  const { status } = Object.hasOwn(slices, cluster) ? (slices[cluster] ?? {}) : {};
  if ((numberAt(status, 'updatedReplicas') ?? 0) >= (shares[cluster]?.replicas ?? 1)) return undefined;
  return ruled
    ? 'its spec.paused is true, so its controller may make none of its pods there'
    : 'its rollout is paused, so none of its pods is made there; kubectl rollout resume';
}

/** Its controller there is not given all of its pods: by a quota of that cluster, its admission, a policy. */
function refusedWords(slices: Slices, cluster: string): string | undefined {
  const { status } = Object.hasOwn(slices, cluster) ? (slices[cluster] ?? {}) : {};
  const failure = listAt(status, 'conditions').find(
    (condition) => textAt(condition, 'type') === 'ReplicaFailure' && textAt(condition, 'status') === 'True',
  );
  const message = textAt(failure, 'message');
  return message ? `pods are refused there: ${message.slice(0, 512)}` : undefined;
}

/** Of a Pod itself its own status tells it. */
function unplacedWords(slices: Slices, cluster: string): string | undefined {
  const { status, unplaced } = Object.hasOwn(slices, cluster) ? (slices[cluster] ?? {}) : {};
  const own = listAt(status, 'conditions').find(
    (condition) => textAt(condition, 'type') === 'PodScheduled' && textAt(condition, 'status') === 'False',
  );
  const why = unplaced ?? textAt(own, 'message');
  return why ? `a pod has no node there: ${why.slice(0, 512)}` : undefined;
}

const mostExplained = 3;

/** Each is named; why is said of a few: of a hundred that refuse its pods it would be longer than the rest of its record. */
export function withWhy(names: readonly string[], why: (name: string) => string): string {
  let left = mostExplained;
  const named = (name: string) => {
    const words = left > 0 ? why(name) : '';
    if (words !== '') left--;
    return name + words;
  };
  return names.map(named).join(', ');
}
