import { at, int, isRecord, record, text } from '../defaults/json.ts';
import type { JsonObject } from '../object.ts';
import { sameJson } from '../strategy/equal.ts';
import { scheduleError } from './cron.ts';
import { type Field, sortedMap } from './field.ts';
import type { KindCheck, KindChecks, Subject } from './kind.ts';
import { labelSelector, labels, selects } from './labels.ts';
import { annotations } from './meta.ts';
import { podTemplate } from './pod/spec.ts';
import { immutable, nonNegative, oneOf } from './rules.ts';

const counters = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
];

function indexed(spec: JsonObject, field: Field): void {
  const mode = text(spec['completionMode']) || 'NonIndexed';
  if (mode !== 'NonIndexed' && mode !== 'Indexed') {
    field.child('completionMode').notSupported(mode, ['NonIndexed', 'Indexed']);
  }
  const { completions, parallelism, maxFailedIndexes } = spec;
  if (mode === 'Indexed') {
    if (completions === undefined) field.child('completions').required('when completion mode is Indexed');
    if (int(parallelism) > 100_000) {
      const rule = 'must be less than or equal to 100000 when completion mode is Indexed';
      field.child('parallelism').invalid(parallelism, rule);
    }
    if (completions !== undefined && int(maxFailedIndexes) > int(completions)) {
      field.child('maxFailedIndexes').invalid(maxFailedIndexes, 'must be less than or equal to completions');
    }
  }
  if (mode !== 'NonIndexed') return;
  for (const name of ['backoffLimitPerIndex', 'maxFailedIndexes']) {
    if (spec[name] !== undefined) field.child(name).invalid(spec[name], 'requires indexed completion mode');
  }
}

/** A Job's spec as it may stand in a CronJob, where nothing is generated yet. */
function jobTemplateSpec(spec: JsonObject, field: Field): void {
  for (const counter of counters) nonNegative(spec[counter], field.child(counter));
  if (spec['maxFailedIndexes'] !== undefined && spec['backoffLimitPerIndex'] === undefined) {
    field.child('backoffLimitPerIndex').required('when maxFailedIndexes is specified');
  }
  indexed(spec, field);
  const replacement = spec['podReplacementPolicy'];
  const failure = isRecord(spec['podFailurePolicy']);
  const policies = failure ? ['Failed'] : ['Failed', 'TerminatingOrFailed'];
  if (replacement !== undefined && !policies.includes(text(replacement))) {
    field.child('podReplacementPolicy').notSupported(replacement, policies);
  }
  podTemplate(spec['template'], field.child('template'));
  const restart = text(at(spec, 'template', 'spec', 'restartPolicy'));
  const path = field.child('template', 'spec', 'restartPolicy');
  if (restart === 'Always' || restart === '') path.required('valid values: "OnFailure", "Never"');
  else if (restart !== 'OnFailure' && restart !== 'Never') path.notSupported(restart, ['OnFailure', 'Never']);
  else if (failure && restart !== 'Never') {
    path.invalid(restart, 'only "Never" is supported when podFailurePolicy is specified');
  }
}

function generated({ object, spec }: Subject, root: Field): void {
  if (spec['manualSelector'] === true || !isRecord(spec['selector'])) return;
  const own = record(at(spec, 'template', 'metadata', 'labels'));
  const uid = text(at(object, 'metadata', 'uid'));
  const name = text(at(object, 'metadata', 'name'));
  const expected = {
    'controller-uid': uid,
    'job-name': name,
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
  };
  for (const [key, value] of Object.entries(expected)) {
    const path = root.child('spec', 'template', 'metadata', 'labels').key(key);
    if (own[key] === undefined) path.required(`must be '${value}'`);
    else if (own[key] !== value) path.invalid(sortedMap(own), `must be '${value}'`);
  }
  if (selects(spec['selector'], expected) === false) {
    root.child('spec', 'selector').invalid(spec['selector'], '`selector` not auto-generated');
  }
}

