import { stepsOf } from '../cluster/placed-resource.ts';
import { changed } from '../cluster/refusal.ts';
import type { ObjectRef } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import { numberAt } from '../kube/untyped.ts';
import { otherPorts } from './node-ports.ts';
import type { TargetRecord } from './records.ts';
import { isScaled } from './scaled.ts';

/** Somebody's admission may be lifted: so long is waited before it is applied again. */
const againMs = 30_000;
const mostDoublings = 3;

export interface Changed {
  retryAfter: number;
  why: { reason: string; message: string };
}

/**
 * The cluster took what was applied, with other replicas: an admission webhook or policy of its own says how many. What waits for
 * them would wait for ever, so it is an error. Of one that is scaled, or that a controller there has made its own, the number is theirs;
 * of a custom resource only what its rule divides is ours. A Service has other node ports there where somebody else has those that its user asked for.
 */
export function changedThere(
  manifest: KubeObject,
  written: KubeObject,
  ref?: Pick<ObjectRef, 'rule'>,
): Changed | undefined {
  const ports = otherPorts(manifest, written);
  if (ports) return { retryAfter: againMs, why: { reason: changed, message: ports } };
  const path = ref?.rule ? ref.rule.specReplicasPath : '.spec.replicas';
  if (path === undefined) return undefined;
  const [wanted, found] = [manifest, written].map((object) => numberAt(object, ...stepsOf(path)));
  if (wanted === undefined || found === undefined || wanted === found || isScaled(manifest)) return undefined;
  if (written.metadata.ownerReferences?.some(({ controller }) => controller === true)) return undefined;
  const message = `of ${wanted} replicas that were applied ${found} are in its spec there: the cluster's own admission changes them`;
  return { retryAfter: againMs, why: { reason: changed, message } };
}

/** Whether it is time to apply it once more: each time later, up to four minutes. */
export function isDue(
  { writtenAt = 0, repairs }: Pick<TargetRecord, 'writtenAt' | 'repairs'>,
  now = Date.now(),
): boolean {
  return now >= writtenAt + againMs * 2 ** Math.min(repairs, mostDoublings);
}
