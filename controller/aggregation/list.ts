import type { Client } from '../../client/client.ts';
import { TransportError } from '../../client/errors.ts';
import { collect, failIfNotOk } from '../../client/exchange.ts';
import { Length } from '../../client/pages.ts';
import { pathOf, queryOf, type ResourceRef } from '../../client/url.ts';
import { decodeJsonInTurns } from '../../kube/json.ts';
import type { JsonObject, KubeObject } from '../../kube/object.ts';
import { othersFirst, Pace } from '../../kube/others-first.ts';
import { Slots } from '../../kube/slots.ts';
import { isRecord, text } from '../../kube/untyped.ts';

export interface Where {
  cluster: string;
  namespace?: string;
  signal: AbortSignal;
}

const mostListBytes = 32 << 20;
const mostPageBytes = 8 << 20;
/** What a look at one object costs, as so many bytes: a server may list half a million that say nothing. */
const lookBytes = 1 << 10;
/** Of all logical clusters in this process: as values a page may be twenty times as long as its text. */
const reading = new Slots(2);

/**
 * Shows each object that an API server of a logical cluster's own lists, its pages one after the other, in steps that leave
 * others their turn. Whatever else is among its items is passed over. Rejects where it does not answer, or not with a list.
 */
export async function eachListed(
  client: Client,
  resource: ResourceRef,
  { cluster, namespace, signal }: Where,
  see: (object: KubeObject) => void,
): Promise<void> {
  const length = new Length(mostListBytes);
  const add = (bytes: number) => length.add(bytes);
  const seeItem = (item: unknown) => void (isObject(item) && see(item));
  let next: string | undefined;
  do {
    const path = pathOf(resource, { namespace }) + queryOf({ limit: 500, continue: next });
    next = await eachItem(client, path, { cluster, signal, most: mostPageBytes, add }, seeItem);
  } while (next);
}

interface Page {
  cluster: string | undefined;
  signal: AbortSignal;
  /** Bytes; a longer answer is none. */
  most: number;
  /** Told how long it is before it is read. */
  add?: (bytes: number) => void;
}

/** As eachListed, of one answer and whatever its items are. Resolves with what the next page is to be asked for by; empty: there is none. */
export async function eachItem(
  client: Client,
  path: string,
  { cluster, signal, most, add }: Page,
  see: (item: unknown) => void,
): Promise<string> {
  const response = await client.raw({ method: 'GET', path, cluster, signal });
  await failIfNotOk(response);
  const bytes = await collect(response.body, most);
  if (bytes.length > most) throw new TransportError('ETOOLARGE', `the answer is longer than ${most} bytes`);
  add?.(bytes.length);
  const release = await reading.take(signal);
  try {
    return await seePage(bytes, cluster ?? '', signal, see);
  } finally {
    release();
  }
}

async function seePage(
  bytes: Uint8Array,
  cluster: string,
  signal: AbortSignal,
  see: (item: unknown) => void,
): Promise<string> {
  const list = await decodeJsonInTurns(bytes, () => othersFirst(cluster)).catch((cause: unknown) => {
    throw new TransportError('EBADRESPONSE', 'the answer is not JSON', cause);
  });
  const items = isRecord(list) ? (list['items'] ?? []) : undefined;
  if (!Array.isArray(items)) throw new TransportError('EBADRESPONSE', 'the answer is no list');
  const pace = new Pace(cluster);
  for (const item of items) {
    see(item);
    const turn = pace.after(lookBytes);
    if (turn) await turn;
    signal.throwIfAborted();
  }
  const metadata = (list as JsonObject)['metadata'];
  return isRecord(metadata) ? text(metadata['continue']) : '';
}

function isObject(item: unknown): item is KubeObject {
  return isRecord(item) && isRecord(item['metadata']);
}
