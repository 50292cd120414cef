import { faultOf, mannerAnnotations } from '../../cluster/drain.ts';
import { group, physicalClusters, rootCluster, volumesAnnotation } from '../../cluster/names.ts';
import type { Later } from '../../kube/later.ts';
import type { KubeObject } from '../../kube/object.ts';
import { invalid } from '../../kube/status.ts';
import { textAt } from '../../kube/untyped.ts';
import type { AdmissionRequest } from '../plugins.ts';

/** How a move goes, on a workload or its Namespace: a value that means nothing is refused where a write brings it. */
export function refuseManner(request: AdmissionRequest, object: KubeObject): void {
  for (const annotation of mannerAnnotations) {
    const value = broughtBy(request, object, annotation);
    const fault = value === undefined ? undefined : faultOf(annotation, value);
    if (value !== undefined && fault !== undefined)
      throw refusal(request, object, { annotation, value, fault });
  }
}

/** Where no physical cluster names a copier none could ever move anything. */
export function refuseCopying(request: AdmissionRequest, object: KubeObject): Later<void> {
  const annotation = volumesAnnotation;
  const value = broughtBy(request, object, annotation);
  if (value !== 'copy') return undefined;
  const scope = { cluster: rootCluster, group, resource: physicalClusters.resource };
  return request.registry.list(scope).then(({ items }) => {
    if (items.some((cluster) => textAt(cluster, 'spec', 'copier') !== undefined)) return;
    const fault = '"copy" takes a copier, and no PhysicalCluster names one (spec.copier)';
    throw refusal(request, object, { annotation, value, fault });
  });
}

function broughtBy({ old }: AdmissionRequest, object: KubeObject, annotation: string): string | undefined {
  const value = object.metadata.annotations?.[annotation];
  return value === old?.metadata.annotations?.[annotation] ? undefined : value;
}

function refusal(
  { stored: { info } }: AdmissionRequest,
  object: KubeObject,
  { annotation, value, fault }: { annotation: string; value: string; fault: string },
): Error {
  const field = `metadata.annotations[${annotation}]`;
  const message = `Invalid value: ${JSON.stringify(value)}: ${fault}`;
  return invalid(info.group, info.kind, object.metadata.name ?? '', [
    { reason: 'FieldValueInvalid', message, field },
  ]);
}
