import { rootCluster } from '../../../cluster/names.ts';
import type { AuthorizationMode, Decision } from '../../plugins.ts';
import { standing } from '../standing.ts';
import type { RoleIndex } from './role-index.ts';

const no: Decision = { allowed: false };

/**
 * What the roles and bindings of the logical cluster let a user do. Who is known everywhere is nobody until a
 * binding there names them or a group of theirs: not even that a logical cluster exists is told to whom it gave
 * nothing. In root they are at home.
 */
export function rbacMode(roles: RoleIndex): AuthorizationMode {
  return {
    authorize(asked) {
      const { user, cluster } = asked;
      const isGuest = cluster !== rootCluster && standing(user, cluster) === 'guest';
      return isGuest && !roles.names(cluster, user) ? no : roles.decide(asked);
    },
    rulesFor: (cluster, user, namespace) => roles.rulesFor(cluster, user, namespace),
  };
}
