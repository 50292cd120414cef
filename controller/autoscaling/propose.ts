import type { KubeObject } from '../../kube/object.ts';
import { approximateQuantity, formatQuantity, parseQuantity } from '../../kube/quantity.ts';
import { byAverage, byUtilization, isReady, noPods, type Usage } from './pods.ts';
import { bounded, thousandths } from './thousandths.ts';
import type { Behavior, Metric, Reading, Sample, Scale, Target } from './types.ts';
import { selectorWords } from './words.ts';

/** What one metric asks for. */
export interface Proposal {
  replicas: number;
  /** As it is told. */
  name: string;
  status: unknown;
}

/** Why it asks for nothing: as an Event and a condition of it say, and as it is told of all together. */
export interface Failed {
  reason: string;
  failure: string;
  whole: string;
}

export interface Case {
  namespace: string;
  scale: Scale;
  /** All that the target's selector finds, where a metric needs to know them. */
  pods: readonly KubeObject[];
  /** Why they are not known. */
  unlisted?: string | undefined;
  behavior: Behavior | undefined;
  now: number;
}

const mostReplicas = 2 ** 31 - 1;
const tolerance = 0.1;

/** Whether what it asks for depends on the target's pods. */
export function asksPods({ external, object, pods, resource, containerResource }: Metric): boolean {
  const whole = external ?? object;
  return whole
    ? whole.target.averageValue === undefined
    : (pods ?? resource ?? containerResource) !== undefined;
}

/** As computeReplicasForMetric in pkg/controller/podautoscaler/horizontal.go, for one metric. */
export function propose(metric: Metric, reading: Reading, of: Case): Proposal | Failed {
  if (metric.external) return byExternal(metric.external, reading, of);
  if (metric.object) return byObject(metric.object, reading, of);
  if (metric.pods) return byPods(metric.pods, reading, of);
  return byResource(metric, reading, of);
}

function byExternal(
  { metric, target }: NonNullable<Metric['external']>,
  reading: Reading,
  of: Case,
): Proposal | Failed {
  const words = selectorWords(metric.selector);
  const isAverage = target.averageValue !== undefined;
  const what = isAverage ? `${metric.name} external metric` : `external metric ${metric.name}`;
  const found = byWhole(target, reading, of);
  if ('failure' in found) {
    const failure = found.isRead
      ? found.failure
      : `unable to get external metric ${of.namespace}/${metric.name}/${words}: ${found.failure}`;
    const whole = `failed to get ${metric.name} external metric value: failed to get ${what}: ${failure}`;
    return { reason: 'FailedGetExternalMetric', failure, whole };
  }
  const { replicas, current } = found;
  const status = { type: 'External', external: { metric, current } };
  return { replicas, name: `external metric ${metric.name}(${words})`, status };
}

function byObject(
  { metric, describedObject, target }: NonNullable<Metric['object']>,
  reading: Reading,
  of: Case,
): Proposal | Failed {
  const { kind, name } = describedObject;
  const isAverage = target.averageValue !== undefined;
  const found = byWhole(target, reading, of);
  if ('failure' in found) {
    const failure = found.isRead
      ? found.failure
      : `unable to get metric ${metric.name}: ${kind} on ${of.namespace} ${name}/${found.failure}`;
    const inner = isAverage ? `failed to get ${metric.name} object metric: ${failure}` : failure;
    return { reason: 'FailedGetObjectMetric', failure, whole: `failed to get object metric value: ${inner}` };
  }
  const { replicas, current } = found;
  const shown = isAverage
    ? `external metric ${metric.name}(${selectorWords(metric.selector)})`
    : `${kind} metric ${metric.name}`;
  const status = { type: 'Object', object: { metric, describedObject, current } };
  return { replicas, name: shown, status };
}

function byPods(
  { metric, target }: NonNullable<Metric['pods']>,
  reading: Reading,
  of: Case,
): Proposal | Failed {
  const samples = samplesOf(reading);
  const found =
    'failure' in samples
      ? { failure: `unable to get metric ${metric.name}: ${samples.failure}` }
      : ofPods(of, () => byAverage(asked(of, samples, ''), thousandths(target.averageValue ?? 0)));
  if ('failure' in found) {
    const { failure } = found;
    return { reason: 'FailedGetPodsMetric', failure, whole: `failed to get pods metric value: ${failure}` };
  }
  const status = { type: 'Pods', pods: { metric, current: { averageValue: milli(found.average) } } };
  return { replicas: clamp(found.replicas), name: `pods metric ${metric.name}`, status };
}

