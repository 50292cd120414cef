import { afterEach, beforeEach, expect, test } from 'vitest';
import { openMemory } from '../../../storage/memory/memory.ts';
import type { Store } from '../../../storage/store.ts';
import { type Answer, type Api, startApi } from './api.ts';

const group = 'rbac.authorization.k8s.io';
const roles = `/apis/${group}/v1/clusterroles`;
const bindings = `/apis/${group}/v1/clusterrolebindings`;

let store: Store;
let api: Api;
beforeEach(() => {
  store = openMemory();
  api = startApi({ store });
});
afterEach(() => api.close());

const at = (cluster: string, url: string) => `/clusters/${cluster}${url}`;

/** A logical cluster whose ClusterRoles that version wrote. */
async function clusterOf(path: string, version: string): Promise<string> {
  const cluster = await api.addCluster(path);
  expect((await api.call('GET', at(cluster, roles))).body.items.length).toBeGreaterThan(60);
  const key = `/${group}/!written/${cluster}/clusterroles`;
  const note = await store.get(key);
  const body = { kind: 'Written', apiVersion: version, metadata: {} };
  await store.update(key, Buffer.from(JSON.stringify(body)), note?.revision ?? 0);
  return cluster;
}

const lacking = async (cluster: string): Promise<void> => {
  const url = at(cluster, `${roles}/system:aggregate-to-view`);
  const { rules } = (await api.call('GET', url)).body;
  const less = rules.filter(({ resources }: Answer) => !resources.includes('configmaps'));
  const mine = { verbs: ['get'], apiGroups: ['example.com'], resources: ['widgets'] };
  await api.call('PATCH', url, { rules: [...less, mine] });
  await api.call('DELETE', at(cluster, `${roles}/system:discovery`));
};

const reads = async (cluster: string, resource: string): Promise<boolean> => {
  const { body } = await api.call('GET', at(cluster, `${roles}/view`));
  return body.rules.some(({ resources }: Answer) => resources.includes(resource));
};

test('what an earlier version wrote gets what this one has besides, and keeps what was added', async () => {
  const cluster = await clusterOf('root:old', '1.35.9');
  await lacking(cluster);
  expect([await reads(cluster, 'configmaps'), await reads(cluster, 'widgets')]).toEqual([false, true]);
  expect(await api.server.renewDefaultRoles()).toBe(1);
  expect([await reads(cluster, 'configmaps'), await reads(cluster, 'widgets')]).toEqual([true, true]);
  expect((await api.call('GET', at(cluster, `${roles}/system:discovery`))).status).toBe(200);
  expect(await api.server.renewDefaultRoles()).toBe(0);
});

test.each(['1.36.3', '1.37.0'])('what version %s wrote stays as its users left it', async (version) => {
  const cluster = await clusterOf('root:new', version);
  await lacking(cluster);
  expect(await api.server.renewDefaultRoles()).toBe(0);
  expect(await reads(cluster, 'configmaps')).toBe(false);
  expect((await api.call('GET', at(cluster, `${roles}/system:discovery`))).status).toBe(404);
});

test('where nobody looked nothing is written', async () => {
  const cluster = await api.addCluster('root:idle');
  expect(await api.server.renewDefaultRoles()).toBe(0);
  expect((await store.list({ start: `/${group}/`, end: `/${group}0` })).entries).toEqual([]);
  expect((await api.call('GET', at(cluster, bindings))).body.items.length).toBeGreaterThan(40);
});
