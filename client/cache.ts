import type { KubeObject } from '../kube/object.ts';
import { objectKey } from './url.ts';

/** Called in order, synchronously; an exception is reported and harms neither the cache nor the others. */
export interface Handlers<T> {
  add?(object: T, key: string): void;
  update?(object: T, old: T, key: string): void;
  /** `object` is the last state known; a deletion found by a relist shows the state before it. */
  delete?(object: T, key: string): void;
}

/** The values under which an object is found, e.g. its namespace. */
export type IndexFunction<T> = (object: T) => readonly string[];

interface Index<T> {
  valuesOf: IndexFunction<T>;
  keys: Map<string, Set<string>>;
}

const none: ReadonlySet<string> = new Set();

/** Objects by key, with indexes; tells handlers of every real change exactly once. */
export class Cache<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  readonly #indexes = new Map<string, Index<T>>();
  readonly #handlers = new Set<Handlers<T>>();
  readonly #failed: (error: unknown) => void;
  readonly #isSame: (a: T, b: T) => boolean;

  /** @param isSame whether what is put was told already; default: it is the same write. */
  constructor(failed: (error: unknown) => void, isSame: (a: T, b: T) => boolean = sameWrite) {
    this.#failed = failed;
    this.#isSame = isSame;
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  values(): IterableIterator<T> {
    return this.#objects.values();
  }

  keys(): IterableIterator<string> {
    return this.#objects.keys();
  }

  /** Adding an index again under the same name changes nothing. */
  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    if (this.#indexes.has(name)) return;
    const index: Index<T> = { valuesOf, keys: new Map() };
    this.#indexes.set(name, index);
    for (const [key, object] of this.#objects) insert(index, key, object);
  }

  dropIndex(name: string): void {
    this.#indexes.delete(name);
  }

  byIndex(name: string, value: string): T[] {
    const index = this.#indexes.get(name);
    if (!index) throw new Error(`no index ${name}`);
    return [...(index.keys.get(value) ?? none)].flatMap((key) => this.#objects.get(key) ?? []);
  }

  /** Whether it finds any: a list of thousands is not made for that. */
  hasIndexed(name: string, value: string): boolean {
    const index = this.#indexes.get(name);
    if (!index) throw new Error(`no index ${name}`);
    return index.keys.has(value);
  }

  /** What is there already is told as `add` before this returns. */
  on(handlers: Handlers<T>): () => void {
    for (const [key, object] of this.#objects) this.#call(() => handlers.add?.(object, key));
    this.#handlers.add(handlers);
    return () => this.#handlers.delete(handlers);
  }

  /** A write already seen is dropped; another uid under the same key is a deletion and a creation. */
  put(object: T): void {
    const key = objectKey(object);
    const old = this.#objects.get(key);
    if (old && old.metadata.uid !== object.metadata.uid) this.#forget(key, old, old);
    const before = this.#objects.get(key);
    if (before && this.#isSame(before, object)) return;
    this.#objects.set(key, object);
    for (const index of this.#indexes.values()) {
      if (before && isSameValues(index.valuesOf(before), index.valuesOf(object))) continue;
      if (before) remove(index, key, before);
      insert(index, key, object);
    }
    for (const to of this.#handlers) {
      this.#call(() => (before ? to.update?.(object, before, key) : to.add?.(object, key)));
    }
  }

  /** `object` is the state that the deletion was told with. */
  remove(object: T): void {
    const key = objectKey(object);
    const old = this.#objects.get(key);
    if (old) this.#forget(key, old, object);
  }

  /** Becomes exactly `objects`: what is missing from it is told as deleted. */
  replace(objects: readonly T[]): void {
    const present = new Set(objects.map(objectKey));
    for (const [key, old] of [...this.#objects]) if (!present.has(key)) this.#forget(key, old, old);
    for (const object of objects) this.put(object);
  }

  #forget(key: string, old: T, last: T): void {
    this.#objects.delete(key);
    for (const index of this.#indexes.values()) remove(index, key, old);
    for (const to of this.#handlers) this.#call(() => to.delete?.(last, key));
  }

  #call(handler: () => void): void {
    try {
      handler();
    } catch (error) {
      this.#failed(error);
    }
  }
}

function sameWrite(a: KubeObject, b: KubeObject): boolean {
  return (
    a.metadata.resourceVersion !== undefined && a.metadata.resourceVersion === b.metadata.resourceVersion
  );
}

/** Most of what is written leaves an object where it is found. */
function isSameValues(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}

function insert<T>(index: Index<T>, key: string, object: T): void {
  for (const value of index.valuesOf(object)) {
    const keys = index.keys.get(value);
    if (keys) keys.add(key);
    else index.keys.set(value, new Set([key]));
  }
}

function remove<T>(index: Index<T>, key: string, object: T): void {
  for (const value of index.valuesOf(object)) {
    const keys = index.keys.get(value);
    keys?.delete(key);
    if (keys?.size === 0) index.keys.delete(value);
  }
}
