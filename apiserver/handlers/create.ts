import type { ApiResponse } from '../../kube/http.ts';
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
  checkNamespace(exchange, object);
  const { core, info, stored, served } = exchange;
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
