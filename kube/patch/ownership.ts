import type { JsonObject, KubeObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { ApplyConflict } from './conflicts.ts';
import type { FieldSet } from './fields.ts';
import type { ManagerEntry } from './managers.ts';
import { type Comparison, compare } from './typed.ts';

/**
 * Takes from every manager but `self` what changed between the two objects, and drops managers left with
 * nothing. Changes the map. Throws ApplyConflict, the map untouched, when others own changed fields and the
 * change is not forced. Answers what changed, without ignored fields.
 */
export function takeOwnership(
  managers: Map<string, ManagerEntry>,
  self: string | undefined,
  change: Change,
  force: boolean,
): Comparison {
  const changes = new Changes(change);
  const conflicts = new Map<string, FieldSet>();
  for (const [id, entry] of managers) {
    if (id === self) continue;
    const seen = changes.seenBy(entry);
    // A version that is no longer served: nobody can tell what its fields are.
    if (seen === undefined) {
      managers.delete(id);
      continue;
    }
    const conflict = entry.set.intersection(seen.modified.union(seen.added));
    if (!conflict.isEmpty()) conflicts.set(id, conflict);
  }
  if (!force && conflicts.size > 0) throw ApplyConflict.of(conflicts, managers);
  for (const [id, entry] of managers) {
    let { set } = entry;
    if (id !== self) {
      const conflict = conflicts.get(id);
      if (conflict) set = set.difference(conflict);
      const removed = changes.seenBy(entry)?.removed;
      if (removed) set = set.difference(removed);
    }
    if (set.isEmpty()) managers.delete(id);
    else if (set !== entry.set) managers.set(id, { ...entry, set });
  }
  return changes.own;
}

export interface Change {
  before: JsonObject;
  after: JsonObject;
  management: {
    schema: Schema;
    apiVersion: string;
    ignore?: FieldSet | undefined;
    inVersion?: InVersion | undefined;
  };
}

export type InVersion = (
  object: KubeObject,
  apiVersion: string,
) => { object: KubeObject; schema: Schema } | undefined;

/** What changed, in each version in which somebody owns fields. */
class Changes {
  readonly own: Comparison;
  readonly #change: Change;
  readonly #others = new Map<string, Comparison | undefined>();

  constructor(change: Change) {
    const { before, after, management } = change;
    this.#change = change;
    this.own = without(compare(before, after, management.schema), management.ignore);
  }

  seenBy({ apiVersion }: ManagerEntry): Comparison | undefined {
    const { management } = this.#change;
    if (apiVersion === management.apiVersion || !management.inVersion) return this.own;
    if (!this.#others.has(apiVersion))
      this.#others.set(apiVersion, this.#compareIn(apiVersion, management.inVersion));
    return this.#others.get(apiVersion);
  }

  #compareIn(apiVersion: string, inVersion: InVersion): Comparison | undefined {
    const { before, after, management } = this.#change;
    const convert = (object: JsonObject) =>
      Object.keys(object).length === 0
        ? { object: {}, schema: undefined }
        : inVersion(object as KubeObject, apiVersion);
    const [from, to] = [convert(before), convert(after)];
    const schema = to?.schema ?? from?.schema;
    if (from === undefined || to === undefined || schema === undefined) return undefined;
    return without(compare(from.object as JsonObject, to.object as JsonObject, schema), management.ignore);
  }
}

function without(changed: Comparison, ignore: FieldSet | undefined): Comparison {
  if (!ignore || ignore.isEmpty()) return changed;
  return {
    added: changed.added.recursiveDifference(ignore),
    modified: changed.modified.recursiveDifference(ignore),
    removed: changed.removed.recursiveDifference(ignore),
    broken: changed.broken,
  };
}
