import { isIPv6 } from 'node:net';
import type { KubeObject } from '../../kube/object.ts';
import { isRecord, listAt, mapAt, textAt } from '../../kube/untyped.ts';

export interface Mirror {
  addressType: string;
  /** Tells those of one kind of address apart. */
  part: string;
  ports: Record<string, unknown>[];
  endpoints: Record<string, unknown>[];
}

/** As many as a slice takes by default. */
const maxEndpoints = 100;
/** As many addresses of one subset as Kubernetes mirrors. */
const maxPerSubset = 1000;
/** As many as a slice may have: more cannot be said in any. */
const maxPorts = 20_000;

/** What slices say that is said in Endpoints: one for each set of ports and kind of address. */
export function mirrorsOf(endpoints: KubeObject): Mirror[] {
  const found = new Map<string, Partial<Record<'IPv4' | 'IPv6', Said>>>();
  for (const subset of listAt(endpoints, 'subsets').filter(isRecord)) {
    const ports = listAt(subset, 'ports').filter(isRecord).map(portOf);
    const ready = listAt(subset, 'addresses').filter(isRecord);
    const notReady = listAt(subset, 'notReadyAddresses').filter(isRecord);
    const all = [
      ...ready.map((address) => endpointOf(address, true)),
      ...notReady.map((address) => endpointOf(address, false)),
    ].slice(0, maxPerSubset);
    if (ports.length > maxPorts) continue;
    const part = JSON.stringify(ports);
    const of = found.get(part) ?? {};
    found.set(part, of);
    for (const endpoint of all) {
      const [address = ''] = endpoint.addresses;
      const addressType = isIPv6(address) ? 'IPv6' : 'IPv4';
      const said = of[addressType] ?? { addressType, ports, part, endpoints: new Map() };
      of[addressType] = said;
      const who = JSON.stringify([address, textAt(endpoint, 'targetRef', 'uid')]);
      if (!said.endpoints.has(who) || !endpoint.conditions.ready) said.endpoints.set(who, endpoint);
    }
  }
  return [...found.values()]
    .flatMap((of) => Object.values(of))
    .flatMap((said) => inPieces({ ...said, endpoints: [...said.endpoints.values()] }));
}

/** Whoever is told twice is there once, and not ready where that is told too. */
interface Said extends Pick<Mirror, 'addressType' | 'ports' | 'part'> {
  endpoints: Map<string, Record<string, unknown>>;
}

function inPieces(mirror: Mirror): Mirror[] {
  const pieces = Math.ceil(mirror.endpoints.length / maxEndpoints);
  return Array.from({ length: pieces }, (_, i) => ({
    ...mirror,
    part: `${mirror.part}${i}`,
    endpoints: mirror.endpoints.slice(i * maxEndpoints, (i + 1) * maxEndpoints),
  }));
}

function portOf(port: Record<string, unknown>): Record<string, unknown> {
  const { name = '', port: number, protocol = 'TCP', appProtocol } = port;
  return { name, port: number, protocol, ...(appProtocol !== undefined && { appProtocol }) };
}

function endpointOf(
  address: Record<string, unknown>,
  ready: boolean,
): Record<string, unknown> & { addresses: string[]; conditions: { ready: boolean } } {
  const targetRef = mapAt(address, 'targetRef');
  const hostname = textAt(address, 'hostname');
  const nodeName = textAt(address, 'nodeName');
  return {
    addresses: [textAt(address, 'ip') ?? ''],
    conditions: { ready },
    ...(hostname && { hostname }),
    ...(nodeName && { nodeName }),
    ...(targetRef && { targetRef }),
  };
}
