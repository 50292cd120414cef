import type { PolicyScope as Scope } from '../../cel/typed/messages.ts';
import type { JsonObject } from '../../object.ts';
import { at, isRecord, records, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import type { KindCheck } from '../kind.ts';
import { oneOf } from '../rules.ts';
import { commonPolicy } from './common.ts';
import { condition } from './expression.ts';
import { mutatingOperations } from './rule.ts';

/** Where each type of patch has its expression, and what that evaluates to. */
const patches: Readonly<Record<string, { field: string; type: string }>> = {
  ApplyConfiguration: { field: 'applyConfiguration', type: 'Object' },
  JSONPatch: { field: 'jsonPatch', type: 'list(JSONPatch)' },
};

function mutation(one: JsonObject, scope: Scope, field: Field): void {
  const type = text(one['patchType']);
  oneOf(type, Object.keys(patches), field.child('patchType'));
  const patch = Object.hasOwn(patches, type) ? patches[type] : undefined;
  if (!patch) return;
  const value = one[patch.field];
  const path = field.child(patch.field);
  if (isRecord(value)) {
    const expression = text(value['expression']).trim();
    if (!expression) path.child('expression').required();
    else condition(expression, scope, [patch.type], path.child('expression'));
  } else path.required(`must be specified when patchType is ${type}`);
  for (const other of Object.values(patches)) {
    if (other === patch || !isRecord(one[other.field])) continue;
    field.child(other.field).invalid(`{${other.field}}`, `must not be specified when patchType is ${type}`);
  }
}

/** https://kubernetes.io/docs/reference/access-authn-authz/mutating-admission-policy/ */
export const mutatingPolicy: KindCheck = (subject, root) => {
  const { spec } = subject;
  const field = root.child('spec');
  const base: Scope = { params: isRecord(spec['paramKind']), authorizer: true };
  const scope = { ...base, patches: true, variables: commonPolicy(subject, base, field) };
  const rules = records(at(spec, 'matchConstraints', 'resourceRules'));
  mutatingOperations(rules, field.child('matchConstraints', 'resourceRules'));
  const mutations = records(spec['mutations']);
  if (mutations.length === 0) field.child('mutations').required('mutations must contain at least one item');
  for (const [index, one] of mutations.entries()) mutation(one, scope, field.child('mutations').index(index));
  oneOf(spec['reinvocationPolicy'], ['IfNeeded', 'Never'], field.child('reinvocationPolicy'));
};
