import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Atoll, startAtoll } from '../atoll/atoll.ts';
import { must, mustJson, until } from '../atoll/kubectl.ts';
import { freePort } from '../etcd/etcd.ts';
import { logicalCluster } from '../fidelity/workspace.ts';
import { podKubeconfig } from '../operators/account.ts';

/** Argo Rollouts, unmodified, as its own manifest installs it, over two simulated clusters: with what its pod finds there. */
const build = new URL('../operators/build-argo-rollouts', import.meta.url).pathname;
const namespace = 'argo-rollouts';

let server: Atoll;
let dir: string;
let tenant: string;
let controller: ChildProcess;
const log: string[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'atoll-argo-rollouts-'));
  const built = await promisify(execFile)(build, { timeout: 1_500_000 });
  const folder = built.stdout.trim();
  server = await startAtoll({ command: 'demo' });
  const address = await must(
    server.kubeconfig,
    'config',
    'view',
    '-o',
    'jsonpath={.clusters[0].cluster.server}',
  );
  const reach = JSON.stringify({ spec: { inClusterConfig: { server: new URL(address).origin } } });
  await must(server.kubeconfig, 'patch', 'physicalclusters', 'east', 'west', '--type=merge', '-p', reach);
  tenant = await logicalCluster(server, 'team-a');
  await must(tenant, 'create', 'namespace', namespace);
  await must(tenant, 'apply', '--server-side', '-n', namespace, '-f', join(folder, 'operator.yaml'));
  await must(tenant, 'wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s');
  const ports = [await freePort(), await freePort()];
  const found = await podKubeconfig(server.kubeconfig, 'app.kubernetes.io/name=argo-rollouts', dir);
  const flags = ['--kubeconfig', found];
  flags.push('--metricsport', String(ports[0]), '--healthzPort', String(ports[1]));
  controller = spawn(join(folder, 'controller'), flags, { stdio: ['ignore', 'ignore', 'pipe'] });
  controller.stderr?.setEncoding('utf8').on('data', (text: string) => log.push(text));
}, 1_600_000);

afterAll(async () => {
  if (controller && controller.exitCode === null) {
    controller.kill();
    await once(controller, 'exit');
  }
  await server?.dispose();
  await rm(dir, { recursive: true, force: true });
});

const service = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
});
const rollout = {
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'Rollout',
  metadata: { name: 'web' },
  spec: {
    replicas: 4,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'web:1' }] },
    },
    strategy: {
      canary: { canaryService: 'canary', stableService: 'stable', steps: [{ setWeight: 50 }, { pause: {} }] },
    },
  },
};

interface Rollout {
  status?: { phase?: string; currentStepIndex?: number };
}

/** Its phase and step, and of how many pods each image is. */
async function seen(): Promise<unknown> {
  const { status } = await mustJson<Rollout>(tenant, 'get', 'rollout', 'web');
  const images = ['get', 'pods', '-l', 'app=web', '-o', 'jsonpath={.items[*].spec.containers[0].image}'];
  const pods: Record<string, number> = {};
  for (const image of (await must(tenant, ...images)).split(' ')) pods[image] = (pods[image] ?? 0) + 1;
  return { phase: status?.phase, step: status?.currentStepIndex, pods };
}

async function comesTo(phase: string, step: number, pods: Record<string, number>): Promise<void> {
  const wanted = { phase, step, pods };
  await until(phase, 40, async () => {
    expect(await seen()).toEqual(wanted);
    return true;
  });
}

const patch = (...args: string[]) => must(tenant, 'patch', 'rollout', 'web', '--type=merge', ...args);
const image = (name: string) =>
  JSON.stringify({ spec: { template: { spec: { containers: [{ name: 'web', image: name }] } } } });
const selectorOf = (name: string) => must(tenant, 'get', 'service', name, '-o', 'jsonpath={.spec.selector}');

test('a canary stops at its step, with a Service of its own, and is promoted', async () => {
  const path = join(dir, 'objects.json');
  const items = [service('canary'), service('stable'), rollout];
  await writeFile(path, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  await must(tenant, 'apply', '-f', path);
  await comesTo('Healthy', 2, { 'web:1': 4 });
  await patch('-p', image('web:2'));
  await comesTo('Paused', 1, { 'web:1': 2, 'web:2': 2 });
  expect(await selectorOf('canary')).not.toBe(await selectorOf('stable'));
  await patch('--subresource=status', '-p', '{"status":{"promoteFull":true,"pauseConditions":null}}');
  await comesTo('Healthy', 2, { 'web:2': 4 });
  expect(await selectorOf('canary')).toBe(await selectorOf('stable'));
});

test('its autoscaler scales it by what its pods use, wherever they are', async () => {
  // A container that asks for nothing pretends to use 8 MiB there.
  const target = { type: 'AverageValue', averageValue: '4Mi' };
  const hpa = {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'web' },
    spec: {
      scaleTargetRef: { apiVersion: rollout.apiVersion, kind: 'Rollout', name: 'web' },
      maxReplicas: 6,
      metrics: [{ type: 'Resource', resource: { name: 'memory', target } }],
    },
  };
  const path = join(dir, 'autoscaler.json');
  await writeFile(path, JSON.stringify(hpa));
  expect(await must(tenant, 'apply', '-f', path)).toContain('created');
  await comesTo('Healthy', 2, { 'web:2': 6 });
  await until('kubectl tells so', 40, async () =>
    /Rollout\/web +memory: 8Mi\/4Mi +1 +6 +6 /.test(await must(tenant, 'get', 'hpa', 'web')),
  );
  await must(tenant, 'delete', 'hpa', 'web');
  await patch('-p', '{"spec":{"replicas":4}}');
  await comesTo('Healthy', 2, { 'web:2': 4 });
}, 120_000);

test('it moves with its namespace, and the operator sees no pod missing', async () => {
  const nodes = async () => {
    const path = ['-o', 'jsonpath={.items[*].spec.nodeName}'];
    return (await must(tenant, 'get', 'pods', '-l', 'app=web', ...path)).split(' ');
  };
  const [to, from] = (await nodes())[0]?.startsWith('west') ? ['east', 'west'] : ['west', 'east'];
  expect((await nodes()).every((node) => node.startsWith(from))).toBe(true);
  const before = log.length;
  await must(tenant, 'annotate', 'namespace', 'default', `atoll.dev/clusters=${to}`, '--overwrite');
  await until('it runs on the other', 60, async () => {
    const there = await nodes();
    return there.length === 4 && there.every((node) => node.startsWith(to));
  });
  await comesTo('Healthy', 2, { 'web:2': 4 });
  expect(log.slice(before).join('')).not.toContain('Degraded');
});

test('what it made goes with it, and it was refused nothing', async () => {
  await must(tenant, 'delete', 'rollout', 'web');
  await until('nothing is left', 20, async () => (await must(tenant, 'get', 'rs,pods', '-o', 'name')) === '');
  expect(log.join('')).toContain('I am the new leader');
  expect(log.join('')).not.toMatch(/forbidden|unauthorized|the server could not find/i);
});
