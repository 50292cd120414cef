import { formatApiVersion, type GroupVersionKind } from '../../../kube/gvk.ts';
import type { ApiResponse } from '../../../kube/http.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { schemaOf } from '../../../kube/schema/builtin.ts';
import type { ResourceInfo } from '../../../kube/schema/resource.ts';
import { badRequest } from '../../../kube/status.ts';
import { type Admission, admissionFor } from '../../admission/chain.ts';
import type { ResourceExchange } from '../../core.ts';
import { conform, parseBody } from '../../decode/body.ts';
import { bodyEncoding } from '../../decode/media.ts';
import { type WriteQuery, writeQuery } from '../../decode/options.ts';
import { respondValue } from '../../encode/respond.ts';
import { requireNamespace } from '../../registry/namespaces.ts';

/** What was posted to a subresource that has a kind of its own, decoded and admitted. */
export interface Posted {
  object: KubeObject;
  query: WriteQuery;
  admission: Admission;
}

/** POST of an Eviction, a Binding, a TokenRequest: decodes it, and lets admission change it. */
export async function postedObject(
  exchange: ResourceExchange,
  kind: GroupVersionKind,
  /** Older versions of the same shape. */
  also: readonly string[] = [],
): Promise<Posted> {
  const { core, request, info, served } = exchange;
  const query = writeQuery(exchange, 'CreateOptions');
  const shape: ResourceInfo = { ...served.info, ...kind };
  const encoding = bodyEncoding(request.headers['content-type'], undefined);
  const { value, duplicates, literals } = parseBody(request.body ?? new Uint8Array(), encoding, kind);
  const older = also.includes(String(value['apiVersion']));
  const object = conform(
    older ? { ...value, apiVersion: formatApiVersion(kind) } : value,
    duplicates,
    { info: shape, schema: schemaOf(kind) ?? { type: 'any' } },
    {
      validation: query.validation,
      warn: (message) => exchange.warnings.add(message),
      ...(literals && { literals }),
    },
  );
  exchange.audit?.sent(object);
  const { namespace } = object.metadata;
  if (namespace && namespace !== info.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  object.metadata.namespace = info.namespace;
  await requireNamespace(core.store, info.cluster, info.namespace, {
    resource: served.info,
    name: info.name,
  });
  const admission = admissionFor(exchange, 'CREATE', query.dryRun, { kind });
  await admission.mutate(object, undefined);
  return { object, query, admission };
}

export function respondSuccess(exchange: ResourceExchange): ApiResponse {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
  return respondValue(exchange, 201, status);
}
