import type { KubeObject } from '../kube/object.ts';
import { getOwn, listAt, record, records, strings, textAt } from '../kube/untyped.ts';
import { digest } from './digest.ts';
import { managedByLabel, ourSlices, serviceNameLabel } from './endpoints.ts';
import { reportedAnnotation } from './names.ts';
import { reflectedFrom } from './reflected.ts';
import type { Share } from './share.ts';
import { silenceOf } from './silence.ts';
import type { PhysicalCluster } from './types.ts';

/** What of a physical cluster matters to the others of its network. */
export interface Peer {
  network: string;
  /** Nothing is heard of it: its pods may be there or not. */
  isSilent: boolean;
}

/** A Service as it is placed. */
export interface Served {
  name: string;
  uid: string;
  shares: Readonly<Record<string, Share>>;
}

/** As many as the controllers of Kubernetes put into one. */
const mostEndpoints = 100;
const addressTypes = new Set(['IPv4', 'IPv6']);
/** Tells who forwards that the name leads to pods themselves. */
const headlessLabel = 'service.kubernetes.io/headless';

/** Undefined: it has its network for itself. */
export function peerOf(cluster: PhysicalCluster): Peer | undefined {
  const { network } = cluster.spec ?? {};
  return network ? { network, isSilent: silenceOf(cluster) !== undefined } : undefined;
}

/** The other clusters of the network of `me` on which the Service leads to pods: not those that it is withdrawn from. */
export function peersOf(
  { shares }: Pick<Served, 'shares'>,
  clusters: ReadonlyMap<string, Peer>,
  me: string,
): string[] {
  const network = clusters.get(me)?.network;
  if (network === undefined || !getOwn(shares, me)) return [];
  return Object.entries(shares).flatMap(([name, share]) => {
    const counts = name !== me && clusters.get(name)?.network === network && leads(share);
    return counts ? [name] : [];
  });
}

function leads({ phase, withdrawn }: Share): boolean {
  return withdrawn !== true && (phase === 'Joining' || phase === 'Active');
}

/**
 * The EndpointSlices that a Service gets on the cluster `me` beside its own: the endpoints that it has on the other clusters of
 * the network, as these reported them. Each is made of one slice of `all` alone, which are of the Service's namespace in its
 * logical cluster; what there was not reported, or was changed since, is passed over.
 */
export function peerSlices(
  service: Served,
  all: readonly KubeObject[],
  clusters: ReadonlyMap<string, Peer>,
  me: string,
): KubeObject[] {
  const peers = new Set(peersOf(service, clusters, me));
  if (peers.size === 0) return [];
  return all.flatMap((slice) => {
    const [from = ''] = reflectedFrom(slice);
    if (!peers.has(from) || serviceNamed(slice) !== service.name || !isAsReported(slice)) return [];
    if (isOfFormer(slice, service)) return [];
    const carried = carriedOf(slice);
    const { addressType, ports } = carried;
    if (!addressTypes.has(addressType)) return [];
    const isSilent = clusters.get(from)?.isSilent === true;
    const endpoints = isSilent && !isHeadless(slice) ? carried.endpoints.map(lastResort) : carried.endpoints;
    return chunks(endpoints).map((part, index): KubeObject => {
      const of = [me, from, service.uid, slice.metadata.name, addressType, index];
      return {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { name: `peer-${digest(JSON.stringify(of), 16)}`, labels: labelsOf(slice, service.name) },
        addressType,
        endpoints: part,
        ports,
      };
    });
  });
}

/** Of a slice as its physical cluster says it; only the server writes it down, and then whoever changes the slice shows. */
export function reportOf(slice: KubeObject): string {
  return digest(
    JSON.stringify([slice.metadata.uid, labelsOf(slice, serviceNamed(slice)), carriedOf(slice)]),
    32,
  );
}

/** Nobody has changed it in the logical cluster since. */
export function isAsReported(slice: KubeObject): boolean {
  return slice.metadata.annotations?.[reportedAnnotation] === reportOf(slice);
}

/** Of a Service of that name which was deleted; the cluster has yet to say so. */
function isOfFormer({ metadata }: KubeObject, service: Served): boolean {
  const owners = metadata.ownerReferences ?? [];
  return owners.some(({ kind, uid }) => kind === 'Service' && uid !== service.uid);
}

/** Its name leads to pods themselves, and a DNS server leaves out whoever is about to go, though there be no other. */
function isHeadless({ metadata }: KubeObject): boolean {
  return metadata.labels?.[headlessLabel] !== undefined;
}

function serviceNamed({ metadata }: KubeObject): string {
  return metadata.labels?.[serviceNameLabel] ?? '';
}

function labelsOf({ metadata }: KubeObject, service: string): Record<string, string> {
  const headless = metadata.labels?.[headlessLabel];
  return {
    [serviceNameLabel]: service,
    [managedByLabel.slice]: ourSlices,
    ...(headless !== undefined && { [headlessLabel]: headless }),
  };
}

interface Conditions {
  ready?: boolean;
  serving?: boolean;
  terminating?: boolean;
}

interface Endpoint {
  addresses: string[];
  conditions: Conditions;
  hostname?: string;
  zone?: string;
  hints?: { forZones: { name: string }[] };
}

interface Carried {
  addressType: string;
  endpoints: Endpoint[];
  ports: object[];
}

function carriedOf(slice: KubeObject): Carried {
  return {
    addressType: textAt(slice, 'addressType') ?? '',
    endpoints: records(slice['endpoints']).flatMap(endpointOf),
    ports: records(slice['ports']).map(({ name, port, protocol, appProtocol }) => ({
      name: typeof name === 'string' ? name : '',
      ...(typeof port === 'number' && { port }),
      protocol: typeof protocol === 'string' ? protocol : 'TCP',
      ...(typeof appProtocol === 'string' && { appProtocol }),
    })),
  };
}

/**
 * Without node and pod, which nobody knows elsewhere. For which zones it is meant goes along: one without would have whoever
 * prefers what is near send to all alike.
 */
function endpointOf(endpoint: Record<string, unknown>): Endpoint[] {
  const addresses = strings(endpoint['addresses']).filter((address) => address !== '');
  if (addresses.length === 0) return [];
  const { hostname, zone } = endpoint;
  const zones = listAt(endpoint, 'hints', 'forZones').flatMap((each) => {
    const name = textAt(each, 'name');
    return name ? [{ name }] : [];
  });
  return [
    {
      addresses,
      conditions: conditionsOf(endpoint['conditions']),
      ...(typeof hostname === 'string' && { hostname }),
      ...(typeof zone === 'string' && { zone }),
      ...(zones.length > 0 && { hints: { forZones: zones } }),
    },
  ];
}

function conditionsOf(conditions: unknown): Conditions {
  const { ready, serving, terminating } = record(conditions);
  return {
    ...(typeof ready === 'boolean' && { ready }),
    ...(typeof serving === 'boolean' && { serving }),
    ...(typeof terminating === 'boolean' && { terminating }),
  };
}

/** Whoever has others uses those: https://kubernetes.io/docs/reference/networking/virtual-ips/#traffic-to-terminating-endpoints */
function lastResort(endpoint: Endpoint): Endpoint {
  const { ready = true, serving = ready } = endpoint.conditions;
  return { ...endpoint, conditions: { ready: false, serving, terminating: true } };
}

function chunks<T>(all: readonly T[]): T[][] {
  const count = Math.ceil(all.length / mostEndpoints);
  return Array.from({ length: count }, (_, i) => all.slice(i * mostEndpoints, (i + 1) * mostEndpoints));
}
