import type { JsonObject } from '../object.ts';
import { at, isRecord, record, records } from '../untyped.ts';
import type { Defaulters } from './defaulter.ts';
import { child, fill, fillList, fillMap, fillZero } from './fill.ts';

function deployment(object: JsonObject): void {
  const spec = child(object, 'spec');
  fill(spec, 'replicas', 1);
  const strategy = child(spec, 'strategy');
  fillZero(strategy, 'type', 'RollingUpdate');
  if (strategy['type'] === 'RollingUpdate') {
    const rolling = child(strategy, 'rollingUpdate');
    fill(rolling, 'maxUnavailable', '25%');
    fill(rolling, 'maxSurge', '25%');
  }
  fill(spec, 'revisionHistoryLimit', 10);
  fill(spec, 'progressDeadlineSeconds', 600);
}

function daemonSet(object: JsonObject): void {
  // Kubernetes' own form of the kind counts templates in a field that clients see as an annotation.
  const metadata = child(object, 'metadata');
  if (!isRecord(metadata['annotations'])) metadata['annotations'] = {};
  fill(child(metadata, 'annotations'), 'deprecated.daemonset.template.generation', '0');
  const spec = child(object, 'spec');
  const strategy = child(spec, 'updateStrategy');
  fillZero(strategy, 'type', 'RollingUpdate');
  if (strategy['type'] === 'RollingUpdate') {
    const rolling = child(strategy, 'rollingUpdate');
    fill(rolling, 'maxUnavailable', 1);
    fill(rolling, 'maxSurge', 0);
  }
  fill(spec, 'revisionHistoryLimit', 10);
}

function statefulSet(object: JsonObject): void {
  const spec = child(object, 'spec');
  fillZero(spec, 'podManagementPolicy', 'OrderedReady');
  const strategy = child(spec, 'updateStrategy');
  if (!strategy['type']) {
    strategy['type'] = 'RollingUpdate';
    child(strategy, 'rollingUpdate');
  }
  const rolling = strategy['rollingUpdate'];
  if (strategy['type'] === 'RollingUpdate' && isRecord(rolling)) {
    fill(rolling, 'partition', 0);
  }
  const retention = child(spec, 'persistentVolumeClaimRetentionPolicy');
  fillZero(retention, 'whenDeleted', 'Retain');
  fillZero(retention, 'whenScaled', 'Retain');
  fill(spec, 'replicas', 1);
  fill(spec, 'revisionHistoryLimit', 10);
  for (const claim of records(spec['volumeClaimTemplates'])) {
    fillZero(claim, 'kind', 'PersistentVolumeClaim');
    fillZero(claim, 'apiVersion', 'v1');
  }
}

function job(object: JsonObject): void {
  const spec = child(object, 'spec');
  if (spec['parallelism'] === undefined) fill(spec, 'completions', 1);
  fill(spec, 'parallelism', 1);
  fill(spec, 'backoffLimit', spec['backoffLimitPerIndex'] === undefined ? 6 : 2_147_483_647);
  fill(spec, 'completionMode', 'NonIndexed');
  fill(spec, 'suspend', false);
  fill(
    spec,
    'podReplacementPolicy',
    spec['podFailurePolicy'] === undefined ? 'TerminatingOrFailed' : 'Failed',
  );
  fill(spec, 'manualSelector', false);
  wearLabelsOfPods(object);
}

/** The same map, not one like it: what the registry adds to its pods' labels, it wears, too. */
function wearLabelsOfPods(job: JsonObject): void {
  const labels = record(at(job, 'spec', 'template', 'metadata', 'labels'));
  if (Object.keys(labels).length > 0) fillMap(child(job, 'metadata'), 'labels', labels);
}

function cronJob(object: JsonObject): void {
  const spec = child(object, 'spec');
  fillZero(spec, 'concurrencyPolicy', 'Allow');
  fill(spec, 'suspend', false);
  fill(spec, 'successfulJobsHistoryLimit', 3);
  fill(spec, 'failedJobsHistoryLimit', 1);
}

function scalingRules(behavior: JsonObject, direction: 'scaleUp' | 'scaleDown'): void {
  const up = direction === 'scaleUp';
  const percent = { type: 'Percent', value: 100, periodSeconds: 15 };
  const rules = child(behavior, direction);
  if (up) fill(rules, 'stabilizationWindowSeconds', 0);
  fill(rules, 'selectPolicy', 'Max');
  fill(rules, 'policies', up ? [{ type: 'Pods', value: 4, periodSeconds: 15 }, percent] : [percent]);
}

function horizontalPodAutoscaler(object: JsonObject): void {
  const spec = child(object, 'spec');
  fill(spec, 'minReplicas', 1);
  const target = { type: 'Utilization', averageUtilization: 80 };
  fillList(spec, 'metrics', [{ type: 'Resource', resource: { name: 'cpu', target } }]);
  const behavior = spec['behavior'];
  if (!isRecord(behavior)) return;
  scalingRules(behavior, 'scaleUp');
  scalingRules(behavior, 'scaleDown');
}

export const appsDefaults: Defaulters = {
  'apps.v1.Deployment': deployment,
  'apps.v1.DaemonSet': daemonSet,
  'apps.v1.StatefulSet': statefulSet,
  'apps.v1.ReplicaSet': (object) => fill(child(object, 'spec'), 'replicas', 1),
  'batch.v1.Job': job,
  'batch.v1.CronJob': cronJob,
  'batch.v1.PodFailurePolicyOnPodConditionsPattern': (pattern) => fillZero(pattern, 'status', 'True'),
  'autoscaling.v2.HorizontalPodAutoscaler': horizontalPodAutoscaler,
  'autoscaling.v1.HorizontalPodAutoscaler': (object) => {
    const spec = child(object, 'spec');
    fill(spec, 'minReplicas', 1);
    fill(spec, 'targetCPUUtilizationPercentage', 80);
  },
};
