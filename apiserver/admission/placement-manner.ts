import { faultOf, mannerAnnotations } from '../../cluster/drain.ts';
import { group, physicalClusters, rootCluster, volumesAnnotation } from '../../cluster/names.ts';
import type { Later } from '../../kube/later.ts';
import type { KubeObject } from '../../kube/object.ts';
import { invalid } from '../../kube/status.ts';
import { listAt, textAt } from '../../kube/untyped.ts';
import type { AdmissionRequest } from '../plugins.ts';

/** How a move goes, on a workload or its Namespace: a value that means nothing is refused where a write brings it. */
export function refuseManner(request: AdmissionRequest, object: KubeObject): void {
  for (const annotation of mannerAnnotations) {
    const value = broughtBy(request, object, annotation);
    const fault = value === undefined ? undefined : faultOf(annotation, value);
    if (value !== undefined && fault !== undefined)
      throw refusal(request, object, { field: `metadata.annotations[${annotation}]`, value, fault });
  }
  for (const { field, value } of ofTemplates(request, object)) {
    const fault = faultOf(volumesAnnotation, value);
    if (fault !== undefined) throw refusal(request, object, { field, value, fault });
  }
}

interface Brought {
  field: string;
  value: string;
}

/** What is said of the claims of a StatefulSet: a template of them bears the word, and no other, as a claim of its own does. */
function ofTemplates({ old, stored: { info } }: AdmissionRequest, object: KubeObject): Brought[] {
  if (info.group !== 'apps' || info.resource !== 'statefulsets') return [];
  const wordsOf = (set: KubeObject | undefined) =>
    listAt(set, 'spec', 'volumeClaimTemplates').map((template) =>
      textAt(template, 'metadata', 'annotations', volumesAnnotation),
    );
  const before = wordsOf(old);
  return wordsOf(object).flatMap((value, i): Brought[] =>
    value === undefined || value === before[i]
      ? []
      : [{ field: `spec.volumeClaimTemplates[${i}].metadata.annotations[${volumesAnnotation}]`, value }],
  );
}

/** Where no physical cluster names a copier none could ever move anything. */
export function refuseCopying(request: AdmissionRequest, object: KubeObject): Later<void> {
  const own = broughtBy(request, object, volumesAnnotation);
  const brought = ofTemplates(request, object);
  if (own !== undefined) brought.unshift({ field: `metadata.annotations[${volumesAnnotation}]`, value: own });
  const [copied] = brought.filter(({ value }) => value === 'copy');
  if (!copied) return undefined;
  const scope = { cluster: rootCluster, group, resource: physicalClusters.resource };
  return request.registry.list(scope).then(({ items }) => {
    if (items.some((cluster) => textAt(cluster, 'spec', 'copier') !== undefined)) return;
    const fault = '"copy" takes a copier, and no PhysicalCluster names one (spec.copier)';
    throw refusal(request, object, { ...copied, fault });
  });
}

function broughtBy({ old }: AdmissionRequest, object: KubeObject, annotation: string): string | undefined {
  const value = object.metadata.annotations?.[annotation];
  return value === old?.metadata.annotations?.[annotation] ? undefined : value;
}

function refusal(
  { stored: { info } }: AdmissionRequest,
  object: KubeObject,
  { field, value, fault }: Brought & { fault: string },
): Error {
  const message = `Invalid value: ${JSON.stringify(value)}: ${fault}`;
  return invalid(info.group, info.kind, object.metadata.name ?? '', [
    { reason: 'FieldValueInvalid', message, field },
  ]);
}
