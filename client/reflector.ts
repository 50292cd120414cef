import { type Clock, sleepUntil, systemClock } from '../kube/clock.ts';
import type { Logger } from '../kube/log.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import { Backoff } from './backoff.ts';
import type { Cache } from './cache.ts';
import type { Client } from './client.ts';
import { retryAfterMs } from './errors.ts';
import type { WatchOptions } from './options.ts';
import type { ResourceRef } from './url.ts';

export interface ReflectOptions<T> extends Omit<WatchOptions, 'signal' | 'resourceVersion'> {
  signal: AbortSignal;
  logger: Logger;
  onSynced: () => void;
  /** All up to this revision is in the cache. */
  onReached?: (revision: string) => void;
  onOutcome?: ((failure: unknown) => Promise<void> | undefined) | undefined;
  transform?: (object: T) => T;
  idleMs?: number;
  pageSize?: number;
  clock?: Clock;
}

/** Where what is read goes. */
type Target<T extends KubeObject> = Pick<Cache<T>, 'put' | 'remove' | 'replace'>;

/** A watch that ended sooner than this, and told nothing, counts as a failure: no hot loop of watches. */
const shortWatchMs = 1_000;

/** Each end is a new connection; up to twice as long, so that those that began together do not end together. */
const leastWatchSeconds = 1_800;

/**
 * List, then watch from the list's revision, for ever: each new watch goes on where the last one ended, and only
 * when the server no longer has that revision is the list read again. Resolves after `signal` aborts.
 */
export async function reflect<T extends KubeObject>(
  client: Client,
  resource: ResourceRef,
  cache: Target<T>,
  options: ReflectOptions<T>,
): Promise<void> {
  const { signal, logger, clock = systemClock } = options;
  const backoff = new Backoff();
  /** The newest revision seen; undefined: the list must be read. */
  let revision: string | undefined;
  while (!signal.aborted) {
    const started = clock.now();
    let failure: unknown;
    let progressed = false;
    const goesOn = revision !== undefined;
    try {
      if (revision === undefined) {
        revision = await relist(client, resource, cache, options);
        if (signal.aborted) return;
        options.onReached?.(revision);
        options.onSynced();
        void options.onOutcome?.(undefined);
      }
      for await (const next of follow(client, resource, cache, revision, options)) {
        revision = next;
        progressed = true;
        options.onReached?.(revision);
      }
    } catch (error) {
      failure = error;
    }
    if (signal.aborted) return;
    const soon = failure === undefined ? undefined : options.onOutcome?.(failure);
    const wasLost = revision !== undefined && needsRelist(failure);
    if (wasLost) revision = undefined;
    const ended = failure === undefined && clock.now() - started >= shortWatchMs;
    // That is an answer: how often nobody answered before says nothing of when the list may be read.
    if (progressed || ended || (goesOn && wasLost)) backoff.reset();
    if (ended) continue;
    const delay = Math.max(backoff.next(), retryAfterMs(failure));
    const fields = { err: failure, resource, cluster: options.cluster ?? client.cluster, delay };
    if (failure === undefined) logger.debug(fields, 'watch ended');
    else logger.warn(fields, 'list or watch failed');
    await sleepUntil(soon, delay, signal, clock);
  }
}

async function relist<T extends KubeObject>(
  client: Client,
  resource: ResourceRef,
  cache: Target<T>,
  options: ReflectOptions<T>,
): Promise<string> {
  const { cluster, namespace, labelSelector, fieldSelector, slices, signal, pageSize } = options;
  const selection = { cluster, namespace, labelSelector, fieldSelector, slices };
  const keep = options.transform ?? withoutManagedFields;
  const limit = pageSize && { limit: pageSize };
  const list = await client.list<T>(resource, { ...selection, signal, keep, ...limit });
  cache.replace(list.items);
  return list.metadata.resourceVersion ?? '0';
}

/** One watch; yields the revision reached whenever the cache has taken in what came. */
async function* follow<T extends KubeObject>(
  client: Client,
  resource: ResourceRef,
  cache: Target<T>,
  revision: string,
  options: ReflectOptions<T>,
): AsyncIterable<string> {
  const { cluster, namespace, labelSelector, fieldSelector, slices } = options;
  const { clock = systemClock, idleMs = 120_000 } = options;
  const keep = options.transform ?? withoutManagedFields;
  const idle = new AbortController();
  const stop = () => idle.abort(options.signal.reason);
  options.signal.addEventListener('abort', stop, { once: true });
  let cancel = clock.after(idleMs, () => idle.abort());
  try {
    // Servers spread the ends of watches; the idle limit holds where they do not.
    const timeoutSeconds = options.timeoutSeconds ?? Math.floor(leastWatchSeconds * (1 + Math.random()));
    const selection = { cluster, namespace, labelSelector, fieldSelector, slices, timeoutSeconds };
    const onOpen = () => void options.onOutcome?.(undefined);
    const watch = { ...selection, resourceVersion: revision, signal: idle.signal, onOpen };
    for await (const events of client.watchSome<T>(resource, watch)) {
      cancel();
      cancel = clock.after(idleMs, () => idle.abort());
      let reached: string | undefined;
      for (const { type, object } of events) {
        if (type === 'DELETED') cache.remove(keep(object));
        else if (type !== 'BOOKMARK') cache.put(keep(object));
        reached = object.metadata.resourceVersion || reached;
      }
      if (reached !== undefined) yield reached;
    }
  } finally {
    cancel();
    options.signal.removeEventListener('abort', stop);
  }
}

/** True where going on from the old revision cannot work; a busy or unreachable server says nothing of it. */
function needsRelist(failure: unknown): boolean {
  if (!isStatusError(failure)) return false;
  const { code } = failure;
  return code === 504 || (code >= 400 && code < 500 && ![401, 403, 429].includes(code));
}

function withoutManagedFields<T extends KubeObject>(object: T): T {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _dropped, ...metadata } = object.metadata;
  return { ...object, metadata };
}
