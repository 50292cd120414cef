import { formatApiVersion } from '../../kube/gvk.ts';
import type { ApiResponse } from '../../kube/http.ts';
import type { Later } from '../../kube/later.ts';
import type { JsonObject, KubeObject } from '../../kube/object.ts';
import { applyServerSide } from '../../kube/patch/managed.ts';
import type { InVersion } from '../../kube/patch/ownership.ts';
import { conversionProblem } from '../../kube/schema/convert.ts';
import { badRequest, conflict, isStatusError } from '../../kube/status.ts';
import type { ResourceExchange } from '../core.ts';
import { conform } from '../decode/body.ts';
import { noDuplicates, unmarshalErrors } from '../decode/duplicates.ts';
import type { WriteQuery } from '../decode/options.ts';
import { respondObject } from '../encode/respond.ts';
import { fromStored, toStored } from '../registry/convert.ts';
import { withVersions } from '../registry/converting.ts';
import { createObject } from '../registry/create.ts';
import { managementOf } from '../registry/managers.ts';
import { checkPreconditions } from '../registry/metadata.ts';
import { keepReserved } from '../registry/reserved.ts';
import { updateObject } from '../registry/write.ts';
import { changePod } from './pods/running.ts';
import { type Applied, decodeApplied, unconvertible } from './writes/applied.ts';
import { creating, writeContext } from './writes/context.ts';
import { checkNamespace, requireName } from './writes/request.ts';

/** Server-side apply; creates what is not there. https://kubernetes.io/docs/reference/using-api/server-side-apply/ */
export async function handleApply(exchange: ResourceExchange, query: WriteQuery): Promise<ApiResponse> {
  const { core, info, stored } = exchange;
  const { object: applied, duplicates } = decodeApplied(exchange);
  // Before they become anybody's fields.
  keepReserved(applied);
  const context = {
    ...writeContext(exchange, query, 'UPDATE', info.subresource),
    managed: true,
    patched: true,
    pinned: Boolean(applied.metadata.resourceVersion),
  };
  const change = (live: KubeObject): Later<KubeObject> => {
    const { converting } = core.registry;
    const merged = (inVersion?: InVersion) =>
      merge(exchange, query, live, { object: applied, duplicates, inVersion });
    return converting ? withVersions(converting, stored, merged) : merged();
  };
  for (let tries = 1; ; tries++) {
    try {
      const made = await changePod(exchange, query.dryRun, (dryRun) =>
        updateObject(core.registry, stored, info, change, { ...context, dryRun }),
      );
      return 'refused' in made ? made.refused : respondObject(exchange, 200, made.object);
    } catch (error) {
      if (!isMissing(error, info.name) || info.subresource !== '') throw error;
    }
    try {
      const fresh = merge(exchange, query, undefined, { object: applied, duplicates });
      const create = { ...context, ...writeContext(exchange, query, 'CREATE'), managed: true, manager: '' };
      const object = await createObject(core.registry, stored, info, fresh, creating(exchange, create));
      return respondObject(exchange, 201, object);
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists') || tries >= 5) throw error;
    }
  }
}

function isMissing(error: unknown, name: string): boolean {
  return isStatusError(error, 'NotFound') && error.details?.name === name;
}

/** The live object with what was applied, in the stored version; ownership recorded. */
function merge(
  exchange: ResourceExchange,
  query: WriteQuery,
  live: KubeObject | undefined,
  { object: applied, duplicates, inVersion }: Applied & { inVersion?: InVersion | undefined },
): KubeObject {
  const { info, served } = exchange;
  const current = live && fromStored(live, served);
  if (live && applied.metadata.resourceVersion) checkPreconditions(applied, live.metadata, served.info, true);
  if (live === undefined && applied.metadata.uid) {
    const why = `uid mismatch: the provided object specified uid ${applied.metadata.uid}, and no existing object was found`;
    throw conflict(served.info, info.name, why);
  }
  const by = {
    ...managementOf(exchange.core.registry, info.cluster, served, { subresource: info.subresource }),
    apiVersion: formatApiVersion(served.info),
    manager: query.manager,
    force: query.force,
    ...(inVersion && { inVersion }),
  };
  const { object } = applyServerSide(current, applied, by);
  const merged = (served.custom ? withoutOwn(object) : object) as unknown as JsonObject;
  const whole = conform(merged, noDuplicates, served, {
    validation: 'Ignore',
    warn: () => {},
    keepNulls: true,
    converted: true,
    refuse: (why) => unconvertible(applied, conversionProblem(merged, served.info) ?? why),
  });
  requireName(exchange, whole);
  checkNamespace(exchange, whole);
  if (served.info.namespaced) whole.metadata.namespace = info.namespace;
  const metadata = live
    ? { ...whole.metadata, resourceVersion: live.metadata.resourceVersion ?? '' }
    : whole.metadata;
  warnOfDuplicates(exchange, query, duplicates);
  return toStored({ ...whole, metadata }, served);
}

/** What the server has of its own: of a custom resource nobody asks here whether it could be that. */
function withoutOwn(object: KubeObject): KubeObject {
  const { creationTimestamp: _, generation: _generation, deletionTimestamp, ...metadata } = object.metadata;
  const kept = typeof deletionTimestamp === 'string' ? { deletionTimestamp } : {};
  return { ...object, metadata: { ...metadata, ...kept } };
}

/** What is applied is looked at for keys that are there twice after all else. */
function warnOfDuplicates(
  exchange: ResourceExchange,
  query: WriteQuery,
  duplicates: readonly string[],
): void {
  if (duplicates.length === 0 || query.validation === 'Ignore') return;
  if (query.validation === 'Strict') {
    const why = `error converting YAML to JSON: ${unmarshalErrors(duplicates)}`;
    throw badRequest(`error strict decoding YAML: ${why}`);
  }
  for (const duplicate of duplicates) exchange.warnings.add(duplicate);
}
