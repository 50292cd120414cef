import type { ApiResponse } from '../../kube/http.ts';
import type { KubeObject } from '../../kube/object.ts';
import { showsDeleted } from '../../kube/strategy/deleted.ts';
import type { ResourceExchange } from '../core.ts';
import { deleteOptions } from '../decode/delete-options.ts';
import { formOf, respondObject, respondValue } from '../encode/respond.ts';
import { showDefaults } from '../registry/kinds/default-objects.ts';
import { deleteElsewhere, deleteHere } from './pods/elsewhere.ts';
import { untilShown } from './pods/until-shown.ts';
import { warnOfOrphans } from './writes/delete-one.ts';

export async function handleDelete(exchange: ResourceExchange): Promise<ApiResponse> {
  formOf(exchange);
  const { info, stored } = exchange;
  const options = deleteOptions(exchange);
  warnOfOrphans(exchange, options);
  await showDefaults(exchange, options.dryRun ?? false);
  const forwarded = await deleteElsewhere(exchange, info, options);
  if (forwarded && 'refused' in forwarded) return forwarded.refused;
  if (forwarded && stored.info.resource === 'pods') {
    const [shown = forwarded.object] = await untilShown(exchange, [forwarded.object]);
    return respondValue(exchange, 200, shown);
  }
  if (forwarded && stored.info.group === '') return respondValue(exchange, 200, forwarded.object);
  if (forwarded) return respondValue(exchange, 200, success(exchange, forwarded.object));
  const deleted = await deleteHere(exchange, info, options);
  // What finalizers keep is answered with the object, too.
  if (!deleted.gone || showsDeleted(stored.info)) return respondObject(exchange, 200, deleted.object);
  return respondValue(exchange, 200, success(exchange, deleted.object));
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
