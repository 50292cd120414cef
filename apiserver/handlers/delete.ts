import type { ApiResponse } from '../../kube/http.ts';
import type { KubeObject } from '../../kube/object.ts';
import { showsDeleted } from '../../kube/strategy/deleted.ts';
import type { ResourceExchange } from '../core.ts';
import { deleteOptions } from '../decode/delete-options.ts';
import { formOf, respondObject, respondValue } from '../encode/respond.ts';
import type { DeleteOptions } from '../registry/types.ts';
import { deleteOne } from './delete-one.ts';
import { deleteElsewhere } from './elsewhere.ts';

export async function handleDelete(exchange: ResourceExchange): Promise<ApiResponse> {
  formOf(exchange);
  const { info, stored } = exchange;
  const options = deleteOptions(exchange);
  warnOfOrphans(exchange, options);
  const forwarded = await deleteElsewhere(exchange, info, options);
  if (forwarded && 'refused' in forwarded) return forwarded.refused;
  if (forwarded && stored.info.group === '') return respondValue(exchange, 200, forwarded.object);
  if (forwarded) return respondValue(exchange, 200, success(exchange, forwarded.object));
  const deleted = await deleteOne(exchange, exchange.info.name, options);
  // What finalizers keep is answered with the object, too.
  if (!deleted.gone || showsDeleted(stored.info)) return respondObject(exchange, 200, deleted.object);
  return respondValue(exchange, 200, success(exchange, deleted.object));
}

/** What a Job leaves behind surprises whoever did not choose. */
export function warnOfOrphans({ stored, warnings }: ResourceExchange, options: DeleteOptions): void {
  const { group, resource } = stored.info;
  if (group !== 'batch' || resource !== 'jobs' || options.propagationPolicy !== undefined) return;
  warnings.push(
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  );
}

function success(
  { stored, served }: ResourceExchange,
  object: KubeObject,
): { kind: string; apiVersion: string; [field: string]: unknown } {
  const { group } = served.info;
  const { resource } = stored.info;
  const { name, uid } = object.metadata;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { ...(name && { name }), ...(group && { group }), kind: resource, ...(uid && { uid }) },
  };
}