const fixed = ['completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy'];

const job: KindCheck = (subject, root) => {
  const { spec, oldSpec } = subject;
  const field = root.child('spec');
  generated(subject, root);
  jobTemplateSpec(spec, field);
  if (!isRecord(spec['selector'])) field.child('selector').required();
  labelSelector(spec['selector'], field.child('selector'));
  const own = at(spec, 'template', 'metadata', 'labels');
  if (selects(spec['selector'], own) === false) {
    const mismatch = '`selector` does not match template `labels`';
    field.child('template', 'metadata', 'labels').invalid(sortedMap(own), mismatch);
  }
  if (!oldSpec) return;
  const keep = (name: string) => {
    if (!sameJson(spec[name], oldSpec[name])) field.child(name).invalid(spec[name], immutable);
  };
  const elastic =
    spec['completionMode'] === 'Indexed' &&
    spec['completions'] === spec['parallelism'] &&
    oldSpec['completions'] !== undefined;
  if (!elastic) keep('completions');
  keep('selector');
  if (!sameJson(templateBody(spec, oldSpec), templateBody(oldSpec, oldSpec))) {
    field.child('template').invalid(spec['template'], immutable);
  }
  for (const name of fixed) keep(name);
};

/** While a Job is suspended and never started, where its pods may go can still change. */
function templateBody(spec: JsonObject, oldSpec: JsonObject): unknown {
  if (oldSpec['suspend'] !== true) return spec['template'];
  const template = record(spec['template']);
  const {
    nodeSelector: _selector,
    tolerations: _tolerations,
    affinity,
    schedulingGates: _gates,
    ...pod
  } = record(template['spec']);
  const { nodeAffinity: _node, ...rest } = record(affinity);
  return { spec: { ...pod, affinity: rest } };
}

const cronJob: KindCheck = ({ object, spec, old, oldSpec }, root) => {
  const field = root.child('spec');
  const schedule = text(spec['schedule']);
  const path = field.child('schedule');
  if (!schedule) path.required();
  else {
    const error = scheduleError(schedule);
    if (error) path.invalid(schedule, error);
    const zoned = schedule.includes('TZ') && !text(oldSpec?.['schedule']).includes('TZ');
    if (zoned) path.invalid(schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead');
  }
  nonNegative(spec['startingDeadlineSeconds'], field.child('startingDeadlineSeconds'));
  const zone = spec['timeZone'];
  if (zone !== undefined && !sameJson(zone, oldSpec?.['timeZone']))
    timeZone(text(zone), field.child('timeZone'));
  oneOf(spec['concurrencyPolicy'], ['Allow', 'Forbid', 'Replace'], field.child('concurrencyPolicy'));
  const template = record(spec['jobTemplate']);
  const inner = field.child('jobTemplate');
  labels(at(template, 'metadata', 'labels'), inner.child('metadata', 'labels'));
  annotations(at(template, 'metadata', 'annotations'), inner.child('metadata', 'annotations'));
  if (at(template, 'spec', 'manualSelector') === true) {
    inner.child('spec', 'manualSelector').notSupported(true, ['nil', 'false']);
  }
  jobTemplateSpec(record(template['spec']), inner.child('spec'));
  nonNegative(spec['successfulJobsHistoryLimit'], field.child('successfulJobsHistoryLimit'));
  nonNegative(spec['failedJobsHistoryLimit'], field.child('failedJobsHistoryLimit'));
  const name = text(at(object, 'metadata', 'name'));
  if (!old && name.length > 52)
    root.child('metadata', 'name').invalid(name, 'must be no more than 52 characters');
};

function timeZone(zone: string, field: Field): void {
  if (!zone) {
    field.invalid(zone, 'timeZone must be nil or non-empty string');
    return;
  }
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
  } catch {
    field.invalid(zone, `unknown time zone ${zone}`);
  }
}

export const jobChecks: KindChecks = { 'batch/Job': job, 'batch/CronJob': cronJob };
