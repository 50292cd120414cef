import { rootCluster } from '../../../cluster/names.ts';
import { isKeysPath, nobody, openPaths } from '../../authn/anonymous.ts';
import type { Attributes, Authorizer, Decision } from '../../plugins.ts';
import { mastersGroup } from '../masters.ts';
import { standing } from '../standing.ts';
import type { RoleIndex } from './role-index.ts';

const no: Decision = { allowed: false };
const yes: Decision = { allowed: true };

/**
 * system:masters may do everything; everybody else what the roles and bindings of the logical cluster let them, and
 * nothing in all of them at once. A ServiceAccount is of its own logical cluster, an impersonated user of the one where
 * that happened. Others are known everywhere, and are nobody until a binding there names them or a group of
 * theirs: not even that a logical cluster exists is told to whom it gave nothing. In root they are at home.
 */
export function rbacAuthorizer(roles: RoleIndex): Authorizer {
  return (asked) => {
    const { user, cluster, path } = asked;
    if (path !== undefined && isOpen(asked, path)) return yes;
    const at = standing(user, cluster);
    if (at === 'nobody') return no;
    if (user.groups.includes(mastersGroup)) return yes;
    if (cluster === '*') return no;
    if (at === 'guest' && cluster !== rootCluster && !roles.names(cluster, user)) return no;
    return roles.decide(asked);
  };
}

/** As much as anybody may know of the server itself, and of who issues the tokens of whose id they know. */
function isOpen({ cluster, verb, user }: Attributes, path: string): boolean {
  if (verb !== 'get') return false;
  return cluster === rootCluster ? openPaths.includes(path) : user === nobody && isKeysPath(path);
}
