import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Placement } from '../../../cluster/types.ts';
import { at, listAt, numberAt, textAt } from '../../../kube/untyped.ts';
import { type Extension, startExtension } from '../../aggregation/extension.ts';
import { deployment, find, move, readyPods, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

/** An API server of metrics, as KEDA or an adapter of Prometheus brings one, that is a logical cluster's own. */
const group = 'external.metrics.k8s.io';
const custom = 'custom.metrics.k8s.io';
const { deployments, events, horizontalpodautoscalers, pods, services } = resources;
const apiServices = { group: 'apiregistration.k8s.io', version: 'v1', resource: 'apiservices' };
const shop = { namespace: 'default' };
const web = 'web.deployments.apps';
const mark = 'atoll.dev/scales-here';

let world: World;
let extension: Extension;
/** Messages that wait, of which each pod is to have ten. */
let queue: number;

beforeAll(async () => {
  queue = 45;
  extension = await startExtension('127.0.0.1', ['metrics.default.svc']);
  extension.instead = ({ url = '' }, response) => {
    const answer = async () => {
      if (url.includes('/pods/')) return await hits();
      const found = url.includes('/namespaces/') ? waiting() : { resources: [] };
      return { kind: 'List', apiVersion: 'v1', metadata: {}, ...found };
    };
    answer().then(
      (body) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
    return true;
  };
  world = await startWorld();
}, 60_000);
afterAll(async () => {
  await world.stop();
  await extension.close();
});

const waiting = () => ({
  items: [{ metricName: 'queue', metricLabels: {}, timestamp: '2026-01-01T00:00:00Z', value: `${queue}` }],
});
/** Of each pod twenty, of which it is to have ten. */
async function hits(): Promise<object> {
  const { items } = await world.admin.list(pods, { ...shop, labelSelector: 'app=web' });
  return {
    kind: 'MetricValueList',
    apiVersion: `${custom}/v1beta1`,
    metadata: {},
    items: items.map(({ metadata: { name } }) => ({
      describedObject: { kind: 'Pod', namespace: 'default', name, apiVersion: '/v1' },
      metricName: 'hits',
      timestamp: '2026-01-01T00:00:00Z',
      value: '20',
      selector: null,
    })),
  };
}

const autoscaler = async () => await find(world.admin, horizontalpodautoscalers, 'web');
const there = async (cluster: string) =>
  (await world.physical(cluster).client.list(horizontalpodautoscalers)).items.map(
    ({ metadata }) => metadata.name,
  );
const wanted = async () => numberAt(await find(world.admin, deployments, 'web'), 'spec', 'replicas');
const runs = (cluster: string, count: number) =>
  until(
    `${cluster} runs ${count}`,
    async () => (await readyPods(world.physical(cluster), 'web')).length === count,
  );

async function serve(of: string): Promise<void> {
  const service = { type: 'ExternalName', externalName: 'localhost' };
  const metadata = { name: 'metrics', ...shop };
  if (!(await find(world.admin, services, 'metrics')))
    await world.admin.create(services, { apiVersion: 'v1', kind: 'Service', metadata, spec: service });
  const { port, caBundle } = extension;
  const spec = {
    group: of,
    version: 'v1beta1',
    groupPriorityMinimum: 100,
    versionPriority: 100,
    service: { name: 'metrics', ...shop, port },
    caBundle,
  };
  const kind = { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService' };
  await world.admin.create(apiServices, { ...kind, metadata: { name: `v1beta1.${of}` }, spec });
}

test('an autoscaler by external metrics is placed as ever where nobody in its logical cluster serves those', async () => {
  await world.admin.create(deployments, deployment('web', 2, 'east'), shop);
  const metric = { name: 'queue', selector: { matchLabels: { of: 'web' } } };
  const target = { type: 'AverageValue', averageValue: '10' };
  const spec = {
    minReplicas: 2,
    maxReplicas: 20,
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    metrics: [{ type: 'External', external: { metric, target } }],
  };
  const of = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler' };
  await world.admin.create(horizontalpodautoscalers, { ...of, metadata: { name: 'web', ...shop }, spec });
  await settled(world.admin, web);
  await until('it is on east', async () => (await there('east')).includes('web'));
  expect(textAt(await autoscaler(), 'metadata', 'annotations', mark)).toBeUndefined();
});

test('where one does it is carried out there, as Kubernetes’ own, and leaves the clusters', async () => {
  await serve(group);
  await runs('east', 5);
  await until('it is not on east', async () => (await there('east')).length === 0);
  await until('its status', async () => numberAt((await autoscaler())?.status, 'desiredReplicas') === 5);
  const hpa = await autoscaler();
  expect(textAt(hpa, 'metadata', 'annotations', mark)).toBe('true');
  const [metric] = listAt(hpa?.status, 'currentMetrics');
  expect(at(metric, 'external', 'metric', 'name')).toBe('queue');
  const asked = extension.asked.find(({ url }) => url.includes('/namespaces/'));
  expect(asked?.url).toBe(`/apis/${group}/v1beta1/namespaces/default/queue?labelSelector=of%3Dweb`);
  const account = 'system:serviceaccount:kube-system:horizontal-pod-autoscaler';
  expect(asked?.headers['x-remote-user']).toBe(account);
  const fields = (await find(world.admin, deployments, 'web'))?.metadata.managedFields ?? [];
  const owners = fields.filter(({ fieldsV1 }) => at(fieldsV1, 'f:spec', 'f:replicas') !== undefined);
  expect(owners).toMatchObject([{ manager: 'kube-controller-manager', subresource: 'scale' }]);
});

test('nobody takes its mark away, or gives it', async () => {
  const hpa = await autoscaler();
  const metadata = { ...hpa?.metadata, annotations: {} };
  await world.admin.update(horizontalpodautoscalers, { ...hpa, metadata } as never);
  expect(textAt(await autoscaler(), 'metadata', 'annotations', mark)).toBe('true');
  const given = { metadata: { annotations: { [mark]: 'true' } } };
  await world.admin.patch(deployments, { ...shop, name: 'web' }, 'merge', given);
  expect(
    textAt(await find(world.admin, deployments, 'web'), 'metadata', 'annotations', mark),
  ).toBeUndefined();
});

test('goes on while its target moves, and what it asks for is divided', async () => {
  await move(world.admin, deployments, 'web', 'east,west');
  await settled(world.admin, web);
  queue = 80;
  await until('8 are wanted', async () => (await wanted()) === 8);
  await runs('east', 4);
  await runs('west', 4);
  await move(world.admin, deployments, 'web', 'west');
  await runs('west', 8);
  await runs('east', 0);
  expect(await wanted()).toBe(8);
});

const metrics = async (...list: object[]) =>
  await world.admin.patch(horizontalpodautoscalers, { ...shop, name: 'web' }, 'merge', {
    spec: { metrics: list },
  });
const each = (averageValue: string) => ({ target: { type: 'AverageValue', averageValue } });

test('what the pods use counts beside it, as the clusters say', async () => {
  await until('the pods of east are gone here, too', async () => {
    const { items } = await world.admin.list(pods, { ...shop, labelSelector: 'app=web' });
    return items.length === 8;
  });
  const memory = { type: 'Resource', resource: { name: 'memory', ...each('6Mi') } };
  await metrics({ type: 'External', external: { metric: { name: 'queue' }, ...each('10') } }, memory);
  // Each uses as much however many there are, so that it grows with each look: what the first one gave is told in an Event.
  const rescaled = 'New size: 11; reason: memory resource above target';
  await until('11 were wanted: of 8 Mi each', async () =>
    (await world.admin.list(events, shop)).items.some((event) => textAt(event, 'message') === rescaled),
  );
  const [, used] = listAt((await autoscaler())?.status, 'currentMetrics');
  expect(used).toEqual({ type: 'Resource', resource: { name: 'memory', current: { averageValue: '8Mi' } } });
});

test('what is counted of the pods counts where it is served here, and who asks for nothing else', async () => {
  await metrics({ type: 'Pods', pods: { metric: { name: 'hits' }, ...each('10') } });
  await until('it is on west', async () => (await there('west')).includes('web'));
  await serve(custom);
  await until('20 are wanted, the most', async () => (await wanted()) === 20);
  await until('it is not on west', async () => (await there('west')).length === 0);
  const path = `/apis/${custom}/v1beta1/namespaces/default/pods/*/hits?labelSelector=app%3Dweb`;
  await until('they are asked for', async () => extension.asked.some(({ url }) => url === path));
});

test('another of the same target stays here, too, and both say that they are two', async () => {
  const hpa = await autoscaler();
  const cpu = {
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
  };
  const spec = { ...(hpa?.spec as object), metrics: [cpu] };
  const of = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler' };
  await world.admin.create(horizontalpodautoscalers, { ...of, metadata: { name: 'two', ...shop }, spec });
  for (const name of ['two', 'web'])
    await until(`${name} says so`, async () => {
      const found = await find(world.admin, horizontalpodautoscalers, name);
      return listAt(found?.status, 'conditions').some((one) => at(one, 'reason') === 'AmbiguousSelector');
    });
  await world.admin.delete(horizontalpodautoscalers, { ...shop, name: 'two' });
  await until('one is left, and scales', async () =>
    listAt((await autoscaler())?.status, 'conditions').some(
      (one) => at(one, 'reason') === 'ValidMetricFound',
    ),
  );
});

test('goes to the clusters again with the API server', async () => {
  for (const of of [group, custom]) await world.admin.delete(apiServices, { name: `v1beta1.${of}` });
  await until('it is on west', async () => (await there('west')).includes('web'));
  expect(textAt(await autoscaler(), 'metadata', 'annotations', mark)).toBeUndefined();
  const spec = (await find<Placement>(world.admin, resources.placements, web))?.spec;
  expect(spec?.shares?.['west']?.replicas).toBe(20);
});
