import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Atoll, startAtoll } from '../atoll/atoll.ts';
import { atoll, must, until } from '../atoll/kubectl.ts';
import { type Name, other } from '../atoll/pair.ts';
import { Random } from '../fault/random.ts';
import { type App, appOf } from '../kubelet/app.ts';
import { type KubeProxy, startKubeProxy } from '../kubelet/kube-proxy.ts';
import { type Kubelet, startKubelet } from '../kubelet/kubelet.ts';
import { type Load, startLoad } from '../kubelet/load.ts';
import { type Kubernetes, startKubernetes } from '../kubernetes/kubernetes.ts';

/** A whole app moves between two real clusters under load: none of its users' requests fails. */
const kills = Number(process.env['KILLS'] ?? 3);
/** Its own limits end a round that hangs before this. */
const roundMs = 120_000;
const seed = Number(process.env['SEED'] ?? Date.now());

let app: App;
let server: Atoll;
const clusters: Kubernetes[] = [];
const kubelets = new Map<Name, Kubelet>();
let proxy: KubeProxy;
let loads: Load[] = [];
const shop = ['-n', 'shop'];

beforeAll(async () => {
  app = await appOf(process.env['MANIFESTS'] ?? '../shared/manifests');
  const { served, frontend, backend } = app;
  const names = ['east', 'west'] as const;
  clusters.push(...(await Promise.all(names.map((name) => startKubernetes({ name, nodes: 2, served })))));
  server = await startAtoll();
  for (const [number, name] of names.entries()) {
    const cluster = clusters[number] as Kubernetes;
    kubelets.set(name, await startKubelet(cluster, { labelSelector: served, number, seed: seed + number }));
    const added = await atoll(server.kubeconfig, 'cluster', 'add', name, '--kubeconfig', cluster.kubeconfig);
    expect(added).toMatchObject({ code: 0 });
  }
  proxy = await startKubeProxy(clusters, [frontend, backend], seed);
  await must(server.kubeconfig, 'create', 'ns', 'shop');
  await must(server.kubeconfig, 'annotate', 'ns', 'shop', 'atoll.dev/clusters=east');
  for (const file of app.files) await must(server.kubeconfig, 'apply', ...shop, '-f', file);
  await must(server.kubeconfig, 'scale', 'deploy', '--all', ...shop, '--replicas=1');
  await runsOn('east');
  await until('it can be reached', 30, async () =>
    [frontend, backend].every((service) => proxy.endpoints(service).length > 0),
  );
  loads = [
    startLoad(proxy, { service: frontend, perSecond: 50, keepAlive: false, seed }),
    startLoad(proxy, { service: frontend, perSecond: 10, keepAlive: true, seed }),
    startLoad(proxy, { service: backend, perSecond: 50, keepAlive: false, seed }),
  ];
});
afterAll(async () => {
  await Promise.all(loads.map((load) => load.stop()));
  proxy?.stop();
  for (const kubelet of kubelets.values()) kubelet.stop();
  await server?.dispose();
  await Promise.all(clusters.map((cluster) => cluster.stop()));
});

const kubelet = (name: Name) => kubelets.get(name) as Kubelet;

/** All of it is there and nothing elsewhere, and whoever asks is answered there. */
async function runsOn(name: Name, pods = app.pods): Promise<void> {
  await until(`all of it runs on ${name}, seed ${seed}`, 60, async () => {
    return kubelet(name).ready === pods && kubelet(other(name)).all === 0;
  });
  for (const load of loads) {
    await until(`${name} answers`, 10, async () => {
      const answers = [...load.take()].join();
      if (answers.replace(/,\d+$/, '') !== name) throw new Error(`answered: ${answers}\n${told()}`);
      return true;
    });
  }
}

async function moveTo(names: string): Promise<void> {
  await must(server.kubeconfig, 'annotate', 'ns', 'shop', `atoll.dev/clusters=${names}`, '--overwrite');
}

/** What everybody did. */
function told(): string {
  const failed = loads.flatMap((load) => load.failed.slice(-20));
  const history = [proxy, ...kubelets.values()].flatMap(({ history }) => history);
  return [`seed ${seed}`, ...history.sort().slice(-300), ...failed].join('\n');
}

function expectNoneFailed(): void {
  const failed = loads.flatMap((load) => load.failed);
  expect(failed, failed.length > 0 ? told() : '').toEqual([]);
}

it('moves by one annotation on its Namespace, there and back', async () => {
  for (const to of ['west', 'east'] as const) {
    await moveTo(to);
    await runsOn(to);
    expectNoneFailed();
  }
});

it('leaves a cluster that is drained, and comes back', async () => {
  await moveTo('east,west');
  const drained = await atoll(server.kubeconfig, 'drain', 'east', '--timeout', '180');
  expect(drained).toMatchObject({ code: 0, stderr: '' });
  await runsOn('west');
  expectNoneFailed();
  expect(await atoll(server.kubeconfig, 'uncordon', 'east')).toMatchObject({ code: 0 });
  await must(server.kubeconfig, 'scale', 'deploy', app.frontend, ...shop, '--replicas=2');
  await until(
    'it is on both',
    60,
    async () => kubelet('east').ready === 1 && kubelet('west').ready === app.pods,
  );
  expectNoneFailed();
});

it(
  'moves while Atoll is killed at random instants',
  async () => {
    const random = new Random(seed);
    for (let round = 0; round < kills; round++) {
      const to = round % 2 === 0 ? 'east' : 'west';
      await moveTo(to);
      const ms = random.between(0, 12_000);
      await sleep(ms);
      await server.restart();
      await runsOn(to, app.pods + 1);
      expectNoneFailed();
    }
  },
  roundMs * kills,
);
