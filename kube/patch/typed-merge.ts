import { deepEqual } from '../deep.ts';
import type { Json, JsonObject } from '../object.ts';
import type { ListSchema, Schema } from '../schema/schema.ts';
import { setOwn } from '../untyped.ts';
import type { PathElement } from './path-element.ts';
import {
  type Atom,
  anySchema,
  asList,
  asMap,
  atomOf,
  entrySchema,
  isAtomic,
  itemElement,
  type Maybe,
} from './typed-schema.ts';

/** `applied` laid over `live`: nothing is removed, leaves are the applied ones, lists keep both orders. */
export function merge(live: Json, applied: Json, schema: Schema): Json {
  return mergeValue(live, applied, schema) ?? null;
}

/** Undefined when nothing is left to say. Where nothing changes, the live value itself. */
function mergeValue(live: Maybe, applied: Maybe, schema: Schema): Maybe {
  if (applied === undefined) return live;
  const atom: Atom | undefined = atomOf(schema, applied);
  if (atom === 'scalar' || isAtomic(schema) || (atom === 'list' && schema.type !== 'list')) {
    return deepEqual(live, applied) ? live : applied;
  }
  if (atom === 'list' && schema.type === 'list') {
    const x = asList(live) ?? [];
    const y = asList(applied) ?? [];
    return x.length === 0 && y.length === 0 ? applied : new ListMerge(x, y, schema).run();
  }
  const x = asMap(live) ?? {};
  const y = asMap(applied) ?? {};
  let result: JsonObject | undefined;
  for (const [key, value] of Object.entries(y)) {
    const before = Object.hasOwn(x, key) ? x[key] : undefined;
    const merged = mergeValue(before, value, entrySchema(schema, key) ?? anySchema);
    if (merged === undefined || merged === before) continue;
    result ??= { ...x };
    setOwn(result, key, merged);
  }
  if (result) return result;
  const bothEmpty = Object.keys(x).length === 0;
  return bothEmpty && !(asMap(live) && asMap(applied)) ? applied : live;
}

/**
 * Two lists of keyed items become one. Items of `applied` keep its order; items only in `live` stay behind the
 * shared item they followed.
 */
class ListMerge {
  readonly #live: Json[];
  readonly #applied: Json[];
  readonly #schema: ListSchema;
  readonly #liveElements: PathElement[];
  readonly #appliedElements: PathElement[];
  readonly #liveItems = new Map<PathElement, Maybe>();
  readonly #appliedItems = new Map<PathElement, Maybe>();
  readonly #done = new Set<PathElement>();
  readonly #shared: PathElement[];
  #at = 0;
  #nextShared: PathElement | undefined;
  readonly #out: Json[] = [];

  constructor(live: Json[], applied: Json[], schema: ListSchema) {
    this.#live = live;
    this.#applied = applied;
    this.#schema = schema;
    this.#liveElements = this.#index(live, this.#liveItems);
    this.#appliedElements = this.#index(applied, this.#appliedItems);
    this.#shared = this.#appliedElements.filter((e) => this.#liveItems.has(e));
    this.#nextShared = this.#shared[this.#at++];
  }

  /** Repeated live items cannot be merged with an applied one: it replaces them all. */
  #index(list: Json[], items: Map<PathElement, Maybe>): PathElement[] {
    return list.map((item) => {
      const element = itemElement(this.#schema, item);
      items.set(element, items.has(element) ? undefined : item);
      return element;
    });
  }

  run(): Json[] {
    let l = 0;
    let r = 0;
    while (l < this.#live.length || r < this.#applied.length) {
      const mine = this.#liveElements[l];
      const theirs = this.#appliedElements[r];
      if (mine !== undefined && theirs !== undefined) {
        if (mine === theirs) {
          this.#take(mine);
          this.#nextShared = this.#shared[this.#at++];
          l++;
          r++;
          continue;
        }
        if (this.#appliedItems.has(mine) && this.#nextShared !== undefined && this.#nextShared !== mine) {
          l++;
          continue;
        }
      }
      if (mine !== undefined) {
        if (!this.#appliedItems.has(mine)) {
          this.#push(this.#live[l]);
          l++;
          continue;
        }
        if (this.#done.has(mine)) l++;
      }
      if (theirs !== undefined) {
        this.#take(theirs);
        if (this.#nextShared === theirs) this.#nextShared = this.#shared[this.#at++];
        r++;
      }
    }
    const same =
      this.#out.length === this.#live.length && this.#out.every((item, i) => item === this.#live[i]);
    return same ? this.#live : this.#out;
  }

  #take(element: PathElement): void {
    this.#done.add(element);
    const live = this.#liveItems.get(element);
    this.#push(mergeValue(live, this.#appliedItems.get(element), this.#schema.items));
  }

  #push(item: Maybe): void {
    if (item !== undefined) this.#out.push(item);
  }
}
