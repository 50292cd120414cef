import { setMaxListeners } from 'node:events';
import { silentLogger } from '../kube/log.ts';
import type { KubeObject } from '../kube/object.ts';
import { Cache } from './cache.ts';
import type { Client } from './client.ts';
import type { Informer, InformerOptions } from './informer.ts';
import { firstSync } from './informer.ts';
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

/**
 * Does nothing before the first `wake` or `rest`. While it rests it counts as synced, and is empty. `synced` is of the first
 * time; whether anything is known now only `hasSynced` says.
 */
export function onDemandInformer<T extends KubeObject = KubeObject>(
  client: Client,
  resource: ResourceRef,
  options: InformerOptions<T> & { onRest?: () => void },
): OnDemandInformer<T> {
  const { logger = silentLogger, signal } = options;
  setMaxListeners(0, signal);
  const cache = new Cache<T>((err) => logger.error({ err, resource }, 'informer handler failed'));
  for (const [name, of] of Object.entries(options.indexers ?? {})) cache.addIndex(name, of);
  const first = firstSync(signal);
  let life: AbortController | undefined;
  let isKnown = false;
  /** What was begun: one watch ends before another begins, or the cache is emptied. */
  let turn = Promise.resolve();
  const known = () => {
    isKnown = true;
    first.settle();
  };
  const wake = () => {
    if (life || signal.aborted) return;
    const mine = new AbortController();
    life = mine;
    isKnown = false;
    const end = () => mine.abort(signal.reason);
    signal.addEventListener('abort', end, { once: true });
    mine.signal.addEventListener('abort', () => signal.removeEventListener('abort', end), { once: true });
    const onSynced = () => life === mine && known();
    turn = turn.then(() =>
      reflect(client, resource, cache, { ...options, logger, signal: mine.signal, onSynced }),
    );
  };
  const rest = () => {
    life?.abort();
    life = undefined;
    options.onRest?.();
    turn = turn.then(() => {
      if (life || signal.aborted) return;
      cache.replace([]);
      known();
    });
  };
  return {
    resource,
    synced: first.synced,
    get hasSynced() {
      return isKnown;
    },
    get isAwake() {
      return life !== undefined;
    },
    wake,
    rest,
    get stopped() {
      return turn;
    },
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
