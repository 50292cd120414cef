import type { JsonObject } from '../object.ts';
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
  change: { before: JsonObject; after: JsonObject; schema: Schema; ignore: FieldSet | undefined },
  force: boolean,
): Comparison {
  const { before, after, schema, ignore } = change;
  const changed = without(compare(before, after, schema), ignore);
  const written = changed.modified.union(changed.added);
  const conflicts = new Map<string, FieldSet>();
  for (const [id, entry] of managers) {
    if (id === self) continue;
    const conflict = entry.set.intersection(written);
    if (!conflict.isEmpty()) conflicts.set(id, conflict);
  }
  if (!force && conflicts.size > 0) throw ApplyConflict.of(conflicts, managers);
  for (const [id, entry] of managers) {
    let { set } = entry;
    if (id !== self) {
      const conflict = conflicts.get(id);
      if (conflict) set = set.difference(conflict);
      set = set.difference(changed.removed);
    }
    if (set.isEmpty()) managers.delete(id);
    else if (set !== entry.set) managers.set(id, { ...entry, set });
  }
  return changed;
}

function without(changed: Comparison, ignore: FieldSet | undefined): Comparison {
  if (!ignore || ignore.isEmpty()) return changed;
  return {
    added: changed.added.recursiveDifference(ignore),
    modified: changed.modified.recursiveDifference(ignore),
    removed: changed.removed.recursiveDifference(ignore),
  };
}
