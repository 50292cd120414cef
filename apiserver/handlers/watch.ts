import type { ApiResponse } from '../../kube/http.ts';
import type { Later } from '../../kube/later.ts';
import { expired, isStatusError, type StatusError } from '../../kube/status.ts';
import { isOwnController } from '../authn/controllers.ts';
import type { ResourceExchange } from '../core.ts';
import { saysClusters } from '../encode/clusters-column.ts';
import { formOf, includeOf } from '../encode/respond.ts';
import { isTooLarge, translate } from '../registry/errors.ts';
import { watchEnd } from '../registry/registry.ts';
import { parseSelection, type Selection } from '../registry/selectors.ts';
import type { ServedResource } from '../served.ts';
import { type ListQuery, listQuery, waitForRevision } from './lists/options.ts';
import { rangeFor, readPage, wholeRange } from './lists/page.ts';
import { WatchEncoder } from './watch/encoder.ts';
import { arrange, begun } from './watch/lasting.ts';
import { joinEvents, WatchObjects } from './watch/objects.ts';
import { WatchRows } from './watch/rows.ts';
import { type Begin, Sender } from './watch/sender.ts';
import { EventStream, joinBytes } from './watch/stream.ts';
import type { WatchTeller } from './watch/teller.ts';

/**
 * Subscribes, then sends what the client wants to begin with, then live events in the order of revisions.
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
 */
export async function handleWatch(exchange: ResourceExchange): Promise<ApiResponse> {
  const { info, request } = exchange;
  const query = listQuery(info.query, true);
  const selection = parseSelection(info, exchange.served);
  const form = formOf(exchange);
  const encoder = new WatchEncoder(exchange, form, selection);
  const headers = { 'content-type': encoder.contentType };
  // An event is no list: there is nothing to send, and kube-apiserver sends nothing.
  if (form.list) {
    return { status: 200, headers, body: new Uint8Array() };
  }
  // What is wrong with it is an answer of its own, and not the end of one that has begun.
  if (form.shape === 'Table') includeOf(exchange);
  if (request.objects && form.encoding === 'json' && form.shape === 'object') {
    const teller = new WatchObjects(exchange, selection);
    const events = await watch(exchange, { query, selection, teller, join: joinEvents });
    return { status: 200, headers, body: new Uint8Array(), events };
  }
  if (saysClusters(exchange, form)) {
    const teller = new WatchRows(exchange, selection, encoder);
    return {
      status: 200,
      headers,
      body: await watch(exchange, { query, selection, teller, join: teller.join }),
    };
  }
  const body = await watch(exchange, { query, selection, teller: encoder, join: joinBytes });
  return { status: 200, headers, body };
}

interface Watching<T, Batch> {
  query: ListQuery;
  selection: Selection;
  teller: WatchTeller<T>;
  join: (parts: T[]) => Later<Batch>;
}

