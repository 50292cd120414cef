import { judge } from '../../cel/compile.ts';
import { records, text } from '../../defaults/json.ts';
import type { JsonObject } from '../../object.ts';
import type { Field } from '../field.ts';
import { type ShownShape, shownAs } from '../shown.ts';
import { schemaAt } from './field-path.ts';
import type { Above } from './schema.ts';

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

const ruleShape: ShownShape = [
  ['rule', 'Rule', ''],
  ['message', 'Message', ''],
  ['messageExpression', 'MessageExpression', ''],
  ['reason', 'Reason', null],
  ['fieldPath', 'FieldPath', ''],
  ['optionalOldSelf', 'OptionalOldSelf', null],
];

/** x-kubernetes-validations: their texts, and where all else is `sound`, whether they compile. */
export function rules(schema: JsonObject, above: Above, sound: boolean, field: Field): void {
  const list = records(schema['x-kubernetes-validations']);
  const path = field.child('x-kubernetes-validations');
  const before = field.causes.length;
  for (const [index, rule] of list.entries()) {
    texts(rule, path.index(index));
    const fieldPath = text(rule['fieldPath']);
    if (fieldPath && typeof schemaAt(schema, fieldPath, true) === 'string')
      path.index(index).child('fieldPath').invalid(fieldPath, 'must be a valid path');
  }
  if (!sound || above.nested || field.causes.length > before) return;
  for (const [index, rule] of list.entries()) compiles(rule, above, path.index(index));
}

function texts(rule: JsonObject, field: Field): void {
  const [expression, message] = [text(rule['rule']).trim(), text(rule['message'])];
  const said = field.child('message');
  if (!expression) field.child('rule').required('rule is not specified');
  else if (message && !message.trim()) said.invalid(message, 'must be non-empty if specified');
  else if (/[\n\r]/.test(message.trim())) said.invalid(message, 'must not contain line breaks');
  else if (/[\n\r]/.test(expression) && !message.trim())
    said.required('message must be specified if rule contains line breaks');
  const told = text(rule['messageExpression']);
  if (told && !told.trim())
    field.child('messageExpression').required('messageExpression must be non-empty if specified');
  const reason = rule['reason'];
  if (reason !== undefined && reason !== null && !reasons.includes(text(reason)))
    field.child('reason').notSupported(reason, reasons);
  const path = text(rule['fieldPath']);
  if (path && !path.trim()) field.child('fieldPath').invalid(path, 'must be non-empty if specified');
  if (/[\n\r]/.test(path)) field.child('fieldPath').invalid(path, 'must not contain line breaks');
}

function compiles(rule: JsonObject, { uncorrelated }: Above, field: Field): void {
  const shown = shownAs(rule, ruleShape);
  const expression = text(rule['rule']);
  const { problem, type, names } = judge(expression, ['self', 'oldSelf']);
  if (problem !== undefined) field.child('rule').invalid(shown, `compilation failed: ${problem}`);
  else if (type !== undefined && type !== 'bool' && type !== 'dyn')
    field.child('rule').invalid(shown, 'cel expression must evaluate to a bool');
  const told = text(rule['messageExpression']);
  const message = told === '' ? {} : judge(told, ['self', 'oldSelf']);
  const path = field.child('messageExpression');
  if (message.problem !== undefined)
    path.invalid(shown, `messageExpression compilation failed: ${message.problem}`);
  else if (message.type !== undefined && message.type !== 'string' && message.type !== 'dyn')
    path.invalid(shown, 'messageExpression must evaluate to a string');
  if (problem !== undefined) return;
  const usesOldSelf = names?.has('oldSelf') === true;
  if (usesOldSelf && uncorrelated !== undefined) {
    const where = 'oldSelf cannot be used on the uncorrelatable portion of the schema within';
    field.child('rule').invalid(expression, `${where} ${uncorrelated}`);
  } else if (!usesOldSelf && rule['optionalOldSelf'] !== undefined && rule['optionalOldSelf'] !== null)
    field
      .child('optionalOldSelf')
      .invalid(rule['optionalOldSelf'], 'may not be set if oldSelf is not used in rule');
}
