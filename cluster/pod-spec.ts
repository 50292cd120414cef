import { deepCopy } from '../kube/deep.ts';
import { requestLimits } from '../kube/defaults/pod.ts';
import type { Json, JsonObject, KubeObject } from '../kube/object.ts';
import {
  addQuantity,
  negateQuantity,
  parseQuantity,
  type Quantity,
  QuantityError,
  zeroQuantity,
} from '../kube/quantity.ts';
import { podRequests as requestsOf } from '../kube/quota/pod-resources.ts';
import { at, isRecord, listAt, mapAt, numberAt, textAt } from '../kube/untyped.ts';
import { kindNamed, type WorkloadKindName } from './kinds.ts';
import { type KindRule, stepsOf } from './placed-resource.ts';
import { accountOf } from './pod-access.ts';
import { admittedAt } from './pod-admission.ts';
import type { ClosureRef } from './types.ts';

export interface PodTemplate {
  labels: Record<string, string>;
  annotations: Record<string, string>;
  spec: unknown;
}

/** What the pods of a workload look like, once they are admitted; the Pod itself is its own template. */
export function podTemplate(workload: KubeObject): PodTemplate {
  const path = templatePath(workload);
  const template = at(admittedAt(workload, path), ...path);
  return {
    labels: mapAt(template, 'metadata', 'labels') ?? {},
    annotations: mapAt(template, 'metadata', 'annotations') ?? {},
    spec: at(template, 'spec'),
  };
}

/** The spec of the pods of a workload as it is stored, once they are admitted; `rule`: that by which it is placed. */
export function podSpecOf(workload: KubeObject, rule?: KindRule): unknown {
  const path = templatePath(workload, rule);
  return at(admittedAt(workload, path), ...path, 'spec');
}

export function podSpecPath(workload: KubeObject, rule?: KindRule): string[] {
  return [...templatePath(workload, rule), 'spec'];
}

/** Where a workload says what its pods are; of a Pod, which is one, nowhere. */
export function templatePath(workload: KubeObject, rule?: KindRule): readonly string[] {
  return rule ? stepsOf(rule.templatePath ?? '.spec.template') : runOf(workload).template;
}

interface Run {
  /** Where its pods' template is, and the field that says how many it has at once. */
  template: readonly string[];
  count: readonly string[] | undefined;
}

const replicated: Run = { template: ['spec', 'template'], count: ['spec', 'replicas'] };
const runs: Record<WorkloadKindName, Run> = {
  Deployment: replicated,
  StatefulSet: replicated,
  // How many depends on the nodes: counted as one.
  DaemonSet: { template: ['spec', 'template'], count: undefined },
  ReplicaSet: replicated,
  ReplicationController: replicated,
  Pod: { template: [], count: undefined },
  Job: { template: ['spec', 'template'], count: ['spec', 'parallelism'] },
  CronJob: {
    template: ['spec', 'jobTemplate', 'spec', 'template'],
    count: ['spec', 'jobTemplate', 'spec', 'parallelism'],
  },
  Counted: replicated,
  Full: { template: ['spec', 'template'], count: undefined },
};

function runOf({ kind: name }: KubeObject): Run {
  const kind = kindNamed(name);
  return kind?.role === 'workload' ? runs[kind.kind] : replicated;
}

/** Whether it is to have no pod at all, as it is written; of a CronJob, no other. */
export function makesNone(workload: KubeObject): boolean {
  const { count } = runOf(workload);
  const isSuspended = ['Job', 'CronJob'].includes(workload.kind) && at(workload.spec, 'suspend') === true;
  return isSuspended || (count !== undefined && numberAt(workload, ...count) === 0);
}

const core = (resource: string, name: string | undefined): ClosureRef[] =>
  name ? [{ group: '', resource, name }] : [];

function containersOf(spec: unknown): unknown[] {
  return ['initContainers', 'containers', 'ephemeralContainers'].flatMap((list) => listAt(spec, list));
}

/** Names in the pod's own namespace that it cannot start, or will not work, without. */
export function podReferences(spec: unknown): ClosureRef[] {
  return [
    ...containersOf(spec).flatMap(containerReferences),
    ...listAt(spec, 'volumes')
      .filter((volume) => !isInjected(at(volume, 'name')))
      .flatMap(volumeReferences),
    ...listAt(spec, 'imagePullSecrets').flatMap((s) => core('secrets', textAt(s, 'name'))),
    ...core('serviceaccounts', accountOf(spec)),
  ];
}

/** The volume of a token: each cluster adds its own. */
export function isInjected(name: unknown): boolean {
  return typeof name === 'string' && name.startsWith('kube-api-access-');
}

