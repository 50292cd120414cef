import type { ApiResponse } from '../../kube/http.ts';
import type { ResourceExchange } from '../core.ts';
import { formOf, isAsStored, jsonBytes, respondObject } from '../encode/respond.ts';
import { withUse } from '../limits/show.ts';
import { answerStored, decodeStored } from '../registry/codec.ts';
import { parseRevision, waitForRevision } from './lists/options.ts';

/** GET of one object, or of its status (the same document). */
export async function handleGet(exchange: ResourceExchange): Promise<ApiResponse> {
  const { core, info, stored, served } = exchange;
  const form = formOf(exchange);
  const asked = parseRevision(info.query.get('resourceVersion') || '0', true);
  if (asked > core.store.revision) await waitForRevision(core.store, asked, exchange.request.signal);
  const read = await core.registry.read(stored, info);
  const using = withUse(exchange, [read]);
  const entry = using ? ((await using)[0] ?? read) : read;
  if (isAsStored(form, served)) return jsonBytes(200, answerStored(entry));
  const turn = exchange.longTurn?.(entry.value.length);
  if (turn) await turn;
  return respondObject(exchange, 200, decodeStored(entry));
}
