import { sameJson } from '../deep.ts';
import { given } from '../defaults/empty.ts';
import type { JsonObject } from '../object.ts';
import { at, int, isRecord, record, text } from '../untyped.ts';
import { type Field, sortedMap } from './field.ts';
import { internal } from './internal.ts';
import type { KindCheck, KindChecks, Subject } from './kind.ts';
import { labelSelector, selects, selectsAll } from './labels.ts';
import { podTemplate } from './pod/spec.ts';
import { immutable, intOrPercent, intOrPercentValue, nonNegative, notAbove100Percent } from './rules.ts';

const mismatch = '`selector` does not match template `labels`';
export const templateLabels = (spec: JsonObject) => at(spec, 'template', 'metadata', 'labels');

function shownLabels(spec: JsonObject): unknown {
  return sortedMap(given(at(spec, 'template', 'metadata'), 'labels'));
}

export function checkMatch(spec: JsonObject, field: Field): void {
  if (selectsAll(spec['selector']) && isRecord(spec['selector'])) return;
  if (selects(spec['selector'], templateLabels(spec))) return;
  field.child('template', 'metadata', 'labels').invalid(shownLabels(spec), mismatch);
}

/** Pods of long-running workloads are always restarted and never time out. */
export function longRunning(spec: JsonObject, kind: string, field: Field): void {
  const policy = text(at(spec, 'template', 'spec', 'restartPolicy'));
  const path = field.child('template', 'spec');
  if (policy !== 'Always') path.child('restartPolicy').notSupported(policy, ['Always']);
  if (at(spec, 'template', 'spec', 'activeDeadlineSeconds') !== undefined) {
    path.child('activeDeadlineSeconds').forbidden(`activeDeadlineSeconds in ${kind} is not Supported`);
  }
}

/** The selector and the template that ReplicaSets and Deployments share. */
function selected(spec: JsonObject, field: Field): void {
  const selector = spec['selector'];
  const path = field.child('selector');
  if (!isRecord(selector)) path.required();
  else {
    labelSelector(selector, path);
    if (selectsAll(selector)) path.invalid(selector, 'empty selector is invalid for deployment');
  }
  if (selects(selector, {}) === undefined) {
    path.invalid(selector, 'invalid label selector');
    return;
  }
  checkMatch(spec, field);
  podTemplate(spec['template'], field.child('template'));
  longRunning(spec, 'ReplicaSet', field);
}

function rollingDeployment(strategy: JsonObject, field: Field): void {
  const rolling = record(strategy['rollingUpdate']);
  const { maxUnavailable, maxSurge } = rolling;
  const path = field.child('rollingUpdate');
  intOrPercent(maxUnavailable, path.child('maxUnavailable'));
  intOrPercent(maxSurge, path.child('maxSurge'));
  if (intOrPercentValue(maxUnavailable) === 0 && intOrPercentValue(maxSurge) === 0) {
    path.child('maxUnavailable').invalid(maxUnavailable, 'may not be 0 when `maxSurge` is 0');
  }
  notAbove100Percent(maxUnavailable, path.child('maxUnavailable'));
}

function deploymentStrategy(strategy: JsonObject, field: Field): void {
  const type = text(strategy['type']);
  if (type === 'RollingUpdate') {
    rollingDeployment(strategy, field);
    return;
  }
  if (type !== 'Recreate') {
    field.notSupported(internal(strategy, 'apps.DeploymentStrategy'), ['Recreate', 'RollingUpdate']);
    return;
  }
  if (isRecord(strategy['rollingUpdate'])) {
    field.child('rollingUpdate').forbidden("may not be specified when strategy `type` is 'Recreate'");
  }
}

function keepsSelector({ spec, oldSpec }: Subject, field: Field): void {
  if (oldSpec && !sameJson(spec['selector'], oldSpec['selector'])) {
    field.child('selector').invalid(spec['selector'], immutable);
  }
}

const deployment: KindCheck = (subject, root) => {
  const { spec } = subject;
  const field = root.child('spec');
  nonNegative(spec['replicas'], field.child('replicas'));
  selected(spec, field);
  deploymentStrategy(record(spec['strategy']), field.child('strategy'));
  nonNegative(spec['minReadySeconds'], field.child('minReadySeconds'));
  nonNegative(spec['revisionHistoryLimit'], field.child('revisionHistoryLimit'));
  const deadline = spec['progressDeadlineSeconds'];
  nonNegative(deadline, field.child('progressDeadlineSeconds'));
  if (typeof deadline === 'number' && deadline <= int(spec['minReadySeconds'])) {
    field.child('progressDeadlineSeconds').invalid(deadline, 'must be greater than minReadySeconds');
  }
  keepsSelector(subject, field);
};

