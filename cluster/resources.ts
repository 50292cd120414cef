import type { ResourceInfo } from '../kube/schema/resource.ts';
import type { Field, ObjectSchema, Schema } from '../kube/schema/schema.ts';
import { group, version } from './names.ts';
import type {
  ClosureRef,
  ClusterSlice,
  ObjectRef,
  PhysicalClusterSpec,
  PhysicalClusterStatus,
  PlacementSpec,
  Scale,
  Share,
  Taint,
} from './types.ts';

/** One of our own kinds, as the API server serves it beside the built-ins. */
export interface OwnResource {
  info: ResourceInfo;
  schema: ObjectSchema;
  columns: readonly {
    name: string;
    type: string;
    format: string;
    description: string;
    priority: number;
    jsonPath: string;
  }[];
}

const text: Schema = { type: 'string' };
const flag: Schema = { type: 'boolean' };
const any: Schema = { type: 'any' };
const int32: Schema = { type: 'integer', format: 'int32' };
const int64: Schema = { type: 'integer', format: 'int64' };
const intOrString: Schema = { type: 'int-or-string' };

function object(fields: Record<string, Schema>, required: readonly string[] = []): ObjectSchema {
  const entries = Object.entries(fields).map(([name, schema]): [string, Field] => [
    name,
    { name, schema, ...(required.includes(name) && { required: true }) },
  ]);
  return { type: 'object', fields: new Map(entries) };
}

function map(values: Schema): Schema {
  return { type: 'map', values };
}

function list(items: Schema, keys?: readonly string[]): Schema {
  return { type: 'list', items, ...(keys && { listType: 'map' as const, listMapKeys: keys }) };
}

function kind(spec: Schema, status: Schema): ObjectSchema {
  return object({ apiVersion: text, kind: text, metadata: any, spec, status });
}

const condition = object(
  {
    type: text,
    status: text,
    reason: text,
    message: text,
    lastTransitionTime: text,
    observedGeneration: int64,
  },
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

const share = object({
  ...numbers,
  phase: text,
  maxReplicas: int32,
  settled: object({ replicas: int32, ordinalsStart: int32 } satisfies Fields<NonNullable<Share['settled']>>),
  maxSurge: intOrString,
  maxUnavailable: intOrString,
  readySince: text,
  heardSince: text,
} satisfies Fields<Share>);

const slice = object({
  present: flag,
  orphans: flag,
  observedGeneration: int64,
  share: object(numbers satisfies Fields<NonNullable<ClusterSlice['share']>>),
  status: any,
  error: object({ reason: text, message: text }),
} satisfies Fields<ClusterSlice>);

const ref = { group: text, version: text, resource: text, kind: text, name: text, uid: text };
const required = { group: text, resource: text, name: text };

const placementSpec = object({
  ref: object(ref satisfies Fields<ObjectRef>),
  namespaceUid: text,
  physicalNamespace: text,
  clusters: { type: 'list', items: text, listType: 'set' },
  wanted: { type: 'list', items: text, listType: 'set' },
  reasons: map(text),
  requires: list(object(required satisfies Fields<ClosureRef>)),
  shares: map(share),
  scale: object({
    replicas: int32,
    generation: int64,
    clusters: { type: 'list', items: text, listType: 'set' },
  } satisfies Fields<Scale>),
  orphaned: text,
} satisfies Fields<PlacementSpec>);

const physicalClusterSpec = object(
  {
    kubeconfigSecretRef: object({ namespace: text, name: text }, ['namespace', 'name']),
    taints: list(object({ key: text, value: text, effect: text } satisfies Fields<Taint>, ['key', 'effect'])),
    unschedulable: flag,
    drain: flag,
    capacity: map({ type: 'string', format: 'quantity' }),
  } satisfies Fields<PhysicalClusterSpec>,
  ['kubeconfigSecretRef'],
);

const physicalClusterStatus = object({
  conditions,
  lastHeartbeatTime: text,
  lastAnswerTime: text,
  clusterUID: text,
  version: text,
  allocatable: map({ type: 'string', format: 'quantity' }),
} satisfies Fields<PhysicalClusterStatus>);

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

function info(of: {
  group: string;
  version: string;
  kind: string;
  resource: string;
  namespaced: boolean;
  shortNames?: string[];
}): ResourceInfo {
  const { kind: kindName, resource, namespaced, shortNames = [] } = of;
  const status = {
    name: 'status',
    group: of.group,
    version: of.version,
    kind: kindName,
    verbs: ['get', 'patch', 'update'],
  };
  return {
    ...{ group: of.group, version: of.version, kind: kindName, resource, namespaced, verbs, shortNames },
    singular: kindName.toLowerCase(),
    categories: [],
    subresources: [status],
    storageVersion: of.version,
  };
}

function column(name: string, type: string, jsonPath: string, priority = 0): OwnResource['columns'][number] {
  return { name, type, format: '', description: '', priority, jsonPath };
}

const age = column('Age', 'date', '.metadata.creationTimestamp');

/** Workspace and LogicalCluster keep kcp's names, so that its clients and plugin work. */
export const ownResources: readonly OwnResource[] = [
  {
    info: info({
      group,
      version,
      kind: 'PhysicalCluster',
      resource: 'physicalclusters',
      namespaced: false,
    }),
    schema: kind(physicalClusterSpec, physicalClusterStatus),
    columns: [
      column('Ready', 'string', '.status.conditions[?(@.type=="Ready")].status'),
      column('Cordoned', 'boolean', '.spec.unschedulable'),
      column('Version', 'string', '.status.version'),
      column('CPU', 'string', '.status.allocatable.cpu'),
      column('Memory', 'string', '.status.allocatable.memory'),
      age,
    ],
  },
  {
    info: info({ group, version, kind: 'Placement', resource: 'placements', namespaced: true }),
    schema: kind(placementSpec, object({ clusters: map(slice), conditions })),
    columns: [
      column('Kind', 'string', '.spec.ref.kind'),
      column('Object', 'string', '.spec.ref.name'),
      column('Clusters', 'string', '.spec.clusters'),
      age,
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
    schema: kind(any, any),
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
    schema: kind(any, any),
    columns: [column('Phase', 'string', '.status.phase'), column('URL', 'string', '.status.URL'), age],
  },
];
