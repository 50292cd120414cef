import type { GoField, GoStruct } from './go.ts';

/** A field as JSON has it: what Go embeds is no level of its own there. */
interface FlatField {
  readonly field: GoField;
  /** Names of the inlined structs that lead to it. */
  readonly through: readonly string[];
}

const flattened = new WeakMap<GoStruct, ReadonlyMap<string, FlatField>>();

/** By name. */
export function fieldsOf(struct: GoStruct): ReadonlyMap<string, FlatField> {
  let fields = flattened.get(struct);
  if (fields === undefined) {
    const into = new Map<string, FlatField>();
    flatten(struct, [], into);
    flattened.set(struct, into);
    fields = into;
  }
  return fields;
}

function flatten(struct: GoStruct, through: readonly string[], into: Map<string, FlatField>): void {
  for (const field of struct.fields) {
    if (field.inline && field.shape.kind === 'struct') {
      const { struct: inner } = field.shape;
      flatten(inner, [...through, shortName(inner)], into);
    } else into.set(field.name, { field, through });
  }
}

/** Without its package. */
export function shortName(struct: GoStruct): string {
  return struct.name.slice(struct.name.lastIndexOf('.') + 1);
}
