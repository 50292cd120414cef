import type { JsonObject } from '../../object.ts';
import { isRecord, record, records, text } from '../../untyped.ts';
import type { Field } from '../field.ts';

const noField = 'does not refer to a valid field';
const end = 'unexpected end of JSON path';

/** The schema that a path of fields and keys leads to, or why it leads nowhere. */
export function schemaAt(schema: JsonObject, path: string, keysToo: boolean): JsonObject | string {
  const tokens = path.match(/'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]]+/g) ?? [];
  let at: JsonObject = schema;
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i];
    if (token !== '.' && token !== '[') return `expected [ or . but got: ${token}`;
    if (token === '[' && !keysToo) return 'array notation is not allowed';
    const name = tokens[++i];
    if (name === undefined) return end;
    if (token === '[' && !/^'.*'$/s.test(name)) return `expected single quoted string but got ${name}`;
    const next = child(at, token === '[' ? unquoted(name) : name);
    if (next === undefined) return noField;
    at = next;
    if (token === '.') continue;
    const closing = tokens[++i];
    if (closing === undefined) return end;
    if (closing !== ']') return `expected ] but got ${closing}`;
  }
  return at;
}

function unquoted(quoted: string): string {
  return quoted.slice(1, -1).replace(/\\(.)/g, '$1');
}

function child(schema: JsonObject, name: string): JsonObject | undefined {
  const { properties, additionalProperties } = schema;
  if (isRecord(properties)) return Object.hasOwn(properties, name) ? record(properties[name]) : undefined;
  return isRecord(additionalProperties) ? additionalProperties : undefined;
}

const mostSelectable = 8;

/** https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#crd-selectable-fields */
export function selectableFields(value: unknown, schema: JsonObject, field: Field): void {
  const seen = new Set<string>();
  for (const [index, one] of records(value).entries()) {
    const jsonPath = text(one['jsonPath']);
    const path = field.index(index).child('jsonPath');
    if (!jsonPath) {
      path.required();
      continue;
    }
    const found = schemaAt(schema, jsonPath, false);
    if (typeof found === 'string') {
      path.invalid(jsonPath, `is an invalid path: ${found}`);
      continue;
    }
    if (/^\.metadata(\.|$)/.test(jsonPath)) path.invalid(jsonPath, 'must not point to fields in metadata');
    if (!['string', 'boolean', 'integer'].includes(text(found['type']))) {
      const rule = 'must point to a field of type string, boolean or integer.';
      path.invalid(jsonPath, `${rule} Enum string fields and strings with formats are allowed.`);
    }
    if (seen.has(jsonPath)) path.duplicate(jsonPath);
    seen.add(jsonPath);
  }
  if (seen.size > mostSelectable) field.tooMany(seen.size, mostSelectable);
}
