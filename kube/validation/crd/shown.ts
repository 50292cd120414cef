import type { Json, JsonObject } from '../../object.ts';
import { isRecord, record, text } from '../../untyped.ts';
import { sortedMap } from '../field.ts';
import { type ShownShape, shownAs } from '../shown.ts';
import { deepest } from './structural.ts';

/** As messages show a rule. */
export const ruleShape: ShownShape = [
  ['rule', 'Rule', ''],
  ['message', 'Message', ''],
  ['messageExpression', 'MessageExpression', ''],
  ['reason', 'Reason', null],
  ['fieldPath', 'FieldPath', ''],
  ['optionalOldSelf', 'OptionalOldSelf', null],
];

type Shown = (value: Json | undefined, depth: number) => Json;

const plain =
  (zero: Json): Shown =>
  (value) =>
    value ?? zero;

const list =
  (item: Shown): Shown =>
  (value, depth) =>
    Array.isArray(value) ? value.map((one) => item(one, depth)) : null;

const map =
  (item: Shown): Shown =>
  (value, depth) =>
    isRecord(value)
      ? (sortedMap(
          Object.fromEntries(Object.entries(value).map(([key, one]) => [key, item(one, depth)])),
        ) as Json)
      : null;

/** Of any JSON, in the order of its keys. */
const any: Shown = (value) => sorted(value ?? null);

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, one]): [string, Json] => [key, sorted(one as Json)]);
  return sortedMap(Object.fromEntries(entries)) as Json;
}

const orBool: Shown = (value, depth) => {
  if (value === undefined || value === null) return null;
  return { Allows: value !== false, Schema: isRecord(value) ? shownSchema(value, depth) : null };
};

const orArray: Shown = (value, depth) => {
  if (value === undefined) return null;
  const schemas = Array.isArray(value) ? value.map((one) => shownSchema(one, depth)) : null;
  return { Schema: isRecord(value) ? shownSchema(value, depth) : null, JSONSchemas: schemas };
};

const orStrings: Shown = (value, depth) => ({
  Schema: isRecord(value) ? shownSchema(value, depth) : null,
  Property: Array.isArray(value) ? value : null,
});

const [emptyText, no, nothing] = [plain(''), plain(false), plain(null)];

/** The fields of a schema in the order of Kubernetes' internal type. */
const schemaFields: readonly (readonly [string, string, Shown])[] = [
  ['id', 'ID', emptyText],
  ['$schema', 'Schema', emptyText],
  ['$ref', 'Ref', nothing],
  ['description', 'Description', emptyText],
  ['type', 'Type', emptyText],
  ['nullable', 'Nullable', no],
  ['format', 'Format', emptyText],
  ['title', 'Title', emptyText],
  ['default', 'Default', any],
  ['maximum', 'Maximum', nothing],
  ['exclusiveMaximum', 'ExclusiveMaximum', no],
  ['minimum', 'Minimum', nothing],
  ['exclusiveMinimum', 'ExclusiveMinimum', no],
  ['maxLength', 'MaxLength', nothing],
  ['minLength', 'MinLength', nothing],
  ['pattern', 'Pattern', emptyText],
  ['maxItems', 'MaxItems', nothing],
  ['minItems', 'MinItems', nothing],
  ['uniqueItems', 'UniqueItems', no],
  ['multipleOf', 'MultipleOf', nothing],
  ['enum', 'Enum', list(any)],
  ['maxProperties', 'MaxProperties', nothing],
  ['minProperties', 'MinProperties', nothing],
  ['required', 'Required', nothing],
  ['items', 'Items', orArray],
  ['allOf', 'AllOf', list(shownSchema)],
  ['oneOf', 'OneOf', list(shownSchema)],
  ['anyOf', 'AnyOf', list(shownSchema)],
  ['not', 'Not', shownSchema],
  ['properties', 'Properties', map(shownSchema)],
  ['additionalProperties', 'AdditionalProperties', orBool],
  ['patternProperties', 'PatternProperties', map(shownSchema)],
  ['dependencies', 'Dependencies', map(orStrings)],
  ['additionalItems', 'AdditionalItems', orBool],
  ['definitions', 'Definitions', map(shownSchema)],
  [
    'externalDocs',
    'ExternalDocs',
    (docs) =>
      shownAs(docs, [
        ['description', 'Description', ''],
        ['url', 'URL', ''],
      ]),
  ],
  ['example', 'Example', any],
  ['x-kubernetes-preserve-unknown-fields', 'XPreserveUnknownFields', nothing],
  ['x-kubernetes-embedded-resource', 'XEmbeddedResource', no],
  ['x-kubernetes-int-or-string', 'XIntOrString', no],
  ['x-kubernetes-list-map-keys', 'XListMapKeys', nothing],
  ['x-kubernetes-list-type', 'XListType', nothing],
  ['x-kubernetes-map-type', 'XMapType', nothing],
  ['x-kubernetes-validations', 'XValidations', list((rule) => shownAs(rule, ruleShape))],
];

/** A schema as messages show it that print a whole one. */
export function shownSchema(value: Json | undefined, depth = 0): Json {
  if (!isRecord(value) || depth > deepest) return null;
  return Object.fromEntries(
    schemaFields.map(([json, go, shown]) => [
      go,
      shown(Object.hasOwn(value, json) ? (value[json] as Json) : undefined, depth + 1),
    ]),
  );
}

const columnShape: ShownShape = [
  ['name', 'Name', ''],
  ['type', 'Type', ''],
  ['format', 'Format', ''],
  ['description', 'Description', ''],
  ['priority', 'Priority', 0],
  ['jsonPath', 'JSONPath', ''],
];

const scaleShape: ShownShape = [
  ['specReplicasPath', 'SpecReplicasPath', ''],
  ['statusReplicasPath', 'StatusReplicasPath', ''],
  ['labelSelectorPath', 'LabelSelectorPath', null],
];

const parts: readonly (readonly [string, string, Shown])[] = [
  [
    'schema',
    'Schema',
    (schema) =>
      isRecord(schema) ? { OpenAPIV3Schema: shownSchema(record(schema)['openAPIV3Schema'] as Json) } : null,
  ],
  [
    'subresources',
    'Subresources',
    (value) =>
      isRecord(value)
        ? { Status: isRecord(value['status']) ? {} : null, Scale: shownAs(value['scale'], scaleShape) }
        : null,
  ],
  ['additionalPrinterColumns', 'AdditionalPrinterColumns', list((column) => shownAs(column, columnShape))],
  ['selectableFields', 'SelectableFields', list((field) => shownAs(field, [['jsonPath', 'JSONPath', '']]))],
];

/** A version as messages show it: without what is shared by all. */
export function shownVersion(version: JsonObject, without: ReadonlySet<string>): JsonObject {
  const own = parts.map(([json, go, shown]): [string, Json] => [
    go,
    without.has(json) ? null : shown(version[json] as Json | undefined, 0),
  ]);
  return {
    Name: text(version['name']),
    Served: version['served'] === true,
    Storage: version['storage'] === true,
    Deprecated: version['deprecated'] === true,
    DeprecationWarning: (version['deprecationWarning'] as Json | undefined) ?? null,
    ...Object.fromEntries(own),
  };
}
