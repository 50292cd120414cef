import { createHash } from 'node:crypto';
import type { KubeObject } from '../../kube/object.ts';
import { invalid } from '../../kube/status.ts';
import { claim } from './claims.ts';
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
 * is free. Physical clusters allocate theirs for themselves. What an allocation must keep to: claims.ts.
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
  const wanted = spec.clusterIP;
  if (wanted && !(await claim(write, 'clusterips', wanted, object))) {
    const message = `Invalid value: ${JSON.stringify([wanted])}: failed to allocate IP ${wanted}: provided IP is already allocated`;
    throw invalid('', 'Service', object.metadata.name ?? '', [
      { reason: 'FieldValueInvalid', message, field: 'spec.clusterIPs' },
    ]);
  }
  const address = wanted || (await freeAddress(write, object));
  object.spec = { ...spec, clusterIP: address, clusterIPs: spec.clusterIPs ?? [address] };
}

/** Starts at a place that the name decides, so that a service made anew tends to get its address back. */
async function freeAddress(write: KindWrite, object: KubeObject): Promise<string> {
  const seed = `${object.metadata.namespace}/${object.metadata.name}`;
  let offset = createHash('sha256').update(seed).digest().readUInt32BE(0) % (size - 512);
  for (let tries = 0; tries < size; tries++, offset = (offset + 1) % (size - 512)) {
    const address = dotted(base + 256 + offset);
    if (await claim(write, 'clusterips', address, object)) return address;
  }
  throw new Error('every cluster address is taken');
}

function dotted(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join('.');
}
