import { type PolicyScope as Scope, variableType } from '../../cel/typed/messages.ts';
import { type CelType, dyn } from '../../cel/typed/types.ts';
import { sameJson } from '../../deep.ts';
import { validateDns1035Label, validateDns1123Subdomain } from '../../names.ts';
import type { JsonObject } from '../../object.ts';
import { at, isRecord, records, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { pointedOneOf } from '../rules.ts';
import { condition, matchConditions } from './expression.ts';
import { matchResources } from './match.ts';

const failurePolicies = ['Fail', 'Ignore'];
const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

function paramKind(kind: JsonObject, field: Field): void {
  const apiVersion = text(kind['apiVersion']);
  const parts = apiVersion === '/' ? [''] : apiVersion.split('/');
  const [first = '', second] = parts;
  const [group, version] = second === undefined ? ['', first] : [first, second];
  const path = field.child('apiVersion');
  const groupErrors = group ? validateDns1123Subdomain(group) : [];
  const versionErrors = validateDns1035Label(version);
  if (!apiVersion) path.required();
  else if (parts.length > 2) path.invalid(apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
  else {
    if (groupErrors.length > 0) path.invalid(group, groupErrors.join(','));
    if (!version) path.invalid(apiVersion, 'version must be specified');
    else if (versionErrors.length > 0) path.invalid(version, versionErrors.join(','));
  }
  const name = text(kind['kind']);
  const nameErrors = validateDns1035Label(name.toLowerCase());
  if (!name) field.child('kind').required();
  else if (nameErrors.length > 0) {
    field
      .child('kind')
      .invalid(name, `may have mixed case, but should otherwise match: ${nameErrors.join(',')}`);
  }
}

/**
 * Failure policy, parameters, what is matched, and variables: common to validating and mutating policies. Returns the
 * variables that expressions can use.
 */
export function commonPolicy(
  { spec, oldSpec }: { spec: JsonObject; oldSpec?: JsonObject },
  scope: Scope,
  field: Field,
): ReadonlyMap<string, CelType> {
  pointedOneOf(spec['failurePolicy'], failurePolicies, field.child('failurePolicy'));
  if (isRecord(spec['paramKind'])) paramKind(spec['paramKind'], field.child('paramKind'));
  const path = field.child('matchConstraints');
  if (isRecord(spec['matchConstraints'])) {
    matchResources(spec['matchConstraints'], path);
    if (records(at(spec, 'matchConstraints', 'resourceRules')).length === 0)
      path.child('resourceRules').required();
  } else path.required();
  const kept = ['paramKind', 'matchConditions'];
  if (!oldSpec || !kept.every((name) => sameJson(spec[name], oldSpec[name])))
    matchConditions(spec['matchConditions'], isRecord(spec['paramKind']), field.child('matchConditions'));
  const declared = new Map<string, CelType>();
  for (const [index, one] of records(spec['variables']).entries()) {
    // Each can use those before it; one whose expression is not sound is of any type.
    const type = variable(one, { ...scope, variables: declared }, field.child('variables').index(index));
    if (type) declared.set(text(one['name']), type);
  }
  return declared;
}

function variable(one: JsonObject, scope: Scope, field: Field): CelType | undefined {
  const name = text(one['name']);
  if (!name.trim()) field.child('name').required('name is not specified');
  else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) || reserved.has(name))
    field.child('name').invalid(name, 'must be a valid CEL identifier');
  const expression = text(one['expression']);
  if (!expression.trim()) {
    field.child('expression').required('expression is not specified');
    return undefined;
  }
  const type = condition(expression, scope, [], field.child('expression'));
  return type ? variableType(type) : dyn;
}
