import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import { ensureSystemNamespaces } from '../../../controller/namespace/furnish.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import { prefixRange, type Store } from '../../../storage/store.ts';
import { eventually } from '../../eventually.ts';
import { type Answer, type Api, admin, call, configMap, configMaps, startApi } from './api.ts';

let store: Store;
let one: Api;
let two: Api;
beforeEach(() => {
  store = openMemory();
  [one, two] = [startApi({ store }), startApi({ store })];
});
afterEach(() => Promise.all([one.close(), two.close()]));

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const services = '/api/v1/namespaces/default/services';

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};

function service(name: string, spec: object = {}) {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } };
}

async function claims(): Promise<string[]> {
  const { entries } = await store.list(prefixRange('/!internal/clusterips/'));
  return entries.map(({ key }) => key.slice(key.lastIndexOf('/') + 1));
}

describe('two servers on one store', () => {
  test('serve what the other one defines, and stop when it goes', async () => {
    expect((await two.call('GET', '/apis/example.com/v1/widgets')).status).toBe(404);
    await one.call('POST', crds, definition);
    await eventually(async () =>
      expect((await two.call('GET', '/apis/example.com/v1/widgets')).status).toBe(200),
    );
    expect((await two.call('GET', '/apis/example.com/v1')).body.resources[0].name).toBe('widgets');
    const { body } = await two.call('DELETE', `${crds}/widgets.example.com`);
    body.metadata.finalizers = [];
    await two.call('PUT', `${crds}/widgets.example.com`, body);
    expect((await two.call('GET', '/apis/example.com/v1/widgets')).status).toBe(404);
    await eventually(async () =>
      expect((await one.call('GET', '/apis/example.com/v1/widgets')).status).toBe(404),
    );
  });

  test('see at once that a namespace is going, or a logical cluster there', async () => {
    await one.call('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'a' },
    });
    await two.call('DELETE', '/api/v1/namespaces/a');
    const refused = await one.call('POST', '/api/v1/namespaces/a/configmaps', configMap('c'));
    expect([refused.status, refused.body.details.causes[0].reason]).toEqual([403, 'NamespaceTerminating']);
    expect((await two.call('GET', `/clusters/root:b${configMaps}`)).status).toBe(404);
    await one.addCluster('root:b');
    expect((await two.call('GET', `/clusters/root:b${configMaps}`)).status).toBe(200);
  });

  test('never give one address to two Services', async () => {
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? one : two).call('POST', services, service(`s${i}`))),
    );
    const addresses = made.map(({ body }) => body.spec.clusterIP as string);
    expect(new Set(addresses).size).toBe(20);
    const wanted = service('a', { clusterIP: '10.100.0.1' });
    const both = await Promise.all([
      one.call('POST', services, wanted),
      two.call('POST', services, { ...wanted, metadata: { name: 'b' } }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 422]);
    expect(both.find(({ status }) => status === 422)?.body.message).toContain(
      'provided IP is already allocated',
    );
    expect((await claims()).sort()).toEqual([...addresses, '10.100.0.1'].sort());
  });
});

test('each leader in turn finds what every logical cluster has, also where its address is taken', async () => {
  await one.addCluster('root:b');
  const taken = service('mine', { clusterIP: '10.96.0.1' });
  expect((await one.call('POST', `/clusters/root:b${services}`, taken)).status).toBe(201);
  for (const { server } of [one, two, one]) {
    for (const cluster of ['root', 'root:b']) {
      await ensureSystemNamespaces(new Client(server.transport(admin), { cluster }), cluster);
    }
  }
  const address = async (url: string) => (await two.call('GET', `${url}/kubernetes`)).body.spec.clusterIP;
  expect(await address(services)).toBe('10.96.0.1');
  expect(await address(`/clusters/root:b${services}`)).toMatch(/^10\.(?!96\.0\.1$)/);
});

describe('a leader that was paused', () => {
  test('changes nothing by any verb, and is told so; it may read', async () => {
    await one.call('POST', configMaps, configMap('kept', { a: '1' }));
    const term = await store.acquire('controllers', 60_000);
    const leading = one.server.transport(admin, term);
    expect((await call(leading, 'POST', configMaps, configMap('made'))).status).toBe(201);
    await term?.release();
    const successor = await two.server.transport(admin, await store.acquire('controllers', 60_000));
    const before = store.revision;
    const patch = { data: { a: '2' } };
    const refused = [
      await call(leading, 'POST', configMaps, configMap('late')),
      await call(leading, 'PUT', `${configMaps}/kept`, configMap('kept', { a: '2' })),
      await call(leading, 'PATCH', `${configMaps}/kept`, patch),
      await call(leading, 'DELETE', `${configMaps}/kept`),
      await call(leading, 'DELETE', `${configMaps}?labelSelector=!x`),
      await call(leading, 'POST', services, service('late')),
    ];
    expect(refused.map(({ status, body }) => [status, body.reason])).toEqual(
      refused.map(() => [409, 'Conflict']),
    );
    expect(store.revision).toBe(before);
    expect((await call(leading, 'GET', `${configMaps}/kept`)).status).toBe(200);
    expect((await call(successor, 'PATCH', `${configMaps}/kept`, patch)).body.data).toEqual({ a: '2' });
  });
});

describe('a claimed address', () => {
  const at = { clusterIP: '10.100.0.2' };

  test('is free again after the Service went, at any server', async () => {
    for (const api of [one, two, one]) {
      expect((await api.call('POST', services, service('a', at))).status).toBe(201);
      expect((await (api === one ? two : one).call('DELETE', `${services}/a`)).status).toBe(200);
    }
    expect(await claims()).toEqual([]);
  });

  test('is given back by a write that fails, and by a type that needs none', async () => {
    expect((await one.call('POST', services, service('a', { ...at, ports: [] }))).status).toBe(422);
    expect((await one.call('POST', `${services}?dryRun=All`, service('a', at))).status).toBe(201);
    expect(await claims()).toEqual([]);
    expect((await one.call('POST', services, service('a', at))).status).toBe(201);
    expect((await two.call('POST', services, service('a'))).status).toBe(409);
    expect(await claims()).toEqual(['10.100.0.2']);
    const patch = {
      spec: { type: 'ExternalName', externalName: 'x.example', clusterIP: null, clusterIPs: null },
    };
    expect((await two.call('PATCH', `${services}/a`, patch)).body.spec.type).toBe('ExternalName');
    expect(await claims()).toEqual([]);
  });

  test('is taken over when a server died before it wrote the Service, but not while it may still', async () => {
    await one.call('GET', services);
    const holder = { namespace: 'default', name: 'gone', uid: 'u' };
    const key = '/!internal/clusterips/root/10.100.0.2';
    const young = await store.create(
      key,
      Buffer.from(JSON.stringify({ ...holder, at: Date.now() - 60_000 })),
    );
    expect((await one.call('POST', services, service('a', at))).status).toBe(422);
    const old = Buffer.from(JSON.stringify({ ...holder, at: Date.now() - 700_000 }));
    await store.update(key, old, young.revision);
    expect((await one.call('POST', services, service('a', at))).status).toBe(201);
  });

  test('is claimed at the start for Services from before there were claims', async () => {
    const { body }: Answer = await one.call('POST', services, service('a', at));
    const [entry] = (await store.list(prefixRange('/!internal/clusterips/'))).entries;
    await store.delete(entry?.key ?? '', entry?.revision ?? 0);
    const three = startApi({ store });
    expect((await three.call('POST', services, service('b', at))).status).toBe(422);
    expect(body.spec.clusterIP).toBe('10.100.0.2');
    await three.server.close();
  });
});
