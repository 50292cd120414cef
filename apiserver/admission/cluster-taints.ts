import { group, physicalClusters } from '../../cluster/names.ts';
import type { JsonObject, KubeObject } from '../../kube/object.ts';
import { timestamp } from '../../kube/timestamp.ts';
import { at, record, records } from '../../kube/untyped.ts';
import type { AdmissionPlugin } from '../plugins.ts';

/**
 * A taint of a PhysicalCluster that drives away says since when: from then on tolerations that end are counted. Who
 * writes the same taint again does not begin anew.
 */
export const clusterTaintAdmission: AdmissionPlugin = {
  name: 'ClusterTaintTime',
  mutate({ stored: { info }, subresource, object, old }) {
    if (info.group !== group || info.resource !== physicalClusters.resource || subresource !== '') return;
    const [former, taints] = [taintsOf(old), taintsOf(object)];
    if (object === undefined || !taints.some(isUntimed)) return;
    const timed = taints.map((taint) =>
      isUntimed(taint)
        ? { ...taint, timeAdded: former.find((one) => isSame(one, taint))?.['timeAdded'] ?? timestamp() }
        : taint,
    );
    object.spec = { ...record(object.spec), taints: timed };
  },
};

function isUntimed({ effect, timeAdded }: JsonObject): boolean {
  return effect === 'NoExecute' && timeAdded === undefined;
}

function isSame(one: JsonObject, other: JsonObject): boolean {
  return ['key', 'value', 'effect'].every((field) => one[field] === other[field]);
}

function taintsOf(object: KubeObject | undefined): JsonObject[] {
  return records(at(object, 'spec', 'taints'));
}
