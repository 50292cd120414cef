import { rootCluster } from '../../cluster/names.ts';
import type { UserInfo } from '../../kube/http.ts';
import { openPaths } from '../authn/anonymous.ts';
import { scopesExtra } from '../authn/impersonate.ts';
import { clusterNameExtra } from '../authn/service-account.ts';
import type { Authorizer } from '../plugins.ts';

export const mastersGroup = 'system:masters';
const authenticated = 'system:authenticated';

const discovery = ['/api', '/apis', '/openapi', ...openPaths];
const ownReviews = ['selfsubjectaccessreviews', 'selfsubjectrulesreviews', 'selfsubjectreviews'];

/**
 * system:masters may do everything; whoever is known may discover the API and ask about themselves, in the logical
 * cluster that they are of: nobody but masters learns what another has, or all together.
 */
export const mastersOnly: Authorizer = ({ user, cluster, path, verb, group, resource }) => {
  if (user.groups.includes(mastersGroup)) return { allowed: true };
  if (!isOf(user, cluster)) return { allowed: false };
  if (path !== undefined) {
    const within = (roots: readonly string[]) =>
      roots.some((root) => path === root || path.startsWith(`${root}/`));
    const known = user.groups.includes(authenticated);
    return { allowed: verb === 'get' && within(known ? discovery : openPaths) };
  }
  const self = verb === 'create' && group.endsWith('.k8s.io') && ownReviews.includes(resource);
  return { allowed: self && user.groups.includes(authenticated) };
};

/** A ServiceAccount is of its logical cluster, an impersonated user of the one where that happened, others of root. */
function isOf({ extra = {} }: UserInfo, cluster: string): boolean {
  const scopes = extra[scopesExtra];
  if (scopes !== undefined) return scopes.includes(`cluster:${cluster}`);
  return (extra[clusterNameExtra]?.[0] ?? rootCluster) === cluster;
}
