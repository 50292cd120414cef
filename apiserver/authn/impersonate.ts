import { rootCluster } from '../../cluster/names.ts';
import type { ApiRequest, UserInfo } from '../../kube/http.ts';
import { badRequest } from '../../kube/status.ts';
import { authorizeRequest } from '../authz/check.ts';
import { mastersGroup } from '../authz/masters.ts';
import type { Authorizer } from '../plugins.ts';
import type { RequestInfo } from '../request.ts';
import { headerValues } from './header-values.ts';

const userHeader = 'impersonate-user';
const groupHeader = 'impersonate-group';
const uidHeader = 'impersonate-uid';
const extraPrefix = 'impersonate-extra-';
/** Where alone an impersonated user is one; absent: in root. kcp's name. */
export const scopesExtra = 'authentication.kcp.io/scopes';
const accountPrefix = 'system:serviceaccount:';
/** Whoever is one of these is nobody known, whatever else they are. */
const unauthenticated = 'system:unauthenticated';

/** True for a request that asks to be taken for somebody else's. */
export function impersonates({ headers }: ApiRequest): boolean {
  for (const name in headers) if (name.startsWith('impersonate-')) return true;
  return false;
}

/**
 * Whom the request is to be taken for: what `kubectl --as` asks. `user` must be allowed to impersonate the user, each
 * group, the uid and each extra, in the logical cluster that the request is to. Throws StatusError 400, 403.
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
 */
export async function impersonated(
  request: ApiRequest,
  user: UserInfo,
  cluster: string,
  authorize: Authorizer,
): Promise<UserInfo> {
  const [name = ''] = headerValues(request, userHeader);
  const asked = headerValues(request, groupHeader);
  const [uid = ''] = headerValues(request, uidHeader);
  const extra = extraOf(request);
  if (name === '') {
    // Headers that say nothing ask for nothing.
    if (asked.length === 0 && uid === '' && Object.keys(extra).length === 0) return user;
    throw badRequest('requested impersonation of groups, a uid or extras without impersonating a user name');
  }
  const allowed = withoutReserved(authorize);
  const may = (about: Partial<RequestInfo>) =>
    authorizeRequest(allowed, { ...nothing, cluster, ...about } as RequestInfo, user);
  const account = accountOf(name);
  await may(account ? { resource: 'serviceaccounts', ...account } : { resource: 'users', name });
  for (const group of asked) await may({ resource: 'groups', name: group });
  const authentication = { group: 'authentication.k8s.io', version: 'v1' };
  if (uid !== '') await may({ ...authentication, resource: 'uids', name: uid });
  for (const [key, values] of Object.entries(extra)) {
    for (const value of values) {
      await may({ ...authentication, resource: 'userextras', subresource: key, name: value });
    }
  }
  const own = account
    ? ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`]
    : ([] as string[]);
  const groups = asked.length > 0 ? asked : own;
  const known = name === 'system:anonymous' ? unauthenticated : 'system:authenticated';
  // Whoever may impersonate in one logical cluster makes nobody of another.
  if (cluster !== rootCluster) extra[scopesExtra] = [`cluster:${cluster}`];
  return {
    name,
    ...(uid !== '' && { uid }),
    groups: groups.includes(known) || groups.includes(unauthenticated) ? groups : [...groups, known],
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

/** Whoever administers one logical cluster becomes no administrator of all, and none of the server's own controllers. */
function withoutReserved(authorize: Authorizer): Authorizer {
  return (asked) => {
    const isReserved = asked.name === mastersGroup || asked.name.startsWith('system:atoll:');
    const isAdmin = asked.user.groups.includes(mastersGroup);
    return isReserved && !isAdmin
      ? { allowed: false, reason: `${asked.name} is reserved` }
      : authorize(asked);
  };
}

const nothing: Omit<RequestInfo, 'query' | 'cluster'> = {
  method: 'GET',
  path: '/',
  isResource: true,
  verb: 'impersonate',
  group: '',
  version: 'v1',
  resource: '',
  namespace: '',
  name: '',
  subresource: '',
  rest: '',
};

function extraOf(request: ApiRequest): Record<string, readonly string[]> {
  const pairs = Object.keys(request.headers)
    .filter((name) => name.startsWith(extraPrefix))
    .map((name) => [decodeName(name.slice(extraPrefix.length)), headerValues(request, name)] as const);
  return Object.fromEntries(pairs);
}

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function accountOf(name: string): { namespace: string; name: string } | undefined {
  const [namespace = '', account = '', more] = name.startsWith(accountPrefix)
    ? name.slice(accountPrefix.length).split(':')
    : [];
  return namespace === '' || account === '' || more !== undefined ? undefined : { namespace, name: account };
}