async function watch<T extends { readonly length: number }, Batch>(
  exchange: ResourceExchange,
  { query, selection, teller, join }: Watching<T, Batch>,
): Promise<EventStream<T, Batch>> {
  const { core } = exchange;
  const stop = new AbortController();
  const cleanups: (() => void)[] = [() => stop.abort()];
  const stream = new EventStream<T, Batch>(
    {
      bufferBytes: core.limits.streamBufferBytes,
      stallMillis: core.limits.stallSeconds * 1000,
      onCut: core.observer && (() => core.observer?.cut()),
    },
    () => {
      for (const cleanup of cleanups) cleanup();
    },
    join,
  );
  const sender = new Sender(stream, teller, core.observer?.watching(exchange.info));
  const isConverted = () => sender.finish(expired('a webhook converts between versions from now on'));
  cleanups.push(onConverted(exchange, isConverted));
  try {
    const begin = await initial(exchange, query, selection);
    // What it begins with is held by nothing that lasts as long as the watch.
    const { after } = begin;
    sender.begin(begin, query.sendInitialEvents === true && query.bookmarks);
    const onEnd = (reason: unknown) => sender.finish(watchEnd(reason, exchange.served));
    const range = rangeFor(exchange, selection) ?? wholeRange(exchange);
    await begun(stream, onEnd, (pause) =>
      core.store.watch(range, {
        after,
        signal: stop.signal,
        onEnd,
        pause,
        sink: (events) => sender.deliver(events),
        onSynced: (synced) => sender.synced(synced),
      }),
    );
  } catch (error) {
    sender.finish(failureInStream(error, exchange, query, stream));
  }
  const close = () => {
    // What is visible now was handed over: sinks run before anything else gets its turn.
    setImmediate(() => {
      if (query.bookmarks) sender.bookmark(core.store.revision);
      stream.end();
    });
  };
  cleanups.push(onUnserved(exchange, close));
  arrange(exchange, { seconds: query.timeoutSeconds ?? 0, close, cleanups, end: () => stream.end() });
  if (query.bookmarks) cleanups.push(core.bookmarks.add(sender));
  if (stream.ended) for (const cleanup of cleanups) cleanup();
  return stream;
}

/** By a definition whose objects no webhook converts: of those the store tells (conversion/watch.ts). */
function isDefined({ definition, conversion }: ServedResource): boolean {
  return conversion?.config === undefined && (definition ?? conversion) !== undefined;
}

/** Whoever was shown what is stored has to list anew once a webhook says what it is; who is always shown that, has not. */
function onConverted({ core, info, served, user }: ResourceExchange, run: () => void): () => void {
  const { group, resource } = served.info;
  if (!isDefined(served)) return () => {};
  if (info.cluster === '*' || isOwnController(user)) return () => {};
  return core.catalog.onConverted(info.cluster, `${resource}.${group}`, run);
}

/** What is not served any more, or went with its definition, is watched by nobody: who asks anew is told. A webhook's tells it by itself. */
function onUnserved({ core, info, served }: ResourceExchange, run: () => void): () => void {
  const { group, resource, version } = served.info;
  if (!isDefined(served) || info.cluster === '*') return () => {};
  return core.catalog.onUnserved(info.cluster, `${resource}.${group}`, version, run);
}

/** What the reader of a watch is told instead of what it asked for; throws what it is told before the stream begins. */
function failureInStream(
  error: unknown,
  { core, served }: ResourceExchange,
  query: ListQuery,
  stream: { end(): void },
): StatusError {
  const failure = translate(error, served.info, '');
  if (!isStatusError(failure) || !mayComeInStream(failure, query)) {
    stream.end();
    throw failure;
  }
  return failure.code === 410
    ? expired(`too old resource version: ${query.revision} (${core.store.compacted})`)
    : failure;
}

/** Errors about the start revision are told inside the stream, of one to come where what is there by then was asked for. */
function mayComeInStream(error: StatusError, query: ListQuery): boolean {
  if (query.revision === undefined) return false;
  return error.code === 410 || (query.sendInitialEvents === true && isTooLarge(error));
}

async function initial(
  exchange: ResourceExchange,
  query: ListQuery,
  selection: ReturnType<typeof parseSelection>,
): Promise<Begin> {
  const { store } = exchange.core;
  const { revision } = query;
  if (query.sendInitialEvents === false && !revision) {
    return { entries: [], after: store.revision, skipTo: store.revision };
  }
  if (query.sendInitialEvents || revision === undefined || revision === 0) {
    if (revision !== undefined) await waitForRevision(store, revision, exchange.request.signal);
    const all: ListQuery = { ...query, limit: 0, continue: '', revision: undefined, match: '' };
    const page = await readPage(exchange, all, selection);
    return { entries: page.entries, after: page.revision, skipTo: page.revision };
  }
  // A revision that is still to come: wait for it in the stream.
  return { entries: [], after: Math.min(revision, store.revision), skipTo: revision };
}
