import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import { transportFromKubeconfig } from '../../../client/kubeconfig.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { at, listAt } from '../../../kube/untyped.ts';
import { decodeYaml } from '../../../kube/yaml.ts';
import {
  type SimulatedCluster,
  type SimulationOptions,
  startSimulatedCluster,
} from '../../../sim/cluster.ts';
import { resources } from '../../../sim/resources.ts';
import type { Pod, Workload } from '../../../sim/types.ts';
import { isReady } from '../../../sim/workloads/children.ts';
import { until } from '../../world/objects.ts';

const running: SimulatedCluster[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((cluster) => cluster.stop()));
});

const server = {
  name: 'server',
  scheduledAfterMs: [1, 5],
  readyAfterMs: [10, 60],
  stopsAfterMs: [5, 20],
} as const;

async function start(options: Partial<SimulationOptions> = {}): Promise<SimulatedCluster> {
  const cluster = await startSimulatedCluster({ name: 'east', ...options });
  running.push(cluster);
  return cluster;
}

const namespace = 'default';
const web = { namespace, name: 'web' };

function deployment(replicas: number, more: object = {}): KubeObject {
  const labels = { app: 'web' };
  const spec = { containers: [{ name: 'web', image: 'web:1', resources: { requests: { cpu: '1' } } }] };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: web,
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec }, ...more },
  };
}

const podsOf = async ({ client }: SimulatedCluster) =>
  (await client.list<Pod>(resources.pods, { namespace })).items;
const statusOf = async (
  { client }: SimulatedCluster,
  resource = resources.deployments as typeof resources.jobs | typeof resources.deployments,
) => ((await client.get<Workload>(resource, web)).status ?? {}) as Record<string, number>;

