import type { Schema } from '../kube/schema/schema.ts';
import { shownLimit, whyNotReady } from './capacity.ts';
import { group, physicalClusters, version } from './names.ts';
import { age, column, computed, info, type OwnResource } from './own.ts';
import {
  any,
  effect,
  flag,
  int32,
  int64,
  intOrString,
  kind,
  list,
  map,
  object,
  open,
  text,
} from './schema.ts';
import { sharesOf, stateOf, whyOf } from './summary.ts';
import { texts } from './texts.ts';
import type {
  ClosureRef,
  ClusterSlice,
  ObjectRef,
  PhysicalCluster,
  PhysicalClusterSpec,
  PhysicalClusterStatus,
  PlacementSpec,
  PlacementStatus,
  Scale,
  Share,
  Taint,
} from './types.ts';
import { validateCluster } from './validate.ts';

const condition = object(
  {
    type: text,
    status: text,
    reason: text,
    message: text,
    lastTransitionTime: text,
    observedGeneration: int64,
  },
  texts.condition,
  ['type', 'status'],
);
const conditions = list(condition, ['type']);

/** Every field of the type has its schema, or this does not compile: what is not here would be pruned. */
type Fields<T> = Record<keyof T & string, Schema>;

const numbers = {
  replicas: int32,
  scaled: int32,
  completions: int32,
  parallelism: int32,
  ordinalsStart: int32,
  suspend: flag,
};

const share = object(
  {
    ...numbers,
    phase: text,
    maxReplicas: int32,
    settled: object(
      { replicas: int32, ordinalsStart: int32 } satisfies Fields<NonNullable<Share['settled']>>,
      texts.settled,
    ),
    maxSurge: intOrString,
    maxUnavailable: intOrString,
    minAvailable: int32,
    readySince: text,
    heardSince: text,
    held: object(
      { replicas: int32, ordinalsStart: int32, since: text } satisfies Fields<NonNullable<Share['held']>>,
      texts.held,
    ),
    goal: object(
      { replicas: int32, ordinalsStart: int32 } satisfies Fields<NonNullable<Share['goal']>>,
      texts.settled,
    ),
  } satisfies Fields<Share>,
  texts.share,
);

const slice = object(
  {
    present: flag,
    orphans: flag,
    observedGeneration: int64,
    share: object(numbers satisfies Fields<NonNullable<ClusterSlice['share']>>, texts.numbers),
    pods: object(
      {
        since: text,
        count: int32,
        ordinals: object({ start: int32, end: int32 }, texts.ordinals),
      } satisfies Fields<NonNullable<ClusterSlice['pods']>>,
      texts.pods,
    ),
    nodeName: text,
    owner: object({ uid: text }, texts.owner),
    status: any,
    refusedLabels: { type: 'list', items: text, listType: 'set' },
    error: object({ reason: text, message: text }, texts.error),
  } satisfies Fields<ClusterSlice>,
  texts.slice,
);

const ref = { group: text, version: text, resource: text, kind: text, name: text, uid: text };
const required = { group: text, resource: text, name: text };

const placementSpec = object(
  {
    ref: object(ref satisfies Fields<ObjectRef>, texts.ref),
    namespaceUid: text,
    physicalNamespace: text,
    namespaceLabels: map(text),
    clusters: { type: 'list', items: text, listType: 'set' },
    wanted: { type: 'list', items: text, listType: 'set' },
    reasons: map(text),
    blocked: flag,
    requires: list(object(required satisfies Fields<ClosureRef>, texts.closureRef)),
    shares: map(share),
    scale: object(
      {
        replicas: int32,
        generation: int64,
        clusters: { type: 'list', items: text, listType: 'set' },
      } satisfies Fields<Scale>,
      texts.scale,
    ),
    orphaned: text,
  } satisfies Fields<PlacementSpec>,
  texts.placementSpec,
);

