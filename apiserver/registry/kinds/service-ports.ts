import { randomInt } from 'node:crypto';
import type { JsonObject, KubeObject } from '../../../kube/object.ts';
import { internalError, invalid } from '../../../kube/status.ts';
import { int, records, strings, text } from '../../../kube/untyped.ts';
import { claim } from './claims.ts';
import type { KindWrite } from './hooks.ts';
import { checksHealth, hasNodePorts } from './service-families.ts';

/** https://kubernetes.io/docs/concepts/services-networking/service/#type-nodeport, for each logical cluster by itself. */
const first = 30_000;
const last = 32_767;
/** Of a range of 2,768, as kube-apiserver divides it: a thirty-second, between 16 and 128. */
const firstDynamic = first + 86;

/** Claims node ports that are new, and gives those that nobody chose. `before` undefined: a new Service. */
export async function allocateNodePorts(
  write: KindWrite,
  object: KubeObject,
  spec: JsonObject,
  before: JsonObject | undefined,
): Promise<void> {
  const held = new Set(before && hasNodePorts(before) ? numbers(before) : []);
  if (hasNodePorts(spec)) {
    const given = new Map<number, number>();
    for (const [index, port] of records(spec['ports']).entries()) {
      await allocatePort({ write, object, spec, held, given }, port, index, before === undefined);
    }
  }
  if (!checksHealth(spec) || (before && checksHealth(before))) return;
  const wanted = int(spec['healthCheckNodePort']);
  if (wanted === 0) {
    spec['healthCheckNodePort'] = await nextPort(write, object);
    return;
  }
  const why = await claimPort(write, object, wanted);
  if (why !== undefined) {
    throw internalError(`failed to allocate requested HealthCheck NodePort ${wanted}: ${why}`);
  }
}

interface Allocation {
  write: KindWrite;
  object: KubeObject;
  spec: JsonObject;
  /** What the Service had before. */
  held: Set<number>;
  /** Service port to node port: TCP and UDP of one port share theirs. */
  given: Map<number, number>;
}

async function allocatePort(
  { write, object, spec, held, given }: Allocation,
  port: JsonObject,
  index: number,
  fresh: boolean,
): Promise<void> {
  const wanted = int(port['nodePort']);
  const automatic = spec['type'] === 'NodePort' || spec['allocateLoadBalancerNodePorts'] !== false;
  if (wanted === 0 && !automatic) return;
  const number = int(port['port']);
  if (wanted === 0) {
    const shared = fresh ? (given.get(number) ?? requestedFor(spec, number)) : undefined;
    port['nodePort'] = shared ?? (await nextPort(write, object));
  } else if (!held.has(wanted) && !sharesWith(spec, index, wanted)) {
    const why = await claimPort(write, object, wanted);
    if (why !== undefined) {
      throw invalid('', 'Service', object.metadata.name ?? '', [
        {
          reason: 'FieldValueInvalid',
          message: `Invalid value: ${wanted}: ${why}`,
          field: `spec.ports[${index}].nodePort`,
        },
      ]);
    }
  }
  given.set(number, int(port['nodePort']));
}

/** A node port asked for by an earlier port of the same number, or another protocol's, is one claim. */
function sharesWith(spec: JsonObject, index: number, nodePort: number): boolean {
  const ports = records(spec['ports']);
  const own = ports[index];
  const before = ports.slice(0, index).filter((port) => int(port['nodePort']) === nodePort);
  return before.some((port) => port['port'] === own?.['port'] && port['protocol'] !== own?.['protocol']);
}

function requestedFor(spec: JsonObject, port: number): number | undefined {
  const found = records(spec['ports']).find((one) => int(one['port']) === port && int(one['nodePort']) !== 0);
  return found && int(found['nodePort']);
}

async function claimPort(write: KindWrite, object: KubeObject, port: number): Promise<string | undefined> {
  if (port < first || port > last) {
    return `provided port is not in the valid range. The range of valid ports is ${first}-${last}`;
  }
  const taken = numbers((object.spec ?? {}) as JsonObject).filter((one) => one === port).length > 1;
  const own = write.claims.some(({ key }) => key.endsWith(`/${port}`) && key.includes('/nodeports/'));
  if (taken && own) return 'provided port is already allocated';
  const free = await claim(write, 'nodeports', String(port), object);
  return free ? undefined : 'provided port is already allocated';
}

/**
 * Starts anywhere above what is left for whoever wants a certain port; that is handed out when all else is taken.
 * https://kubernetes.io/docs/concepts/services-networking/service/#avoid-nodeport-collisions
 */
async function nextPort(write: KindWrite, object: KubeObject): Promise<number> {
  const own = new Set(numbers((object.spec ?? {}) as JsonObject));
  for (const [from, to] of [
    [firstDynamic, last],
    [first, firstDynamic - 1],
  ] as const) {
    const size = to - from + 1;
    const start = randomInt(size);
    for (let tries = 0; tries < size; tries++) {
      const port = from + ((start + tries) % size);
      if (own.has(port)) continue;
      if (await claim(write, 'nodeports', String(port), object)) return port;
    }
  }
  throw internalError('failed to allocate a nodePort: range is full');
}

function numbers(spec: JsonObject): number[] {
  const health = int(spec['healthCheckNodePort']);
  const ports = records(spec['ports']).map((port) => int(port['nodePort']));
  return [...ports, health].filter((port) => port !== 0);
}

export function wantsAddress(spec: JsonObject): boolean {
  if (text(spec['type']) === 'ExternalName') return false;
  return spec['clusterIP'] !== 'None' && strings(spec['clusterIPs'])[0] !== 'None';
}
