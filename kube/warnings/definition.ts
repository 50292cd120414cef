import type { JsonObject } from '../object.ts';
import { quoteGo } from '../quote.ts';
import { isRecord } from '../untyped.ts';
import { customSchemas } from '../validation/crd/versions.ts';
import { isFormatOf } from '../validation/formats.ts';
import type { KindWarnings } from './kind.ts';

const deepest = 100;
const parts = ['items', 'allOf', 'anyOf', 'oneOf', 'not', 'properties', 'additionalProperties'];
const others = ['patternProperties', 'additionalItems', 'definitions', 'dependencies'];
const maps = new Set(['properties', 'patternProperties', 'definitions', 'dependencies']);

/** Formats that mean nothing for the type they are said of; on an update, those that are new. */
export const definitionWarnings: KindWarnings = (object, old) => {
  const before = new Set(old ? unknownFormats(old) : []);
  return unknownFormats(object)
    .filter((format) => !before.has(format))
    .map((format) => `unrecognized format ${quoteGo(format)}`);
};

function unknownFormats(definition: JsonObject): string[] {
  const found: string[] = [];
  for (const schema of customSchemas(definition['spec'])) visit(schema, found, 0);
  return found;
}

function visit(schema: unknown, found: string[], depth: number): void {
  if (!isRecord(schema) || depth > deepest) return;
  const { format, type } = schema;
  if (typeof format === 'string' && format !== '' && !isFormatOf(format, String(type ?? '')))
    found.push(format);
  for (const part of [...parts, ...others]) {
    const below = schema[part];
    const list = Array.isArray(below)
      ? below
      : maps.has(part) && isRecord(below)
        ? Object.values(below)
        : [below];
    for (const one of list) visit(one, found, depth + 1);
  }
}
