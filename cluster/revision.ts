import type { KubeObject } from '../kube/object.ts';
import { at } from '../kube/untyped.ts';

export const revisionAnnotation = 'deployment.kubernetes.io/revision';

/** An int64, as Kubernetes reads it. */
const maxRevision = 2n ** 63n - 1n;

/** As a ReplicaSet's annotation, or the ControllerRevision itself, has it. What is no number counts nothing, as there. */
export function revisionOf(object: KubeObject | undefined): bigint {
  const isControllers = object?.kind === 'ControllerRevision';
  const said = isControllers
    ? String(at(object, 'revision'))
    : (object?.metadata.annotations?.[revisionAnnotation] ?? '');
  if (!/^\+?\d{1,19}$/.test(said)) return 0n;
  const revision = BigInt(said.replace('+', ''));
  return revision <= maxRevision ? revision : 0n;
}

/** The number of what is newer than all of these. */
export function revisionAfter(others: readonly KubeObject[]): bigint {
  const last = highest(others.map(revisionOf));
  return last < maxRevision ? last + 1n : last;
}

export function highest(numbers: readonly bigint[]): bigint {
  let most = 0n;
  for (const n of numbers) if (n > most) most = n;
  return most;
}

/** As kube/json.ts reads it. */
export function inJson(revision: bigint): number | bigint {
  const number = Number(revision);
  return Number.isSafeInteger(number) ? number : revision;
}
