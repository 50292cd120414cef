import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Atoll, startAtoll } from '../atoll/atoll.ts';
import { atoll, must, mustJson, until } from '../atoll/kubectl.ts';
import { type Name, workload } from '../atoll/pair.ts';
import { type KubeProxy, startKubeProxy } from '../kubelet/kube-proxy.ts';
import { type Kubelet, startKubelet } from '../kubelet/kubelet.ts';
import { type Load, startLoad } from '../kubelet/load.ts';
import { type Kubernetes, startKubernetes } from '../kubernetes/kubernetes.ts';

/** Two real clusters with one network: who is on east, and knows only what is there, reaches pods on west by the Service there. */
const names = ['east', 'west'] as const;
const seed = Number(process.env['SEED'] ?? Date.now());
const shop = ['-n', 'shop'];

let server: Atoll;
let clusters: Kubernetes[] = [];
const kubelets: Kubelet[] = [];
let onEast: KubeProxy;
let load: Load;

beforeAll(async () => {
  clusters = await Promise.all(names.map((name) => startKubernetes({ name, nodes: 2, served: 'app=web' })));
  server = await startAtoll();
  for (const [number, cluster] of clusters.entries()) {
    const { name, kubeconfig } = cluster;
    kubelets.push(await startKubelet(cluster, { labelSelector: 'app=web', number, seed: seed + number }));
    const how = ['--kubeconfig', kubeconfig, '--network', 'one'];
    expect(await atoll(server.kubeconfig, 'cluster', 'add', name, ...how)).toMatchObject({ code: 0 });
  }
  onEast = await startKubeProxy(clusters.slice(0, 1), ['web'], seed);
  await must(server.kubeconfig, 'create', 'ns', 'shop');
  const web = workload('Deployment', 'web', 4, 'east,west');
  const container = {
    name: 'c',
    image: 'registry.example/web:1',
    ports: [{ name: 'http', containerPort: 8080 }],
  };
  const made = {
    ...web,
    metadata: {
      ...web.metadata,
      annotations: { ...web.metadata.annotations, 'atoll.dev/drain-seconds': '3600' },
    },
    spec: {
      ...web.spec,
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [container] } },
    },
  };
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web' },
    spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 'http' }] },
  };
  const file = join(server.dataDir, 'web.yaml');
  await writeFile(file, [service, made].map((object) => JSON.stringify(object)).join('\n---\n'));
  await must(server.kubeconfig, 'apply', ...shop, '-f', file);
  await until('it runs on both', 60, async () => kubelets.every(({ ready }) => ready === 2));
  await until('it can be reached', 30, async () => onEast.endpoints('web').length === 4);
  load = startLoad(onEast, { service: 'web', perSecond: 50, keepAlive: false, seed });
});
afterAll(async () => {
  await load?.stop();
  onEast?.stop();
  for (const kubelet of kubelets) kubelet.stop();
  await server?.dispose();
  await Promise.all(clusters.map((cluster) => cluster.stop()));
});

async function answers(...by: Name[]): Promise<void> {
  load.take();
  await until(`${by.join(' and ')} answer, seed ${seed}`, 60, async () => {
    return [...load.take().keys()].sort().join() === by.join();
  });
  expect(load.failed, onEast.history.slice(-50).join('\n')).toEqual([]);
}

const ours = ['get', 'endpointslices', '-A', '-l', 'endpointslice.kubernetes.io/managed-by=atoll.dev'];

it('an app on both is reached on both; one that leaves east is reached from there on west, as long as it is said to be one network', async () => {
  await answers('east', 'west');
  await must(
    server.kubeconfig,
    'annotate',
    'deploy',
    'web',
    ...shop,
    'atoll.dev/clusters=west',
    '--overwrite',
  );
  await answers('west');
  const network = async (name: string | null) => {
    const patch = JSON.stringify({ spec: { network: name } });
    await must(server.kubeconfig, 'patch', 'physicalcluster', 'west', '--type=merge', '-p', patch);
  };
  await network(null);
  await answers('east');
  await network('one');
  await answers('west');
  await load.stop();
  await must(
    server.kubeconfig,
    'annotate',
    'deploy',
    'web',
    ...shop,
    'atoll.dev/drain-seconds=0',
    '--overwrite',
  );
  for (const { name, kubeconfig } of clusters)
    await until(`nothing of ours is left on ${name}`, 60, async () => {
      return (await mustJson<{ items: unknown[] }>(kubeconfig, ...ours)).items.length === 0;
    });
  expect(load.failed).toEqual([]);
});
