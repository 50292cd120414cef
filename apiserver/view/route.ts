import { isLogicalClusterName } from '../../cluster/names.ts';
import { type ReflectedKind, reflectedKinds } from '../../cluster/reflected.ts';
import { StatusError } from '../../kube/status.ts';

/** Where in /syncers/<cluster>/ a request goes. The closed list: all else is 404. */
export type Route =
  | { to: 'shares' }
  | { to: 'share-status'; logical: string; namespace: string; name: string }
  | { to: 'reflections'; kind: ReflectedKind }
  | { to: 'reflection'; kind: ReflectedKind; logical: string; namespace: string; name: string }
  | { to: 'nodes' }
  | { to: 'node'; logical: string; name: string }
  | { to: 'namespace'; logical: string; name: string }
  | { to: 'account-token'; logical: string; namespace: string; name: string }
  | { to: 'clusters' }
  | { to: 'cluster' }
  | { to: 'cluster-status' };

const atoll = 'apis/atoll.dev/v1alpha1';
export const dnsName = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
const dnsLabel = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** What each place takes; the first word is for the message of a 405. */
export const verbs: Readonly<Record<Route['to'], readonly string[]>> = {
  shares: ['GET'],
  'share-status': ['PATCH', 'DELETE'],
  reflections: ['GET'],
  reflection: ['PUT', 'DELETE'],
  nodes: ['GET'],
  node: ['PUT', 'DELETE'],
  namespace: ['GET'],
  'account-token': ['POST'],
  clusters: ['GET'],
  cluster: ['GET'],
  'cluster-status': ['PATCH'],
};

/** `/syncers/east/x` -> east and `x`; undefined when the path is not below /syncers/<DNS label>/. */
export function splitView(path: string): { cluster: string; rest: string } | undefined {
  const match = /^\/syncers\/([^/]+)\/(.*)$/.exec(path);
  const [, cluster = '', rest = ''] = match ?? [];
  if (!dnsName.test(cluster)) return undefined;
  return { cluster, rest };
}

/** Names are checked here, so that no segment can reach outside its own key in the store. */
export function routeOf(cluster: string, rest: string): Route | undefined {
  switch (rest) {
    case `${atoll}/shares`:
      return { to: 'shares' };
    case 'api/v1/nodes':
      return { to: 'nodes' };
    case `${atoll}/physicalclusters`:
      return { to: 'clusters' };
    case `${atoll}/physicalclusters/${cluster}`:
      return { to: 'cluster' };
    case `${atoll}/physicalclusters/${cluster}/status`:
      return { to: 'cluster-status' };
    default: {
      const kind = reflectedKinds.find((one) => rest === `${apiOf(one)}/${one.resource}`);
      return kind ? { to: 'reflections', kind } : inLogicalCluster(rest);
    }
  }
}

function inLogicalCluster(rest: string): Route | undefined {
  const match = /^clusters\/([^/]+)\/(.*)$/.exec(rest);
  const [, logical = '', below = ''] = match ?? [];
  if (!isLogicalClusterName(logical)) return undefined;
  const [, alone] = /^api\/v1\/namespaces\/([^/]+)$/.exec(below) ?? [];
  if (alone !== undefined)
    return dnsLabel.test(alone) ? { to: 'namespace', logical, name: alone } : undefined;
  const [, node] = /^api\/v1\/nodes\/([^/]+)$/.exec(below) ?? [];
  if (node !== undefined) return dnsName.test(node) ? { to: 'node', logical, name: node } : undefined;
  const [, api = '', namespace = '', resource = '', name = '', subresource = ''] =
    /^(.+)\/namespaces\/([^/]+)\/([^/]+)\/([^/]+)(\/status|\/token)?$/.exec(below) ?? [];
  if (!dnsLabel.test(namespace) || !dnsName.test(name)) return undefined;
  const address = { logical, namespace, name };
  if (subresource === '/token')
    return api === 'api/v1' && resource === 'serviceaccounts'
      ? { to: 'account-token', ...address }
      : undefined;
  if (subresource)
    return api === atoll && resource === 'shares' ? { to: 'share-status', ...address } : undefined;
  const kind = reflectedKinds.find((one) => one.resource === resource && apiOf(one) === api);
  return kind && { to: 'reflection', kind, ...address };
}

function apiOf({ group, version }: ReflectedKind): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`;
}

export function unknownPath(): StatusError {
  return new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});
}

export function wrongVerb(route: Route, method: string): StatusError {
  const message = `${method} is not supported here, only ${verbs[route.to].join(' and ')}`;
  return new StatusError(405, 'MethodNotAllowed', message, {});
}
