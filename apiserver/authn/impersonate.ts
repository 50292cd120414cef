import { rootCluster } from '../../cluster/names.ts';
import type { ApiRequest, UserInfo } from '../../kube/http.ts';
import { isStatusError } from '../../kube/status.ts';
import { attributesOf, authorizeRequest } from '../authz/check.ts';
import { mastersGroup } from '../authz/masters.ts';
import type { Authorizer } from '../plugins.ts';
import type { RequestInfo } from '../request.ts';
import { isReserved, type Mode, modesFor, ownGroups, questionsOf } from './impersonation-modes.ts';
import { clusterNameExtra } from './service-account.ts';
import { type Wanted, wantedBy } from './wanted.ts';

/** Where alone an impersonated user is one; absent: in root. kcp's name. */
export const scopesExtra = 'authentication.kcp.io/scopes';
/** Whoever is one of these is nobody known, whatever else they are. */
const unauthenticated = 'system:unauthenticated';

export interface Impersonated {
  user: UserInfo;
  /** The verb that allowed it, where it was allowed for this request and not for all. */
  constraint?: string;
}

/**
 * Whom the request is to be taken for: what `kubectl --as` asks; undefined: for whose it is. `user` must be allowed to
 * impersonate the user, each group, the uid and each extra, in the logical cluster that the request is to. Throws StatusError
 * 400, 403.
 * https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/
 */
export async function impersonated(
  request: ApiRequest,
  user: UserInfo,
  info: RequestInfo,
  authorize: Authorizer,
): Promise<Impersonated | undefined> {
  const wanted = wantedBy(request);
  if (wanted === undefined) return undefined;
  const allowed = withoutReserved(authorize);
  let first: unknown;
  for (const mode of modesFor(wanted, user)) {
    try {
      await allows(mode, wanted, { user, info, authorize: allowed });
      const taken = takenFor(mode, wanted, info.cluster);
      return mode === 'legacy' ? { user: taken } : { user: taken, constraint: `impersonate:${mode}` };
    } catch (error) {
      if (!isStatusError(error, 'Forbidden')) throw error;
      first ??= error;
    }
  }
  throw first;
}

interface Asking {
  user: UserInfo;
  info: RequestInfo;
  authorize: Authorizer;
}

async function allows(mode: Mode, wanted: Wanted, { user, info, authorize }: Asking): Promise<void> {
  const by = mode === 'associated-node' ? withoutNode(user) : user;
  if (mode !== 'legacy') {
    const on = { ...info, verb: `impersonate-on:${mode}:${info.verb}` };
    await authorizeRequest(authorize, on, by);
  }
  let spared = 0;
  for (const { refused, spares, ...question } of questionsOf(mode, wanted)) {
    if (spared-- > 0) continue;
    const asked = { ...nothing, cluster: info.cluster, ...question };
    if (spares !== undefined) {
      const { allowed } = await authorize(attributesOf(asked, by));
      spared = allowed ? spares : 0;
      continue;
    }
    const never: Authorizer = () => ({ allowed: false, reason: refused ?? '' });
    await authorizeRequest(refused === undefined ? authorize : never, asked, by);
  }
}

function takenFor(mode: Mode, wanted: Wanted, cluster: string): UserInfo {
  const { name, uid } = wanted;
  const groups = ownGroups(mode, wanted);
  const known = name === 'system:anonymous' ? unauthenticated : 'system:authenticated';
  // Whoever may impersonate in one logical cluster makes nobody of another.
  const scopes = cluster === rootCluster ? {} : { [scopesExtra]: [`cluster:${cluster}`] };
  const extra = { ...wanted.extra, ...scopes };
  return {
    name,
    ...(uid !== '' && { uid }),
    groups: groups.includes(known) || groups.includes(unauthenticated) ? groups : [...groups, known],
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

/**
 * Who may be taken for the node they are on may be so on every node: which it is makes no difference to who decides. Of which
 * logical cluster they are does, or another's account of the same name would be taken for its own.
 */
function withoutNode({ extra = {}, ...user }: UserInfo): UserInfo {
  const { [scopesExtra]: scopes, [clusterNameExtra]: own } = extra;
  return {
    ...user,
    extra: {
      ...(scopes && { [scopesExtra]: scopes }),
      ...(own && { [clusterNameExtra]: own }),
      'authentication.kubernetes.io/associated-node-keys': Object.keys(extra).sort(),
    },
  };
}

/** Whoever administers one logical cluster becomes no administrator of all, and none of the server's own controllers. */
function withoutReserved(authorize: Authorizer): Authorizer {
  return (asked) => {
    const isAdmin = asked.user.groups.includes(mastersGroup);
    return isReserved(asked.name) && !isAdmin && !asked.verb.startsWith('impersonate-on:')
      ? { allowed: false, reason: `${asked.name} is reserved` }
      : authorize(asked);
  };
}

const nothing: Omit<RequestInfo, 'cluster'> = {
  method: 'GET',
  path: '/',
  query: new URLSearchParams(),
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
