import type { Authorizer } from '../options.ts';

export const mastersGroup = 'system:masters';
const authenticated = 'system:authenticated';

const issuer = ['/.well-known/openid-configuration', '/openid/v1/jwks'];
const open = ['/healthz', '/livez', '/readyz', '/version', '/version/', ...issuer];
const discovery = ['/api', '/apis', '/openapi', ...open];
const ownReviews = ['selfsubjectaccessreviews', 'selfsubjectrulesreviews', 'selfsubjectreviews'];

/** system:masters may do everything; whoever is known may discover the API and ask about themselves. */
export const mastersOnly: Authorizer = ({ user, path, verb, group, resource }) => {
  if (user.groups.includes(mastersGroup)) return { allowed: true };
  if (path !== undefined) {
    const within = (roots: readonly string[]) =>
      roots.some((root) => path === root || path.startsWith(`${root}/`));
    const known = user.groups.includes(authenticated);
    return { allowed: verb === 'get' && within(known ? discovery : open) };
  }
  const self = verb === 'create' && group.endsWith('.k8s.io') && ownReviews.includes(resource);
  return { allowed: self && user.groups.includes(authenticated) };
};
