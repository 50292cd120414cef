import type { ApiResponse } from '../../kube/http.ts';
import { StatusError } from '../../kube/status.ts';
import type { Entry } from '../../storage/store.ts';
import { isOwnController } from '../authn/controllers.ts';
import type { ResourceExchange } from '../core.ts';
import { EventStream } from '../handlers/watch/stream.ts';
import { collectionRange, objectKey } from '../registry/keys.ts';
import { servedAs } from '../registry/kinds/versions.ts';
import { StoreRegistry } from '../registry/registry.ts';
import type { ServedResource } from '../served.ts';
import { Keeping } from './kept.ts';
import { convertingStore } from './store.ts';
import { Versions } from './versions.ts';

type Handler = (exchange: ResourceExchange) => Promise<ApiResponse>;

/**
 * How a request about objects of unlike versions, or that a webhook converts, is handled. A user's is about objects in its version,
 * whatever they are stored in. Our own controllers, and whoever reads all logical clusters at once, see what is stored: they never wait
 * for a webhook, nor see what one makes of an object, in the version in which it is; of what none converts all that is there, under the
 * version that they ask for.
 */
export function handledIn(exchange: ResourceExchange, handle: Handler): Handler {
  const { info, user } = exchange;
  if (info.cluster !== '*' && !isOwnController(user)) return () => handledKeeping(exchange, handle);
  if (exchange.served.conversion?.config === undefined) return () => handle(unconverted(exchange));
  return async () => handle(await asStored(exchange));
}

/** What was converted counts until it has been read, or its reader has given way: of a watch, what it begins with. */
async function handledKeeping(exchange: ResourceExchange, handle: Handler): Promise<ApiResponse> {
  const keeping = new Keeping(exchange.core.converter.kept, exchange.info.cluster);
  const over = () => keeping.release();
  try {
    const answer = await handle(inVersion(exchange, keeping));
    const stream = answer.events ?? answer.body;
    if (stream instanceof EventStream) begins(stream, keeping);
    else if (answer.body instanceof Uint8Array) over();
    else answer.body = inPieces(answer.body, keeping);
    // Nobody reads what came too late.
    unread.register(stream instanceof EventStream ? stream : answer.body, over);
    return answer;
  } catch (error) {
    over();
    throw error;
  }
}

function begins(stream: EventStream<{ readonly length: number }, unknown>, keeping: Keeping): void {
  const held = new WeakRef(stream);
  keeping.readBy({ taken: () => held.deref()?.taken ?? 0, cut: () => held.deref()?.cut() });
  stream.whenBegun(() => keeping.release());
}

function inPieces(body: AsyncIterable<Uint8Array>, keeping: Keeping): AsyncIterable<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]();
  let taken = 0;
  let isCut = false;
  keeping.readBy({
    taken: () => taken,
    cut: () => {
      isCut = true;
      void pieces.return?.();
    },
  });
  return (async function* () {
    try {
      for (let next = await pieces.next(); !next.done; next = await pieces.next()) {
        taken += next.value.length;
        yield next.value;
      }
      // As if the connection had broken: whoever reads must not take it for all there is.
      if (isCut) throw new Error('the reader was too slow');
    } finally {
      await pieces.return?.();
      keeping.release();
    }
  })();
}

const unread = new FinalizationRegistry<() => void>((over) => over());

function inVersion(exchange: ResourceExchange, keeping: Keeping): ResourceExchange {
  const { core, info, served, request } = exchange;
  const { cluster } = info;
  const { group, version, resource } = served.info;
  const range = collectionRange(served.info, cluster, '');
  // A watch lasts: it goes by what the definition says then.
  const current = () => {
    const now = core.catalog.find(cluster, group, version, resource);
    if (now !== undefined) return now;
    // The definition went after its objects: who watches is told of their end.
    if (core.catalog.definedBy(cluster, `${resource}.${group}`).length === 0) return served;
    throw new StatusError(404, 'NotFound', 'the server could not find the requested resource');
  };
  const versions = new Versions(core.converter, cluster, current);
  const store = convertingStore(core.store, range, versions, { keeping, signal: request.signal });
  const registry = new StoreRegistry(store, core.registry.catalog, core.registry, versions);
  const shown = shownAs(served);
  const dropped = (entry: Entry) => keeping.drop(entry);
  return { ...exchange, core: { ...core, store, registry }, served: shown, stored: shown, dropped };
}

/** What the store converts is by its definition already. */
const known = new WeakMap<ServedResource, ServedResource>();

function shownAs(served: ServedResource): ServedResource {
  const there = known.get(served);
  if (there !== undefined) return there;
  const { definition: _, ...shown } = served;
  known.set(served, shown);
  return shown;
}

function unconverted(exchange: ResourceExchange): ResourceExchange {
  return { ...exchange, served: stampedAs(exchange.served), stored: stampedAs(exchange.stored) };
}

const stamping = new WeakMap<ServedResource, ServedResource>();

/** As if all of its versions had one schema. */
function stampedAs(served: ServedResource): ServedResource {
  const there = stamping.get(served);
  if (there !== undefined) return there;
  const { conversion: _, ...stamped } = served;
  stamping.set(served, stamped);
  return stamped;
}

async function asStored(exchange: ResourceExchange): Promise<ResourceExchange> {
  const { core, info, stored, served } = exchange;
  const { cluster, namespace, name } = info;
  // Whose definition this is says nothing of the others': each object is by its own (encode/shown.ts).
  if (cluster === '*') {
    const { conversion: _, ...own } = served;
    return { ...exchange, served: own };
  }
  const key = objectKey(stored.info, cluster, namespace, name);
  const entry = name === '' ? undefined : await core.store.get(key);
  const as = (entry && servedAs(stored, entry.value)) ?? stored;
  return { ...exchange, served: as, stored: as };
}
