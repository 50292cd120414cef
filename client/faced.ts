import { setMaxListeners } from 'node:events';
import type { Placement } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Handlers, IndexFunction } from './cache.ts';
import { firstSync, type Informer, type StartedInformer } from './informer.ts';
import type { PlacementInformer } from './placements.ts';
import { logicalClusterOf, parseKey } from './url.ts';

/** Who looks at an informer that others look at too. */
export interface Viewer {
  /** Which logical clusters concern it; undefined: all. */
  includes?: ((cluster: string) => boolean) | undefined;
  /** When it aborts, nothing of the viewer is left with the informer. */
  signal: AbortSignal;
  indexes: IndexUsers;
  /** Resolves once the informer has all that the viewer has to know before it begins; rejects if the signal aborts before. */
  reached(informer: StartedInformer, signal: AbortSignal): Promise<void>;
}

/** What the viewer sees of it: all but `get` only of the logical clusters that concern it. */
export function faced<T extends KubeObject>(shared: StartedInformer<T>, viewer: Viewer): Informer<T> {
  const { signal, includes, indexes } = viewer;
  setMaxListeners(0, signal);
  // The informer goes on for others where a viewer ends that still waits.
  const first = firstSync(signal);
  shared.synced
    .then(() => viewer.reached(shared as unknown as StartedInformer, signal))
    .then(() => first.settle())
    .catch(() => {});
  const sees = (object: T) => includes?.(logicalClusterOf(object)) !== false;
  // Of each event, for each viewer: the rest of the key is not looked at.
  const seesKey = (key: string) => includes?.(key.slice(0, key.indexOf('/'))) !== false;
  const some = (objects: T[]) => (includes ? objects.filter(sees) : objects);
  function* values(): Generator<T, undefined> {
    for (const object of shared.values()) if (sees(object)) yield object;
  }
  function* keys(): Generator<string, undefined> {
    for (const key of shared.keys()) if (seesKey(key)) yield key;
  }
  return {
    resource: shared.resource,
    synced: first.synced,
    get hasSynced() {
      return first.done;
    },
    stopped: shared.stopped,
    get size() {
      return includes ? some(shared.list()).length : shared.size;
    },
    get: (key) => shared.get(key),
    list: () => some(shared.list()),
    values,
    keys,
    addIndex: (name, of) => indexes.add(shared, name, of, signal),
    byIndex: (name, value) => some(shared.byIndex(name, value)),
    hasIndexed: (name, value) =>
      includes ? shared.byIndex(name, value).some(sees) : shared.hasIndexed(name, value),
    on: (handlers) => (signal.aborted ? () => {} : until(signal, shared.on(only(handlers, seesKey)))),
  };
}

/** The same of Placements, with what is said of those. */
export function facedPlacements(
  shared: PlacementInformer & StartedInformer<Placement>,
  viewer: Viewer,
): PlacementInformer {
  const { signal, includes } = viewer;
  return Object.assign(faced(shared, viewer), {
    said: (key: string) => shared.said(key),
    onStray: (handler: (key: string) => void) => {
      if (signal.aborted) return () => {};
      const told = (key: string) => includes?.(parseKey(key).cluster) !== false && handler(key);
      return until(signal, shared.onStray(told));
    },
  });
}

/** What unsubscribes, if `signal` has not. */
function until(signal: AbortSignal, off: () => void): () => void {
  const end = () => {
    signal.removeEventListener('abort', end);
    off();
  };
  signal.addEventListener('abort', end, { once: true });
  return end;
}

function only<T>(handlers: Handlers<T>, sees: (key: string) => boolean): Handlers<T> {
  return {
    add: (object, key) => void (sees(key) && handlers.add?.(object, key)),
    update: (object, old, key) => void (sees(key) && handlers.update?.(object, old, key)),
    delete: (object, key) => void (sees(key) && handlers.delete?.(object, key)),
  };
}

/** Which viewers need an index: it goes with the last of them. */
export class IndexUsers {
  readonly #users = new WeakMap<object, Map<string, Set<AbortSignal>>>();

  add<T extends KubeObject>(
    informer: StartedInformer<T>,
    name: string,
    of: IndexFunction<T>,
    signal: AbortSignal,
  ): void {
    if (signal.aborted) return;
    informer.addIndex(name, of);
    const all = this.#users.get(informer) ?? new Map<string, Set<AbortSignal>>();
    this.#users.set(informer, all);
    const users = all.get(name) ?? new Set<AbortSignal>();
    all.set(name, users);
    if (users.has(signal)) return;
    users.add(signal);
    const leave = () => {
      users.delete(signal);
      if (users.size > 0) return;
      all.delete(name);
      informer.dropIndex(name);
    };
    signal.addEventListener('abort', leave, { once: true });
  }
}
