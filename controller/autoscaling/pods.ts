import type { KubeObject } from '../../kube/object.ts';
import { scaledQuantity } from '../../kube/quantity.ts';
import { hasPodLevelResources, podRequests } from '../../kube/quota/pod-resources.ts';
import { at, isRecord, listAt, records, textAt } from '../../kube/untyped.ts';
import { bounded, thousandths } from './thousandths.ts';
import type { Sample } from './types.ts';

/** Kubernetes' defaults of `--horizontal-pod-autoscaler-cpu-initialization-period` and `-initial-readiness-delay`. */
const cpuInitialisationMs = 300_000;
const initialReadinessMs = 30_000;

export const noPods = 'no pods returned by selector while calculating replica count';

export interface Asked {
  /** All that the target's selector finds. */
  pods: readonly KubeObject[];
  samples: ReadonlyMap<string, Sample>;
  /** Of what resource the samples are; empty: of none. Those of cpu count once a pod has begun. */
  resource: string;
  /** How many there are to be now. */
  wanted: number;
  isWithin(ratio: number): boolean;
  now: number;
}

/** As conditions and status have it: what is used, in thousandths for each pod. */
export interface Usage {
  ratio: number;
  average: bigint;
  /** Percent. */
  utilization?: number;
}

type Failed = { failure: string };
type Values = ReadonlyMap<string, bigint>;
interface Rule {
  measure(values: Values): Usage | Failed;
  /** What a pod that was not measured is taken to use where there would else be fewer of them. */
  most(pod: string): bigint;
}

/** By what each pod uses on average. As calcPlainMetricReplicas in pkg/controller/podautoscaler/replica_calculator.go. */
export function byAverage(asked: Asked, target: bigint): (Usage & { replicas: number }) | Failed {
  const measure = (values: Values): Usage => {
    const average = sum(values.values()) / BigInt(values.size);
    return { average, ratio: Number(average) / Number(target) };
  };
  return replicasBy(asked, { measure, most: () => target });
}

/**
 * By how much of their requests, in percent, the pods use; `container`: of the containers of that name, empty: of all. As
 * GetResourceReplicas in pkg/controller/podautoscaler/replica_calculator.go.
 */
export function byUtilization(
  asked: Asked,
  percent: number,
  container: string,
): (Usage & { replicas: number }) | Failed {
  const requests = requestsOf(asked, container);
  const measure = (values: Values): Usage | Failed => {
    if ('failure' in requests) return requests;
    const known = [...values].filter(([name]) => requests.of.has(name));
    const used = sum(known.map(([, value]) => value));
    const requested = sum(known.map(([name]) => requests.of.get(name) ?? 0n));
    if (requested === 0n) return { failure: 'no metrics returned matched known pods' };
    const utilization = Number((used * 100n) / requested);
    return { utilization, ratio: utilization / percent, average: used / BigInt(known.length) };
  };
  const most = (pod: string) =>
    'failure' in requests ? 0n : ((requests.of.get(pod) ?? 0n) * BigInt(Math.max(100, percent))) / 100n;
  return replicasBy(asked, { measure, most });
}

function replicasBy(asked: Asked, { measure, most }: Rule): (Usage & { replicas: number }) | Failed {
  const { pods, samples, wanted, isWithin } = asked;
  if (pods.length === 0) return { failure: noPods };
  const { counted, unready, missing } = grouped(asked);
  const values = new Map<string, bigint>();
  // Samples of pods that nobody knows (any more) count too, as in Kubernetes.
  const dropped = new Set([...unready, ...ignoredOf(pods)]);
  for (const [name, { value }] of samples) if (!dropped.has(name)) values.set(name, value);
  if (values.size === 0)
    return { failure: 'did not receive metrics for targeted pods (pods might be unready)' };
  const first = measure(values);
  if ('failure' in first) return first;
  const stay = { ...first, replicas: wanted };
  const isUp = first.ratio > 1;
  const begins = unready.length > 0 && isUp;
  if (!begins && missing.length === 0)
    return isWithin(first.ratio) ? stay : { ...first, replicas: Math.ceil(first.ratio * counted) };
  // Whatever is not known is taken to ask for the least change.
  if (first.ratio !== 1) for (const name of missing) values.set(name, isUp ? 0n : most(name));
  if (begins) for (const name of unready) values.set(name, 0n);
  const again = measure(values);
  if ('failure' in again) return again;
  const turns = (first.ratio < 1 && again.ratio > 1) || (isUp && again.ratio < 1);
  if (isWithin(again.ratio) || turns) return stay;
  const replicas = Math.ceil(again.ratio * values.size);
  const isBack = (again.ratio < 1 && replicas > wanted) || (again.ratio > 1 && replicas < wanted);
  return isBack ? stay : { ...first, replicas };
}

