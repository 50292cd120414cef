import type { ApiRequest, UserInfo } from '../../kube/http.ts';
import type { Authenticator } from '../plugins.ts';
import { headerValues } from './header-values.ts';
import { clusterNameExtra } from './service-account.ts';

/** Which headers a trusted proxy says in, for whom it speaks. */
export interface RequestHeaders {
  /** Common names of the proxies' certificates; none: all that their authority signed. */
  allowedNames: readonly string[];
  username: readonly string[];
  uid: readonly string[];
  group: readonly string[];
  extraPrefix: readonly string[];
}

/**
 * Whom a proxy with a certificate of the proxies' own authority speaks for. The headers go no further, whoever sent them:
 * nobody behind us could tell a proxy's from others'.
 * https://kubernetes.io/docs/tasks/extend-kubernetes/configure-aggregation-layer/#kubernetes-apiserver-client-authentication
 */
export function requestHeaderAuthenticator(given: RequestHeaders): Authenticator {
  const lower = (names: readonly string[]) => names.map((name) => name.toLowerCase());
  const names = { ...given, username: lower(given.username), uid: lower(given.uid) };
  const all = { ...names, group: lower(given.group), extraPrefix: lower(given.extraPrefix) };
  return (request, { proxy, proxyUntil = Number.POSITIVE_INFINITY }) => {
    const isProxy =
      proxy !== undefined &&
      proxyUntil >= Date.now() &&
      (given.allowedNames.length === 0 || given.allowedNames.includes(proxy));
    const user = isProxy ? userIn(request, all) : undefined;
    clear(request, all);
    return user;
  };
}

function userIn(request: ApiRequest, names: RequestHeaders): UserInfo | undefined {
  const { headers } = request;
  const list = (header: string) => headerValues(request, header);
  const first = (of: readonly string[]) => of.flatMap(list)[0] ?? '';
  const name = first(names.username);
  if (name === '') return undefined;
  const uid = first(names.uid);
  const groups = names.group.flatMap(list);
  const extra: Record<string, string[]> = {};
  for (const prefix of names.extraPrefix) {
    for (const header of Object.keys(headers)) {
      if (!header.startsWith(prefix)) continue;
      const key = decodeName(header.slice(prefix.length));
      extra[key] = [...(extra[key] ?? []), ...list(header)];
    }
  }
  // It is of one logical cluster, and of which must be said.
  if (name.startsWith('system:serviceaccount:') && extra[clusterNameExtra] === undefined) return undefined;
  return { name, ...(uid !== '' && { uid }), groups, ...(Object.keys(extra).length > 0 && { extra }) };
}

function clear(request: ApiRequest, names: RequestHeaders): void {
  const headers = request.headers as Record<string, string>;
  for (const name of [...names.username, ...names.uid, ...names.group]) delete headers[name];
  for (const name of Object.keys(headers)) {
    if (names.extraPrefix.some((prefix) => name.startsWith(prefix))) delete headers[name];
  }
}

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
