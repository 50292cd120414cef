import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Atoll, startAtoll } from '../atoll/atoll.ts';
import { atoll, must, until } from '../atoll/kubectl.ts';
import { type Kubernetes, startKubernetes } from '../kubernetes/kubernetes.ts';
import { storageObjects } from '../kubernetes/kwok.ts';
import { needsCluster, type Section } from './specs.ts';

export interface Server {
  kubeconfig: string;
  log(): string;
  stop(): Promise<void>;
}

/** Atoll on an empty data directory; where the section needs it one real cluster has joined it. */
export async function startServer(section: Section): Promise<Server> {
  let physical: Kubernetes | undefined;
  let server: Atoll | undefined;
  const stop = async () => {
    await server?.dispose();
    await physical?.stop();
  };
  try {
    const pods = section === 'F' ? 'ending' : 'fast';
    if (needsCluster(section)) physical = await startKubernetes({ name: 'physical', nodes: 2, pods });
    server = await startAtoll();
    const { kubeconfig, log } = server;
    if (physical) await joinCluster(kubeconfig, physical);
    if (physical && section === 'F') await makeStorage(server, physical);
    await until('the default ServiceAccount', 30, () => must(kubeconfig, 'get', 'serviceaccount', 'default'));
    await makeNodes(server);
    return { kubeconfig, log, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function joinCluster(kubeconfig: string, physical: Kubernetes): Promise<void> {
  const args = ['cluster', 'add', physical.name, '--kubeconfig', physical.kubeconfig];
  const { code, stderr } = await atoll(kubeconfig, ...args);
  if (code !== 0) throw new Error(stderr);
  await must(
    kubeconfig,
    'wait',
    '--for=condition=Ready',
    `physicalcluster/${physical.name}`,
    '--timeout=60s',
  );
}

/** Claims are bound on the physical cluster, of which the logical one knows no class. */
async function makeStorage({ kubeconfig, dataDir }: Atoll, physical: Kubernetes): Promise<void> {
  for (const [where, volumes] of [
    [physical.kubeconfig, 80],
    [kubeconfig, 0],
  ] as const) {
    const file = join(dataDir, `storage-${volumes}.yaml`);
    await writeFile(file, storageObjects(volumes));
    await must(where, 'apply', '-f', file);
  }
}

/** The suite does not begin before it sees a Node that takes pods: where none is shown, two are made. */
async function makeNodes({ kubeconfig, dataDir }: Atoll): Promise<void> {
  if ((await must(kubeconfig, 'get', 'nodes', '-o', 'name')) !== '') return;
  const room = { cpu: '4', memory: '8Gi', pods: '110' };
  const status = { conditions: [{ type: 'Ready', status: 'True' }], capacity: room, allocatable: room };
  for (const name of ['physical-1', 'physical-2']) {
    const labels = { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux' };
    const file = join(dataDir, `${name}.json`);
    await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels } }));
    await must(kubeconfig, 'apply', '-f', file);
    const patch = ['patch', 'node', name, '--type=merge', '-p'];
    await must(kubeconfig, ...patch, JSON.stringify({ status }), '--subresource=status');
    await must(kubeconfig, ...patch, JSON.stringify({ spec: { taints: null } }));
  }
}
