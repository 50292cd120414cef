import { group, physicalClusters } from '../../cluster/names.ts';
import type { KubeObject } from '../../kube/object.ts';
import { quoteGo } from '../../kube/quote.ts';
import { forbidden } from '../../kube/status.ts';
import type { AdmissionRequest } from '../plugins.ts';
import { namespaceOf } from './placement-refuse.ts';

/**
 * Who says where something runs needs the verb `place` on each PhysicalCluster that they name, by a role of the logical
 * cluster, or of the namespace. `by`: what names them; an empty name stands for all. Throws StatusError 403, before anything is said of which clusters
 * there are.
 */
export async function requirePlace(
  request: AdmissionRequest,
  object: KubeObject,
  { names, by }: { names: readonly string[]; by: string },
): Promise<void> {
  const { user, cluster, authorize, stored } = request;
  const namespace = namespaceOf(request);
  const { resource } = physicalClusters;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${quoteGo(namespace)}`;
  const asked = { user, cluster, namespace, verb: 'place', group, version: '*', resource, subresource: '' };
  for (const name of new Set(names)) {
    const { allowed, reason } = await authorize({ ...asked, name });
    if (allowed) continue;
    const what = `${resource}.${group}${name === '' ? '' : `/${name}`}`;
    const which = name === '' ? 'whatever their name' : `named ${quoteGo(name)}`;
    const why =
      `User ${quoteGo(user.name)} cannot place on ${what} ${where}: ` +
      `the ${by} needs the verb "place" on resource ${quoteGo(resource)} ` +
      `in API group ${quoteGo(group)} ${which}; ` +
      `ask for a role with it, or leave the choice to the scheduler${reason ? `: ${reason}` : ''}`;
    throw forbidden(stored.info, object.metadata.name ?? '', why);
  }
}
