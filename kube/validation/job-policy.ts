import { given } from '../defaults/empty.ts';
import type { JsonObject } from '../object.ts';
import { at, int, isRecord, records, text } from '../untyped.ts';
import type { Field } from './field.ts';
import { internal } from './internal.ts';
import { nonNegative, qualifiedName } from './rules.ts';

const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const operators = ['In', 'NotIn'];
const statuses = ['False', 'True', 'Unknown'];

/** As Go prints a list of strings. */
function listed(values: readonly string[]): string {
  return `valid values: [${values.map((value) => `"${value}"`).join(' ')}]`;
}

function oneOfListed(value: string, supported: readonly string[], field: Field): void {
  if (!value) field.required(listed(supported));
  else if (!supported.includes(value)) field.notSupported(value, supported);
}

function exitCodes(codes: JsonObject, names: ReadonlySet<string>, field: Field): void {
  const operator = text(codes['operator']);
  oneOfListed(operator, operators, field.child('operator'));
  const name = codes['containerName'];
  if (typeof name === 'string' && !names.has(name)) {
    const rule = 'must be one of the container or initContainer names in the pod template';
    field.child('containerName').invalid(name, rule);
  }
  const values = Array.isArray(codes['values']) ? codes['values'].map(int) : [];
  const path = field.child('values');
  if (values.length === 0) path.invalid(given(codes, 'values'), 'at least one value is required');
  else if (values.length > 255) path.tooMany(values.length, 255);
  const seen = new Set<number>();
  for (const [index, value] of values.entries()) {
    if (operator === 'In' && value === 0) path.index(index).invalid(0, 'must not be 0 for the In operator');
    if (seen.has(value)) path.index(index).duplicate(value);
    seen.add(value);
  }
  if (values.some((value, i) => i > 0 && (values[i - 1] ?? 0) > value))
    path.invalid(values, 'must be ordered');
}

function podConditions(patterns: readonly JsonObject[], field: Field): void {
  if (patterns.length > 20) field.tooMany(patterns.length, 20);
  for (const [index, pattern] of patterns.entries()) {
    qualifiedName(text(pattern['type']), field.index(index).child('type'));
    oneOfListed(text(pattern['status']), statuses, field.index(index).child('status'));
  }
}

/** https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-failure-policy */
export function failurePolicy(spec: JsonObject, field: Field): void {
  const policy = spec['podFailurePolicy'];
  if (!isRecord(policy)) return;
  const rules = records(policy['rules']);
  if (rules.length > 20) field.child('rules').tooMany(rules.length, 20);
  const pod = at(spec, 'template', 'spec');
  const names = new Set(
    ['containers', 'initContainers'].flatMap((list) => records(at(pod, list)).map(({ name }) => text(name))),
  );
  for (const [index, rule] of rules.entries()) {
    const path = field.child('rules').index(index);
    const action = text(rule['action']);
    if (action !== 'FailIndex') oneOfListed(action, actions, path.child('action'));
    else if (spec['backoffLimitPerIndex'] === undefined)
      path.child('action').invalid(action, 'requires the backoffLimitPerIndex to be set');
    const codes = rule['onExitCodes'];
    const patterns = records(rule['onPodConditions']);
    if (isRecord(codes)) exitCodes(codes, names, path.child('onExitCodes'));
    podConditions(patterns, path.child('onPodConditions'));
    if (isRecord(codes) && patterns.length > 0)
      path.invalidOf({}, 'specifying both OnExitCodes and OnPodConditions is not supported');
    if (!isRecord(codes) && patterns.length === 0)
      path.invalidOf({}, 'specifying one of OnExitCodes and OnPodConditions is required');
  }
}

/** How many indexes `1,3-5` names, or what is wrong with it. */
function indexCount(indexes: string, completions: number): number | string {
  if (indexes === '') return 0;
  let [last, total] = [-1, 0];
  for (const interval of indexes.split(',')) {
    const limits = interval.split('-');
    if (limits.length > 2) {
      const rule =
        "violates the requirement that an index interval can have at most two parts separated by '-'";
      return `the fragment ${JSON.stringify(interval)} ${rule}`;
    }
    const numbers: number[] = [];
    for (const limit of limits) {
      const shown = JSON.stringify(limit);
      if (!/^[-+]?\d+$/.test(limit)) return `cannot convert string to integer for index: ${shown}`;
      if (Number(limit) >= completions) return `too large index: ${shown}`;
      numbers.push(Number(limit));
    }
    const [first = 0, end = first] = numbers;
    if (numbers.length > 1 && first >= end)
      return `non-increasing order, previous: ${first}, current: ${end}`;
    if (last >= first && total > 0) return `non-increasing order, previous: ${last}, current: ${first}`;
    total += end - first + 1;
    last = end;
  }
  return total;
}

function successRule(rule: JsonObject, completions: number, field: Field): void {
  const { succeededCount: count, succeededIndexes: indexes } = rule;
  if (count === undefined && indexes === undefined) {
    field.required('at least one of succeededCount or succeededIndexes must be specified');
  }
  let total = 0;
  if (typeof indexes === 'string') {
    const path = field.child('succeededIndexes');
    if (Buffer.byteLength(indexes) > 65_536) path.tooLong(65_536);
    const found = indexCount(indexes, completions);
    if (typeof found === 'number') total = found;
    else path.invalid(indexes, `error parsing succeededIndexes: ${found}`);
  }
  if (typeof count !== 'number') return;
  const path = field.child('succeededCount');
  nonNegative(count, path);
  const most = (number: number, what: string) => {
    if (count > number)
      path.invalid(count, `must be less than or equal to ${number} (the number of ${what})`);
  };
  most(completions, 'specified completions');
  if (indexes !== undefined) most(total, 'indexes in the specified succeededIndexes field');
}

/** https://kubernetes.io/docs/concepts/workloads/controllers/job/#success-policy */
export function successPolicy(spec: JsonObject, field: Field): void {
  const policy = spec['successPolicy'];
  if (!isRecord(policy)) return;
  if (spec['completionMode'] !== 'Indexed') {
    field.invalid(internal(policy, 'batch.SuccessPolicy'), 'requires indexed completion mode');
    return;
  }
  const rules = records(policy['rules']);
  const path = field.child('rules');
  if (rules.length === 0)
    path.required('at least one rules must be specified when the successPolicy is specified');
  if (rules.length > 20) path.tooMany(rules.length, 20);
  for (const [index, rule] of rules.entries()) successRule(rule, int(spec['completions']), path.index(index));
}
