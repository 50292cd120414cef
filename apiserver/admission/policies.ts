import { group, unreachableTaint } from '../../cluster/names.ts';
import { clusterPlacementPolicies, namedBy, placementPolicies } from '../../cluster/policy.ts';
import { deepEqual } from '../../kube/deep.ts';
import { at, listAt, strings } from '../../kube/untyped.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugins.ts';
import { requirePlace } from './placement-authorize.ts';
import { clustersOf, isNowhere, nowhere } from './topologies.ts';

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
    await warnOfUnknown(request, names, topologiesIn(object.spec));
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

/** Over which labels of clusters it spreads, or looks at who is beside whom. */
function topologiesIn(spec: unknown): string[] {
  const clusters = at(spec, 'clusters');
  const terms = ['affinity', 'antiAffinity'].flatMap((name) => listAt(clusters, name));
  const keys = [at(clusters, 'spread'), ...terms].map((term) => at(term, 'topologyKey'));
  return keys.filter((key): key is string => typeof key === 'string' && key !== '');
}

/** A policy may come before the clusters that it is about, and before their labels. */
async function warnOfUnknown(
  request: AdmissionRequest,
  names: readonly string[],
  topologies: readonly string[],
): Promise<void> {
  if (names.length === 0 && topologies.length === 0) return;
  const clusters = await clustersOf(request);
  const known = new Set(clusters.map(({ metadata }) => metadata.name));
  const unknown = names.filter((name) => !known.has(name));
  if (unknown.length > 0)
    request.warn(`spec.clusters: no physical cluster is named ${unknown.slice(0, 10).join(', ')} yet`);
  for (const key of new Set(topologies.slice(0, 10)))
    if (isNowhere(key, clusters)) request.warn(`spec.clusters: ${nowhere(key)}`);
}
