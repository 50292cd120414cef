import { Client } from '../client/client.ts';
import { transportFromKubeconfig } from '../client/kubeconfig.ts';
import { shownLimit, whyNotReady } from '../cluster/capacity.ts';
import { readyOf } from '../cluster/life.ts';
import { apiVersion, systemNamespace } from '../cluster/names.ts';
import type { InClusterConfig, PhysicalCluster } from '../cluster/types.ts';
import { isStatusError } from '../kube/status.ts';
import { formerUids } from './adopt.ts';
import { FailedError } from './errors.ts';
import { flatKubeconfig } from './flatten.ts';
import { age, type OutputFormat, print, printJson, table } from './output.ts';
import { credentialsOf, namespaces, physicalClusters, secrets } from './resources.ts';
import { refuseTwin } from './twins.ts';

export interface AddOptions {
  kubeconfig: string;
  context?: string;
  labels?: Record<string, string>;
  /** Empty: none any more. */
  network?: string;
  /** Empty: none any more. */
  copier?: string;
  inCluster?: InClusterConfig;
  /** Takes over what a former registration of this very cluster left there. */
  adopt?: boolean;
  waitSeconds: number;
  output: OutputFormat;
}

/** Joins a physical cluster: stores its kubeconfig as a Secret in root, registers it, waits until it is Ready. */
export async function addCluster(client: Client, name: string, options: AddOptions): Promise<void> {
  const kubeconfig = await flatKubeconfig(options.kubeconfig, options.context);
  await refuseLeaving(client, name);
  const transport = await transportFromKubeconfig(kubeconfig);
  let adopt: string[] = [];
  try {
    const target = new Client(transport);
    await target.json('/version').catch((error: Error) => {
      throw new FailedError(`cluster ${name} does not answer: ${error.message}`);
    });
    await refuseTwin(client, target, name);
    adopt = options.adopt ? await formerUids(client, target) : [];
  } finally {
    transport.close();
  }
  await registerCluster(client, name, kubeconfig, { ...options, adopt });
  const cluster = await untilReady(client, name, options.waitSeconds);
  if (options.output === 'json') printJson(cluster);
  else print(`physicalcluster.atoll.dev/${name} joined`);
}

/** What is being removed cannot be kept: what would be joined goes all the same. */
async function refuseLeaving(client: Client, name: string): Promise<void> {
  const { items } = await client.list<PhysicalCluster>(physicalClusters);
  const leaving = items.some(({ metadata }) => metadata.name === name && metadata.deletionTimestamp);
  if (leaving)
    throw new FailedError(
      `${name} is being removed: join it again when it is gone; atoll cluster remove ${name} says what keeps it`,
    );
}

/**
 * Creates or updates the Secret and the PhysicalCluster: what is not named of one that is there stays as it is. Also what `atoll demo` does with its
 * simulated ones.
 */
export async function registerCluster(
  client: Client,
  name: string,
  kubeconfig: string,
  options: {
    labels?: Record<string, string>;
    network?: string;
    copier?: string;
    inCluster?: InClusterConfig;
    adopt?: readonly string[];
  } = {},
): Promise<void> {
  const secretName = credentialsOf(name);
  const { labels, network, copier, inCluster, adopt } = options;
  /** `none`: how a field is said to be absent. */
  const cluster = (none?: null) => ({
    apiVersion,
    kind: 'PhysicalCluster',
    metadata: { name, ...(labels && { labels }) },
    spec: {
      kubeconfigSecretRef: { namespace: systemNamespace, name: secretName },
      ...(network !== undefined && { network: network || none }),
      ...(copier !== undefined && { copier: copier || none }),
      // Of another server another authority vouches.
      ...(inCluster && { inClusterConfig: { certificateAuthorityData: none, ...inCluster } }),
      ...(adopt?.length && { adopt }),
    },
  });
  const write = async (dryRun: boolean) => {
    try {
      await client.patch(physicalClusters, { name }, 'merge', cluster(null), {
        fieldManager: 'atoll',
        dryRun,
      });
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
      await client.create(physicalClusters, cluster(), { dryRun });
    }
  };
  // What is refused changes nothing, the credentials neither, without which it is not Ready.
  await write(true);
  await storeCredentials(client, secretName, kubeconfig);
  await write(false);
}

async function storeCredentials(client: Client, secretName: string, kubeconfig: string): Promise<void> {
  await ignoreExists(
    client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: systemNamespace } }),
  );
  const data = { kubeconfig: Buffer.from(kubeconfig).toString('base64') };
  const metadata = { name: secretName, namespace: systemNamespace };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'atoll.dev/kubeconfig', data };
  await client.patch(secrets, { namespace: systemNamespace, name: secretName }, 'apply', secret, {
    force: true,
    fieldManager: 'atoll',
  });
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

export function clusterState(cluster: PhysicalCluster): string {
  const ready = readyOf(cluster)?.status;
  const words = [
    ready === 'True' ? 'Ready' : ready === undefined || ready === 'Unknown' ? 'Unknown' : 'NotReady',
  ];
  if (cluster.spec?.drain) words.push('Draining');
  else if (cluster.spec?.unschedulable) words.push('SchedulingDisabled');
  if (cluster.spec?.rebalance) words.push('Rebalancing');
  return words.join(',');
}

async function untilReady(client: Client, name: string, seconds: number): Promise<PhysicalCluster> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const cluster = await client.get<PhysicalCluster>(physicalClusters, { name });
    const ready = readyOf(cluster);
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