const replicaSet: KindCheck = (subject, root) => {
  const field = root.child('spec');
  nonNegative(subject.spec['replicas'], field.child('replicas'));
  nonNegative(subject.spec['minReadySeconds'], field.child('minReadySeconds'));
  selected(subject.spec, field);
  keepsSelector(subject, field);
};

function rollingDaemons(strategy: JsonObject, field: Field): void {
  const { maxUnavailable, maxSurge } = record(strategy['rollingUpdate']);
  const path = field.child('rollingUpdate');
  intOrPercent(maxUnavailable, path.child('maxUnavailable'));
  intOrPercent(maxSurge, path.child('maxSurge'));
  notAbove100Percent(maxUnavailable, path.child('maxUnavailable'));
  notAbove100Percent(maxSurge, path.child('maxSurge'));
  const unavailable = intOrPercentValue(maxUnavailable) !== 0;
  const surge = intOrPercentValue(maxSurge) !== 0;
  if (unavailable && surge)
    path.child('maxSurge').invalid(maxSurge, 'may not be set when maxUnavailable is non-zero');
  if (!unavailable && !surge) path.child('maxUnavailable').required('cannot be 0 when maxSurge is 0');
}

const daemonSet: KindCheck = (subject, root) => {
  const { spec } = subject;
  const field = root.child('spec');
  labelSelector(spec['selector'], field.child('selector'));
  const matched = selects(spec['selector'], templateLabels(spec));
  if (matched === false) {
    field.child('template', 'metadata', 'labels').invalid(shownLabels(spec), mismatch);
  }
  if (isRecord(spec['selector']) && selectsAll(spec['selector'])) {
    field.child('selector').invalid(spec['selector'], 'empty selector is invalid for daemonset');
  }
  podTemplate(spec['template'], field.child('template'));
  longRunning(spec, 'DaemonSet', field);
  nonNegative(spec['minReadySeconds'], field.child('minReadySeconds'));
  const strategy = record(spec['updateStrategy']);
  const type = text(strategy['type']);
  const path = field.child('updateStrategy');
  if (type === 'RollingUpdate') rollingDaemons(strategy, path);
  else if (type !== 'OnDelete') {
    path.notSupported(internal(strategy, 'apps.DaemonSetUpdateStrategy'), ['RollingUpdate', 'OnDelete']);
  }
  nonNegative(spec['revisionHistoryLimit'], field.child('revisionHistoryLimit'));
  keepsSelector(subject, field);
};

const replicationController: KindCheck = ({ spec }, root) => {
  const field = root.child('spec');
  nonNegative(spec['minReadySeconds'], field.child('minReadySeconds'));
  const selector = record(spec['selector']);
  if (Object.keys(selector).length === 0) field.child('selector').required();
  nonNegative(spec['replicas'], field.child('replicas'));
  const template = spec['template'];
  if (!isRecord(template)) return field.child('template').required();
  const own = record(templateLabels(spec));
  if (!Object.entries(selector).every(([key, value]) => Object.hasOwn(own, key) && own[key] === value)) {
    field.child('template', 'metadata', 'labels').invalid(shownLabels(spec), mismatch);
  }
  podTemplate(template, field.child('template'));
  longRunning(spec, 'ReplicationController', field);
};

export const workloadChecks: KindChecks = {
  'apps/Deployment': deployment,
  'apps/ReplicaSet': replicaSet,
  'apps/DaemonSet': daemonSet,
  '/ReplicationController': replicationController,
  '/PodTemplate': ({ object }, root) => podTemplate(object['template'], root.child('template')),
  'apps/ControllerRevision': ({ object, old }, root) => {
    const data = object['data'];
    nonNegative(object['revision'], root.child('revision'));
    if (old) {
      if (!sameJson(data, old['data'])) root.child('data').invalid(data ?? null, immutable);
    } else if (data === undefined || data === null) root.child('data').required('data is mandatory');
    else if (!isRecord(data)) root.child('data').required('data must be a valid JSON object');
  },
};