describe('a simulated cluster', () => {
  test('runs as many pods as a quota lets, says so, and runs the rest when it may', async () => {
    const cluster = await start({ behaviours: [server] });
    const { client } = cluster;
    const quotas = { group: '', version: 'v1', resource: 'resourcequotas' };
    const few = { namespace, name: 'few' };
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: few, spec: { hard: { pods: '2' } } };
    await client.create(quotas, quota);
    await until('it is counted', async () => (await client.get(quotas, few)).status);
    await client.create(resources.deployments, deployment(5));
    const failure = async () =>
      listAt(await statusOf(cluster), 'conditions').find((c) => at(c, 'type') === 'ReplicaFailure');
    await until('two are ready', async () => (await statusOf(cluster))['readyReplicas'] === 2);
    expect(await until('it says why', failure)).toMatchObject({
      status: 'True',
      reason: 'FailedCreate',
      message: expect.stringContaining(
        'exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2',
      ),
    });
    const events = { group: '', version: 'v1', resource: 'events' };
    await until('an Event', async () =>
      (await client.list(events, { namespace })).items.some(({ reason }) => reason === 'FailedCreate'),
    );
    await client.patch(quotas, few, 'merge', { spec: { hard: { pods: '5' } } });
    await until('all are ready', async () => (await statusOf(cluster))['readyReplicas'] === 5);
    await until('nothing is wrong', async () => (await failure()) === undefined);
  });

  test('runs the sample shop, over HTTPS, as its kubeconfig says', async () => {
    const { kubeconfig } = await start();
    const transport = await transportFromKubeconfig(kubeconfig);
    const client = new Client(transport);
    const text = readFileSync(new URL('../../../sim/samples/shop.yaml', import.meta.url), 'utf8');
    const plural = (kind: string) => `${kind.toLowerCase()}s`;
    for (const part of text.split(/^---$/m)) {
      const object = decodeYaml(part).value as unknown as KubeObject;
      const [version = '', group = ''] = object.apiVersion.split('/').reverse();
      await client.create({ group, version, resource: plural(object.kind) }, object, { namespace });
    }
    const wanted = { web: 4, api: 3, store: 2 };
    await until('all three tiers are ready', async () => {
      const { items } = await client.list<Workload>(resources.deployments, { namespace });
      return Object.entries(wanted).every(
        ([name, n]) => items.find((item) => item.metadata.name === name)?.status?.['readyReplicas'] === n,
      );
    });
    const pods = (await client.list<Pod>(resources.pods, { namespace })).items;
    expect(new Set(pods.map((pod) => pod.spec?.nodeName)).size).toBe(3);
    expect(new Set(pods.map((pod) => pod.status?.podIP)).size).toBe(9);
    const path = `/api/v1/namespaces/${namespace}/pods/${pods[0]?.metadata.name}/log`;
    const log = await client.raw({ method: 'GET', path });
    const chunks: Uint8Array[] = [];
    if (log.body instanceof Uint8Array) chunks.push(log.body);
    else for await (const chunk of log.body) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toContain('hello from a pod of east');
    transport.close();
  });

  test('a rolling update keeps its availability, and ends', async () => {
    const cluster = await start({ behaviours: [server] });
    const strategy = { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } };
    await cluster.client.create(resources.deployments, deployment(4, { strategy }));
    await until('four are ready', async () => (await statusOf(cluster))['readyReplicas'] === 4);
    let least = 4;
    let most = 4;
    const stop = new AbortController();
    const watching = (async () => {
      for await (const _ of cluster.client.watch(resources.pods, { namespace, signal: stop.signal })) {
        const pods = (await podsOf(cluster)).filter((pod) => !pod.metadata.deletionTimestamp);
        least = Math.min(least, pods.filter(isReady).length);
        most = Math.max(most, pods.length);
      }
    })().catch((error: unknown) => {
      if (!stop.signal.aborted) throw error;
    });
    const template = { spec: { containers: [{ name: 'web', image: 'web:2' }] } };
    const edited = await cluster.client.patch(resources.deployments, web, 'strategic', {
      spec: { template },
    });
    const { generation = 0 } = edited.metadata;
    await until('all are new', async () => {
      const status = await statusOf(cluster);
      return (
        (status['observedGeneration'] ?? 0) >= generation &&
        status['updatedReplicas'] === 4 &&
        status['replicas'] === 4 &&
        status['readyReplicas'] === 4
      );
    });
    stop.abort();
    await watching;
    expect(least).toBeGreaterThanOrEqual(3);
    expect(most).toBeLessThanOrEqual(5);
    const images = (await podsOf(cluster))
      .filter((pod) => !pod.metadata.deletionTimestamp)
      .map((pod) => pod.spec?.containers[0]?.image);
    expect(images).toEqual(['web:2', 'web:2', 'web:2', 'web:2']);
  });

  test.each(['Background', 'Foreground'] as const)(
    'scales, and a deletion takes everything along: %s',
    async (propagationPolicy) => {
      const cluster = await start({ behaviours: [server] });
      await cluster.client.create(resources.deployments, deployment(1));
      await until('one is ready', async () => (await statusOf(cluster))['readyReplicas'] === 1);
      await cluster.client.patch(resources.deployments, web, 'merge', { spec: { replicas: 3 } });
      await until('three are ready', async () => (await statusOf(cluster))['readyReplicas'] === 3);
      await cluster.client.patch(resources.deployments, web, 'merge', { spec: { replicas: 1 } });
      await until('one is left', async () => (await podsOf(cluster)).length === 1);
      await cluster.client.delete(resources.deployments, web, { propagationPolicy });
      await until('nothing is left', async () => {
        const lists = await Promise.all(
          [resources.deployments, resources.replicaSets, resources.pods].map((each) =>
            cluster.client.list(each, { namespace }),
          ),
        );
        return lists.every(({ items }) => items.length === 0);
      });
    },
  );

  test('a Job completes', async () => {
    const quick = { ...server, name: 'quick', succeedsAfterMs: [5, 20] } as const;
    const cluster = await start({ behaviours: [quick] });
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] } };
    const spec = { completions: 3, parallelism: 2, template };
    await cluster.client.create(resources.jobs, { apiVersion: 'batch/v1', kind: 'Job', metadata: web, spec });
    await until('it is complete', async () => (await statusOf(cluster, resources.jobs))['succeeded'] === 3);
    await until('it says so', async () => 'completionTime' in (await statusOf(cluster, resources.jobs)));
    const status = (await cluster.client.get<Workload>(resources.jobs, web)).status as {
      conditions: { type: string }[];
    };
    expect(status.conditions.map(({ type }) => type)).toEqual(['SuccessCriteriaMet', 'Complete']);
  });

  test('a pod that fits nowhere is pending, says why, and starts when there is room', async () => {
    const cluster = await start({
      behaviours: [server],
      nodes: 2,
      node: { cpu: '1', memory: '1Gi', pods: '10' },
    });
    await cluster.client.create(resources.deployments, deployment(3));
    await until('two are ready', async () => (await statusOf(cluster))['readyReplicas'] === 2);
    let pending: Pod | undefined;
    await until('one says why it waits', async () => {
      pending = (await podsOf(cluster)).find((pod) => !pod.spec?.nodeName);
      return pending?.status?.conditions?.[0]?.reason === 'Unschedulable';
    });
    expect(pending?.status?.conditions?.[0]?.message).toBe('0/2 nodes are available: 2 Insufficient cpu.');
    await cluster.client.create(resources.nodes, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'more' },
    });
    const status = {
      capacity: { cpu: '1', memory: '1Gi', pods: '10' },
      allocatable: { cpu: '1', memory: '1Gi', pods: '10' },
    };
    await cluster.client.patch(resources.nodes, { name: 'more', subresource: 'status' }, 'merge', { status });
    await cluster.client.patch(resources.nodes, { name: 'more' }, 'merge', { spec: { taints: null } });
    await until('all are ready', async () => (await statusOf(cluster))['readyReplicas'] === 3);
  });

  test('a StatefulSet starts in order, with its claims bound', async () => {
    const cluster = await start({ behaviours: [server] });
    const { spec } = deployment(3) as { spec: object };
    const claim = {
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    };
    const more = { serviceName: 'web', volumeClaimTemplates: [claim] };
    await cluster.client.create(resources.statefulSets, {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: web,
      spec: { ...spec, ...more },
    });
    await until('three are ready', async () => {
      const set = await cluster.client.get<Workload>(resources.statefulSets, web);
      return (
        set.status?.['readyReplicas'] === 3 &&
        set.status?.['currentRevision'] === set.status?.['updateRevision']
      );
    });
    expect((await podsOf(cluster)).map((pod) => pod.metadata.name).sort()).toEqual([
      'web-0',
      'web-1',
      'web-2',
    ]);
    await until('three claims are bound', async () => {
      const { items } = await cluster.client.list<KubeObject<unknown, { phase?: string }>>(resources.claims, {
        namespace,
      });
      return items.length === 3 && items.every(({ status }) => status?.phase === 'Bound');
    });
  });
});
