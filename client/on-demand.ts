import { setMaxListeners } from 'node:events';
import { silentLogger } from '../kube/log.ts';
import type { KubeObject } from '../kube/object.ts';
import { Cache } from './cache.ts';
import { Cached } from './cached.ts';
import type { Client } from './client.ts';
import type { Informer, InformerOptions } from './informer.ts';
import { type FirstSync, firstSync } from './informer.ts';
import { reflect } from './reflector.ts';
import type { ResourceRef } from './url.ts';

/** An informer that costs nothing while nobody has a question. */
export interface OnDemandInformer<T extends KubeObject = KubeObject> extends Informer<T> {
  /** Whether it lists and watches. */
  readonly isAwake: boolean;
  /** Lists and watches from now on; until the list is in the cache nothing is known. */
  wake(): void;
  /** The watch ends, and all it knows is told as deleted: for who knows that nothing is there that matters. */
  rest(): void;
}

type OnDemandOptions<T extends KubeObject> = InformerOptions<T> & { onRest?: () => void };

/**
 * Does nothing before the first `wake` or `rest`. While it rests it counts as synced, and is empty. `synced` is of the first
 * time; whether anything is known now only `hasSynced` says.
 */
export function onDemandInformer<T extends KubeObject = KubeObject>(
  client: Client,
  resource: ResourceRef,
  options: OnDemandOptions<T>,
): OnDemandInformer<T> {
  const { logger = silentLogger, signal } = options;
  setMaxListeners(0, signal);
  const cache = new Cache<T>((err) => logger.error({ err, resource }, 'informer handler failed'));
  for (const [name, of] of Object.entries(options.indexers ?? {})) cache.addIndex(name, of);
  return new OnDemand(client, resource, cache, options);
}

class OnDemand<T extends KubeObject> extends Cached<T> implements OnDemandInformer<T> {
  readonly #client: Client;
  readonly #cache: Cache<T>;
  readonly #options: OnDemandOptions<T>;
  readonly #first: FirstSync;
  #life: AbortController | undefined;
  #isKnown = false;
  /** What was begun: one watch ends before another begins, or the cache is emptied. */
  #turn = Promise.resolve();

  constructor(client: Client, resource: ResourceRef, cache: Cache<T>, options: OnDemandOptions<T>) {
    super(resource, cache);
    this.#client = client;
    this.#cache = cache;
    this.#options = options;
    this.#first = firstSync(options.signal);
  }

  get synced(): Promise<void> {
    return this.#first.synced;
  }

  get hasSynced(): boolean {
    return this.#isKnown;
  }

  get isAwake(): boolean {
    return this.#life !== undefined;
  }

  get stopped(): Promise<void> {
    return this.#turn;
  }

  wake(): void {
    const { logger = silentLogger, signal } = this.#options;
    if (this.#life || signal.aborted) return;
    const mine = new AbortController();
    this.#life = mine;
    this.#isKnown = false;
    const end = () => mine.abort(signal.reason);
    signal.addEventListener('abort', end, { once: true });
    mine.signal.addEventListener('abort', () => signal.removeEventListener('abort', end), { once: true });
    const onSynced = () => this.#life === mine && this.#known();
    const options = { ...this.#options, logger, signal: mine.signal, onSynced };
    this.#turn = this.#turn.then(() => reflect(this.#client, this.resource, this.#cache, options));
  }

  rest(): void {
    this.#life?.abort();
    this.#life = undefined;
    this.#options.onRest?.();
    this.#turn = this.#turn.then(() => {
      if (this.#life || this.#options.signal.aborted) return;
      this.#cache.replace([]);
      this.#known();
    });
  }

  #known(): void {
    this.#isKnown = true;
    this.#first.settle();
  }
}
