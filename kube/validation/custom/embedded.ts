import { validateDns1035Label } from '../../names.ts';
import type { Json } from '../../object.ts';
import { decodeMetadata } from '../../schema/strict.ts';
import type { StatusCause } from '../../status.ts';
import { getOwn, isRecord } from '../../untyped.ts';
import { Field } from '../field.ts';

type Visit = (object: Record<string, unknown>, field: Field) => void;

const maxDepth = 100;
const mustBeText = 'must be a string';

/**
 * Reads the metadata of objects that a schema says are whole resources: a null is an empty one. Changes `value`;
 * answers what cannot be read. https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#rawextension
 */
export function readEmbedded(value: unknown, schema: unknown): string | undefined {
  const root = new Field([]);
  eachEmbedded(value, schema, root, (object, field) => {
    for (const name of ['apiVersion', 'kind']) {
      const given = getOwn(object, name);
      if (given !== undefined && typeof given !== 'string') field.child(name).invalid(given, mustBeText);
    }
    const metadata = getOwn(object, 'metadata') as Json | undefined;
    if (metadata === undefined) return;
    const read = decodeMetadata(metadata ?? {});
    if (read.error !== undefined) field.child('metadata').invalid(metadata, read.error);
    else object['metadata'] = read.value;
  });
  const [first] = root.causes;
  return first && `${first.field}: ${first.message}`;
}

/** The causes for which resources inside a value are none. */
export function embeddedCauses(value: unknown, schema: unknown): StatusCause[] {
  const root = new Field([]);
  eachEmbedded(value, schema, root, (object, field) => {
    for (const name of ['apiVersion', 'kind']) {
      const given = getOwn(object, name);
      const at = field.child(name);
      if (given === undefined) at.required('');
      else if (typeof given !== 'string') at.invalid(given, mustBeText);
      else if (given === '') at.invalidOf(given, 'must not be empty');
      else if (name === 'apiVersion') {
        if (given.split('/').length > 2) at.invalidOf(given, `unexpected GroupVersion string: ${given}`);
      } else {
        const problems = validateDns1035Label(given.toLowerCase());
        const rule = 'may have mixed case, but should otherwise match: ';
        if (problems.length > 0) at.invalidOf(given, rule + problems.join(','));
      }
    }
    // As it is read of what is put; what is applied, or made by others, comes past that.
    const metadata = getOwn(object, 'metadata') as Json | undefined;
    const { error } = decodeMetadata(metadata ?? {});
    if (error !== undefined) field.child('metadata').invalid(metadata, error);
  });
  return root.causes;
}

function eachEmbedded(value: unknown, schema: unknown, field: Field, visit: Visit, depth = 0): void {
  if (!isRecord(schema) || depth > maxDepth) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      eachEmbedded(item, schema['items'], field.index(index), visit, depth + 1);
    return;
  }
  if (!isRecord(value)) return;
  if (schema['x-kubernetes-embedded-resource'] === true) visit(value, field);
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  for (const [name, item] of Object.entries(value)) {
    const known = Object.hasOwn(properties, name);
    const at = known ? field.child(name) : field.key(name);
    eachEmbedded(item, known ? properties[name] : schema['additionalProperties'], at, visit, depth + 1);
  }
}
