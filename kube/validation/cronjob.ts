import { sameJson } from '../deep.ts';
import { timeZoneProblem } from '../time-zone.ts';
import { at, record, text } from '../untyped.ts';
import { scheduleError } from './cron.ts';
import type { Field } from './field.ts';
import { jobTemplateSpec } from './job.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { nonNegative, oneOf } from './rules.ts';

const cronJob: KindCheck = ({ object, spec, old, oldSpec }, root) => {
  const field = root.child('spec');
  const schedule = text(spec['schedule']);
  const path = field.child('schedule');
  if (!schedule) path.required();
  else {
    const error = scheduleError(schedule);
    if (error) path.invalid(schedule, error);
    const zoned = schedule.includes('TZ');
    if (zoned && !text(oldSpec?.['schedule']).includes('TZ'))
      path.invalid(schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead');
    else if (zoned && spec['timeZone'] !== undefined)
      path.invalid(schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule');
  }
  nonNegative(spec['startingDeadlineSeconds'], field.child('startingDeadlineSeconds'));
  const zone = spec['timeZone'];
  if (zone !== undefined && !sameJson(zone, oldSpec?.['timeZone']))
    timeZone(text(zone), field.child('timeZone'));
  oneOf(spec['concurrencyPolicy'], ['Allow', 'Forbid', 'Replace'], field.child('concurrencyPolicy'));
  const template = record(spec['jobTemplate']);
  const inner = field.child('jobTemplate');
  jobTemplateSpec(record(template['spec']), inner.child('spec'));
  const selector = at(template, 'spec', 'selector');
  if (selector !== undefined)
    inner.child('spec', 'selector').invalid(selector, '`selector` will be auto-generated');
  if (at(template, 'spec', 'manualSelector') === true) {
    inner.child('spec', 'manualSelector').notSupported(true, ['nil', 'false']);
  }
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
  const parts = zone.split('/');
  if (parts.some((part) => /^(-.*|\.\.?)$/.test(part) || !/^[A-Za-z.\-_0-9+]{1,14}$/.test(part))) {
    field.invalid(zone, `unknown time zone ${zone}`);
    return;
  }
  if (zone.toLowerCase() === 'local') {
    const rule = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
    field.invalid(zone, rule);
  }
  const problem = zone === 'Local' ? undefined : timeZoneProblem(zone);
  if (problem) field.invalid(zone, problem);
}

export const cronJobChecks: KindChecks = { 'batch/CronJob': cronJob };
