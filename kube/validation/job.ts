import { sameJson } from '../deep.ts';
import { given } from '../defaults/empty.ts';
import { validateDns1123Label } from '../names.ts';
import type { JsonObject } from '../object.ts';
import { at, int, isRecord, record, records, text } from '../untyped.ts';
import { type Field, sortedMap } from './field.ts';
import { internal } from './internal.ts';
import { failurePolicy, successPolicy } from './job-policy.ts';
import type { KindCheck, KindChecks, Subject } from './kind.ts';
import { labelSelector, selects } from './labels.ts';
import { podTemplate } from './pod/spec.ts';
import { domainPrefixedPath, immutable, nonNegative } from './rules.ts';

const counters = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
];

const softLimit = 100_000;
const highLimit = 10_000;

function atMost(value: unknown, most: number, field: Field, why = ''): void {
  if (int(value) > most) field.invalid(value, `must be less than or equal to ${most}${why}`);
}

function indexedOnly(spec: JsonObject, field: Field): void {
  const { completions, parallelism, maxFailedIndexes } = spec;
  if (completions === undefined) field.child('completions').required('when completion mode is Indexed');
  atMost(parallelism, softLimit, field.child('parallelism'), ' when completion mode is Indexed');
  const failed = field.child('maxFailedIndexes');
  if (completions !== undefined && maxFailedIndexes !== undefined && int(maxFailedIndexes) > int(completions))
    failed.invalid(maxFailedIndexes, 'must be less than or equal to completions');
  atMost(maxFailedIndexes, softLimit, failed);
  if (int(completions) <= softLimit || spec['backoffLimitPerIndex'] === undefined) return;
  const why = ` when completions are above ${softLimit} and used with backoff limit per index`;
  if (maxFailedIndexes === undefined)
    failed.required(`must be specified when completions is above ${softLimit}`);
  atMost(parallelism, highLimit, field.child('parallelism'), why);
  atMost(maxFailedIndexes, highLimit, failed, why);
}

function indexed(spec: JsonObject, field: Field): void {
  const mode = text(spec['completionMode'] ?? 'NonIndexed');
  if (mode !== 'NonIndexed' && mode !== 'Indexed') {
    field.child('completionMode').notSupported(mode, ['NonIndexed', 'Indexed']);
  }
  if (mode === 'Indexed') indexedOnly(spec, field);
  if (mode !== 'NonIndexed') return;
  for (const name of ['backoffLimitPerIndex', 'maxFailedIndexes']) {
    if (spec[name] !== undefined) field.child(name).invalid(spec[name], 'requires indexed completion mode');
  }
}

function managedBy(value: unknown, field: Field): void {
  if (typeof value !== 'string') return;
  if (!value) field.required();
  else domainPrefixedPath(value, field);
  if (Buffer.byteLength(value) > 63) field.tooLong(63);
}

