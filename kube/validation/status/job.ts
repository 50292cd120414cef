import { sameJson } from '../../deep.ts';
import type { KubeObject } from '../../object.ts';
import { at, int, record, records, strings, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { internal } from '../internal.ts';
import type { SubresourceCheck } from '../kind.ts';
import { nonNegative } from '../rules.ts';
import { indexesFault, sharedIndex } from './job-indexes.ts';
import { first, isIndexed, last, type Step, told, type View } from './job-rules.ts';

function viewOf({ status }: KubeObject): View {
  const all = records(at(status, 'conditions'));
  const is = (type: string) => all.some((each) => each['type'] === type && each['status'] === 'True');
  return { status: record(status), is, isFinished: is('Complete') || is('Failed') };
}

function uncounted(value: unknown, field: Field): void {
  const seen = new Set<string>();
  for (const list of ['succeeded', 'failed']) {
    for (const [i, uid] of strings(at(value, list)).entries()) {
      const path = field.child(list).index(i);
      if (uid === '') path.invalid(uid, 'must not be empty');
      else if (seen.has(uid)) path.duplicate(uid);
      seen.add(uid);
    }
  }
}

function indexes(step: Step): void {
  const { spec, now, changed, field } = step;
  const [done, failed] = [text(now.status['completedIndexes']), now.status['failedIndexes']];
  const completions = spec['completions'];
  const perIndex = spec['backoffLimitPerIndex'] !== undefined;
  const parsed = (list: string, name: string) => {
    const fault = completions === undefined ? undefined : indexesFault(list, int(completions));
    if (fault !== undefined) field.child(name).invalid(list, `error parsing ${name}: ${fault}`);
  };
  if (changed('completedIndexes')) parsed(done, 'completedIndexes');
  if (changed('failedIndexes') && perIndex && failed !== undefined) parsed(text(failed), 'failedIndexes');
  if (changed('completedIndexes') && done !== '' && !isIndexed(step)) {
    const detail = 'cannot set non-empty completedIndexes when non-indexed completion mode';
    field.child('completedIndexes').invalid(done, detail);
  }
  if (changed('failedIndexes') && !perIndex && failed !== undefined) {
    field
      .child('failedIndexes')
      .invalid(failed, 'cannot set non-null failedIndexes when backoffLimitPerIndex is null');
  }
  if (!changed('failedIndexes', 'completedIndexes') || completions === undefined || failed === undefined)
    return;
  const shared = sharedIndex(done, text(failed), int(completions));
  if (shared === undefined) return;
  field
    .child('failedIndexes')
    .invalid(failed, `failedIndexes and completedIndexes overlap at index: ${shared}`);
}

/** A Job may be another controller's, by `managedBy`: what it tells has to be what its readers count on. */
const job: SubresourceCheck = (object, old, root) => {
  const [now, before] = [viewOf(object), viewOf(old)];
  const step: Step = {
    now,
    before,
    changed: (...fields) => fields.some((name) => !sameJson(now.status[name], before.status[name])),
    turned: (...types) => types.some((type) => now.is(type) !== before.is(type)),
    finishing: now.isFinished !== before.isFinished,
    spec: record(object.spec),
    field: root.child('status'),
  };
  for (const name of ['active', 'succeeded', 'failed', 'ready', 'terminating']) {
    nonNegative(now.status[name], step.field.child(name));
  }
  const uids = now.status['uncountedTerminatedPods'];
  uncounted(uids, step.field.child('uncountedTerminatedPods'));
  told(step, first);
  const open = [...strings(at(uids, 'succeeded')), ...strings(at(uids, 'failed'))];
  if ((step.finishing || step.changed('uncountedTerminatedPods')) && now.isFinished && open.length > 0) {
    step.field
      .child('uncountedTerminatedPods')
      .invalid(internal(uids, 'batch.UncountedTerminatedPods'), 'must be empty for finished job');
  }
  indexes(step);
  told(step, last);
};

export const jobStatuses: Readonly<Record<string, SubresourceCheck>> = { 'batch/Job/status': job };
