import { reflectedAs, reflectedFrom } from '../../cluster/reflected.ts';
import type { ApiResponse } from '../../kube/http.ts';
import type { ResourceExchange } from '../core.ts';
import { decodeStored } from '../registry/codec.ts';
import type { DeleteOptions } from '../registry/types.ts';
import { contentType, forwardDelete } from './pods.ts';

const leftBehind = new Set(['apps/replicasets', 'batch/jobs']);

/**
 * A ReplicaSet or Job that an orphaned workload left behind is deleted on every physical cluster that has it; what is
 * shown here goes when their syncers say so. `done` is the answer then; `undefined`: it is nowhere, delete it here.
 */
export async function deleteOrphan(
  { core, info, stored }: ResourceExchange,
  options: DeleteOptions,
  done: (object: ReturnType<typeof decodeStored>) => ApiResponse,
): Promise<ApiResponse | undefined> {
  const { group, resource } = stored.info;
  if (!leftBehind.has(`${group}/${resource}`) || !core.connectPod || options.dryRun) return undefined;
  const object = decodeStored(await core.registry.read(stored, info));
  const { uid = '', ownerReferences = [], annotations } = object.metadata;
  if (ownerReferences.length > 0 || (options.uid !== undefined && options.uid !== uid)) return undefined;
  let found = false;
  for (const cluster of reflectedFrom(object)) {
    const there = reflectedAs(annotations, uid, [cluster]);
    const one = { ...object, metadata: { ...object.metadata, annotations: there } };
    const connection = await core.connectPod(info.cluster, one);
    const response = connection && (await forwardDelete(connection, options));
    if (!response || response.status === 404) continue;
    if (response.status >= 400) return { ...response, headers: contentType(response) };
    found = true;
  }
  return found ? done(object) : undefined;
}
