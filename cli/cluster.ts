import { Client } from '../client/client.ts';
import { transportFromKubeconfig } from '../client/kubeconfig.ts';
import { shownLimit, whyNotReady } from '../cluster/capacity.ts';
import { apiVersion, systemNamespace } from '../cluster/names.ts';
import type { PhysicalCluster, Placement } from '../cluster/types.ts';
import { isStatusError } from '../kube/status.ts';
import { FailedError } from './errors.ts';
import { flatKubeconfig } from './flatten.ts';
import { age, type OutputFormat, print, printJson, table } from './output.ts';
import { namespaces, physicalClusters, placements, secrets } from './resources.ts';
import { refuseTwin } from './twins.ts';

export interface AddOptions {
  kubeconfig: string;
  context?: string;
  labels?: Record<string, string>;
  waitSeconds: number;
  output: OutputFormat;
}

/** Joins a physical cluster: stores its kubeconfig as a Secret in root, registers it, waits until it is Ready. */
export async function addCluster(client: Client, name: string, options: AddOptions): Promise<void> {
  const kubeconfig = await flatKubeconfig(options.kubeconfig, options.context);
  const transport = await transportFromKubeconfig(kubeconfig);
  try {
    const target = new Client(transport);
    await target.json('/version').catch((error: Error) => {
      throw new FailedError(`cluster ${name} does not answer: ${error.message}`);
    });
    await refuseTwin(client, target, name);
  } finally {
    transport.close();
  }
  await registerCluster(client, name, kubeconfig, options);
  const cluster = await untilReady(client, name, options.waitSeconds);
  if (options.output === 'json') printJson(cluster);
  else print(`physicalcluster.atoll.dev/${name} joined`);
}

/** Creates or updates the Secret and the PhysicalCluster; also what `atoll demo` does with its simulated ones. */
export async function registerCluster(
  client: Client,
  name: string,
  kubeconfig: string,
  options: { labels?: Record<string, string> } = {},
): Promise<void> {
  await ignoreExists(
    client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: systemNamespace } }),
  );
  const secretName = `physicalcluster-${name}`;
  const data = { kubeconfig: Buffer.from(kubeconfig).toString('base64') };
  const metadata = { name: secretName, namespace: systemNamespace };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'atoll.dev/kubeconfig', data };
  await client.patch(secrets, { namespace: systemNamespace, name: secretName }, 'apply', secret, {
    force: true,
    fieldManager: 'atoll',
  });
  const cluster = {
    apiVersion,
    kind: 'PhysicalCluster',
    metadata: { name, ...(options.labels && { labels: options.labels }) },
    spec: { kubeconfigSecretRef: { namespace: systemNamespace, name: secretName } },
  };
  await client.patch(physicalClusters, { name }, 'apply', cluster, { force: true, fieldManager: 'atoll' });
}

export async function listClusters(client: Client, output: OutputFormat): Promise<void> {
  const list = await client.list<PhysicalCluster>(physicalClusters);
  if (output === 'json') return printJson(list);
  if (list.items.length === 0)
    return print('No physical clusters. Join one: atoll cluster add NAME --kubeconfig FILE');
  const rows = list.items.map((cluster) => [
    cluster.metadata.name ?? '',
    clusterState(cluster),
    cluster.status?.version ?? '<unknown>',
    shownLimit(cluster, 'cpu'),
    shownLimit(cluster, 'memory'),
    age(cluster.metadata.creationTimestamp),
    whyNotReady(cluster),
  ]);
  print(table(['NAME', 'STATUS', 'VERSION', 'CPU', 'MEMORY', 'AGE', 'WHY'], rows));
}

/** Forgets an empty cluster. One that still holds something of ours is refused: drain it first. */
export async function removeCluster(client: Client, name: string, force: boolean): Promise<void> {
  const held = await client.list<Placement>(placements, { cluster: '*' });
  const still = held.items.filter((placement) => placement.spec?.shares?.[name] !== undefined);
  if (still.length > 0 && !force) {
    throw new FailedError(
      `${name} still holds ${still.length} objects: run atoll drain ${name} first, or --force to leave them there`,
    );
  }
  await client.delete(physicalClusters, { name });
  await client
    .delete(secrets, { namespace: systemNamespace, name: `physicalcluster-${name}` })
    .catch((error: unknown) => {
      if (!isStatusError(error, 'NotFound')) throw error;
    });
  print(`physicalcluster.atoll.dev/${name} removed`);
}

export function clusterState(cluster: PhysicalCluster): string {
  const ready = cluster.status?.conditions?.find((condition) => condition.type === 'Ready')?.status;
  const words = [
    ready === 'True' ? 'Ready' : ready === undefined || ready === 'Unknown' ? 'Unknown' : 'NotReady',
  ];
  if (cluster.spec?.drain) words.push('Draining');
  else if (cluster.spec?.unschedulable) words.push('SchedulingDisabled');
  return words.join(',');
}

async function untilReady(client: Client, name: string, seconds: number): Promise<PhysicalCluster> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const cluster = await client.get<PhysicalCluster>(physicalClusters, { name });
    const ready = cluster.status?.conditions?.find((condition) => condition.type === 'Ready');
    if (ready?.status === 'True') return cluster;
    if (Date.now() > deadline) {
      throw new FailedError(
        `${name} is registered but not Ready after ${seconds} s: ${ready?.message ?? 'its syncer has not reported'}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function ignoreExists(request: Promise<unknown>): Promise<void> {
  await request.catch((error: unknown) => {
    if (!isStatusError(error, 'AlreadyExists')) throw error;
  });
}
