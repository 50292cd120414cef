import { shownLimit, whyNotReady } from './capacity.ts';
import { conditions } from './condition-schema.ts';
import { type LimitName, limitsSchema, shownUse, validateWorkspace } from './limits.ts';
import { group, physicalClusters, version } from './names.ts';
import { age, column, computed, info, type OwnResource } from './own.ts';
import { placedResource } from './placed-resource-schema.ts';
import { placementSpec, placementStatus } from './placement-schema.ts';
import { podMetricsResource } from './pod-metrics.ts';
import { policyResources } from './policy-schema.ts';
import { any, effect, type Fields, flag, int32, kind, list, map, object, open, text } from './schema.ts';
import { sharesOf, stateOf, whyOf } from './summary.ts';
import { texts } from './texts.ts';
import type {
  InClusterConfig,
  PhysicalCluster,
  PhysicalClusterSpec,
  PhysicalClusterStatus,
  Taint,
} from './types.ts';
import { validateCluster } from './validate.ts';
import { volumeCopy } from './volume-copy-schema.ts';

const physicalClusterSpec = object(
  {
    kubeconfigSecretRef: object({ namespace: text, name: text }, texts.secretRef, ['namespace', 'name']),
    taints: list(
      object({ key: text, value: text, effect, timeAdded: text } satisfies Fields<Taint>, texts.taint, [
        'key',
        'effect',
      ]),
    ),
    unschedulable: flag,
    drain: flag,
    drainConcurrent: int32,
    rebalance: flag,
    cost: int32,
    forget: flag,
    adopt: { type: 'list', items: text, listType: 'set' },
    capacity: map({ type: 'string', format: 'quantity' }),
    namespaceLabels: { type: 'list', items: text, listType: 'set' },
    network: text,
    copier: text,
    inClusterConfig: object(
      { server: text, certificateAuthorityData: text } satisfies Fields<InClusterConfig>,
      texts.inClusterConfig,
      ['server'],
    ),
  } satisfies Fields<PhysicalClusterSpec>,
  texts.physicalClusterSpec,
  ['kubeconfigSecretRef'],
);

const physicalClusterStatus = object(
  {
    conditions,
    lastHeartbeatTime: text,
    silentAfterSeconds: int32,
    lastAnswerTime: text,
    clusterUID: text,
    version: text,
    namespaces: int32,
    allocatable: map({ type: 'string', format: 'quantity' }),
    nodeLabels: { type: 'list', items: text, listType: 'set' },
    serves: { type: 'list', items: text, listType: 'set' },
  } satisfies Fields<PhysicalClusterStatus>,
  texts.physicalClusterStatus,
);
const physicalCluster = kind(physicalClusterSpec, physicalClusterStatus, texts.physicalCluster, ['spec']);

const workspaceType = open({ name: text, path: text }, texts.workspaceType);
const workspace = kind(
  open({ type: workspaceType, cluster: text, URL: text, limits: limitsSchema }, texts.workspaceSpec),
  open({ phase: text, conditions, hard: any, used: any }, texts.workspaceStatus),
  texts.workspace,
);
const logicalCluster = kind(
  open({ owner: any }, texts.logicalClusterSpec),
  open({ phase: text, URL: text, hard: any, used: any }, texts.logicalClusterStatus),
  texts.logicalCluster,
);

const use = (name: string, limit: LimitName) => ({
  ...computed(name, (object) => shownUse(object, limit)),
  priority: 1,
});

/** Of the logical cluster: what it uses of what it may. */
const uses = [
  use('Objects', 'objects'),
  use('Bytes', 'bytes'),
  use('Requests/s', 'requestsPerSecond'),
  use('Watches', 'watches'),
  use('CRDs', 'customResourceDefinitions'),
  use('Webhooks', 'webhooks'),
];

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
      column('Network', 'string', '.spec.network', 1),
      column('Copier', 'string', '.spec.copier', 1),
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
      // Decided and told in one write.
      statusWithRest: true,
      unmanaged: true,
    }),
    schema: kind(placementSpec, placementStatus, texts.placement),
    columns: [
      column('Kind', 'string', '.spec.ref.kind', 1),
      column('Object', 'string', '.spec.ref.name', 1),
      computed('Clusters', sharesOf),
      computed('State', stateOf),
      age,
      computed('Why', whyOf),
    ],
  },
  ...policyResources,
  placedResource,
  volumeCopy,
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
    validate: validateWorkspace,
    columns: [
      column('Type', 'string', '.spec.type.name'),
      column('Phase', 'string', '.status.phase'),
      column('URL', 'string', '.spec.URL'),
      age,
      ...uses,
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
    columns: [
      column('Phase', 'string', '.status.phase'),
      column('URL', 'string', '.status.URL'),
      age,
      ...uses,
    ],
  },
  podMetricsResource,
];
