import type { ApiRequest, UserInfo } from '../../kube/http.ts';
import { bearerToken } from './bearer.ts';

/** Health for load balancers and probes, what the server is, and the public keys of those who verify its tokens. */
export const openPaths: readonly string[] = [
  '/healthz',
  '/livez',
  '/readyz',
  '/version',
  '/version/',
  '/.well-known/openid-configuration',
  '/openid/v1/jwks',
];
const open = new Set(openPaths);

const nobody: UserInfo = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

/**
 * Who shows no credentials and only looks, at those paths alone; as kube-apiserver does with conditions on `anonymous`. Who shows wrong
 * ones is nobody anywhere.
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#anonymous-authenticator-configuration
 */
export function anonymous(request: ApiRequest): UserInfo | undefined {
  if (request.method !== 'GET') return undefined;
  const mark = request.url.indexOf('?');
  const path = mark < 0 ? request.url : request.url.slice(0, mark);
  return open.has(path) && bearerToken(request) === undefined ? nobody : undefined;
}
