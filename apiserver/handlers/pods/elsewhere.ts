import { isHeld, isReflected, reflectedAs, reflectedFrom } from '../../../cluster/reflected.ts';
import type { ApiResponse } from '../../../kube/http.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { StatusError } from '../../../kube/status.ts';
import { textAt } from '../../../kube/untyped.ts';
import { admissionFor } from '../../admission/chain.ts';
import { isOwnController } from '../../authn/controllers.ts';
import type { ResourceExchange } from '../../core.ts';
import { decodeStored } from '../../registry/codec.ts';
import type { Deleted } from '../../registry/delete.ts';
import { graceOf } from '../../registry/grace.ts';
import type { DeleteOptions } from '../../registry/types.ts';
import { deleteOne } from '../writes/delete-one.ts';
import { jsonOf, type Whole, whole } from './answer.ts';
import { forwardDelete } from './forward.ts';
import { clustersLeft } from './leaving.ts';
import { type Connection, ownerThatLeaves, untilLetGo } from './let-go.ts';

/** Of these one that is reflected is deleted where it really is. */
const elsewhere = new Set([
  '/pods',
  '/persistentvolumeclaims',
  'apps/replicasets',
  'apps/controllerrevisions',
  'batch/jobs',
  '/endpoints',
  'discovery.k8s.io/endpointslices',
]);

/** `refused`: a physical cluster's own answer. */
export type DeletedElsewhere = { refused: ApiResponse } | { object: KubeObject };

/**
 * Deletes what physical clusters have on every one that has it, and nothing here: what is shown goes when their syncers
 * say so. `undefined`: it is nowhere, delete it here.
 */
export async function deleteElsewhere(
  exchange: ResourceExchange,
  address: { namespace: string; name: string },
  options: DeleteOptions,
): Promise<DeletedElsewhere | undefined> {
  const { core, info, stored } = exchange;
  const { group, resource } = stored.info;
  if (!core.connectPod || options.dryRun || !elsewhere.has(`${group}/${resource}`)) return undefined;
  const object = decodeStored(await core.registry.read(stored, { cluster: info.cluster, ...address }));
  const { uid, resourceVersion } = object.metadata;
  if ((options.uid ?? uid) !== uid || (options.resourceVersion ?? resourceVersion) !== resourceVersion)
    return undefined;
  if (!isThere(exchange, object)) return undefined;
  const connections = await connectionsTo(exchange, object);
  if (connections.length === 0) return undefined;
  const grace = graceOf(object, stored, options.gracePeriodSeconds);
  const asked = { ...options, ...(grace !== undefined && { gracePeriodSeconds: grace }) };
  const admission = admissionFor(exchange, 'DELETE', false, { name: address.name, options: asked });
  await admission.mutate(undefined, object);
  await admission.validate(undefined, object);
  const isOrphaning = options.propagationPolicy === 'Orphan';
  let found = false;
  for (const { cluster, connection } of connections) {
    await untilLetGo(exchange, object, connection);
    // A move goes on while others are waited for.
    const left = isOrphaning ? await clustersLeft(exchange, object) : new Set();
    const policy = left.has(cluster) && { propagationPolicy: 'Background' as const };
    const answer = await whole(await forwardDelete(connection, { ...options, ...policy }));
    if (answer.status < 400) found = true;
    else if (!isMissing(answer)) return { refused: answer };
  }
  return found ? { object } : undefined;
}

/**
 * What is placed goes by its share. Of what a workload owns our controllers delete the record: they do so in a namespace
 * that ends, where the workload's end takes the rest.
 */
function isThere({ stored, user }: ResourceExchange, object: KubeObject): boolean {
  if (isHeld(object)) return false;
  const { group, resource } = stored.info;
  if (group === '' && resource !== 'endpoints') return isReflected(object);
  const owned = resource === 'endpoints' || (object.metadata.ownerReferences ?? []).length > 0;
  return isReflected(object) && !(owned && isOwnController(user));
}

/**
 * Deletes here. A placed Pod stays while it runs, and is stopped there in the time that was asked for: with its share it
 * leaves in any case, but in its own time.
 */
export async function deleteHere(
  exchange: ResourceExchange,
  address: { namespace: string; name: string },
  options: DeleteOptions,
): Promise<Deleted> {
  const connection = await whereItStops(exchange, address, options);
  const deleted = await deleteOne(exchange, address.name, options, address.namespace);
  // Whatever becomes of it, its syncer sees to it that it goes.
  if (connection)
    await forwardDelete(connection, options)
      .then(whole)
      .catch(() => undefined);
  return deleted;
}

async function whereItStops(
  exchange: ResourceExchange,
  address: { namespace: string; name: string },
  options: DeleteOptions,
): Promise<Connection | undefined> {
  const { core, info, stored, user } = exchange;
  const { group, resource } = stored.info;
  if (!core.connectPod || options.dryRun || group !== '' || resource !== 'pods') return undefined;
  if (isOwnController(user)) return undefined;
  const pod = decodeStored(await core.registry.read(stored, { cluster: info.cluster, ...address }));
  if (isReflected(pod)) return undefined;
  try {
    const connection = await core.connectPod(info.cluster, pod);
    return connection && (await ownerThatLeaves(exchange, pod, connection)) ? undefined : connection;
  } catch (error) {
    // Its share takes it away in any case.
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}

interface There {
  cluster: string | undefined;
  connection: Connection;
}

async function connectionsTo({ core, info }: ResourceExchange, object: KubeObject): Promise<There[]> {
  const { uid = '', annotations } = object.metadata;
  const parts = reflectedFrom(object).map((cluster) => ({
    cluster,
    part: {
      ...object,
      metadata: { ...object.metadata, annotations: reflectedAs(annotations, uid, [cluster]) },
    },
  }));
  const found = [];
  for (const { cluster, part } of parts.length > 0 ? parts : [{ cluster: undefined, part: object }]) {
    const connection = await core.connectPod?.(info.cluster, part);
    if (connection) found.push({ cluster, connection });
  }
  return found;
}

/** The cluster looked for that very object. A 404 without its name says that nobody knows the path. */
function isMissing(answer: Whole): boolean {
  return answer.status === 404 && Boolean(textAt(jsonOf(answer), 'details', 'name'));
}
