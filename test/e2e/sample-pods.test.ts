import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildSample, isAvailable, watchedSince } from '../aggregation/sample.ts';
import { runSample } from '../aggregation/sample-pod.ts';
import { type Atoll, startAtoll } from '../atoll/atoll.ts';
import { atoll as command, kubectl, must, printing, until } from '../atoll/kubectl.ts';
import { freePort } from '../etcd/etcd.ts';
import { logicalCluster } from '../fidelity/workspace.ts';
import { type Kubelet, startKubelet } from '../kubelet/kubelet.ts';
import { type Kubernetes, startKubernetes } from '../kubernetes/kubernetes.ts';

/** Kubernetes' sample API server, unmodified, installed by its own manifests: a Deployment, placed on real clusters. */
const names = ['east', 'west'] as const;
const served = 'apiserver=true';
const seed = Number(process.env['SEED'] ?? Date.now());

let dir: string;
let built: string;
let server: Atoll;
let tenant: string;
const clusters: Kubernetes[] = [];
const kubelets: Kubelet[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sample-pods-'));
  built = await buildSample();
  const ports = [await freePort(), await freePort()];
  const started = names.map((name, at) =>
    startKubernetes({ name, nodes: 1, served, forwards: { 443: ports[at] as number } }),
  );
  clusters.push(...(await Promise.all(started)));
  server = await startAtoll();
  const inClusterConfig = { server: new URL(server.url).origin };
  for (const [number, name] of names.entries()) {
    const { kubeconfig } = clusters[number] as Kubernetes;
    const of = { built, physical: kubeconfig, port: ports[number] as number, dir };
    const run = { run: (pod: object) => runSample({ ...of, etcd: clusters[0]!.etcd }, pod as never) };
    kubelets.push(
      await startKubelet(clusters[number] as Kubernetes, { labelSelector: served, number, seed, ...run }),
    );
    const added = await command(server.kubeconfig, 'cluster', 'add', name, '--kubeconfig', kubeconfig);
    expect(added).toMatchObject({ code: 0 });
    const reach = JSON.stringify({ spec: { inClusterConfig } });
    await must(server.kubeconfig, 'patch', 'physicalcluster', name, '--type=merge', '-p', reach);
  }
  tenant = await logicalCluster(server, 'team-a');
}, 1_600_000);

afterAll(async () => {
  for (const kubelet of kubelets) kubelet.stop();
  await server?.dispose();
  await Promise.all(clusters.map((cluster) => cluster.stop()));
  await rm(dir, { recursive: true, force: true });
});

const manifest = (name: string) => join(built, 'example', `${name}.yaml`);
const flunders = '/apis/wardle.example.com/v1alpha1/namespaces/default/flunders';

async function file(object: object): Promise<string> {
  const path = join(dir, `${Math.random()}.json`);
  await writeFile(path, JSON.stringify(object));
  return path;
}

const flunder = (name: string) =>
  file({ apiVersion: 'wardle.example.com/v1alpha1', kind: 'Flunder', metadata: { name } });

test('is installed as on any cluster, and its group is there', async () => {
  for (const name of ['ns', 'sa', 'rbac', 'rbac-bind', 'auth-delegator', 'auth-reader']) {
    await must(tenant, 'create', '-f', manifest(name));
  }
  await must(tenant, 'create', '-f', await file({ apiVersion: 'v1', kind: 'List', items: watchedSince }));
  await must(tenant, 'annotate', 'ns', 'wardle', 'atoll.dev/clusters=east');
  for (const name of ['deployment', 'service', 'apiservice']) {
    await must(tenant, 'create', '-f', manifest(name));
  }
  await until('its group is available', 60, () => isAvailable(tenant));
  expect(await must(tenant, 'api-resources', '--api-group=wardle.example.com')).toContain('Flunder');
});

test('kubectl makes, gets, watches and deletes', async () => {
  await must(tenant, 'create', '-f', await flunder('first'));
  const watching = printing(tenant, 'get', 'flunders', '-w', '-o', 'name');
  const seen = (count: number) => watching.text().match(/flunder/g)?.length === count;
  try {
    await until('the watch has begun', 20, async () => seen(1));
    await must(tenant, 'create', '-f', await flunder('second'));
    expect(await must(tenant, 'get', 'flunders', '-o', 'name')).toMatch(/first\s.*second/);
    await must(tenant, 'label', 'flunder', 'first', 'a=b');
    await must(tenant, 'delete', 'flunder', 'second');
    await until('the watch has told all of it', 20, async () => seen(4));
  } finally {
    await watching.stop();
  }
  expect((await kubectl(tenant, 'get', 'flunder', 'second')).stderr).toContain('NotFound');
});

test('moves to another cluster, and is answered all the time', async () => {
  const life = new AbortController();
  const failed: string[] = [];
  let answered = 0;
  const ask = async (what: string, ...args: string[]) => {
    while (!life.signal.aborted) {
      const { code, stderr } = await kubectl(tenant, ...args);
      if (code === 0) answered++;
      else failed.push(`${new Date().toISOString()} ${what}: ${stderr}`);
    }
  };
  const asking = [
    ask('get', 'get', '--raw', flunders),
    ask('replace', 'label', 'flunder', 'first', 'a=c', '--overwrite'),
  ];
  await must(tenant, 'annotate', 'ns', 'wardle', 'atoll.dev/clusters=west', '--overwrite');
  await until('it runs on west alone', 90, async () => kubelets[1]?.ready === 1 && kubelets[0]?.all === 0);
  const before = answered;
  await until('and goes on', 20, async () => answered > before + 4);
  life.abort();
  await Promise.all(asking);
  const history = kubelets.flatMap((kubelet) => kubelet.history);
  expect(failed, [...history, ...failed].sort().join('\n')).toEqual([]);
  expect(await isAvailable(tenant)).toBe(true);
  expect(await must(tenant, 'get', 'flunders', '-o', 'name')).toContain('first');
});
