import { createHash } from 'node:crypto';
import { deepCopy } from '../../../kube/deep.ts';
import type { JsonObject, KubeObject } from '../../../kube/object.ts';
import { invalid } from '../../../kube/status.ts';
import { record, strings, text } from '../../../kube/untyped.ts';
import { claim } from './claims.ts';
import type { KindWrite } from './hooks.ts';
import { linkAllocated, settleFamilies } from './service-families.ts';
import { allocateNodePorts, wantsAddress } from './service-ports.ts';

/** 10.96.0.0/12 without its first and last addresses, for each logical cluster by itself. */
const base = 0x0a60_0000;
const size = 1 << 20;

/**
 * Gives a Service the virtual address and the ports that its charts and clients expect to see; a user's own choice
 * stays when it is free. Physical clusters allocate theirs for themselves. What an allocation must keep to: claims.ts.
 */
export async function allocateService(
  write: KindWrite,
  object: KubeObject,
  old: KubeObject | undefined,
): Promise<void> {
  if (write.subresource !== '') return;
  const spec = deepCopy(record(object.spec)) as JsonObject;
  const before = old && record(old.spec);
  object.spec = spec;
  linkAllocated(spec, before);
  const causes = settleFamilies(spec, before);
  if (causes.length > 0) throw invalid('', 'Service', object.metadata.name ?? '', causes);
  const fresh = before === undefined || before['type'] === 'ExternalName';
  if (fresh && wantsAddress(spec)) await allocateAddress(write, object, spec);
  await allocateNodePorts(write, object, spec, before);
}

async function allocateAddress(write: KindWrite, object: KubeObject, spec: JsonObject): Promise<void> {
  const wanted = text(spec['clusterIP']) || text(strings(spec['clusterIPs'])[0]);
  if (wanted && !(await claim(write, 'clusterips', wanted, object))) {
    const message = `Invalid value: ${JSON.stringify([wanted])}: failed to allocate IP ${wanted}: provided IP is already allocated`;
    throw invalid('', 'Service', object.metadata.name ?? '', [
      { reason: 'FieldValueInvalid', message, field: 'spec.clusterIPs' },
    ]);
  }
  const address = wanted || (await freeAddress(write, object));
  spec['clusterIP'] = address;
  if (strings(spec['clusterIPs']).length === 0) spec['clusterIPs'] = [address];
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
