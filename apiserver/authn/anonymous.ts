import type { ApiRequest, UserInfo } from '../../kube/http.ts';
import { bearerToken } from './bearer.ts';
import { issuerPaths } from './issuer.ts';

/** Health for load balancers and probes, what the server is, and the public keys of those who verify its tokens. */
export const openPaths: readonly string[] = [
  '/healthz',
  '/livez',
  '/readyz',
  '/version',
  '/version/',
  issuerPaths.configuration,
  issuerPaths.keys,
];
const open = new Set(openPaths);

/** By its id, which is no path's guess, each logical cluster says who issues its tokens. */
const ofOne = /^\/clusters\/[a-z0-9]{16}(?=\/(?:\.well-known|openid)\/)/;

export const nobody: UserInfo = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

/**
 * Who shows no credentials and only looks, at those paths alone; as kube-apiserver does with conditions on `anonymous`. Who shows wrong
 * ones is nobody anywhere.
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#anonymous-authenticator-configuration
 */
export function anonymous(request: ApiRequest): UserInfo | undefined {
  if (request.method !== 'GET') return undefined;
  const mark = request.url.indexOf('?');
  const path = mark < 0 ? request.url : request.url.slice(0, mark);
  const isOpen = open.has(path) || isKeysPath(path.replace(ofOne, ''));
  return isOpen && bearerToken(request) === undefined ? nobody : undefined;
}

export function isKeysPath(path: string): boolean {
  return path === issuerPaths.configuration || path === issuerPaths.keys;
}

/** By an authentication configuration that says something of it: everywhere, at its paths alone, or nowhere. */
export function anonymousBy(
  said: { enabled?: boolean; conditions?: readonly { path?: string }[] } | undefined,
): (request: ApiRequest) => UserInfo | undefined {
  if (said === undefined) return anonymous;
  const { enabled = false, conditions = [] } = said;
  const paths = new Set(conditions.map(({ path }) => path));
  return (request) => {
    const [path] = request.url.split('?', 1);
    const isOpen = enabled && (paths.size === 0 || paths.has(path));
    return isOpen && bearerToken(request) === undefined ? nobody : undefined;
  };
}
