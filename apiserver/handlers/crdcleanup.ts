import { isStatusError } from '../../kube/status.ts';
import type { ResourceExchange } from '../core.ts';
import { decodeStored } from '../registry/codec.ts';
import { deleteObject } from '../registry/delete.ts';
import { parseKey } from '../registry/keys.ts';
import { checkDeletePreconditions } from '../registry/metadata.ts';
import type { DeleteOptions } from '../registry/types.ts';

/** A definition takes its objects with it; those that finalizers keep stay, marked as being deleted. */
export async function removeInstances(
  exchange: ResourceExchange,
  definition: string,
  options: DeleteOptions,
): Promise<void> {
  const { core, info, stored } = exchange;
  const { registry } = core;
  const entry = await registry.read(stored, { cluster: info.cluster, namespace: '', name: definition });
  checkDeletePreconditions(options, decodeStored(entry));
  const dot = definition.indexOf('.');
  const served = registry.find(info.cluster, definition.slice(dot + 1), definition.slice(0, dot));
  if (!served?.custom || served.cluster !== info.cluster) return;
  const { entries } = await registry.readAll(served, info.cluster, '');
  for (const { key } of entries) {
    await deleteObject(registry, served, parseKey(served.info, key), {}).catch((error) => {
      if (!isStatusError(error, 'NotFound')) throw error;
    });
  }
}
