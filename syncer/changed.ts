import type { KubeObject } from '../kube/object.ts';
import { numberAt } from '../kube/untyped.ts';
import type { TargetRecord } from './records.ts';
import { isScaled } from './scaled.ts';

/** Somebody's admission may be lifted: so long is waited before it is applied again. */
const againMs = 30_000;

export interface Changed {
  retryAfter: number;
  why: { reason: string; message: string };
}

/**
 * The cluster took what was applied, with other replicas: an admission webhook or policy of its own says how many. What waits for
 * them would wait for ever, so it is an error. Of one that is scaled, or that a controller there has made its own, the number is theirs.
 */
export function changedThere(manifest: KubeObject, written: KubeObject): Changed | undefined {
  const [wanted, found] = [manifest, written].map(({ spec }) => numberAt(spec, 'replicas'));
  if (wanted === undefined || found === undefined || wanted === found || isScaled(manifest)) return undefined;
  if (written.metadata.ownerReferences?.some(({ controller }) => controller === true)) return undefined;
  const message = `of ${wanted} replicas that were applied ${found} are in its spec there: the cluster's own admission changes them`;
  return { retryAfter: againMs, why: { reason: 'Changed', message } };
}

/** Whether it is time to apply it once more. */
export function isDue({ writtenAt = 0 }: Pick<TargetRecord, 'writtenAt'>, now = Date.now()): boolean {
  return now >= writtenAt + againMs;
}