function byResource({ resource, containerResource }: Metric, reading: Reading, of: Case): Proposal | Failed {
  const { name, target } = resource ?? containerResource ?? { name: '', target: { type: '' } as Target };
  const container = containerResource?.container ?? '';
  const isAverage = target.averageValue !== undefined;
  const found = byUse(target, samplesOf(reading), { of, name, container });
  if ('failure' in found) {
    const failure = `failed to get ${name} ${isAverage ? 'usage' : 'utilization'}: ${found.failure}`;
    const what = containerResource ? `${container} container` : `${name} resource`;
    const reason = containerResource ? 'FailedGetContainerResourceMetric' : 'FailedGetResourceMetric';
    return { reason, failure, whole: `failed to get ${what} metric value: ${failure}` };
  }
  const { utilization } = found;
  const current = {
    ...(utilization !== undefined && { averageUtilization: utilization }),
    averageValue: milli(found.average, name === 'memory' ? 'BinarySI' : 'DecimalSI'),
  };
  const shown = `${name} ${containerResource && !isAverage ? 'container ' : ''}resource`;
  return {
    replicas: clamp(found.replicas),
    name: isAverage ? shown : `${shown} utilization (percentage of request)`,
    status: containerResource
      ? { type: 'ContainerResource', containerResource: { name, container, current } }
      : { type: 'Resource', resource: { name, current } },
  };
}

function byUse(
  target: Target,
  samples: Samples | { failure: string },
  { of, name, container }: { of: Case; name: string; container: string },
): (Usage & { replicas: number }) | { failure: string } {
  if ('failure' in samples)
    return { failure: `unable to get metrics for resource ${name}: ${samples.failure}` };
  const { averageValue, averageUtilization = 0 } = target;
  return ofPods(of, () =>
    averageValue !== undefined
      ? byAverage(asked(of, samples, name), thousandths(averageValue))
      : byUtilization(asked(of, samples, name), averageUtilization, container),
  );
}

function ofPods<T>({ unlisted }: Case, count: () => T): T | { failure: string } {
  return unlisted === undefined ? count() : { failure: unlisted };
}

/** Of a value of the whole: for each pod, or by how many are ready. `isRead`: the value was there. */
function byWhole(
  target: Target,
  reading: Reading,
  { scale, pods, unlisted, behavior }: Case,
): { replicas: number; current: object } | { failure: string; isRead?: boolean } {
  if ('failure' in reading) return reading;
  const values = 'values' in reading ? reading.values : [];
  const usage = bounded(values.reduce((sum, value) => sum + value, 0n));
  if (target.averageValue !== undefined) {
    const per = Number(thousandths(target.averageValue));
    const ratio = Number(usage) / (per * scale.current);
    const enough = isWithin(ratio, behavior);
    const average = scale.current > 0 ? Math.ceil(Number(usage) / scale.current) : 0;
    const replicas = enough ? scale.current : clamp(Math.ceil(Number(usage) / per));
    return { replicas, current: { averageValue: milli(BigInt(average)) } };
  }
  const current = { value: milli(usage) };
  const ratio = Number(usage) / Number(thousandths(target.value ?? 0));
  if (isWithin(ratio, behavior)) return { replicas: scale.wanted, current };
  const unknown = unlisted ?? (pods.length === 0 ? noPods : undefined);
  if (unknown !== undefined) return { failure: `unable to calculate ready pods: ${unknown}`, isRead: true };
  return { replicas: clamp(Math.ceil(ratio * pods.filter(isReady).length)), current };
}

type Samples = ReadonlyMap<string, Sample>;

function samplesOf(reading: Reading): Samples | { failure: string } {
  if ('failure' in reading) return reading;
  return 'samples' in reading ? reading.samples : new Map();
}

function asked({ pods, scale, behavior, now }: Case, samples: Samples, resource: string) {
  const wanted = scale.wanted;
  return { pods, samples, resource, wanted, now, isWithin: (ratio: number) => isWithin(ratio, behavior) };
}

function isWithin(ratio: number, behavior: Behavior | undefined): boolean {
  const of = (said: string | number | undefined) =>
    said === undefined ? tolerance : approximateQuantity(parseQuantity(said));
  const { scaleUp, scaleDown } = behavior ?? {};
  return ratio >= 1 - of(scaleDown?.tolerance) && ratio <= 1 + of(scaleUp?.tolerance);
}

const clamp = (replicas: number) => Math.min(mostReplicas, Math.max(0, replicas));
const milli = (value: bigint, format: 'DecimalSI' | 'BinarySI' = 'DecimalSI') =>
  formatQuantity({ value, scale: -3, format });
