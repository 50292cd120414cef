import { withAccessOf } from '../cluster/pod-access.ts';
import { podSpecOf, podSpecPath } from '../cluster/pod-spec.ts';
import { setAt } from '../cluster/ruled.ts';
import type { ObjectRef } from '../cluster/types.ts';
import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import { isRecord } from '../kube/untyped.ts';

/**
 * The manifest with the way to their logical cluster that pods of `object` have. Of what is never changed, a Pod or a Job, those
 * that were made before another way was told keep theirs. Undefined: it is the same.
 */
export function withAccessThere(
  manifest: KubeObject,
  object: KubeObject,
  { rule }: ObjectRef,
): KubeObject | undefined {
  const spec = podSpecOf(manifest, rule);
  if (!isRecord(spec)) return undefined;
  const kept = withAccessOf(spec, podSpecOf(object, rule));
  if (deepEqual(kept, spec)) return undefined;
  return setAt(
    manifest as unknown as Record<string, unknown>,
    podSpecPath(manifest, rule),
    kept,
  ) as unknown as KubeObject;
}
