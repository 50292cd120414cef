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
    const at = { cluster, group: '', namespace: service.namespace };
    const object = await registry
      .get({ ...at, resource: 'services', name: service.name })
      .catch((error) => (isStatusError(error, 'NotFound') ? undefined : Promise.reject(error)));
    if (object === undefined) return `service ${JSON.stringify(service.name)} not found`;
    const spec = (object.spec ?? {}) as ServiceSpec;
    if (spec.type === 'ExternalName') return { host: spec.externalName ?? '', port: service.port };
    if (spec.clusterIP === 'None') return 'cannot route to service with ClusterIP "None"';
    const port = spec.ports?.find((one) => one.port === service.port);
    if (port === undefined) {
      return `no service port ${service.port} found for service ${JSON.stringify(service.name)}`;
    }
    const through = await connect?.(cluster, object);
    // Its API carries the call to the port, over TLS.
    if (through !== undefined) return { ...through, path: proxied(through.path, service.port) };
    const slices = { ...at, group: 'discovery.k8s.io', resource: 'endpointslices' };
    const { items } = await registry.list(slices);
    const endpoint = readyEndpoint(items, service.name, port.name ?? '');
    return endpoint ?? `no endpoints available for service ${JSON.stringify(service.name)}`;
  };
}

/** The first ready address of the Service's slices that serve the port of that name. */
export function readyEndpoint(
  slices: readonly KubeObject[],
  service: string,
  portName: string,
): { host: string; port: number } | undefined {
  for (const slice of slices) {
    if (slice.metadata.labels?.['kubernetes.io/service-name'] !== service) continue;
    const ports = listOf(slice['ports']);
    const port = ports.find((one) => (one['name'] ?? '') === portName)?.['port'];
    if (typeof port !== 'number') continue;
    for (const endpoint of listOf(slice['endpoints'])) {
      const { ready } = (endpoint['conditions'] ?? {}) as { ready?: boolean };
      const [host] = (endpoint['addresses'] ?? []) as string[];
      if (ready !== false && host !== undefined) return { host, port };
    }
  }
  return undefined;
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function proxied(path: string, port: number): string {
  return path.replace(/[^/]+$/, (name) => `https:${name}:${port}/proxy`);
}
