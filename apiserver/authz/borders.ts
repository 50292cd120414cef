import { rootCluster } from '../../cluster/names.ts';
import { isKeysPath, nobody, openPaths } from '../authn/anonymous.ts';
import type { Attributes, Authorizer, Decision } from '../plugins.ts';
import { mastersGroup } from './masters.ts';
import { standing } from './standing.ts';

const no: Decision = { allowed: false };
const yes: Decision = { allowed: true };

/**
 * What no mode is asked about, whichever there are. system:masters may do everything; nobody else anything in all logical
 * clusters at once. A ServiceAccount is of its own logical cluster, an impersonated user of
 * the one where that happened.
 */
export function withinBorders(authorize: Authorizer): Authorizer {
  return (asked) => {
    const { user, cluster, path } = asked;
    if (path !== undefined && isOpen(asked, path)) return yes;
    if (standing(user, cluster) === 'nobody') return no;
    if (user.groups.includes(mastersGroup)) return yes;
    if (cluster === '*') return no;
    return authorize(asked);
  };
}

/** A view is beside all logical clusters: whoever is somebody in one of them alone, an administrator too, is nobody there. */
export function ofAll(authorize: Authorizer): Authorizer {
  return (asked) => (standing(asked.user, rootCluster) === 'nobody' ? no : authorize(asked));
}

/** As much as anybody may know of the server itself, and of who issues the tokens of whose id they know. */
function isOpen({ cluster, verb, user }: Attributes, path: string): boolean {
  if (verb !== 'get') return false;
  return cluster === rootCluster ? openPaths.includes(path) : user === nobody && isKeysPath(path);
}
