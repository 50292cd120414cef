import { costOf } from '../../cel/typed/cost.ts';
import type { Declarations } from '../../cel/typed/environment.ts';
import { largestRequest, ruleDeclarations, type SchemaType, sizeIn } from '../../cel/typed/schema-type.ts';
import type { SizeAt } from '../../cel/typed/sizes.ts';
import type { JsonObject } from '../../object.ts';
import { records, text } from '../../untyped.ts';
import { judgeOf } from '../expressions.ts';
import type { Field } from '../field.ts';
import { shownAs } from '../shown.ts';
import type { Above } from './context.ts';
import { type CelContext, costLimits, observeCost, tooExpensive, Untyped } from './context.ts';
import { schemaAt } from './field-path.ts';
import { ruleShape } from './shown.ts';

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

/** x-kubernetes-validations: their texts, and where all else is `sound`, whether they compile. */
export function rules(
  schema: JsonObject,
  { uncorrelated }: Above,
  cel: CelContext | undefined,
  sound: boolean,
  field: Field,
): void {
  const list = records(schema['x-kubernetes-validations']);
  if (list.length === 0) return;
  const path = field.child('x-kubernetes-validations');
  const before = field.causes.length;
  for (const [index, rule] of list.entries()) {
    texts(rule, path.index(index));
    const fieldPath = text(rule['fieldPath']);
    if (fieldPath && typeof schemaAt(schema, fieldPath, true) === 'string')
      path.index(index).child('fieldPath').invalid(fieldPath, 'must be a valid path');
  }
  if (cel && sound && field.causes.length === before)
    compiled(list, uncorrelated, { cel, object: field }, path.into(cel.causes));
}

const untyped =
  'internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations';

function compiled(
  list: readonly JsonObject[],
  uncorrelated: string | undefined,
  { cel, object }: Pick<Place, 'cel' | 'object'>,
  path: Field,
): void {
  let self: SchemaType | undefined;
  try {
    self = cel.type();
  } catch (error) {
    if (!(error instanceof Untyped)) throw error;
    path.internal(untyped);
    return;
  }
  if (!self) {
    path.internal('failed to convert to declType for CEL validation rules');
    return;
  }
  const [plain, optional] = [false, true].map((one) => ruleDeclarations(self, one, cel.messages()));
  const count = cel.cardinality ?? Math.floor(largestRequest / (self.leastBytes + 1));
  const size = sizeIn(self);
  for (const [index, rule] of list.entries()) {
    const declarations = rule['optionalOldSelf'] === true ? optional : plain;
    if (!declarations) continue;
    const usesOldSelf = compiles(rule, { declarations, size, count, cel, object }, path.index(index));
    correlates(rule, usesOldSelf, uncorrelated, path.index(index));
  }
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

interface Place {
  declarations: Declarations;
  size: SizeAt;
  /** How often the rule can have to be looked at. */
  count: number;
  cel: CelContext;
  /** A field of the object that it is in. */
  object: Field;
}

/** Returns whether the rule looks at what was there before. */
function compiles(rule: JsonObject, place: Place, field: Field): boolean {
  const { declarations, size, count, cel, object } = place;
  const shown = shownAs(rule, ruleShape);
  const path = field.child('rule');
  const { problem, checked, names, unstartable } = judgeOf(object, text(rule['rule']), declarations);
  const isBool = checked?.type.kind === 'bool';
  // Of what cannot be begun nobody knows what it costs.
  const isJudged = checked !== undefined && isBool && unstartable === undefined;
  const cost = isJudged ? costOf(checked, size).max * count : 0;
  charge(cost, 'estimated rule cost', cel, path);
  if (problem !== undefined) path.invalid(shown, `compilation failed: ${problem}`);
  else if (checked && !isBool) path.invalid(shown, 'cel expression must evaluate to a bool');
  if (!checked || !isBool) return false;
  if (unstartable !== undefined) path.invalid(shown, `program instantiation failed: ${unstartable}`);
  else messageCompiles(rule, shown, place, field.child('messageExpression'));
  return names?.has('oldSelf') === true;
}

function messageCompiles(
  rule: JsonObject,
  shown: unknown,
  { declarations, size, cel, object }: Place,
  path: Field,
): void {
  const told = text(rule['messageExpression']);
  if (told === '') return;
  const { problem, checked, unstartable } = judgeOf(object, told, declarations);
  if (problem !== undefined) path.invalid(shown, `messageExpression compilation failed: ${problem}`);
  else if (checked && checked.type.kind !== 'string')
    path.invalid(shown, 'messageExpression must evaluate to a string');
  else if (unstartable !== undefined)
    path.invalid(shown, `messageExpression instantiation failed: ${unstartable}`);
  else if (checked) charge(costOf(checked, size).max, 'estimated messageExpression cost', cel, path);
}

function charge(cost: number, what: string, cel: CelContext, path: Field): void {
  if (cost > costLimits.rule) path.forbidden(tooExpensive(what, cost, costLimits.rule));
  observeCost(cel, path.path, cost);
}

function correlates(
  rule: JsonObject,
  usesOldSelf: boolean,
  uncorrelated: string | undefined,
  field: Field,
): void {
  const optional = rule['optionalOldSelf'];
  if (usesOldSelf && uncorrelated !== undefined) {
    const where = 'oldSelf cannot be used on the uncorrelatable portion of the schema within';
    field.child('rule').invalid(text(rule['rule']), `${where} ${uncorrelated}`);
  } else if (!usesOldSelf && optional !== undefined && optional !== null)
    field.child('optionalOldSelf').invalid(optional, 'may not be set if oldSelf is not used in rule');
}
