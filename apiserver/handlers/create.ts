import type { ApiResponse } from '../../kube/http.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { ResourceInfo } from '../../kube/schema/resource.ts';
import { invalid, type StatusError } from '../../kube/status.ts';
import type { Entry } from '../../storage/store.ts';
import type { ResourceExchange } from '../core.ts';
import { writeQuery } from '../decode/options.ts';
import { formOf, isAsStored, jsonBytes, respondObject } from '../encode/respond.ts';
import { answerStored } from '../registry/codec.ts';
import { toStored } from '../registry/convert.ts';
import { createObject } from '../registry/create.ts';
import { writeContext } from './writes/context.ts';
import { checkNamespace, decodeRequest } from './writes/request.ts';

export async function handleCreate(exchange: ResourceExchange): Promise<ApiResponse> {
  const form = formOf(exchange);
  const query = writeQuery(exchange, 'CreateOptions');
  const object = decodeRequest(exchange, query);
  const { core, info, stored, served } = exchange;
  if (served.info.namespaced && info.namespace === '') throw inNoNamespace(object, served.info);
  checkNamespace(exchange, object);
  let entry: Entry | undefined;
  const created = await createObject(core.registry, stored, info, toStored(object, served), {
    ...writeContext(exchange, query, 'CREATE'),
    refuseVersion: true,
    owned: true,
    stored: (written) => {
      entry = written;
    },
  });
  if (entry !== undefined && isAsStored(form, served)) return jsonBytes(201, answerStored(entry));
  return respondObject(exchange, 201, created);
}

/** By a path whose namespace is a variable that is not set. */
function inNoNamespace({ metadata }: KubeObject, { group, kind }: ResourceInfo): StatusError {
  return invalid(group, kind, metadata.name || (metadata.generateName ?? ''), [
    { reason: 'FieldValueRequired', message: 'Required value', field: 'metadata.namespace' },
  ]);
}
