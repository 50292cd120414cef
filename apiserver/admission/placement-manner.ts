import { faultOf, mannerAnnotations } from '../../cluster/drain.ts';
import type { KubeObject } from '../../kube/object.ts';
import { invalid } from '../../kube/status.ts';
import type { AdmissionRequest } from '../plugins.ts';

/** How a move goes, on a workload or its Namespace: a value that means nothing is refused where a write brings it. */
export function refuseManner({ stored: { info }, old }: AdmissionRequest, object: KubeObject): void {
  const { annotations, name = '' } = object.metadata;
  for (const annotation of mannerAnnotations) {
    const value = annotations?.[annotation];
    if (value === undefined || value === old?.metadata.annotations?.[annotation]) continue;
    const fault = faultOf(annotation, value);
    if (fault === undefined) continue;
    const field = `metadata.annotations[${annotation}]`;
    const message = `Invalid value: ${JSON.stringify(value)}: ${fault}`;
    throw invalid(info.group, info.kind, name, [{ reason: 'FieldValueInvalid', message, field }]);
  }
}
