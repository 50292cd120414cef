import { createHash } from 'node:crypto';
import type { KubeObject } from '../../kube/object.ts';
import { invalid } from '../../kube/status.ts';
import { parseKey } from './keys.ts';
import type { KindWrite } from './kinds.ts';

/** 10.96.0.0/12 without its first and last addresses, for each logical cluster by itself. */
const base = 0x0a60_0000;
const size = 1 << 20;

interface ServiceSpec {
  type?: string;
  clusterIP?: string;
  clusterIPs?: string[];
  [field: string]: unknown;
}

/**
 * Gives a Service the virtual address that its charts and clients expect to see; a user's own choice stays when it
 * is free. Physical clusters allocate theirs for themselves.
 */
export async function allocateClusterIP(
  write: KindWrite,
  object: KubeObject,
  old: KubeObject | undefined,
): Promise<void> {
  if (write.subresource !== '') return;
  const spec = (object.spec ?? {}) as ServiceSpec;
  const before = (old?.spec ?? {}) as ServiceSpec;
  if (spec.type === 'ExternalName') return;
  if (!spec.clusterIP && before.clusterIP && before.type !== 'ExternalName') {
    object.spec = { ...spec, clusterIP: before.clusterIP, clusterIPs: before.clusterIPs };
    return;
  }
  if (spec.clusterIP === 'None') {
    object.spec = { ...spec, clusterIPs: spec.clusterIPs ?? ['None'] };
    return;
  }
  if (old !== undefined && spec.clusterIP === before.clusterIP && spec.clusterIP) return;
  const taken = await addressesOf(write, object);
  const wanted = spec.clusterIP;
  if (wanted && taken.has(wanted)) {
    const message = `Invalid value: ${JSON.stringify([wanted])}: failed to allocate IP ${wanted}: provided IP is already allocated`;
    throw invalid('', 'Service', object.metadata.name ?? '', [
      { reason: 'FieldValueInvalid', message, field: 'spec.clusterIPs' },
    ]);
  }
  const address = wanted || freeAddress(`${object.metadata.namespace}/${object.metadata.name}`, taken);
  object.spec = { ...spec, clusterIP: address, clusterIPs: spec.clusterIPs ?? [address] };
}

async function addressesOf(write: KindWrite, self: KubeObject): Promise<Set<string>> {
  const { metadata } = self;
  const taken = new Set<string>();
  const { entries } = await write.registry.readAll(write.served, write.cluster, '');
  for (const entry of entries) {
    const at = parseKey(write.served.info, entry.key);
    if (at.namespace === metadata.namespace && at.name === metadata.name) continue;
    const address = /"clusterIP":"([^"]+)"/.exec(Buffer.from(entry.value).toString('latin1'))?.[1];
    if (address !== undefined) taken.add(address);
  }
  return taken;
}

/** Starts at a place that the name decides, so that a service made anew tends to get its address back. */
function freeAddress(seed: string, taken: ReadonlySet<string>): string {
  let offset = createHash('sha256').update(seed).digest().readUInt32BE(0) % (size - 512);
  for (let tries = 0; tries < size; tries++, offset = (offset + 1) % (size - 512)) {
    const address = dotted(base + 256 + offset);
    if (!taken.has(address)) return address;
  }
  throw new Error('every cluster address is taken');
}

function dotted(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join('.');
}
