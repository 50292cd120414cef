import type { GroupVersionResource } from '../kube/gvk.ts';
import type { KubeObject } from '../kube/object.ts';
import { at, listAt, mapAt, textAt } from '../kube/untyped.ts';
import { serviceNameLabel } from './endpoints.ts';
import type { KindRule } from './placed-resource.ts';

/** workload: runs, and is placed for its own sake. closure: goes where a workload needs it. */
export type Role = 'workload' | 'closure';

/**
 * What several clusters have of one object. counts: its replicas are divided. ranges: replicas with ordinals.
 * whole: each a full copy. bounds: an autoscaler's part of its limits. one: a single cluster has it. single: it
 * runs on one at a time, the others wait. batch: it runs to its end where it began.
 */
export type Spread = 'counts' | 'ranges' | 'whole' | 'bounds' | 'one' | 'single' | 'batch';

/**
 * How it is found that a workload needs it. named: by its pods' template. serves: its selector. backs: the Service
 * that it belongs to. routes: the Services behind it. scales: its target. covers: its pod selector. limits: it is about
 * every pod of the namespace.
 */
export type Reach = 'named' | 'serves' | 'backs' | 'routes' | 'scales' | 'covers' | 'limits';

interface Row {
  group: string;
  resource: string;
  version?: 'v2';
  role: Role;
  spread: Spread;
  /**
   * Whether two clusters may run it at once. many: one pod is as good as another. asked: not where its strategy or
   * its volumes say so. once: each pod is somebody, and nobody is in two places.
   */
  identity: 'many' | 'asked' | 'once';
  /** It has no state that could come and go: once applied it is as good as it will be. */
  passive: boolean;
  /** Its controller says in status.observedGeneration which spec it has seen. */
  countsGenerations: boolean;
}

interface WorkloadRow extends Row {
  role: 'workload';
}

interface ClosureRow extends Row {
  role: 'closure';
  reach: Reach;
}

function workload(
  group: string,
  resource: string,
  traits: Pick<Row, 'spread' | 'identity'> & { generations: boolean },
): WorkloadRow {
  const { generations: countsGenerations, ...rest } = traits;
  return { group, resource, role: 'workload', passive: false, countsGenerations, ...rest };
}

function closure(
  group: string,
  resource: string,
  traits: Pick<ClosureRow, 'reach' | 'passive'> & Partial<ClosureRow>,
): ClosureRow {
  return {
    group,
    resource,
    role: 'closure',
    spread: 'whole',
    identity: 'many',
    countsGenerations: false,
    ...traits,
  };
}

/**
 * Every kind that is pushed to physical clusters. What is not here never is: RBAC, Events and Leases are
 * the logical cluster's own business. What else has to be decided about each kind is a Record over
 * PlacedKindName, WorkloadKindName or ClosureKindName where it is decided, so that a new row here does not compile
 * before all of it is.
 */
const workloads = {
  Deployment: workload('apps', 'deployments', { spread: 'counts', identity: 'asked', generations: true }),
  StatefulSet: workload('apps', 'statefulsets', { spread: 'ranges', identity: 'once', generations: true }),
  DaemonSet: workload('apps', 'daemonsets', { spread: 'whole', identity: 'many', generations: true }),
  ReplicaSet: workload('apps', 'replicasets', { spread: 'counts', identity: 'asked', generations: true }),
  ReplicationController: workload('', 'replicationcontrollers', {
    spread: 'counts',
    identity: 'asked',
    generations: true,
  }),
  Pod: workload('', 'pods', { spread: 'one', identity: 'asked', generations: false }),
  Job: workload('batch', 'jobs', { spread: 'batch', identity: 'once', generations: false }),
  CronJob: workload('batch', 'cronjobs', { spread: 'single', identity: 'once', generations: false }),
};

