import { isReflected } from '../../cluster/reflected.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { isRecord } from '../../kube/untyped.ts';
import type { ServiceConnector } from '../plugins.ts';
import type { Registry } from '../registry/types.ts';
import { type ClientConfig, urlOf } from './reference.ts';

/** An address, or a path of an API that proxies to the Service. */
export type Route = { host: string; port: number } | Awaited<ReturnType<ServiceConnector>>;
/** A string says why there is no way. */
export type Resolve = (cluster: string, config: ClientConfig) => Promise<Exclude<Route, undefined> | string>;

/** An address, or ports of pods that run on physical clusters. A string says why there is no way. */
export type ServerRoute = { host: string; port: number } | { pods: readonly ReadyPod[] } | string;
export type ResolveServer = (cluster: string, service: ServiceReference) => Promise<ServerRoute>;

type ServiceReference = Omit<NonNullable<ClientConfig['service']>, 'path'>;

interface ServiceSpec {
  type?: string;
  clusterIP?: string;
  externalName?: string;
  ports?: { port: number; name?: string }[];
}

/**
 * Where a webhook answers. A Service of a logical cluster has no network here: its physical cluster's API carries
 * the call, or else an address that its EndpointSlices name.
 */
export function serviceResolver(registry: Registry, connect: ServiceConnector | undefined): Resolve {
  return async (cluster, config) => {
    const { service } = config;
    if (service === undefined) {
      const { hostname, port } = urlOf(config);
      return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 443) };
    }
    const found = await findService(registry, cluster, service);
    if (typeof found === 'string' || 'host' in found) return found;
    const through = await connect?.(cluster, found.object);
    // Its API carries the call to the port, over TLS.
    if (through !== undefined) return { ...through, path: proxied(through.path, service.port) };
    const slices = await slicesOf(registry, cluster, service);
    return readyEndpoint(slices, service.name, found.portName) ?? noEndpoints(service);
  };
}

/** Where an API server of a logical cluster is: pods that run on a physical cluster, or else an address that somebody wrote. */
export function serverResolver(registry: Registry): ResolveServer {
  return async (cluster, service) => {
    const found = await findService(registry, cluster, service);
    if (typeof found === 'string' || 'host' in found) return found;
    const slices = await slicesOf(registry, cluster, service);
    const pods = readyPods(slices, service.name, found.portName);
    if (pods.length > 0) return { pods };
    const written = slices.filter((slice) => !isReflected(slice));
    return readyEndpoint(written, service.name, found.portName) ?? noEndpoints(service);
  };
}

async function findService(
  registry: Registry,
  cluster: string,
  { namespace, name, port }: ServiceReference,
): Promise<{ object: KubeObject; portName: string } | { host: string; port: number } | string> {
  const object = await registry
    .get({ cluster, group: '', resource: 'services', namespace, name })
    .catch((error) => (isStatusError(error, 'NotFound') ? undefined : Promise.reject(error)));
  if (object === undefined) return `service ${JSON.stringify(name)} not found`;
  const spec = (object.spec ?? {}) as ServiceSpec;
  if (spec.type === 'ExternalName') return { host: spec.externalName ?? '', port };
  if (spec.clusterIP === 'None') return 'cannot route to service with ClusterIP "None"';
  const found = spec.ports?.find((one) => one.port === port);
  if (found === undefined) return `no service port ${port} found for service ${JSON.stringify(name)}`;
  return { object, portName: found.name ?? '' };
}

async function slicesOf(
  registry: Registry,
  cluster: string,
  { namespace }: ServiceReference,
): Promise<readonly KubeObject[]> {
  const slices = { cluster, group: 'discovery.k8s.io', resource: 'endpointslices', namespace };
  return (await registry.list(slices)).items;
}

function noEndpoints({ name }: ServiceReference): string {
  return `no endpoints available for service ${JSON.stringify(name)}`;
}

/** A port of a pod, by what its Service's slices say: a named port of the pods is a number there. */
export interface ReadyPod {
  pod: string;
  uid: string;
  port: number;
}

/** The ready pods in the slices that physical clusters have of a Service, that serve the port of that name. */
export function readyPods(slices: readonly KubeObject[], service: string, portName: string): ReadyPod[] {
  const found = new Map<string, ReadyPod>();
  for (const slice of slices.filter(isReflected)) {
    for (const { port, endpoint } of readyIn(slice, service, portName)) {
      const { kind, name, uid } = isRecord(endpoint['targetRef']) ? endpoint['targetRef'] : {};
      if (kind !== 'Pod' || typeof name !== 'string' || typeof uid !== 'string') continue;
      found.set(uid, { pod: name, uid, port });
    }
  }
  return [...found.values()];
}

/** The first ready address of the Service's slices that serve the port of that name. */
export function readyEndpoint(
  slices: readonly KubeObject[],
  service: string,
  portName: string,
): { host: string; port: number } | undefined {
  for (const slice of slices) {
    for (const { port, endpoint } of readyIn(slice, service, portName)) {
      const [host] = (endpoint['addresses'] ?? []) as string[];
      if (host !== undefined) return { host, port };
    }
  }
  return undefined;
}

function* readyIn(
  slice: KubeObject,
  service: string,
  portName: string,
): Generator<{ port: number; endpoint: Record<string, unknown> }> {
  if (slice.metadata.labels?.['kubernetes.io/service-name'] !== service) return;
  const port = listOf(slice['ports']).find((one) => (one['name'] ?? '') === portName)?.['port'];
  if (typeof port !== 'number') return;
  for (const endpoint of listOf(slice['endpoints'])) {
    const { ready } = (endpoint['conditions'] ?? {}) as { ready?: boolean };
    if (ready !== false) yield { port, endpoint };
  }
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function proxied(path: string, port: number): string {
  return path.replace(/[^/]+$/, (name) => `https:${name}:${port}/proxy`);
}
