import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Placement } from '../../../cluster/types.ts';
import { at, listAt, numberAt, textAt } from '../../../kube/untyped.ts';
import { type Extension, startExtension } from '../../aggregation/extension.ts';
import { deployment, find, move, readyPods, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

/** An API server of external metrics, as KEDA brings one, that is a logical cluster's own. */
const group = 'external.metrics.k8s.io';
const { deployments, horizontalpodautoscalers, services } = resources;
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
  extension.instead = (request, response) => {
    const items = [
      { metricName: 'queue', metricLabels: {}, timestamp: '2026-01-01T00:00:00Z', value: `${queue}` },
    ];
    const list = { kind: 'ExternalMetricValueList', apiVersion: `${group}/v1beta1`, metadata: {}, items };
    const served = {
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: `${group}/v1beta1`,
      resources: [],
    };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(request.url?.includes('/namespaces/') ? list : served));
    return true;
  };
  world = await startWorld();
}, 60_000);
afterAll(async () => {
  await world.stop();
  await extension.close();
});

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

async function serve(): Promise<void> {
  const service = { type: 'ExternalName', externalName: 'localhost' };
  const metadata = { name: 'metrics', ...shop };
  await world.admin.create(services, { apiVersion: 'v1', kind: 'Service', metadata, spec: service });
  const { port, caBundle } = extension;
  const spec = {
    group,
    version: 'v1beta1',
    groupPriorityMinimum: 100,
    versionPriority: 100,
    service: { name: 'metrics', ...shop, port },
    caBundle,
  };
  const name = `v1beta1.${group}`;
  const of = { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService' };
  await world.admin.create(apiServices, { ...of, metadata: { name }, spec });
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
  await serve();
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

test('goes to the clusters again with the API server', async () => {
  await world.admin.delete(apiServices, { name: `v1beta1.${group}` });
  await until('it is on west', async () => (await there('west')).includes('web'));
  expect(textAt(await autoscaler(), 'metadata', 'annotations', mark)).toBeUndefined();
  const spec = (await find<Placement>(world.admin, resources.placements, web))?.spec;
  expect(spec?.shares?.['west']?.replicas).toBe(8);
});
