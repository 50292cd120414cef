import { setMaxListeners } from 'node:events';
import type { Clock } from '../kube/clock.ts';
import type { Logger } from '../kube/log.ts';
import { silentLogger } from '../kube/log.ts';
import type { KubeObject } from '../kube/object.ts';
import { Cache, type Handlers, type IndexFunction } from './cache.ts';
import type { Client } from './client.ts';
import { reflect } from './reflector.ts';
import type { ResourceRef } from './url.ts';

export interface InformerOptions<T extends KubeObject = KubeObject> {
  /** Default: the client's. `*`: all logical clusters. */
  cluster?: string | undefined;
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  /** Ends the informer; what it holds stays readable. */
  signal: AbortSignal;
  logger?: Logger | undefined;
  indexers?: Record<string, IndexFunction<T>>;
  /** What is kept of an object; default: all but metadata.managedFields. Must keep the name and versions. */
  transform?: (object: T) => T;
  /** Told of each failure to list or watch, and with undefined that it works. When what it answers resolves it is tried again at once. */
  onOutcome?: ((failure: unknown) => Promise<void> | undefined) | undefined;
  /** A watch that is silent for so long is made anew; default 120 000. */
  idleMs?: number;
  pageSize?: number;
  clock?: Clock;
}

/**
 * A cache of one resource, kept up to date by list and watch. Keys are objectKey's. Objects are shared: callers
 * must not change them.
 */
export interface Informer<T extends KubeObject = KubeObject> {
  readonly resource: ResourceRef;
  /** The first list is in the cache. Rejects if the signal aborts before. */
  readonly synced: Promise<void>;
  readonly hasSynced: boolean;
  /** The work has ended, after the signal aborted. */
  readonly stopped: Promise<void>;
  readonly size: number;
  get(key: string): T | undefined;
  list(): T[];
  values(): IterableIterator<T>;
  keys(): IterableIterator<string>;
  addIndex(name: string, valuesOf: IndexFunction<T>): void;
  /** Fails if the index was never added. */
  byIndex(name: string, value: string): T[];
  /** Whether that finds any. */
  hasIndexed(name: string, value: string): boolean;
  /** Told of what is there (as `add`) and of every later change; the answer unsubscribes. */
  on(handlers: Handlers<T>): () => void;
}

/** As whoever started it has it. */
export interface StartedInformer<T extends KubeObject = KubeObject> extends Informer<T> {
  /**
   * Resolves once all that was written up to this revision is in the cache; rejects if the signal aborts before. Of a server
   * whose revisions are numbers, all of one count.
   */
  reached(revision: number, signal: AbortSignal): Promise<void>;
  /** It is kept for nobody any more. */
  dropIndex(name: string): void;
}

/** Starts at once. */
export function startInformer<T extends KubeObject = KubeObject>(
  client: Client,
  resource: ResourceRef,
  options: InformerOptions<T>,
): StartedInformer<T> {
  const { logger = silentLogger, signal } = options;
  // One lifetime for as many informers as there are kinds is meant so, and no leak.
  setMaxListeners(0, signal);
  const cache = new Cache<T>((err) => logger.error({ err, resource }, 'informer handler failed'));
  for (const [name, of] of Object.entries(options.indexers ?? {})) cache.addIndex(name, of);
  const first = firstSync(signal);
  const reach = new Reach();
  const onSynced = () => first.settle();
  const onReached = (revision: string) => reach.now(Number(revision));
  const stopped = reflect(client, resource, cache, { ...options, logger, onSynced, onReached });
  return informerOf(resource, cache, { first, reach, stopped });
}

/** What is in a cache that is kept up to date until `stopped`. */
export function informerOf<T extends KubeObject>(
  resource: ResourceRef,
  cache: Cache<T>,
  { first, reach, stopped }: { first: FirstSync; reach: Reach; stopped: Promise<void> },
): StartedInformer<T> {
  return {
    resource,
    synced: first.synced,
    get hasSynced() {
      return first.done;
    },
    stopped,
    reached: (revision, until) => reach.wait(revision, until),
    dropIndex: (name) => cache.dropIndex(name),
    get size() {
      return cache.size;
    },
    get: (key) => cache.get(key),
    list: () => [...cache.values()],
    values: () => cache.values(),
    keys: () => cache.keys(),
    addIndex: (name, of) => cache.addIndex(name, of),
    byIndex: (name, value) => cache.byIndex(name, value),
    hasIndexed: (name, value) => cache.hasIndexed(name, value),
    on: (handlers) => cache.on(handlers),
  };
}

/** Up to which revision the cache has all, and who waits for more. */
export class Reach {
  readonly #waiting = new Set<(reached: number) => void>();
  #reached = Number.NEGATIVE_INFINITY;

  now(revision: number): void {
    this.#reached = revision;
    for (const told of this.#waiting) told(revision);
  }

  wait(revision: number, signal: AbortSignal): Promise<void> {
    if (this.#reached >= revision) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const end = () => {
        this.#waiting.delete(told);
        signal.removeEventListener('abort', aborted);
      };
      const aborted = () => {
        end();
        reject(signal.reason);
      };
      const told = (reached: number) => {
        if (reached < revision) return;
        end();
        resolve();
      };
      this.#waiting.add(told);
      if (signal.aborted) aborted();
      else signal.addEventListener('abort', aborted, { once: true });
    });
  }
}

export interface FirstSync {
  synced: Promise<void>;
  done: boolean;
  settle(): void;
}

export function firstSync(signal: AbortSignal): FirstSync {
  const { promise, resolve, reject } = deferred();
  const aborted = () => reject(signal.reason);
  if (signal.aborted) aborted();
  else signal.addEventListener('abort', aborted, { once: true });
  // Nobody has to wait for it.
  promise.catch(() => {});
  return {
    synced: promise,
    done: false,
    settle() {
      this.done = true;
      signal.removeEventListener('abort', aborted);
      resolve();
    },
  };
}

export function deferred(): { promise: Promise<void>; resolve: () => void; reject: (why: unknown) => void } {
  let resolve: () => void = () => {};
  let reject: (why: unknown) => void = () => {};
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
