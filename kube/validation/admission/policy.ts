import type { PolicyScope as Scope } from '../../cel/typed/messages.ts';
import { validateQualifiedName } from '../../names.ts';
import type { JsonObject } from '../../object.ts';
import { at, isRecord, records, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import type { KindCheck } from '../kind.ts';
import { commonPolicy } from './common.ts';
import { condition } from './expression.ts';

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const mostAnnotations = 20;
const mostValueBytes = 5 * 1024;

function validation(one: JsonObject, scope: Scope, field: Field): void {
  const expression = text(one['expression']);
  if (!expression.trim()) field.child('expression').required('expression is not specified');
  else condition(expression, scope, ['bool'], field.child('expression'));
  const told = text(one['messageExpression']);
  const notEmpty = 'must be non-empty if specified';
  if (told && !told.trim()) field.child('messageExpression').invalid(told, notEmpty);
  else if (told)
    condition(told, { ...scope, authorizer: false }, ['string'], field.child('messageExpression'));
  const message = text(one['message']);
  if (message && !message.trim()) field.child('message').invalid(message, notEmpty);
  else if (/[\n\r]/.test(message.trim()))
    field.child('message').invalid(message, 'must not contain line breaks');
  const reason = one['reason'];
  if (reason !== undefined && !reasons.includes(text(reason)))
    field.child('reason').notSupported(reason, reasons);
}

function auditAnnotation(one: JsonObject, policyName: string, scope: Scope, field: Field): void {
  const key = text(one['key']);
  if (!policyName) field.child('key').invalid(key, 'requires metadata.name be non-empty');
  else field.child('key').invalidAll(`${policyName}/${key}`, validateQualifiedName(`${policyName}/${key}`));
  const expression = text(one['valueExpression']).trim();
  const path = field.child('valueExpression');
  if (!expression) path.required('valueExpression is not specified');
  else if (Buffer.byteLength(expression) > mostValueBytes)
    path.required(`must not exceed ${mostValueBytes} bytes in length`);
  else condition(expression, scope, ['string', 'null_type'], path, text(one['valueExpression']));
}

/** https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/ */
export const validatingPolicy: KindCheck = (subject, root) => {
  const { object, spec } = subject;
  const field = root.child('spec');
  const base: Scope = { params: isRecord(spec['paramKind']), authorizer: true };
  const variables = commonPolicy(subject, base, field);
  const scope = records(spec['variables']).length > 0 ? { ...base, variables } : base;
  const validations = records(spec['validations']);
  const annotations = records(spec['auditAnnotations']);
  if (validations.length + annotations.length === 0) {
    const rule = 'validations or auditAnnotations must contain at least one item';
    field.child('validations').required(rule);
    field.child('auditAnnotations').required(rule);
  }
  for (const [index, one] of validations.entries())
    validation(one, scope, field.child('validations').index(index));
  const path = field.child('auditAnnotations');
  if (annotations.length > mostAnnotations)
    path.invalid(spec['auditAnnotations'], `must not have more than ${mostAnnotations} auditAnnotations`);
  const name = text(at(object, 'metadata', 'name'));
  const keys = new Set<string>();
  for (const [index, one] of annotations.entries()) {
    auditAnnotation(one, name, scope, path.index(index));
    const key = text(one['key']);
    if (keys.has(key)) path.index(index).child('key').duplicate(key);
    keys.add(key);
  }
};