function containerReferences(container: unknown): ClosureRef[] {
  return [
    ...listAt(container, 'env').flatMap((env) => [
      ...core('configmaps', textAt(env, 'valueFrom', 'configMapKeyRef', 'name')),
      ...core('secrets', textAt(env, 'valueFrom', 'secretKeyRef', 'name')),
    ]),
    ...listAt(container, 'envFrom').flatMap((from) => [
      ...core('configmaps', textAt(from, 'configMapRef', 'name')),
      ...core('secrets', textAt(from, 'secretRef', 'name')),
    ]),
  ];
}

/** In-tree drivers that name a Secret of the pod's namespace, under one of two field names. */
const secretDrivers = ['csi', 'cephfs', 'rbd', 'iscsi', 'flexVolume', 'scaleIO', 'storageos', 'azureFile'];

function volumeReferences(volume: unknown): ClosureRef[] {
  return [
    ...core('configmaps', textAt(volume, 'configMap', 'name')),
    ...core('secrets', textAt(volume, 'secret', 'secretName')),
    ...core('persistentvolumeclaims', textAt(volume, 'persistentVolumeClaim', 'claimName')),
    ...listAt(volume, 'projected', 'sources').flatMap((source) => [
      ...core('configmaps', textAt(source, 'configMap', 'name')),
      ...core('secrets', textAt(source, 'secret', 'name')),
    ]),
    ...secretDrivers.flatMap((driver) => [
      ...core('secrets', textAt(volume, driver, 'secretRef', 'name')),
      ...core('secrets', textAt(volume, driver, 'nodePublishSecretRef', 'name')),
      ...core('secrets', textAt(volume, driver, 'secretName')),
    ]),
  ];
}

/** Sums by resource name; `pods` is counted too. */
export type Resources = ReadonlyMap<string, Quantity>;

export function quantityOf(value: unknown): Quantity {
  if (typeof value !== 'string' && typeof value !== 'number') return zeroQuantity;
  try {
    return parseQuantity(value);
  } catch (error) {
    if (error instanceof QuantityError) return zeroQuantity;
    throw error;
  }
}

export function addResources(a: Resources, b: Resources): Resources {
  const sum = new Map(a);
  for (const [name, amount] of b) sum.set(name, addQuantity(sum.get(name) ?? zeroQuantity, amount));
  return sum;
}

export function subtractResources(a: Resources, b: Resources): Resources {
  return addResources(a, new Map([...b].map(([name, amount]) => [name, negateQuantity(amount)])));
}

export function timesResources(resources: Resources, times: number): Resources {
  return new Map(
    [...resources].map(([name, q]) => [
      name,
      { value: q.value * BigInt(times), scale: q.scale, format: q.format },
    ]),
  );
}

/** What one pod asks for, as the scheduler of its cluster sees it. */
export function podRequests(spec: unknown): Resources {
  const made = isRecord(spec) ? (deepCopy(spec) as JsonObject) : {};
  requestLimits(made);
  return new Map([...requestsOf({ spec: made }), ['pods', parseQuantity(1)]]);
}

/** How many pods a workload runs at once when whole. */
export function podCount(workload: KubeObject): number {
  const { count } = runOf(workload);
  const written = count && numberAt(workload, ...count);
  return Math.min(1_000_000, Math.max(0, Math.trunc(written ?? 1)));
}

/** Without what a logical cluster's own admission added for a pod that runs nowhere in particular. */
export function withoutPodAssignment(spec: unknown): unknown {
  if (!isRecord(spec)) return spec;
  const copy = deepCopy(spec);
  // What a class stands for, a number or an overhead, is the cluster's own, too: it refuses another. Ephemeral containers are added
  // to the running pod, and by no other way.
  for (const field of ['nodeName', 'priority', 'preemptionPolicy', 'overhead', 'ephemeralContainers'])
    delete copy[field];
  dropInjected(copy);
  return copy;
}

/** Takes out, in place, the volume of a token that the API server of a logical cluster gave, with whatever mounts it. */
export function dropInjected(spec: JsonObject): void {
  const keep = (items: Json = null): Json =>
    Array.isArray(items) ? items.filter((i) => !isInjected(at(i, 'name'))) : items;
  if ('volumes' in spec) spec['volumes'] = keep(spec['volumes']);
  for (const container of ['initContainers', 'containers'].flatMap((field) => listAt(spec, field))) {
    if (isRecord(container) && 'volumeMounts' in container)
      container['volumeMounts'] = keep(container['volumeMounts']);
  }
}
