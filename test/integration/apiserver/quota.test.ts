import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { openLevel } from '../../../storage/level/level.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import type { Store } from '../../../storage/store.ts';
import { pipeTo } from '../../contract/pipes.ts';
import { type Api, configMap, configMaps, deployments, startApi } from './api.ts';

const namespace = '/api/v1/namespaces/default';
const quotas = `${namespace}/resourcequotas`;
const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

function serve(store: Store): Api {
  const api = startApi({ store });
  undo.push(() => api.server.close());
  return api;
}

function memory(): Store {
  const store = openMemory();
  undo.push(() => store.close());
  return store;
}

/** A quota as the controller leaves it. */
async function bound(api: Api, hard: object, used: object, spec: object = {}, name = 'q'): Promise<void> {
  const metadata = { name };
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard, ...spec } };
  expect((await api.call('POST', quotas, quota)).status).toBe(201);
  const status = await api.call('PATCH', `${quotas}/${name}/status`, { status: { hard, used } });
  expect(status.status).toBe(200);
}

async function usedOf(api: Api, name = 'q'): Promise<Record<string, string>> {
  return (await api.call('GET', `${quotas}/${name}`)).body.status.used;
}

/** A store whose updates come a while later than they are asked for. */
function late(store: Store): Store {
  const update: Store['update'] = async (...args) => {
    for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
    return await store.update(...args);
  };
  return new Proxy(store, {
    get(target, name) {
      if (name === 'update') return update;
      const found: unknown = Reflect.get(target, name, target);
      return typeof found === 'function' ? found.bind(target) : found;
    },
  });
}

/** How many creates passed. */
async function race(servers: readonly Api[], count: number): Promise<number> {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, i) =>
      servers[i % servers.length]!.call('POST', configMaps, configMap(`c${i}`)),
    ),
  );
  const refused = answers.filter(({ status }) => status !== 201);
  for (const { status, body } of refused) {
    expect([status, body.message]).toEqual([403, expect.stringContaining('exceeded quota: ')]);
  }
  return answers.length - refused.length;
}

async function countOf(api: Api): Promise<number> {
  return (await api.call('GET', configMaps)).body.items.length;
}

describe('forty creates at once pass as many as there is room for', () => {
  test('on one server', async () => {
    const api = serve(memory());
    await bound(api, { configmaps: '11' }, { configmaps: '0' });
    await bound(api, { 'count/configmaps': '15' }, { 'count/configmaps': '2' }, {}, 'other');
    expect(await race([api], 40)).toBe(11);
    expect(await countOf(api)).toBe(11);
    expect(await usedOf(api)).toEqual({ configmaps: '11' });
    expect(await usedOf(api, 'other')).toEqual({ 'count/configmaps': '13' });
  });

  test('on several that share a store, one behind a pipe', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quota-'));
    undo.push(() => rm(folder, { recursive: true }));
    const store = await openLevel(folder);
    undo.push(() => store.close());
    const { pipe } = await pipeTo(store);
    undo.push(() => pipe.close());
    const servers = [serve(store), serve(store), serve(pipe)];
    await bound(servers[0]!, { configmaps: '11' }, { configmaps: '0' });
    expect(await race(servers, 40)).toBe(11);
    expect(await countOf(servers[0]!)).toBe(11);
    expect(await usedOf(servers[2]!)).toEqual({ configmaps: '11' });
  });
});

test.each([1, 2, 8])(
  'whoever is slow comes by its charges beside those who are quick: %i',
  async (clients) => {
    const store = memory();
    const { pipe } = await pipeTo(store);
    undo.push(() => pipe.close());
    const [quick, slow] = [serve(store), serve(late(pipe))];
    await bound(quick, { configmaps: '100000' }, { configmaps: '0' });
    let made = 0;
    let isOver = false;
    const load = Array.from({ length: clients }, async () => {
      while (!isOver) {
        await quick.call('POST', configMaps, configMap(`quick${made++}`));
        await new Promise(setImmediate);
      }
    });
    const statuses: number[] = [];
    for (let i = 0; i < 5; i++)
      statuses.push((await slow.call('POST', configMaps, configMap(`slow${i}`))).status);
    isOver = true;
    await Promise.all(load);
    expect(statuses).toEqual([201, 201, 201, 201, 201]);
    expect(await usedOf(quick)).toEqual({ configmaps: String(made + 5) });
  },
);

