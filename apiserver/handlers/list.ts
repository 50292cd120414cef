import type { ApiResponse } from '../../kube/http.ts';
import type { ResourceExchange } from '../core.ts';
import { formOf } from '../encode/respond.ts';
import { withUse } from '../limits/show.ts';
import { parseSelection } from '../registry/selectors.ts';
import { waitForHistory } from './lists/history.ts';
import { listQuery, waitForRevision } from './lists/options.ts';
import { readPage } from './lists/page.ts';
import { respondList } from './lists/respond.ts';

export async function handleList(exchange: ResourceExchange): Promise<ApiResponse> {
  const { core, info, request } = exchange;
  const form = formOf(exchange);
  const query = listQuery(info.query, false);
  const selection = parseSelection(info, exchange.served);
  if (query.revision !== undefined && query.continue === '') {
    await waitForRevision(core.store, query.revision, request.signal);
  }
  await waitForHistory(exchange, query);
  const page = await readPage(exchange, query, selection);
  const metadata = {
    resourceVersion: String(page.revision),
    ...(page.continue !== undefined && { continue: page.continue }),
    ...(page.remaining !== undefined && { remainingItemCount: page.remaining }),
  };
  const using = withUse(exchange, page.entries);
  return respondList(exchange, form, using ? await using : page.entries, metadata);
}
