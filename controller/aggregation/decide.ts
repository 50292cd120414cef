import type { ResourceRef } from '../../client/url.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isRecord } from '../../kube/untyped.ts';

export interface Available {
  status: 'True' | 'False';
  reason: string;
  message: string;
}

export interface Target {
  namespace: string;
  name: string;
  port: number;
}

export type ApiService = KubeObject<
  { group?: string; version?: string; service?: Partial<Target> },
  { conditions?: (Partial<Available> & { type?: string; lastTransitionTime?: string })[] }
>;

export const apiServices: ResourceRef = {
  group: 'apiregistration.k8s.io',
  version: 'v1',
  resource: 'apiservices',
};

const local = 'Local';

/** Of one that names no Service (any more): as it is told when it is made. */
export const always: Available = {
  status: 'True',
  reason: local,
  message: 'Local APIServices are always available',
};

/** Whether it names another server, which was found to answer for its group. */
export function isAsked(apiService: ApiService): boolean {
  if (targetOf(apiService) === undefined || apiService.metadata.deletionTimestamp) return false;
  return (apiService.status?.conditions ?? []).some(
    ({ type, status, reason }) => type === 'Available' && status === 'True' && reason !== local,
  );
}

/** Undefined of one that is local. */
export function targetOf({ spec }: ApiService): Target | undefined {
  const { service } = spec ?? {};
  if (!isRecord(service)) return undefined;
  const { namespace = '', name = '', port = 443 } = service as Partial<Target>;
  return { namespace, name, port };
}

/**
 * What keeps an APIService's Service from being asked, in kube-aggregator's words and order; undefined: nothing. `slices`
 * are that Service's.
 */
export function obstacle(
  target: Target,
  service: KubeObject | undefined,
  slices: readonly KubeObject[],
): Available | undefined {
  const { namespace, name, port } = target;
  if (service === undefined) return no('ServiceNotFound', `service/${name} in "${namespace}" is not present`);
  const { type = 'ClusterIP', ports = [] } = (service.spec ?? {}) as {
    type?: string;
    ports?: { port?: number; name?: string }[];
  };
  if (type !== 'ClusterIP') return undefined;
  const found = ports.find((one) => one.port === port);
  if (found === undefined)
    return no('ServicePortError', `service/${name} in "${namespace}" is not listening on port ${port}`);
  if (slices.length === 0)
    return no('EndpointsNotFound', `cannot find endpointslices for service/${name} in "${namespace}"`);
  const portName = found.name ?? '';
  if (slices.some((slice) => isReady(slice, portName))) return undefined;
  const message = `endpointslices for service/${name} in "${namespace}" have no addresses with port name "${portName}"`;
  return no('MissingEndpoints', message);
}

function isReady(slice: KubeObject, portName: string): boolean {
  const list = (of: unknown) => (Array.isArray(of) ? of.filter(isRecord) : []);
  const ready = list(slice['endpoints']).some(
    ({ conditions }) => !isRecord(conditions) || conditions['ready'] !== false,
  );
  return ready && list(slice['ports']).some(({ name = '', port }) => name === portName && port != null);
}

/** What an API server said, or why it said nothing. */
export interface Answer {
  /** This server serves the group itself, and asked nobody. */
  own?: boolean;
  status?: number;
  failure?: string;
}

export function fromAnswer(
  { namespace, name, port }: Target,
  gv: string,
  { own, status = 0, failure }: Answer,
): Available {
  if (own)
    return {
      status: 'True',
      reason: local,
      message: `this server serves ${gv} itself: the service is not asked`,
    };
  if (failure === undefined && status >= 200 && status < 300)
    return { status: 'True', reason: 'Passed', message: 'all checks passed' };
  const url = `https://${name}.${namespace}.svc:${port}/apis/${gv}`;
  const why =
    failure === undefined ? `bad status from ${url}: ${status}` : `Get ${JSON.stringify(url)}: ${failure}`;
  return no('FailedDiscoveryCheck', `failing or missing response from ${url}: ${why}`);
}

function no(reason: string, message: string): Available {
  return { status: 'False', reason, message };
}

/** The APIService as it should be; itself where it says so already. The time stays while the status does. */
export function told(apiService: ApiService, available: Available, now: string): ApiService {
  const conditions = apiService.status?.conditions ?? [];
  const before = conditions.find(({ type }) => type === 'Available');
  const same = (['status', 'reason', 'message'] as const).every(
    (field) => before?.[field] === available[field],
  );
  if (same) return apiService;
  const lastTransitionTime = before?.status === available.status ? (before.lastTransitionTime ?? now) : now;
  const next = { type: 'Available', lastTransitionTime, ...available };
  const others = conditions.filter(({ type }) => type !== 'Available');
  return { ...apiService, status: { ...apiService.status, conditions: [...others, next] } };
}
