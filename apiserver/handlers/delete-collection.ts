import type { ApiResponse } from '../../kube/http.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import type { ResourceExchange } from '../core.ts';
import { deleteOptions } from '../decode/delete-options.ts';
import { formOf } from '../encode/respond.ts';
import { parseKey } from '../registry/keys.ts';
import { showDefaults } from '../registry/kinds/default-objects.ts';
import { parseSelection } from '../registry/selectors.ts';
import { listQuery } from './lists/options.ts';
import { readPage } from './lists/page.ts';
import { respondList } from './lists/respond.ts';
import { deleteElsewhere, deleteHere } from './pods/elsewhere.ts';
import { untilShown } from './pods/until-shown.ts';
import { warnOfOrphans } from './writes/delete-one.ts';

/** Deletes what a list would show, and answers that list. */
export async function handleDeleteCollection(exchange: ResourceExchange): Promise<ApiResponse> {
  const { core, info, stored } = exchange;
  const form = formOf(exchange);
  const options = deleteOptions(exchange);
  warnOfOrphans(exchange, options);
  await showDefaults(exchange, options.dryRun ?? false);
  const query = listQuery(info.query, false);
  const page = await readPage(exchange, query, parseSelection(info, exchange.served));
  const stopped: KubeObject[] = [];
  for (const { key } of page.entries) {
    const { namespace, name } = parseKey(stored.info, key);
    try {
      const forwarded = await deleteElsewhere(exchange, { namespace, name }, options);
      if (forwarded && 'refused' in forwarded) return forwarded.refused;
      if (forwarded && stored.info.resource === 'pods') stopped.push(forwarded.object);
      if (!forwarded) await deleteHere(exchange, { namespace, name }, { ...options, collection: true });
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  }
  await untilShown(exchange, stopped);
  return respondList(exchange, form, page.entries, {
    resourceVersion: core.registry.resourceVersion,
    ...(page.continue !== undefined && { continue: page.continue }),
  });
}