test('a dry run has to fit, and costs nothing', async () => {
  const api = serve(memory());
  await bound(api, { configmaps: '1' }, { configmaps: '0' });
  const dry = `${configMaps}?dryRun=All`;
  expect((await api.call('POST', dry, configMap('a'))).status).toBe(201);
  expect(await usedOf(api)).toEqual({ configmaps: '0' });
  expect((await api.call('POST', configMaps, configMap('a'))).status).toBe(201);
  expect((await api.call('POST', dry, configMap('b'))).status).toBe(403);
});

test('what is there already is not paid for again', async () => {
  const api = serve(memory());
  await bound(api, { configmaps: '3' }, { configmaps: '0' });
  expect((await api.call('POST', configMaps, configMap('a'))).status).toBe(201);
  expect((await api.call('POST', configMaps, configMap('a'))).status).toBe(409);
  expect(await usedOf(api)).toEqual({ configmaps: '1' });
});

test('what is refused is told as kube-apiserver tells it', async () => {
  const api = serve(memory());
  await bound(api, { configmaps: '0' }, { configmaps: '0' });
  const { status, body } = await api.call('POST', configMaps, configMap('a'));
  expect([status, body]).toEqual([
    403,
    {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message:
        'configmaps "a" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=0, limited: configmaps=0',
      reason: 'Forbidden',
      details: { name: 'a', kind: 'configmaps' },
      code: 403,
    },
  ]);
});

test('nothing is bounded until somebody has counted', async () => {
  const api = serve(memory());
  const quota = {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'q' },
    spec: { hard: { configmaps: '0' } },
  };
  await api.call('POST', quotas, quota);
  expect((await api.call('POST', configMaps, configMap('a'))).status).toBe(201);
  await api.call('PATCH', `${quotas}/q/status`, { status: { hard: { configmaps: '1' } } });
  expect((await api.call('POST', configMaps, configMap('b'))).body.message).toBe(
    'configmaps "b" is forbidden: status unknown for quota: q, resources: configmaps',
  );
});

test('an update costs what it uses more', async () => {
  const api = serve(memory());
  const zero = { 'services.nodeports': '0', 'services.loadbalancers': '0' };
  await bound(api, { 'services.nodeports': '3', 'services.loadbalancers': '1' }, zero);
  const ports = [80, 81].map((port) => ({ port, name: `p${port}` }));
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports } };
  const path = `${namespace}/services`;
  expect((await api.call('POST', path, service)).status).toBe(201);
  expect(await usedOf(api)).toEqual(zero);
  const become = (type: string) => api.call('PATCH', `${path}/s`, { spec: { type } });
  expect((await become('NodePort')).status).toBe(200);
  expect(await usedOf(api)).toEqual({ 'services.nodeports': '2', 'services.loadbalancers': '0' });
  expect((await become('LoadBalancer')).status).toBe(200);
  expect(await usedOf(api)).toEqual({ 'services.nodeports': '2', 'services.loadbalancers': '1' });
  const another = { ...service, metadata: { name: 't' }, spec: { ports, type: 'NodePort' } };
  expect((await api.call('POST', path, another)).body.message).toMatch(
    /requested: services.nodeports=2, used: services.nodeports=2, limited: services.nodeports=3$/,
  );
});

test('kinds of any group are counted, and other namespaces are not', async () => {
  const api = serve(memory());
  await bound(api, { 'count/deployments.apps': '0' }, { 'count/deployments.apps': '0' });
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  };
  expect((await api.call('POST', deployments, deployment)).body.message).toBe(
    'deployments.apps "d" is forbidden: exceeded quota: q, requested: count/deployments.apps=1, used: count/deployments.apps=0, limited: count/deployments.apps=0',
  );
  await api.call('POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'n' },
  });
  expect((await api.call('POST', deployments.replace('default', 'n'), deployment)).status).toBe(201);
});

test('a status of what is no quota is refused', async () => {
  const api = serve(memory());
  await bound(api, { pods: '1' }, { pods: '0' });
  const status = { hard: { nothing: '1' }, used: { pods: '-1' } };
  const { body } = await api.call('PATCH', `${quotas}/q/status`, { status });
  expect([body.code, body.details.causes.map(({ field }: { field: string }) => field)]).toEqual([
    422,
    ['status.hard[nothing]', 'status.hard[nothing]', 'status.used[pods]'],
  ]);
});