/** A Job's spec as it may stand in a CronJob, where nothing is generated yet. */
export function jobTemplateSpec(spec: JsonObject, field: Field): void {
  for (const counter of counters) nonNegative(spec[counter], field.child(counter));
  if (spec['maxFailedIndexes'] !== undefined && spec['backoffLimitPerIndex'] === undefined) {
    field.child('backoffLimitPerIndex').required('when maxFailedIndexes is specified');
  }
  managedBy(spec['managedBy'], field.child('managedBy'));
  indexed(spec, field);
  failurePolicy(spec, field.child('podFailurePolicy'));
  successPolicy(spec, field.child('successPolicy'));
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
  if (!uid) root.child('metadata', 'uid').required();
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

const fixed: Readonly<Record<string, string>> = {
  completionMode: '*s',
  podFailurePolicy: '*batch.PodFailurePolicy',
  backoffLimitPerIndex: '*n',
  managedBy: '*s',
  successPolicy: '*batch.SuccessPolicy',
};

/** The spec of a Job, whole: kube-apiserver looks at it twice when it is replaced, and tells all twice. */
function jobSpec(spec: JsonObject, field: Field): void {
  jobTemplateSpec(spec, field);
  if (!isRecord(spec['selector'])) field.child('selector').required();
  labelSelector(spec['selector'], field.child('selector'));
  const own = at(spec, 'template', 'metadata', 'labels');
  if (selects(spec['selector'], own) === false) {
    const mismatch = '`selector` does not match template `labels`';
    field
      .child('template', 'metadata', 'labels')
      .invalid(sortedMap(given(at(spec, 'template', 'metadata'), 'labels')), mismatch);
  }
}

const job: KindCheck = (subject, root) => {
  const { object, spec, old, oldSpec } = subject;
  const field = root.child('spec');
  generated(subject, root);
  jobSpec(spec, field);
  hostNames(object, spec, root);
  if (!old || !oldSpec) return;
  jobSpec(spec, field);
  completionsKept(spec, oldSpec, field);
  const keep = (name: string, type: string) => {
    if (!sameJson(spec[name], oldSpec[name]))
      field.child(name).invalid(internal(spec[name], type), immutable);
  };
  keep('selector', '*jLabelSelector');
  templateKept(spec, old, field);
  for (const [name, type] of Object.entries(fixed)) keep(name, type);
};

/** The pods of an indexed Job are named by their index. */
function hostNames(object: JsonObject, spec: JsonObject, root: Field): void {
  if (spec['completionMode'] !== 'Indexed' || int(spec['completions']) <= 0) return;
  const name = text(at(object, 'metadata', 'name'));
  const last = `${name}-${int(spec['completions']) - 1}`;
  if (validateDns1123Label(last).length === 0) return;
  const rule = `will not able to create pod with invalid DNS label: ${last}`;
  root.child('metadata', 'name').invalid(name, rule);
}

function completionsKept(spec: JsonObject, oldSpec: JsonObject, field: Field): void {
  const { completions, parallelism } = spec;
  if (sameJson(completions, oldSpec['completions'])) return;
  const path = field.child('completions');
  if (spec['completionMode'] !== 'Indexed') path.invalid(completions ?? null, immutable);
  else if (completions !== undefined && completions !== parallelism)
    path.invalid(completions, 'can only be modified in tandem with spec.parallelism');
}

/** While a Job is suspended and none of its pods runs, where they may go can still change, and what they may use. */
function templateKept(spec: JsonObject, old: JsonObject, field: Field): void {
  const [now, before] = [record(spec['template']), record(at(old, 'spec', 'template'))];
  const suspended = at(old, 'spec', 'suspend') === true;
  const conditions = records(at(old, 'status', 'conditions'));
  const stopped = conditions.some(({ type, status }) => type === 'Suspended' && status === 'True');
  const idle =
    (at(old, 'status', 'startTime') === undefined || stopped) && int(at(old, 'status', 'active')) === 0;
  if (!suspended || !idle) {
    if (!sameJson(now, before))
      field.child('template').invalid(internal(now, 'core.PodTemplateSpec'), immutable);
    return;
  }
  const pod = record(now['spec']);
  if (!sameJson(placeable(pod), placeable(record(before['spec']))))
    field.child('template.spec').invalid(internal(pod, 'core.PodSpec'), immutable);
}

/** A pod's spec without its place and its resources. */
function placeable(spec: JsonObject): JsonObject {
  const bare = (list: unknown) => records(list).map(({ resources: _resources, ...container }) => container);
  const { nodeSelector: _node, tolerations: _tolerations, schedulingGates: _gates, ...rest } = spec;
  const { nodeAffinity: _affinity, ...affinity } = record(spec['affinity']);
  return {
    ...rest,
    affinity: Object.keys(affinity).length === 0 ? null : affinity,
    containers: bare(spec['containers']),
    initContainers: bare(spec['initContainers']),
  };
}

export const jobChecks: KindChecks = { 'batch/Job': job };
