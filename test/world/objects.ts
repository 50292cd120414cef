import type { Client } from '../../client/client.ts';
import type { PhysicalCluster, Placement } from '../../cluster/types.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { patienceMs } from '../eventually.ts';

const ref = (group: string, resource: string, version = 'v1') => ({ group, version, resource });

/** What tests ask for, by resource. */
export const resources = {
  namespaces: ref('', 'namespaces'),
  nodes: ref('', 'nodes'),
  pods: ref('', 'pods'),
  services: ref('', 'services'),
  endpoints: ref('', 'endpoints'),
  endpointslices: ref('discovery.k8s.io', 'endpointslices'),
  ingresses: ref('networking.k8s.io', 'ingresses'),
  limitranges: ref('', 'limitranges'),
  resourcequotas: ref('', 'resourcequotas'),
  configmaps: ref('', 'configmaps'),
  secrets: ref('', 'secrets'),
  serviceaccounts: ref('', 'serviceaccounts'),
  persistentvolumeclaims: ref('', 'persistentvolumeclaims'),
  events: ref('', 'events'),
  deployments: ref('apps', 'deployments'),
  horizontalpodautoscalers: ref('autoscaling', 'horizontalpodautoscalers', 'v2'),
  replicasets: ref('apps', 'replicasets'),
  statefulsets: ref('apps', 'statefulsets'),
  daemonsets: ref('apps', 'daemonsets'),
  jobs: ref('batch', 'jobs'),
  customresourcedefinitions: ref('apiextensions.k8s.io', 'customresourcedefinitions'),
  placements: ref('atoll.dev', 'placements', 'v1alpha1'),
  physicalclusters: ref('atoll.dev', 'physicalclusters', 'v1alpha1'),
  volumecopies: ref('atoll.dev', 'volumecopies', 'v1alpha1'),
  placementpolicies: ref('atoll.dev', 'placementpolicies', 'v1alpha1'),
  clusterplacementpolicies: ref('atoll.dev', 'clusterplacementpolicies', 'v1alpha1'),
  workspaces: ref('tenancy.kcp.io', 'workspaces', 'v1alpha1'),
} as const;

/** A Deployment in namespace default, on `clusters` where they are given. */
export function deployment(name: string, replicas: number, clusters?: string): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name,
      namespace: 'default',
      ...(clusters !== undefined && { annotations: { 'atoll.dev/clusters': clusters } }),
    },
    spec: { replicas, selector: { matchLabels: { app: name } }, template: template(name) },
  };
}

export function statefulSet(name: string, replicas: number, clusters?: string): KubeObject {
  const { metadata, spec } = deployment(name, replicas, clusters);
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata,
    spec: { ...(spec as object), serviceName: name },
  };
}

export function template(name: string, image = `${name}:1`): object {
  return { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image }] } };
}

/** Where `kubectl annotate KIND NAME atoll.dev/clusters=CLUSTERS --overwrite` puts it. */
export async function move(
  client: Client,
  resource: (typeof resources)[keyof typeof resources],
  name: string,
  clusters: string,
): Promise<void> {
  const metadata = { annotations: { 'atoll.dev/clusters': clusters } };
  await client.patch(resource, { namespace: 'default', name }, 'merge', { metadata });
}

/** Names of a physical cluster's own pods with this `app` label that are Ready and not going. */
export async function readyPods(physical: { client: Client }, app: string): Promise<string[]> {
  const { items } = await physical.client.list<Pod>(resources.pods, { labelSelector: `app=${app}` });
  return items
    .filter(({ metadata, status }) => {
      const ready = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True');
      return ready && metadata.deletionTimestamp === undefined;
    })
    .map(({ metadata }) => metadata.name ?? '')
    .sort();
}

type Pod = KubeObject<unknown, { conditions?: { type: string; status: string }[] }>;

/** Whether the PhysicalCluster's condition Ready is True. */
export async function isReady(client: Client, name: string): Promise<boolean> {
  const cluster = await find<PhysicalCluster>(client, resources.physicalclusters, name, '');
  return cluster?.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') === true;
}

/** The object, or undefined where the API says that there is none. */
export async function find<T extends KubeObject>(
  client: Client,
  resource: (typeof resources)[keyof typeof resources],
  name: string,
  namespace = 'default',
): Promise<T | undefined> {
  try {
    return await client.get<T>(resource, { namespace, name });
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined;
    throw error;
  }
}

/** Waits until everything that a Placement asks for is where it should be. */
export async function settled(client: Client, placement: string, namespace = 'default'): Promise<Placement> {
  return await until(`${placement} is settled`, async () => {
    const found = await find<Placement>(client, resources.placements, placement, namespace);
    const is = (type: string) =>
      found?.status?.conditions?.some((c) => c.type === type && c.status === 'True') === true;
    return is('Placed') && is('Settled') ? found : undefined;
  });
}

/** Waits until `check` answers something true and gives it; fails with `what` when only a hang can be why. */
export async function until<T>(
  what: string,
  check: () => T | Promise<T>,
  ms = patienceMs,
): Promise<NonNullable<T>> {
  const deadline = Date.now() + ms;
  for (;;) {
    const value = await check();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`not within ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