const closures = {
  ConfigMap: closure('', 'configmaps', { reach: 'named', passive: true }),
  Secret: closure('', 'secrets', { reach: 'named', passive: true }),
  ServiceAccount: closure('', 'serviceaccounts', { reach: 'named', passive: true }),
  PersistentVolumeClaim: closure('', 'persistentvolumeclaims', { reach: 'named', passive: false }),
  Service: closure('', 'services', { reach: 'serves', passive: false }),
  Endpoints: closure('', 'endpoints', { reach: 'backs', passive: true }),
  EndpointSlice: closure('discovery.k8s.io', 'endpointslices', { reach: 'backs', passive: true }),
  Ingress: closure('networking.k8s.io', 'ingresses', { reach: 'routes', passive: false }),
  NetworkPolicy: closure('networking.k8s.io', 'networkpolicies', { reach: 'covers', passive: true }),
  LimitRange: closure('', 'limitranges', { reach: 'limits', passive: true }),
  ResourceQuota: closure('', 'resourcequotas', { reach: 'limits', passive: true }),
  HorizontalPodAutoscaler: closure('autoscaling', 'horizontalpodautoscalers', {
    reach: 'scales',
    passive: false,
    version: 'v2',
    spread: 'bounds',
  }),
  PodDisruptionBudget: closure('policy', 'poddisruptionbudgets', {
    reach: 'covers',
    passive: false,
    countsGenerations: true,
  }),
};

/** Kinds that a PlacedResource is about, as whoever decides sees them: ruled.ts. No resource is called so. */
const ruled = {
  Counted: workload('', '', { spread: 'counts', identity: 'asked', generations: true }),
  Full: workload('', '', { spread: 'whole', identity: 'asked', generations: true }),
};

export type RuledKindName = keyof typeof ruled;
export type WorkloadKindName = keyof typeof workloads | RuledKindName;
export type ClosureKindName = keyof typeof closures;
export type PlacedKindName = WorkloadKindName | ClosureKindName;

interface Common extends GroupVersionResource, Omit<Row, 'group' | 'resource' | 'version' | 'role'> {}

/** With `rule`: of a kind that the code does not know. */
export type WorkloadKind = Common & { kind: WorkloadKindName; role: 'workload'; rule?: KindRule };
export type ClosureKind = Common & { kind: ClosureKindName; role: 'closure'; reach: Reach; rule?: undefined };
export type PlacedKind = WorkloadKind | ClosureKind;

export const placedKinds: readonly PlacedKind[] = Object.entries({ ...workloads, ...closures }).map(
  ([kind, row]) => ({ version: 'v1', ...row, kind }) as PlacedKind,
);

const byResource = new Map(placedKinds.map((kind) => [`${kind.resource}.${kind.group}`, kind]));
const byName = new Map<string, PlacedKind>(placedKinds.map((kind) => [kind.kind, kind]));
for (const [kind, row] of Object.entries(ruled))
  byName.set(kind, { ...row, version: 'v1', kind: kind as RuledKindName });

/** What the code knows, or what a Placement's own reference says by the rule of its kind. */
export function placedKind({ group, resource, version, rule }: KindReferred): PlacedKind | undefined {
  const known = byResource.get(`${resource}.${group}`);
  return known ?? (rule && version ? ruledKind({ group, version, resource }, rule) : undefined);
}

interface KindReferred {
  group: string;
  resource: string;
  version?: string;
  rule?: KindRule | undefined;
}

/** Of a custom resource. */
export function ruledKind(of: GroupVersionResource, rule: KindRule): WorkloadKind {
  const { group, version, resource } = of;
  const kind = rule.specReplicasPath === undefined ? 'Full' : 'Counted';
  const countsGenerations = rule.observesGeneration !== false;
  return { ...ruled[kind], kind, group, version, resource, role: 'workload', countsGenerations, rule };
}

/** Of an object that is known to be placed: of placed kinds no two have one name. */
export function kindNamed(kind: string): PlacedKind | undefined {
  return byName.get(kind);
}

/** A Service whose endpoints nobody computes: its Endpoints are the user's, or it is only a name. */
export function isSelectorless(service: KubeObject): boolean {
  const selector = mapAt(service, 'spec', 'selector');
  return (
    textAt(service, 'spec', 'type') === 'ExternalName' || !selector || Object.keys(selector).length === 0
  );
}

/** The Service that Endpoints or an EndpointSlice belong to. */
export function serviceOfEndpoints(object: KubeObject): string {
  const label = object.metadata.labels?.[serviceNameLabel];
  return label ?? object.metadata.name ?? '';
}

/** True once a Job or a bare Pod has come to its end, well or badly. */
export function isFinished(object: { kind: string; status?: unknown }): boolean {
  if (object.kind === 'Pod') {
    const phase = textAt(object, 'status', 'phase');
    return phase === 'Succeeded' || phase === 'Failed';
  }
  if (object.kind !== 'Job') return false;
  return listAt(object, 'status', 'conditions').some(
    (c) => (at(c, 'type') === 'Complete' || at(c, 'type') === 'Failed') && at(c, 'status') === 'True',
  );
}
