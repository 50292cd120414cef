import { StatusError } from '../status.ts';
import type { FieldPath, FieldSet } from './fields.ts';
import type { ManagerEntry } from './managers.ts';
import { formatPath } from './path-element.ts';

export interface Conflict {
  readonly id: string;
  readonly owner: ManagerEntry;
  readonly path: FieldPath;
}

/** What others own of the fields that an apply wants to change. */
export class ApplyConflict extends Error {
  readonly conflicts: readonly Conflict[];

  constructor(conflicts: readonly Conflict[]) {
    super(describe(conflicts));
    this.name = 'ApplyConflict';
    this.conflicts = conflicts;
  }

  static of(sets: ReadonlyMap<string, FieldSet>, managers: ReadonlyMap<string, ManagerEntry>): ApplyConflict {
    const conflicts: Conflict[] = [];
    for (const id of [...sets.keys()].sort()) {
      const owner = managers.get(id);
      for (const path of sets.get(id)?.paths() ?? []) if (owner) conflicts.push({ id, owner, path });
    }
    return new ApplyConflict(conflicts);
  }

  /** 409 Conflict with one FieldManagerConflict cause a field. */
  toStatusError(): StatusError {
    const causes = this.conflicts.map(({ owner, path }) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${describeManager(owner)}`,
      field: formatPath(path),
    }));
    return new StatusError(409, 'Conflict', this.message, { causes }, this);
  }
}

function describeManager({ manager, subresource, operation, apiVersion }: ManagerEntry): string {
  let text = JSON.stringify(manager);
  if (subresource !== '') text += ` with subresource ${JSON.stringify(subresource)}`;
  return operation === 'Update' ? `${text} using ${apiVersion}` : text;
}

function describe(conflicts: readonly Conflict[]): string {
  const [first] = conflicts;
  if (first && conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${describeManager(first.owner)}: ${formatPath(first.path)}`;
  }
  const lines: string[] = [];
  let current: string | undefined;
  for (const { id, owner, path } of conflicts) {
    if (id !== current) lines.push(`conflicts with ${describeManager(owner)}:`);
    current = id;
    lines.push(`- ${formatPath(path)}`);
  }
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}
