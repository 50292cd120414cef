import { setMaxListeners } from 'node:events';
import type { Placement } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Handlers, IndexFunction } from './cache.ts';
import { type FirstSync, firstSync, type Informer, type StartedInformer } from './informer.ts';
import type { PlacementInformer } from './placements.ts';
import { logicalClusterOf, parseKey, type ResourceRef } from './url.ts';

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
  return new Faced(shared, viewer);
}

/** A class: see Cached. */
class Faced<T extends KubeObject> implements Informer<T> {
  readonly #shared: StartedInformer<T>;
  readonly #viewer: Viewer;
  readonly #first: FirstSync;

  constructor(shared: StartedInformer<T>, viewer: Viewer) {
    const { signal } = viewer;
    this.#shared = shared;
    this.#viewer = viewer;
    setMaxListeners(0, signal);
    // The informer goes on for others where a viewer ends that still waits.
    const first = firstSync(signal);
    this.#first = first;
    shared.synced
      .then(() => viewer.reached(shared as unknown as StartedInformer, signal))
      .then(() => first.settle())
      .catch(() => {});
  }

  get resource(): ResourceRef {
    return this.#shared.resource;
  }

  get synced(): Promise<void> {
    return this.#first.synced;
  }

  get hasSynced(): boolean {
    return this.#first.done;
  }

  get stopped(): Promise<void> {
    return this.#shared.stopped;
  }

  get size(): number {
    return this.#viewer.includes ? this.list().length : this.#shared.size;
  }

  get(key: string): T | undefined {
    return this.#shared.get(key);
  }

  list(): T[] {
    return this.#some(this.#shared.list());
  }

  *values(): Generator<T, undefined> {
    for (const object of this.#shared.values()) if (this.#sees(object)) yield object;
  }

  *keys(): Generator<string, undefined> {
    for (const key of this.#shared.keys()) if (this.#seesKey(key)) yield key;
  }

  addIndex(name: string, of: IndexFunction<T>): void {
    this.#viewer.indexes.add(this.#shared, name, of, this.#viewer.signal);
  }

  byIndex(name: string, value: string): T[] {
    return this.#some(this.#shared.byIndex(name, value));
  }

  hasIndexed(name: string, value: string): boolean {
    if (!this.#viewer.includes) return this.#shared.hasIndexed(name, value);
    return this.#shared.byIndex(name, value).some((object) => this.#sees(object));
  }

  on(handlers: Handlers<T>): () => void {
    const { signal } = this.#viewer;
    if (signal.aborted) return () => {};
    return until(signal, this.#shared.on(only(handlers, (key) => this.#seesKey(key))));
  }

  #some(objects: T[]): T[] {
    return this.#viewer.includes ? objects.filter((object) => this.#sees(object)) : objects;
  }

  #sees(object: T): boolean {
    return this.#viewer.includes?.(logicalClusterOf(object)) !== false;
  }

  /** Of each event, for each viewer: the rest of the key is not looked at. */
  #seesKey(key: string): boolean {
    return this.#viewer.includes?.(key.slice(0, key.indexOf('/'))) !== false;
  }
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
