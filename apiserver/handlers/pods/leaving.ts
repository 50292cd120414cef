import { placements } from '../../../cluster/names.ts';
import { placementName } from '../../../cluster/placement.ts';
import type { Placement } from '../../../cluster/types.ts';
import { parseApiVersion } from '../../../kube/gvk.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { ResourceExchange } from '../../core.ts';

/**
 * The clusters that the workload which made a ReplicaSet is leaving, and lives on elsewhere. What is orphaned there would be nobody's: the
 * workload has its pods on other clusters, and none of its controllers adopts these. Those of a Job are nowhere else.
 */
export async function clustersLeft(exchange: ResourceExchange, object: KubeObject): Promise<Set<string>> {
  const { core, info } = exchange;
  const { namespace = '', ownerReferences } = object.metadata;
  const owner = ownerReferences?.find(({ controller }) => controller === true);
  if (!owner || object.kind !== 'ReplicaSet') return new Set();
  const { group } = parseApiVersion(owner.apiVersion);
  const of = core.catalog.infos(info.cluster).find((one) => one.group === group && one.kind === owner.kind);
  if (!of) return new Set();
  const name = placementName({ group, resource: of.resource, name: owner.name });
  try {
    const { spec } = (await core.registry.get({
      cluster: info.cluster,
      namespace,
      ...placements,
      name,
    })) as Placement;
    if (spec?.ref.uid !== owner.uid) return new Set();
    const shares = Object.entries(spec.shares ?? {});
    const left = shares.filter(([, { phase }]) => phase === 'Leaving').map(([cluster]) => cluster);
    return new Set(left.length < shares.length ? left : []);
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return new Set();
    throw error;
  }
}
