import type { KubeObject } from '../kube/object.ts';
import type { Cache, Handlers, IndexFunction } from './cache.ts';
import type { ResourceRef } from './url.ts';

/**
 * What an informer shows of its cache. A class, and so are those that extend it: object literals with accessors become dictionaries in V8 once
 * there are many of them, each with a dozen functions of its own, which is 2 KiB; a cluster with a few workloads has twenty.
 */
export class Cached<T extends KubeObject> {
  readonly resource: ResourceRef;
  readonly #cache: Cache<T>;

  constructor(resource: ResourceRef, cache: Cache<T>) {
    this.resource = resource;
    this.#cache = cache;
  }

  get size(): number {
    return this.#cache.size;
  }

  get(key: string): T | undefined {
    return this.#cache.get(key);
  }

  list(): T[] {
    return [...this.#cache.values()];
  }

  values(): IterableIterator<T> {
    return this.#cache.values();
  }

  keys(): IterableIterator<string> {
    return this.#cache.keys();
  }

  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    this.#cache.addIndex(name, valuesOf);
  }

  dropIndex(name: string): void {
    this.#cache.dropIndex(name);
  }

  byIndex(name: string, value: string): T[] {
    return this.#cache.byIndex(name, value);
  }

  hasIndexed(name: string, value: string): boolean {
    return this.#cache.hasIndexed(name, value);
  }

  on(handlers: Handlers<T>): () => void {
    return this.#cache.on(handlers);
  }
}
