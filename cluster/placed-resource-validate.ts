import { compileRule } from '../kube/cel/rule.ts';
import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import { openapiOf } from '../kube/openapi/own.ts';
import { builtinResources } from '../kube/schema/builtin.ts';
import type { ObjectSchema } from '../kube/schema/schema.ts';
import type { StatusCause } from '../kube/status.ts';
import type { KindInfo } from '../kube/strategy/kind.ts';
import { at, isRecord, listAt, records, strings, text } from '../kube/untyped.ts';
import { validateSchema } from '../kube/validation/custom/schema.ts';
import { Field } from '../kube/validation/field.ts';
import { validateCreate, validateUpdate } from '../kube/validation/index.ts';
import { dns1123Label, dns1123Subdomain } from '../kube/validation/rules.ts';
import { placedKinds } from './kinds.ts';
import { group as ownGroup } from './names.ts';

/** Every Placement of the kind has a copy. */
const longestExpression = 2048;
const longestPath = 256;
/** Of any one list. */
const longest = 32;
const path = /^(\.[A-Za-z_$][\w$-]*)+$/;
const builtin = new Set(builtinResources.map(({ group }) => group));
const along = placedKinds.filter(({ role }) => role === 'closure');

/** What is wrong with a PlacedResource. What an update leaves as it was may stay. */
export function validatePlacedResource(
  { served, schema }: { served: KindInfo; schema: ObjectSchema },
  object: KubeObject,
  old: KubeObject | undefined,
): StatusCause[] {
  const causes = old ? validateUpdate(object, old, served) : validateCreate(object, served);
  const { spec } = object;
  causes.push(...validateSchema({ spec }, openapiOf(schema), '', 0, old && { spec: old.spec }));
  if (causes.length > 0 || !isRecord(spec) || deepEqual(spec, old?.spec)) return causes;
  const field = new Field(causes).child('spec');
  validateResource(object, spec, field, new Field(causes));
  for (const name of ['group', 'resource'])
    if (old && at(old.spec, name) !== spec[name]) field.child(name).invalid(spec[name], 'field is immutable');
  for (const name of ['specReplicasPath', 'templatePath'])
    if (spec[name] !== undefined) pathBelow('.spec', spec[name], field.child(name));
  validateReferences(spec['references'], field.child('references'));
  validateStatus(spec['status'], field.child('status'));
  if (spec['ready'] !== undefined) validateReady(text(spec['ready']), field.child('ready'));
  return causes;
}

function validateResource(
  { metadata: { name } }: KubeObject,
  { group, version, resource }: Record<string, unknown>,
  field: Field,
  root: Field,
): void {
  dns1123Subdomain(text(group), field.child('group'));
  for (const [of, value] of [
    ['version', version],
    ['resource', resource],
  ] as const)
    dns1123Label(text(value), field.child(of));
  if (builtin.has(text(group)) || group === ownGroup)
    field.child('group').invalid(group, 'must be the group of a custom resource');
  const wanted = `${text(resource)}.${text(group)}`;
  if (name !== wanted)
    root.child('metadata').child('name').invalid(name, `must be spec.resource+"."+spec.group: ${wanted}`);
}

function validateReferences(references: unknown, field: Field): void {
  const all = records(references);
  if (all.length > longest) field.tooMany(all.length, longest);
  for (const [index, { group = '', resource, path: where }] of all.slice(0, longest).entries()) {
    const here = field.index(index);
    if (!along.some((kind) => kind.group === group && kind.resource === resource))
      here.child('resource').notSupported(
        resource,
        along.filter((kind) => kind.group === group).map((kind) => kind.resource),
      );
    pathBelow('.spec', where, here.child('path'));
  }
}

function validateStatus(status: unknown, field: Field): void {
  const available = at(status, 'availableReplicasPath');
  if (available !== undefined) pathBelow('.status', available, field.child('availableReplicasPath'));
  const sums = strings(at(status, 'sums'));
  const worst = records(at(status, 'worst'));
  if (sums.length > longest) field.child('sums').tooMany(sums.length, longest);
  for (const [index, where] of sums.slice(0, longest).entries())
    pathBelow('.status', where, field.child('sums').index(index));
  if (worst.length > longest) field.child('worst').tooMany(worst.length, longest);
  for (const [index, one] of worst.slice(0, longest).entries()) {
    const here = field.child('worst').index(index);
    pathBelow('.status', one['path'], here.child('path'));
    const values = listAt(one, 'values');
    if (values.length === 0) here.child('values').required('name the words, the worst first');
    if (values.length > longest) here.child('values').tooMany(values.length, longest);
  }
}

function pathBelow(root: string, value: unknown, field: Field): void {
  const said = text(value);
  if (said.length > longestPath) field.tooLong(longestPath);
  else if (!path.test(said) || !said.startsWith(`${root}.`))
    field.invalid(value, `must be a path of fields below ${root}, such as ${root}.replicas`);
}

function validateReady(expression: string, field: Field): void {
  if (expression === '') field.required();
  if (expression.length > longestExpression) field.tooLong(longestExpression);
  if (expression === '' || expression.length > longestExpression) return;
  const rule = compileRule(expression);
  if (rule instanceof Error) field.invalid(expression, `compilation failed: ${rule.message}`);
  else if (rule.usesOldSelf) field.invalid(expression, 'compilation failed: there is no oldSelf');
}