const isIgnored = (pod: KubeObject) =>
  pod.metadata.deletionTimestamp !== undefined || textAt(pod, 'status', 'phase') === 'Failed';
const nameOf = ({ metadata }: KubeObject) => metadata.name ?? '';
const ignoredOf = (pods: readonly KubeObject[]) => pods.filter(isIgnored).map(nameOf);

function grouped({ pods, samples, resource, now }: Asked) {
  const [unready, missing]: [string[], string[]] = [[], []];
  let counted = 0;
  for (const pod of pods) {
    if (isIgnored(pod)) continue;
    const name = nameOf(pod);
    const sample = samples.get(name);
    if (textAt(pod, 'status', 'phase') === 'Pending') unready.push(name);
    else if (!sample) missing.push(name);
    else if (resource === 'cpu' && isBeginning(pod, sample, now)) unready.push(name);
    else counted++;
  }
  return { counted, unready, missing };
}

/** What it takes to begin is not what it takes to serve. */
function isBeginning(pod: KubeObject, { at: measured, windowMs }: Sample, now: number): boolean {
  const ready = readyOf(pod);
  const started = Date.parse(textAt(pod, 'status', 'startTime') ?? '');
  if (!ready || Number.isNaN(started)) return true;
  const isUnready = at(ready, 'status') === 'False';
  const since = Date.parse(textAt(ready, 'lastTransitionTime') ?? '');
  if (started + cpuInitialisationMs > now) return isUnready || measured < since + windowMs;
  return isUnready && started + initialReadinessMs > since;
}

const readyOf = (pod: KubeObject) =>
  listAt(pod, 'status', 'conditions').find((one) => at(one, 'type') === 'Ready');

export function isReady(pod: KubeObject): boolean {
  return textAt(pod, 'status', 'phase') === 'Running' && at(readyOf(pod), 'status') === 'True';
}

/** In thousandths, by pod; why not, where one says nothing of that resource. */
function requestsOf({ pods, resource }: Asked, container: string): { of: Map<string, bigint> } | Failed {
  const of = new Map<string, bigint>();
  for (const pod of pods) {
    const request = requestOf(pod, resource, container);
    if (typeof request === 'string') return { failure: request };
    of.set(nameOf(pod), request);
  }
  return { of };
}

function requestOf(pod: KubeObject, resource: string, container: string): bigint | string {
  const whose = `of Pod ${nameOf(pod)}`;
  if (container === '' && hasPodLevelResources(pod, ['requests'])) {
    const stated = podRequests(pod).get(resource);
    if (stated === undefined) return `missing pod-level request for ${resource} in Pod ${nameOf(pod)}`;
    return bounded(scaledQuantity(stated, -3));
  }
  const sidecars = records(at(pod, 'spec', 'initContainers')).filter(
    ({ restartPolicy }) => restartPolicy === 'Always',
  );
  let total = 0n;
  let found = container === '';
  for (const one of [...records(at(pod, 'spec', 'containers')), ...sidecars]) {
    if (container !== '' && one['name'] !== container) continue;
    found = true;
    const requests = at(one, 'resources', 'requests');
    const stated = isRecord(requests) ? requests[resource] : undefined;
    if (stated === undefined) return `missing request for ${resource} in container ${one['name']} ${whose}`;
    total += thousandths(stated as string);
  }
  return found ? total : `container ${container} not found in Pod ${nameOf(pod)}`;
}

function sum(values: Iterable<bigint>): bigint {
  let total = 0n;
  for (const value of values) total += value;
  return total;
}
