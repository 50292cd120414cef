import { deepEqual } from '../deep.ts';
import { emptiesOf } from '../defaults/empty.ts';
import type { Json } from '../object.ts';
import type { ListSchema, Schema } from '../schema/schema.ts';
import { FieldSet } from './fields.ts';
import { fieldElement, type PathElement } from './path-element.ts';
import {
  type Atom,
  anySchema,
  asList,
  asMap,
  atomOf,
  entrySchema,
  ItemError,
  isAtomic,
  itemElement,
  type Maybe,
  zeroOf,
} from './typed-schema.ts';

/** No path is in two of them. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
  /** A list has an item without the key of its items: kube-apiserver knows nothing of such an object's fields. */
  readonly broken: boolean;
}

/**
 * What became of `before` to make it `after`. Fields that Go always writes count as present with their zero
 * value on both sides, so that giving them a value modifies them and does not add their parents.
 */
export function compare(before: Json, after: Json, schema: Schema): Comparison {
  const walk = new Comparing();
  walk.visit(before, after, schema);
  return walk;
}

class Comparing implements Comparison {
  readonly added = new FieldSet();
  readonly modified = new FieldSet();
  readonly removed = new FieldSet();
  broken = false;
  readonly #path: PathElement[] = [];

  visit(before: Maybe, after: Maybe, schema: Schema): void {
    if (before === after) return;
    const a = atomOf(schema, before);
    const b = atomOf(schema, after);
    let leaf: boolean;
    if (after === undefined) leaf = this.#walk(a, before, after, schema);
    else if (before === undefined || a === b) leaf = this.#walk(b, before, after, schema);
    else {
      this.#walk(a, before, after, schema);
      leaf = this.#walk(b, before, after, schema);
    }
    if (leaf) return;
    if (before === undefined) this.added.insert(this.#path);
    else if (after === undefined) this.removed.insert(this.#path);
  }

  #within(element: PathElement, visit: () => void): void {
    this.#path.push(element);
    visit();
    this.#path.pop();
  }

  /** Answers whether the value was taken as one leaf. */
  #walk(atom: Atom | undefined, before: Maybe, after: Maybe, schema: Schema): boolean {
    if (atom === 'scalar' || isAtomic(schema) || (atom === 'list' && schema.type !== 'list')) {
      return this.#leaf(before, after);
    }
    if (atom === 'list' && schema.type === 'list') {
      const x = asList(before) ?? [];
      const y = asList(after) ?? [];
      if (x.length === 0 && y.length === 0) return this.#leaf(before, after);
      this.#items(x, y, schema);
      return false;
    }
    return this.#entries(before, after, schema);
  }

  #leaf(before: Maybe, after: Maybe): boolean {
    if (before === undefined) this.added.insert(this.#path);
    else if (after === undefined) this.removed.insert(this.#path);
    else if (!deepEqual(before, after)) this.modified.insert(this.#path);
    return true;
  }

  #entries(before: Maybe, after: Maybe, schema: Schema): boolean {
    const x = asMap(before);
    const y = asMap(after);
    const keys = new Set(Object.keys(x ?? {}));
    for (const key of Object.keys(y ?? {})) keys.add(key);
    // A struct that stands on one side only brings its zero fields along.
    if ((x === undefined) !== (y === undefined)) for (const key of zeroFields(schema)) keys.add(key);
    if (keys.size === 0) return this.#leaf(before, after);
    const empties = emptiesOf(after);
    for (const key of keys) {
      const type = entrySchema(schema, key) ?? anySchema;
      const next = entry(y, key, schema);
      // A list that Go always writes and that was given empty is no longer told from none, but is its giver's.
      const given = next === null ? ((empties?.[key] as Maybe) ?? next) : next;
      this.#within(fieldElement(key), () => this.visit(entry(x, key, schema), given, type));
    }
    return false;
  }

  /** Items that share their keys are compared as one, in order. */
  #items(before: Json[], after: Json[], schema: ListSchema): void {
    if (deepEqual(before, after)) return;
    const x = this.#index(before, schema);
    const y = this.#index(after, schema);
    for (const element of new Set([...x.keys(), ...y.keys()])) {
      const [a, ...moreA] = x.get(element) ?? [];
      const [b, ...moreB] = y.get(element) ?? [];
      this.#within(element, () => {
        if (moreA.length === 0 && moreB.length === 0) this.visit(a, b, schema.items);
        else if (moreA.length > 0 && moreB.length > 0) {
          if (!deepEqual(x.get(element), y.get(element))) this.modified.insert(this.#path);
        } else if (moreA.length > 0) {
          if (b !== undefined) this.visit(undefined, b, schema.items);
          this.removed.insert(this.#path);
        } else {
          if (a !== undefined) this.visit(a, undefined, schema.items);
          this.added.insert(this.#path);
        }
      });
    }
  }

  #index(list: Json[], schema: ListSchema): Map<PathElement, Json[]> {
    const index = new Map<PathElement, Json[]>();
    for (const item of list) {
      try {
        const element = itemElement(schema, item);
        const same = index.get(element);
        if (same) same.push(item);
        else index.set(element, [item]);
      } catch (error) {
        if (!(error instanceof ItemError)) throw error;
        this.broken = true;
      }
    }
    return index;
  }
}

function entry(map: Record<string, Json> | undefined, key: string, schema: Schema): Maybe {
  if (!map) return undefined;
  return Object.hasOwn(map, key) ? map[key] : zeroOf(schema, key);
}

function* zeroFields(schema: Schema): Generator<string> {
  if (schema.type !== 'object') return;
  for (const field of schema.fields.values()) if (field.zero !== undefined) yield field.name;
}
