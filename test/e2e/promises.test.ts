import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { numberAt } from '../../cluster/read.ts';
import type { KubeObject } from '../../kube/object.ts';
import { type Atoll, startAtoll } from '../atoll/atoll.ts';
import { atoll, must, mustJson, until } from '../atoll/kubectl.ts';
import { samplePods } from '../atoll/pods.ts';
import { type Kubernetes, startKubernetes } from '../kubernetes/kubernetes.ts';
import { type Metrics, serveMetrics } from '../kubernetes/metrics.ts';

let server: Atoll;
const physical = new Map<string, Kubernetes>();
const metrics: Metrics[] = [];
/** By physical cluster: how many pods' worth of work there is, as its metrics tell. */
const work = new Map<string, () => number | Promise<number>>();

beforeAll(async () => {
  const names = ['east', 'west'];
  const started = await Promise.all(names.map((name) => startKubernetes({ name, nodes: 2 })));
  for (const cluster of started) physical.set(cluster.name, cluster);
  server = await startAtoll();
  for (const cluster of started) {
    metrics.push(await serveMetrics(cluster, () => work.get(cluster.name)?.() ?? 0));
    const { code, stderr } = await add(cluster);
    expect(code, stderr).toBe(0);
  }
});

afterAll(async () => {
  await server?.dispose();
  await Promise.all(metrics.map((m) => m.stop()));
  await Promise.all([...physical.values()].map((cluster) => cluster.stop()));
});

const add = ({ name, kubeconfig }: Kubernetes, ...more: string[]) =>
  atoll(server.kubeconfig, 'cluster', 'add', name, '--kubeconfig', kubeconfig, ...more);
const cluster = (name: string): Kubernetes => {
  const found = physical.get(name);
  if (!found) throw new Error(`no cluster ${name}`);
  return found;
};
const ctl = (...args: string[]) => must(server.kubeconfig, ...args);

async function apply(kubeconfig: string, namespace: string, ...objects: object[]): Promise<void> {
  const file = join(server.dataDir, 'objects.yaml');
  await writeFile(file, objects.map((object) => JSON.stringify(object)).join('\n---\n'));
  await must(kubeconfig, 'apply', '-n', namespace, '-f', file);
}

/** A namespace of one journey. */
async function home(name: string): Promise<void> {
  await ctl('create', 'ns', name);
}

/** Objects of a physical cluster that stand for those of one logical name. */
async function found(name: string, kind: string, object: string): Promise<KubeObject[]> {
  const { items } = await mustJson<{ items: KubeObject[] }>(cluster(name).kubeconfig, 'get', kind, '-A');
  return items.filter(({ metadata }) => metadata.name === object);
}

const template = (app: string) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'c', image: `registry.example/${app}:1` }] },
});
const workload = (kind: 'Deployment' | 'StatefulSet', app: string, replicas: number, more = {}) => ({
  ...{ apiVersion: 'apps/v1', kind, metadata: { name: app, annotations: {} as Record<string, string> } },
  spec: { replicas, selector: { matchLabels: { app } }, template: template(app), ...more },
});

it('an autoscaler scales where the pods are: 2, 8, moved, 2', async () => {
  const pods = await samplePods(physical.values(), 'scaled');
  await home('scaled');
  work.set('east', () => 2);
  // Nothing is asked of the pods in west while they are beside those in east.
  work.set('west', async () => ((await found('east', 'deploy', 'scaled')).length > 0 ? 0 : 8));
  const deployment = workload('Deployment', 'scaled', 2);
  deployment.metadata.annotations['atoll.dev/clusters'] = 'east';
  const quick = { stabilizationWindowSeconds: 0, policies: [{ type: 'Pods', value: 100, periodSeconds: 1 }] };
  await apply(server.kubeconfig, 'scaled', deployment, {
    ...{ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'scaled' } },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'scaled' },
      ...{ minReplicas: 2, maxReplicas: 10, behavior: { scaleUp: quick, scaleDown: quick } },
      metrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', target: { type: 'AverageValue', averageValue: '100m' } },
        },
      ],
    },
  });
  const runs = (where: string, count: number) =>
    until(`${where} runs ${count}`, 60, async () => pods.ready(where).length === count);
  const says = (count: number) =>
    until(`the Deployment says ${count}`, 30, async () =>
      (await ctl('get', 'deploy', 'scaled', '-n', 'scaled', '--no-headers')).includes(` ${count}/${count} `),
    );
  await runs('east', 2);
  await says(2);
  work.set('east', () => 8);
  await runs('east', 8);
  await says(8);
  pods.begin();
  await ctl('annotate', 'deploy', 'scaled', '-n', 'scaled', 'atoll.dev/clusters=west', '--overwrite');
  await runs('east', 0);
  await says(8);
  expect(pods.lowest).toBeGreaterThanOrEqual(8);
  expect(pods.ready('west')).toHaveLength(8);
  work.set('west', () => 2);
  await runs('west', 2);
  await says(2);
  // Nothing brings it back: neither from the root's first number, nor from what was applied before.
  work.set('west', () => 5);
  await runs('west', 5);
  const [there] = await found('west', 'deploy', 'scaled');
  expect(numberAt(there, 'spec', 'replicas')).toBe(5);
  await says(5);
  await ctl('delete', 'ns', 'scaled');
  pods.stop();
});