const physicalClusterSpec = object(
  {
    kubeconfigSecretRef: object({ namespace: text, name: text }, texts.secretRef, ['namespace', 'name']),
    taints: list(
      object({ key: text, value: text, effect } satisfies Fields<Taint>, texts.taint, ['key', 'effect']),
    ),
    unschedulable: flag,
    drain: flag,
    forget: flag,
    adopt: { type: 'list', items: text, listType: 'set' },
    capacity: map({ type: 'string', format: 'quantity' }),
    namespaceLabels: { type: 'list', items: text, listType: 'set' },
  } satisfies Fields<PhysicalClusterSpec>,
  texts.physicalClusterSpec,
  ['kubeconfigSecretRef'],
);

const physicalClusterStatus = object(
  {
    conditions,
    lastHeartbeatTime: text,
    lastAnswerTime: text,
    clusterUID: text,
    version: text,
    namespaces: int32,
    allocatable: map({ type: 'string', format: 'quantity' }),
  } satisfies Fields<PhysicalClusterStatus>,
  texts.physicalClusterStatus,
);
const physicalCluster = kind(physicalClusterSpec, physicalClusterStatus, texts.physicalCluster, ['spec']);

const workspaceType = open({ name: text, path: text }, texts.workspaceType);
const workspace = kind(
  open({ type: workspaceType, cluster: text, URL: text }, texts.workspaceSpec),
  open({ phase: text, conditions }, texts.workspaceStatus),
  texts.workspace,
);
const logicalCluster = kind(
  open({ owner: any }, texts.logicalClusterSpec),
  open({ phase: text, URL: text }, texts.logicalClusterStatus),
  texts.logicalCluster,
);

/** Workspace and LogicalCluster keep kcp's names, so that its clients and plugin work. */
export const ownResources: readonly OwnResource[] = [
  {
    info: info({
      ...physicalClusters,
      kind: 'PhysicalCluster',
      namespaced: false,
    }),
    schema: physicalCluster,
    validate: (object, old, subresource) => validateCluster(physicalCluster, object, old, subresource),
    columns: [
      column('Ready', 'string', '.status.conditions[?(@.type=="Ready")].status'),
      column('Cordoned', 'boolean', '.spec.unschedulable'),
      column('Version', 'string', '.status.version'),
      computed<PhysicalCluster>('CPU', (cluster) => shownLimit(cluster, 'cpu')),
      computed<PhysicalCluster>('Memory', (cluster) => shownLimit(cluster, 'memory')),
      age,
      computed<PhysicalCluster>('Why', whyNotReady),
    ],
  },
  {
    info: info({
      group,
      version,
      kind: 'Placement',
      resource: 'placements',
      namespaced: true,
      shortNames: ['pl'],
    }),
    schema: kind(
      placementSpec,
      object({ clusters: map(slice), conditions } satisfies Fields<PlacementStatus>, texts.placementStatus),
      texts.placement,
    ),
    columns: [
      column('Kind', 'string', '.spec.ref.kind', 1),
      column('Object', 'string', '.spec.ref.name', 1),
      computed('Clusters', sharesOf),
      computed('State', stateOf),
      age,
      computed('Why', whyOf),
    ],
  },
  {
    info: info({
      group: 'tenancy.kcp.io',
      version: 'v1alpha1',
      kind: 'Workspace',
      resource: 'workspaces',
      namespaced: false,
      shortNames: ['ws'],
    }),
    schema: workspace,
    columns: [
      column('Type', 'string', '.spec.type.name'),
      column('Phase', 'string', '.status.phase'),
      column('URL', 'string', '.spec.URL'),
      age,
    ],
  },
  {
    info: info({
      group: 'core.kcp.io',
      version: 'v1alpha1',
      kind: 'LogicalCluster',
      resource: 'logicalclusters',
      namespaced: false,
    }),
    schema: logicalCluster,
    columns: [column('Phase', 'string', '.status.phase'), column('URL', 'string', '.status.URL'), age],
  },
];
