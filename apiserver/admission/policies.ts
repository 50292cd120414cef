import { group, physicalClusters, rootCluster, unreachableTaint } from '../../cluster/names.ts';
import { clusterPlacementPolicies, namedBy, placementPolicies } from '../../cluster/policy.ts';
import { unmatched } from '../../cluster/unmatched.ts';
import { deepEqual } from '../../kube/deep.ts';
import { at, listAt, strings } from '../../kube/untyped.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugins.ts';
import { requirePlace } from './placement-authorize.ts';

/**
 * Who writes a policy that names clusters needs the verb `place` on each, as for the annotation: on all of them whenever
 * anything of the policy changes, since whom it selects is a part of what it says; on all clusters where it tolerates taints,
 * which keep others away, and names none. What only narrows the choice that the scheduler has anyway, or leaves a
 * cluster that is silent, needs no more than the right to write it.
 */
export const policyAdmission: AdmissionPlugin = {
  name: 'PlacementPolicy',
  async validate(request) {
    const { object, old, subresource } = request;
    if (!object || subresource !== '' || !isPolicy(request) || deepEqual(object.spec, old?.spec)) return;
    const names = namedIn(object.spec);
    await requirePlace(request, object, { names, by: 'field spec.clusters' });
    const tolerated = listAt(object.spec, 'tolerations').filter((one) => at(one, 'key') !== unreachableTaint);
    if (names.length === 0 && tolerated.length > 0)
      await requirePlace(request, object, { names: [''], by: 'field spec.tolerations without names' });
    await warnOfUnmatched(request, object.spec);
  },
};

function isPolicy({ stored: { info } }: AdmissionRequest): boolean {
  return (
    info.group === group &&
    [placementPolicies, clusterPlacementPolicies].some(({ resource }) => resource === info.resource)
  );
}

/** Nobody has looked at the object's shape yet. */
function namedIn(spec: unknown): string[] {
  const groups = listAt(spec, 'clusters', 'groups').map(strings);
  const names = namedBy({ names: strings(at(spec, 'clusters', 'names')), groups });
  return names.filter((name) => name !== '');
}

async function warnOfUnmatched(request: AdmissionRequest, spec: unknown): Promise<void> {
  const scope = { cluster: rootCluster, group, resource: physicalClusters.resource };
  const { items } = await request.registry.list(scope);
  for (const [field, why] of unmatched(at(spec, 'clusters'), items))
    request.warn(`spec.clusters${field}: ${why}`);
}
