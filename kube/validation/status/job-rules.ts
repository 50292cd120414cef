import type { JsonObject } from '../../object.ts';
import { at, int, record, records, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { immutable } from '../rules.ts';

/** A Job's status with what is asked of it again and again. */
export interface View {
  status: JsonObject;
  is(type: string): boolean;
  isFinished: boolean;
}

/** What was wrong before is no reason to refuse what else is told: most rules count where what they are about has changed. */
export interface Step {
  now: View;
  before: View;
  changed(...fields: string[]): boolean;
  turned(...types: string[]): boolean;
  finishing: boolean;
  spec: JsonObject;
  field: Field;
}

/** A rule: the field that it is about, when it is broken, and how that is told. */
type Rule = readonly [
  name: string,
  isBroken: (step: Step) => boolean,
  detail: string,
  shows?: 'value' | 'count' | 'required',
];

const both = (one: string, other: string) => `cannot set ${one}=True and ${other}=true conditions`;
const startsLate = ({ status }: View) =>
  Date.parse(text(status['completionTime'])) < Date.parse(text(status['startTime']));

/** In kube-apiserver's order. https://kubernetes.io/docs/concepts/workloads/controllers/job/#terminal-job-conditions */
export const first: readonly Rule[] = [
  [
    'conditions',
    (s) => s.turned('Complete', 'Failed') && s.now.is('Complete') && s.now.is('Failed'),
    both('Complete', 'Failed'),
  ],
  [
    'conditions',
    (s) => s.turned('Complete', 'FailureTarget') && s.now.is('Complete') && s.now.is('FailureTarget'),
    both('Complete', 'FailureTarget'),
  ],
  [
    'completionTime',
    (s) => completes(s) && isGiven(s, 'completionTime') && !s.now.is('Complete'),
    'cannot set completionTime when there is no Complete=True condition',
    'value',
  ],
  [
    'completionTime',
    (s) => completes(s) && !isGiven(s, 'completionTime') && s.now.is('Complete'),
    'completionTime is required for Complete jobs',
    'required',
  ],
  [
    'completionTime',
    (s) => s.changed('startTime', 'completionTime') && startsLate(s.now),
    'must be equal to or after `startTime`',
    'value',
  ],
  [
    'conditions',
    (s) =>
      (s.turned('Failed') || s.changed('failedIndexes')) && s.now.is('Failed') && !s.now.is('FailureTarget'),
    'cannot set Failed=True condition without the FailureTarget=true condition',
  ],
  [
    'conditions',
    (s) =>
      s.turned('Complete', 'SuccessCriteriaMet') && s.now.is('Complete') && !s.now.is('SuccessCriteriaMet'),
    'cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
  ],
  [
    'active',
    (s) => (s.finishing || s.changed('active')) && int(s.now.status['active']) > 0 && s.now.isFinished,
    'active>0 is invalid for finished job',
    'value',
  ],
  [
    'startTime',
    (s) =>
      (s.finishing || s.changed('startTime')) &&
      !neverRuns(s) &&
      !isGiven(s, 'startTime') &&
      s.now.isFinished,
    'startTime is required for finished job',
    'required',
  ],
];

/** Those that come after what is said of indexes. */
export const last: readonly Rule[] = [
  [
    'terminating',
    (s) =>
      (s.finishing || s.changed('terminating')) && int(s.now.status['terminating']) > 0 && s.now.isFinished,
    'terminating>0 is invalid for finished job',
    'value',
  ],
  [
    'ready',
    (s) =>
      s.changed('ready', 'active') &&
      isGiven(s, 'ready') &&
      int(s.now.status['ready']) > int(s.now.status['active']),
    'cannot set more ready pods than active',
    'value',
  ],
  [
    'conditions',
    (s) => s.now.is('SuccessCriteriaMet') && s.now.is('Failed'),
    both('SuccessCriteriaMet', 'Failed'),
  ],
  [
    'conditions',
    (s) => s.now.is('SuccessCriteriaMet') && s.now.is('FailureTarget'),
    both('SuccessCriteriaMet', 'FailureTarget'),
  ],
  [
    'conditions',
    (s) =>
      at(s.spec, 'successPolicy') !== undefined && !s.now.is('SuccessCriteriaMet') && s.now.is('Complete'),
    'cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True',
  ],
  ...['Failed', 'Complete', 'FailureTarget'].map(
    (type): Rule => [
      'conditions',
      (s) => s.before.is(type) && !s.now.is(type),
      `cannot disable the terminal ${type}=True condition`,
    ],
  ),
  ['failed', (s) => fell(s, 'failed'), 'cannot decrease the failed counter', 'count'],
  [
    'succeeded',
    (s) => fell(s, 'succeeded') && !(isIndexed(s) && s.spec['completions'] === s.spec['parallelism']),
    'cannot decrease the succeeded counter',
    'count',
  ],
  [
    'completionTime',
    (s) =>
      isGiven(s, 'completionTime') &&
      s.before.status['completionTime'] !== undefined &&
      s.changed('completionTime'),
    immutable,
    'value',
  ],
  ['startTime', startMoves, 'field is immutable for unsuspended job once set', 'value'],
  [
    'conditions',
    (s) => s.before.is('SuccessCriteriaMet') && !s.now.is('SuccessCriteriaMet'),
    'cannot disable the SuccessCriteriaMet=True condition',
  ],
  [
    'conditions',
    (s) => s.before.is('Complete') && !s.before.is('SuccessCriteriaMet') && s.now.is('SuccessCriteriaMet'),
    'cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions',
  ],
];

const completes = (s: Step) => s.turned('Complete') || s.changed('completionTime');
const isGiven = ({ now }: Step, name: string) => now.status[name] !== undefined && now.status[name] !== null;
const neverRuns = ({ spec }: Step) => spec['suspend'] === true && spec['completions'] === 0;
export const isIndexed = ({ spec }: Step) => spec['completionMode'] === 'Indexed';
const fell = ({ now, before }: Step, name: string) => int(now.status[name]) < int(before.status[name]);

/** One that is resumed starts anew; its spec may have been changed before. */
function startMoves({ now, before, changed, spec }: Step): boolean {
  const suspended = record(records(now.status['conditions']).find(({ type }) => type === 'Suspended'));
  const resumes = before.is('Suspended') && suspended['status'] === 'False';
  return (
    changed('startTime') && !resumes && before.status['startTime'] !== undefined && spec['suspend'] !== true
  );
}

/** Tells which are broken. */
export function told(step: Step, rules: readonly Rule[]): void {
  for (const [name, isBroken, detail, shows] of rules) {
    if (!isBroken(step)) continue;
    const field = step.field.child(name);
    if (shows === 'required') field.required(detail);
    else if (shows === 'value') field.invalid(step.now.status[name], detail);
    else if (shows === 'count') field.invalid(int(step.now.status[name]), detail);
    else field.invalidOf({}, detail);
  }
}
