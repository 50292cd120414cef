import { sameJson } from '../../deep.ts';
import { given } from '../../defaults/empty.ts';
import type { JsonObject } from '../../object.ts';
import { at, isRecord, records, text } from '../../untyped.ts';
import { defaults } from '../custom/defaults.ts';
import { Field } from '../field.ts';
import { printerColumns } from './columns.ts';
import { type CelContext, costLimits, rootContext, tooExpensive } from './context.ts';
import { selectableFields } from './field-path.ts';
import { label } from './names.ts';
import { openApiSchema } from './schema.ts';
import { shownSchema, shownVersion } from './shown.ts';
import { structural } from './structural.ts';
import { subresources } from './subresources.ts';
import { whyUnbuilt } from './unbuilt.ts';

/** What all versions share stands, to kube-apiserver, beside them. */
const shareable = ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields'] as const;
type Shareable = (typeof shareable)[number];

function shared(versions: readonly JsonObject[]): ReadonlySet<Shareable> {
  const first = versions[0];
  return new Set(
    shareable.filter((name) => first && versions.every((version) => sameJson(version[name], first[name]))),
  );
}

export function versions(spec: JsonObject, field: Field): void {
  const list = records(spec['versions']);
  const path = field.child('versions');
  const common = shared(list);
  for (const [index, version] of list.entries()) {
    const name = text(version['name']);
    if (!isRecord(at(version, 'schema', 'openAPIV3Schema')))
      path.index(index).child('schema', 'openAPIV3Schema').required();
    if (label(name)) path.index(index).child('name').invalid(name, label(name));
    deprecationWarning(version, path.index(index).child('deprecationWarning'));
    parts(version, (part) => (common.has(part) ? undefined : path.index(index).child(part)));
  }
  const shown =
    list.length === 0 ? given(spec, 'versions') : list.map((version) => shownVersion(version, common));
  if (new Set(list.map(({ name }) => name)).size !== list.length)
    path.invalid(shown, 'must contain unique version names');
  if (list.filter(({ storage }) => storage === true).length !== 1)
    path.invalid(shown, 'must have exactly one version marked as storage version');
  const first = text(list[0]?.['name']);
  if (first && label(first)) field.child('version').invalid(first, label(first));
  if (list[0]) parts(list[0], (part) => (common.has(part) ? field.child(sharedName[part]) : undefined));
}

const sharedName: Readonly<Record<Shareable, string>> = {
  schema: 'validation',
  subresources: 'subresources',
  additionalPrinterColumns: 'additionalPrinterColumns',
  selectableFields: 'selectableFields',
};

const missingShared = 'may only be set when validations.schema is included';
const missingSchema = 'may only be set when `version.schema.openAPIV3Schema` is not included';

/** Every schema of a definition's spec once. */
export function customSchemas(spec: unknown): JsonObject[] {
  const list = records(at(spec, 'versions'));
  const own = shared(list).has('schema') ? list.slice(0, 1) : list;
  return own.map((version) => at(version, 'schema', 'openAPIV3Schema')).filter(isRecord);
}

/** The parts of a version for which `where` has a place. */
function parts(version: JsonObject, where: (part: Shareable) => Field | undefined): void {
  const openapi = at(version, 'schema', 'openAPIV3Schema');
  const schema = where('schema');
  const hasStatus = isRecord(at(version, 'subresources', 'status'));
  if (schema && isRecord(openapi)) customSchema(openapi, hasStatus, schema.child('openAPIV3Schema'));
  const own = (part: Shareable, check: (value: unknown, field: Field) => void) => {
    const field = where(part);
    if (field) check(version[part], field);
  };
  own('subresources', subresources);
  own('additionalPrinterColumns', printerColumns);
  own('selectableFields', (value, field) => {
    if (isRecord(openapi)) selectableFields(value, openapi, field);
    else if (records(value).length > 0)
      field.invalid('', field.path === 'spec.selectableFields' ? missingShared : missingSchema);
  });
}

/** Beside the structure of an object, its root can only say how its value is. */
const beyondStatus = [
  'nullable',
  'enum',
  'maxProperties',
  'minProperties',
  'allOf',
  'oneOf',
  'anyOf',
  'not',
  'additionalProperties',
  'default',
];

function customSchema(schema: JsonObject, hasStatus: boolean, field: Field): void {
  const before = field.causes.length;
  if (hasStatus && text(schema['type']) && schema['type'] !== 'object') {
    const rule =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    field.child('type').invalid(schema['type'], rule);
  }
  if (hasStatus && beyondStatus.some((name) => isSaid(schema[name]))) {
    const allowed =
      'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations';
    const rule = `only [${allowed}] fields are allowed at the root of the schema if the status subresource is enabled`;
    field.invalid(shownSchema(schema), rule);
  }
  if (schema['nullable'] === true) field.child('nullable').forbidden('nullable cannot be true at the root');
  const shaped = field.causes.length;
  const unbuilt = whyUnbuilt(schema);
  if (unbuilt === undefined) structural(schema, field);
  if (unbuilt === undefined && field.causes.length === shaped) defaults(schema, field);
  // Rules are looked at in a schema whose structure and defaults are sound.
  const isSound = unbuilt === undefined && field.causes.length === shaped;
  const cel = isSound ? rootContext(schema) : undefined;
  openApiSchema(schema, { isRoot: true }, cel, field);
  // Mostly it has been told by now.
  if (unbuilt !== undefined && field.causes.length === before) field.invalid('', unbuilt);
  if (cel) expensive(cel, field);
}

/** The rules of a schema together, and what was found in each. */
function expensive({ causes, cost }: CelContext, field: Field): void {
  field.takeAll(causes);
  if (cost.total <= costLimits.schema) return;
  for (const { path } of cost.most) {
    const why = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    new Field(field.causes, path).forbidden(why);
  }
  const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
  field.forbidden(tooExpensive(what, cost.total, costLimits.schema));
}

function isSaid(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return false;
  return !Array.isArray(value) || value.length > 0;
}

const mostWarningBytes = 256;

function deprecationWarning(version: JsonObject, field: Field): void {
  const warning = version['deprecationWarning'];
  if (typeof warning !== 'string') return;
  if (version['deprecated'] !== true) {
    field.invalid(warning, 'can only be set for deprecated versions');
    return;
  }
  if (Buffer.byteLength(warning) > mostWarningBytes) field.invalid(warning, 'must be <= 256 characters long');
  if (warning === '') field.invalid(warning, 'must not be an empty string');
  const bad = warning.search(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u);
  if (bad < 0) return;
  const index = Buffer.byteLength(warning.slice(0, bad));
  const rule = 'must only contain printable UTF-8 characters; non-printable character found at index';
  field.invalid(warning, `${rule} ${index}`);
}
