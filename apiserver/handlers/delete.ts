import type { ApiResponse } from '../../kube/http.ts';
import type { KubeObject } from '../../kube/object.ts';
import { admissionFor } from '../admission/chain.ts';
import type { ResourceExchange } from '../core.ts';
import { deleteOptions } from '../decode/options.ts';
import { formOf, respondObject, respondValue } from '../encode/respond.ts';
import { type Deleted, deleteObject } from '../registry/delete.ts';
import type { DeleteOptions } from '../registry/types.ts';
import { removeInstances } from './crdcleanup.ts';
import { deleteRunningPod } from './pods.ts';

export async function handleDelete(exchange: ResourceExchange): Promise<ApiResponse> {
  formOf(exchange);
  const { stored } = exchange;
  const options = deleteOptions(exchange);
  if (stored.info.group === '' && stored.info.resource === 'pods') {
    const forwarded = await deleteRunningPod(exchange, options);
    if (forwarded) return forwarded;
  }
  const deleted = await deleteOne(exchange, exchange.info.name, options);
  // Kubernetes answers pods and what finalizers keep with the object, all else with a Status.
  const isPod = stored.info.group === '' && stored.info.resource === 'pods';
  if (!deleted.gone || isPod) return respondObject(exchange, 200, deleted.object);
  return respondValue(exchange, 200, success(exchange, deleted.object));
}

export async function deleteOne(
  exchange: ResourceExchange,
  name: string,
  options: DeleteOptions,
  namespace = exchange.info.namespace,
): Promise<Deleted> {
  const { core, info, stored } = exchange;
  const admission = admissionFor(exchange, 'DELETE', options.dryRun ?? false, { name });
  if (stored.info.group === 'apiextensions.k8s.io' && stored.info.resource === 'customresourcedefinitions') {
    if (!options.dryRun) await removeInstances(exchange, name, options);
  }
  return deleteObject(
    core.registry,
    stored,
    { cluster: info.cluster, namespace, name },
    {
      ...options,
      validate: (object) => admission.validate(undefined, object),
    },
  );
}

function success(
  { stored }: ResourceExchange,
  object: KubeObject,
): { kind: string; apiVersion: string; [field: string]: unknown } {
  const { group, resource } = stored.info;
  const { name, uid } = object.metadata;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { ...(name && { name }), ...(group && { group }), kind: resource, ...(uid && { uid }) },
  };
}
