import type { JsonObject } from '../object.ts';
import { isRecord, setOwn } from '../untyped.ts';
import { formatPath, type PathElement, parseElement, sortElements } from './path-element.ts';

export type FieldPath = readonly PathElement[];

/**
 * A set of field paths: what one manager owns. A path's members are leaves or whole items; that a parent has
 * members below it does not make it one. Sets are built with `insert` and immutable from then on: operations
 * answer new sets that share nodes with the old.
 */
export class FieldSet {
  readonly members = new Set<PathElement>();
  readonly children = new Map<PathElement, FieldSet>();

  static of(...paths: FieldPath[]): FieldSet {
    const set = new FieldSet();
    for (const path of paths) set.insert(path);
    return set;
  }

  /** Throws SyntaxError for what is no set; skips path elements of unknown kind. */
  static fromFieldsV1(json: JsonObject): FieldSet {
    return read(json).set;
  }

  toFieldsV1(): JsonObject {
    return write(this, false);
  }

  /** Only while building. The empty path, the object itself, is never owned. */
  insert(path: FieldPath): void {
    let at: FieldSet = this;
    const last = path.length - 1;
    for (let i = 0; i < last; i++) at = at.#descend(path[i] ?? '');
    const element = path[last];
    if (element !== undefined) at.members.add(element);
  }

  #descend(element: PathElement): FieldSet {
    let child = this.children.get(element);
    if (!child) {
      child = new FieldSet();
      this.children.set(element, child);
    }
    return child;
  }

  isEmpty(): boolean {
    if (this.members.size > 0) return false;
    for (const child of this.children.values()) if (!child.isEmpty()) return false;
    return true;
  }

  has(path: FieldPath): boolean {
    let at: FieldSet | undefined = this;
    const last = path.length - 1;
    for (let i = 0; at && i < last; i++) at = at.children.get(path[i] ?? '');
    const element = path[last];
    return at !== undefined && element !== undefined && at.members.has(element);
  }

  union(other: FieldSet): FieldSet {
    if (this.children.size === 0 && this.members.size === 0) return other;
    const result = this.#copyShallow();
    for (const member of other.members) result.members.add(member);
    for (const [element, child] of other.children) {
      const own = result.children.get(element);
      result.children.set(element, own ? own.union(child) : child);
    }
    return result;
  }

  intersection(other: FieldSet): FieldSet {
    const result = new FieldSet();
    for (const member of this.members) if (other.members.has(member)) result.members.add(member);
    for (const [element, child] of this.children) {
      const theirs = other.children.get(element);
      if (theirs) result.#keepChild(element, child.intersection(theirs));
    }
    return result;
  }

  /** Without the other's members; what lies below them stays. */
  difference(other: FieldSet): FieldSet {
    return this.#subtract(other, false);
  }

  /** Without the other's members and everything below them. */
  recursiveDifference(other: FieldSet): FieldSet {
    return this.#subtract(other, true);
  }

  #subtract(other: FieldSet, recursive: boolean): FieldSet {
    if (other.members.size === 0 && other.children.size === 0) return this;
    const result = new FieldSet();
    for (const member of this.members) if (!other.members.has(member)) result.members.add(member);
    for (const [element, child] of this.children) {
      if (recursive && other.members.has(element)) continue;
      const theirs = other.children.get(element);
      result.#keepChild(element, theirs ? child.#subtract(theirs, recursive) : child);
    }
    return result;
  }

  /** Members that have nothing below them. */
  leaves(): FieldSet {
    const result = new FieldSet();
    for (const member of this.members) if (!this.children.has(member)) result.members.add(member);
    for (const [element, child] of this.children) result.#keepChild(element, child.leaves());
    return result;
  }

  equals(other: FieldSet): boolean {
    return this.difference(other).isEmpty() && other.difference(this).isEmpty();
  }

  /** Every path, members of a node before those below it, in fieldsV1's order. */
  *paths(prefix: FieldPath = []): Generator<FieldPath> {
    for (const member of sortElements(this.members)) yield [...prefix, member];
    for (const element of sortElements(this.children.keys())) {
      yield* this.children.get(element)?.paths([...prefix, element]) ?? [];
    }
  }

  toString(): string {
    return [...this.paths()].map(formatPath).join('\n');
  }

  #keepChild(element: PathElement, child: FieldSet): void {
    if (!child.isEmpty()) this.children.set(element, child);
  }

  #copyShallow(): FieldSet {
    const copy = new FieldSet();
    for (const member of this.members) copy.members.add(member);
    for (const [element, child] of this.children) copy.children.set(element, child);
    return copy;
  }
}

function write(set: FieldSet, isMember: boolean): JsonObject {
  const json: JsonObject = isMember ? { '.': {} } : {};
  for (const element of sortElements(new Set([...set.members, ...set.children.keys()]))) {
    const child = set.children.get(element);
    setOwn(json, element, child ? write(child, set.members.has(element)) : {});
  }
  return json;
}

/** A node without anything below is a member of its parent, as is one that says so with `.`. */
function read(json: unknown): { set: FieldSet; isMember: boolean } {
  const set = new FieldSet();
  let isMember = false;
  if (!isRecord(json)) throw new SyntaxError('fieldsV1 must hold objects');
  for (const [key, value] of Object.entries(json)) {
    if (key === '.') {
      isMember = true;
      continue;
    }
    const element = parseElement(key);
    if (element === undefined) continue;
    const child = read(value);
    if (child.isMember) set.members.add(element);
    if (child.set.members.size > 0 || child.set.children.size > 0) set.children.set(element, child.set);
  }
  const nothingBelow = set.members.size === 0 && set.children.size === 0;
  return { set, isMember: isMember || nothingBelow };
}
