import { readFileSync } from 'node:fs';
import type { Client } from '../client/client.ts';
import { clustersAnnotation, rootCluster } from '../cluster/names.ts';
import type { KubeObject } from '../kube/object.ts';
import { decodeYaml } from '../kube/yaml.ts';
import { startSimulatedCluster } from '../sim/cluster.ts';
import { registerCluster } from './cluster.ts';
import { startOrExplain } from './commands/start.ts';
import { FailedError } from './errors.ts';
import { print } from './output.ts';
import { systemClient } from './server/controllers.ts';
import { untilSignal } from './server/signals.ts';
import type { Settings } from './settings.ts';

const clusters = ['east', 'west'] as const;
const deployments = { group: 'apps', version: 'v1', resource: 'deployments' };

/** Shows the whole chain on one screen, then stays up. */
export async function runDemo(settings: Settings): Promise<void> {
  const started = Date.now();
  const step = (text: string) =>
    print(`${((Date.now() - started) / 1000).toFixed(1).padStart(5)} s  ${text}`);
  const running = await startOrExplain(settings);
  step(`API server up at ${running.url}, store in ${settings.dataDir}`);
  const simulated = await Promise.all(
    clusters.map((name, i) => startSimulatedCluster({ name, seed: i + 1 })),
  );
  const client = systemClient(running.server, 'admin', rootCluster);
  for (const cluster of simulated) {
    await registerCluster(client, cluster.name, cluster.kubeconfig);
    step(`physical cluster ${cluster.name} joined: simulated, 3 nodes, ${cluster.url}`);
  }
  await placeDefault(client);
  step(`namespace default placed: ${clustersAnnotation}=${clusters.join(',')}`);
  const objects = sample();
  for (const object of objects) await applyObject(client, object);
  step(`applied the shop: ${summary(objects)}`);
  await untilReady(client, step);
  print(next(running.kubeconfig));
  print(`Atoll is ready at ${running.url} (KUBECONFIG=${running.kubeconfig}). Ctrl-C stops it.`);
  await untilSignal();
  await running.stop();
  await Promise.all(simulated.map((cluster) => cluster.stop()));
}

function sample(): KubeObject[] {
  const text = readFileSync(new URL('../sim/samples/shop.yaml', import.meta.url), 'utf8');
  return text.split(/^---$/m).map((document) => decodeYaml(document).value as unknown as KubeObject);
}

function summary(objects: readonly KubeObject[]): string {
  const counts = new Map<string, number>();
  for (const { kind } of objects) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, n]) => (n > 1 ? `${n} ${kind}s` : kind)).join(', ');
}

async function placeDefault(client: Client): Promise<void> {
  const namespaces = { group: '', version: 'v1', resource: 'namespaces' };
  const metadata = { annotations: { [clustersAnnotation]: clusters.join(',') } };
  await client.patch(namespaces, { name: 'default' }, 'merge', { metadata });
}

const plurals: Readonly<Record<string, string>> = {
  ConfigMap: 'configmaps',
  Secret: 'secrets',
  ServiceAccount: 'serviceaccounts',
  Service: 'services',
  Deployment: 'deployments',
  HorizontalPodAutoscaler: 'horizontalpodautoscalers',
  PodDisruptionBudget: 'poddisruptionbudgets',
};

async function applyObject(client: Client, object: KubeObject): Promise<void> {
  const [group, version] = object.apiVersion.includes('/')
    ? object.apiVersion.split('/')
    : ['', object.apiVersion];
  const resource = { group: group ?? '', version: version ?? '', resource: plurals[object.kind] ?? '' };
  const target = { namespace: 'default', name: object.metadata.name ?? '' };
  await client.patch(resource, target, 'apply', object, { fieldManager: 'atoll-demo', force: true });
}

type Deployment = KubeObject<{ replicas?: number }, { readyReplicas?: number }>;

async function untilReady(client: Client, step: (text: string) => void): Promise<void> {
  const shown = new Map<string, string>();
  const deadline = Date.now() + 60_000;
  for (;;) {
    const { items } = await client.list<Deployment>(deployments, { namespace: 'default' });
    for (const { metadata, spec, status } of items) {
      const state = `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 1} ready`;
      if (shown.get(metadata.name ?? '') !== state) step(`deployment ${metadata.name}: ${state}`);
      shown.set(metadata.name ?? '', state);
    }
    if (items.every(({ spec, status }) => status?.readyReplicas === spec?.replicas)) return;
    if (Date.now() > deadline)
      throw new FailedError('the app did not become ready within 60 s; --log-level info says more');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function next(kubeconfig: string): string {
  return `
The app runs on both clusters. In another terminal:

  export KUBECONFIG=${kubeconfig}
  kubectl get deploy,pods -o wide
  kubectl annotate deploy web ${clustersAnnotation}=west --overwrite   # move it
  kubectl get deploy web -w                                            # and watch: no dip
  npx atoll drain east                                                 # empty a cluster
`;
}
