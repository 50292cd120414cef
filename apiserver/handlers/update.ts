import { deepCopy } from '../../kube/deep.ts';
import type { ApiResponse } from '../../kube/http.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { strategyFor } from '../../kube/strategy/index.ts';
import type { ResourceExchange } from '../core.ts';
import { writeQuery } from '../decode/options.ts';
import { formOf, respondObject } from '../encode/respond.ts';
import { toStored } from '../registry/convert.ts';
import { createObject } from '../registry/create.ts';
import { checkPreconditions } from '../registry/metadata.ts';
import { requireVersion } from '../registry/required.ts';
import { updateObject } from '../registry/write.ts';
import { changePod } from './pods/running.ts';
import { creating, writeContext } from './writes/context.ts';
import { checkNamespace, decodeRequest, requireName } from './writes/request.ts';

/** PUT of an object, its status, or (Namespaces) its finalizers. */
export async function handleUpdate(exchange: ResourceExchange): Promise<ApiResponse> {
  formOf(exchange);
  const { core, info, stored, served } = exchange;
  const query = writeQuery(exchange, 'UpdateOptions');
  const object = decodeRequest(exchange, query);
  requireName(exchange, object);
  checkNamespace(exchange, object);
  const given = toStored(object, served);
  const context = {
    ...writeContext(exchange, query, 'UPDATE', info.subresource),
    pinned: Boolean(object.metadata.resourceVersion),
  };
  const { resourceVersion: _, ...metadata } = given.metadata;
  const place = stored.info.namespaced ? { namespace: info.namespace } : {};
  const unpinned = { ...given, metadata: { ...metadata, ...place } };
  const change = (current: KubeObject) => {
    checkPreconditions(unpinned, current.metadata, stored.info);
    requireVersion(given, stored);
    return deepCopy(given);
  };
  try {
    const made = await changePod(exchange, query.dryRun, (dryRun) =>
      updateObject(core.registry, stored, info, change, { ...context, dryRun }),
    );
    return 'refused' in made ? made.refused : respondObject(exchange, 200, made.object);
  } catch (error) {
    const missing = isStatusError(error, 'NotFound') && info.subresource === '';
    if (!missing || !strategyFor(stored.info).allowCreateOnUpdate) throw error;
    checkPreconditions(unpinned, {}, stored.info);
    const create = creating(exchange, context);
    return respondObject(exchange, 201, await createObject(core.registry, stored, info, given, create));
  }
}
