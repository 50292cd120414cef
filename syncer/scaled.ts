import { scaledAnnotation } from '../cluster/names.ts';
import type { ClusterSlice } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import { at, isRecord, numberAt } from '../kube/untyped.ts';

/** Whether an autoscaler of the physical cluster owns the replicas of what a manifest makes. */
export function isScaled(manifest: KubeObject): boolean {
  return manifest.metadata.annotations?.[scaledAnnotation] !== undefined;
}

/**
 * The manifest with the replicas that `object` has, where they have been set as often as they were to be; otherwise
 * undefined: they are set. The field cannot be left out: who applies it alone would thereby give it up, and the
 * API server would go back to its default of one. With the resourceVersion, what an autoscaler writes in the meantime
 * makes this a conflict.
 */
export function scaledThere(manifest: KubeObject, object: KubeObject): KubeObject | undefined {
  const times = manifest.metadata.annotations?.[scaledAnnotation];
  if (times === undefined || object.metadata.annotations?.[scaledAnnotation] !== times) return undefined;
  return withReplicasThere(manifest, object);
}

/** The same for whatever reason. */
export function withReplicasThere(manifest: KubeObject, object: KubeObject): KubeObject {
  const spec = isRecord(manifest.spec) ? manifest.spec : {};
  const replicas = numberAt(object, 'spec', 'replicas') ?? 1;
  const { resourceVersion } = object.metadata;
  return {
    ...manifest,
    metadata: { ...manifest.metadata, ...(resourceVersion !== undefined && { resourceVersion }) },
    spec: { ...spec, replicas },
  };
}

export function withoutReplicas(object: KubeObject): KubeObject {
  const spec = at(object, 'spec');
  if (!isRecord(spec)) return object;
  const { replicas: _replicas, ...rest } = spec;
  return { ...object, spec: rest };
}

type Numbers = NonNullable<ClusterSlice['share']>;

/** What to say of a share that was applied: of an autoscaler's replicas those that are there. */
export function replicasThere(applied: Numbers, object: KubeObject): Numbers {
  return applied.scaled === undefined
    ? applied
    : { ...applied, replicas: numberAt(object, 'spec', 'replicas') ?? 1 };
}
