import { afterEach, beforeEach, expect, test } from 'vitest';
import { openMemory } from '../../../storage/memory/memory.ts';
import { type Store, StoreError } from '../../../storage/store.ts';
import { type Answer, type Api, admin, startApi, take, watch } from './api.ts';

const group = 'rbac.authorization.k8s.io';
const rbac = `/apis/${group}/v1`;
const roles = `${rbac}/clusterroles`;
const bindings = `${rbac}/clusterrolebindings`;

/** Takes no writes while it is full, and says so beforehand or not. */
let full: boolean;
let tried: number;
let telling: boolean;
let store: Store;
let api: Api;
beforeEach(() => {
  [full, telling, tried, store] = [false, false, 0, openMemory()];
  const limited = new Proxy(store, {
    get: (target, name: keyof Store) => {
      if (name === 'refusing') return telling && full ? 'no space' : undefined;
      const value = target[name];
      if (typeof value !== 'function') return value;
      if (!full || (name !== 'create' && name !== 'update')) return value.bind(target);
      return async () => {
        tried++;
        throw new StoreError('full', 'no space');
      };
    },
  });
  api = startApi({ store: limited });
});
afterEach(() => api.close());

const written = async () => (await store.list({ start: `/${group}/`, end: `/${group}0` })).entries.length;
const names = ({ body }: Answer) => body.items.map(({ metadata }: Answer) => metadata.name);

test.each([true, false])('are read from a store that takes no writes (told: %s)', async (told) => {
  await api.call('POST', roles, { metadata: { name: 'mine' }, rules: [] });
  await api.call('GET', '/api/v1/namespaces');
  [full, telling] = [true, told];
  const listed = await api.call('GET', roles);
  expect([listed.status, listed.body.items.length, listed.body.metadata.continue]).toEqual([
    200,
    70,
    undefined,
  ]);
  expect(names(listed)).toEqual([...names(listed)].sort());
  expect(tried).toBe(told ? 0 : 1);
  const one = async (url: string) => {
    const { status, body } = await api.call('GET', url);
    return [status, body.metadata?.name ?? names({ body })];
  };
  expect(await one(`${roles}/view`)).toEqual([200, 'view']);
  expect(await one(`${roles}/mine`)).toEqual([200, 'mine']);
  expect((await api.call('GET', `${roles}/none`)).status).toBe(404);
  expect((await api.call('GET', `${roles}?fieldSelector=metadata.name%3Dview`)).body.items).toHaveLength(1);
  const labelled = `labelSelector=${encodeURIComponent(`${group}/aggregate-to-view=true`)}`;
  expect(names(await api.call('GET', `${roles}?${labelled}&limit=1`))).toEqual(['system:aggregate-to-view']);
  expect((await api.call('GET', bindings)).body.items).toHaveLength(50);
  expect((await api.call('GET', `${rbac}/namespaces/kube-public/roles`)).body.items).toHaveLength(1);
  const events = watch(api.server.transport(admin), `${roles}?watch=1`);
  expect(await take(events, 70)).toHaveLength(70);
  await events.return(undefined);
  expect((await api.call('PATCH', `${roles}/view`, { metadata: { labels: { a: 'b' } } })).status).toBe(507);
  full = false;
  expect((await api.call('GET', `${roles}/view`)).body.metadata.resourceVersion).not.toBe('0');
  expect((await api.call('GET', roles)).body.items).toHaveLength(70);
});

test('are not written by what is only tried', async () => {
  const dry = async (method: string, url: string, body?: object) => {
    const { status, body: said } = await api.call(method, `${url}?dryRun=All`, body);
    return [status, said.reason ?? said.items?.length ?? said.metadata?.labels?.a ?? ''];
  };
  expect(await dry('POST', roles, { metadata: { name: 'view' }, rules: [] })).toEqual([409, 'AlreadyExists']);
  expect(await dry('POST', roles, { metadata: { name: 'mine' }, rules: [] })).toEqual([201, '']);
  // Without a name it is nobody's namesake.
  expect(await dry('POST', roles, { metadata: {}, rules: [] })).toEqual([422, 'Invalid']);
  expect(await dry('PATCH', `${roles}/view`, { metadata: { labels: { a: 'b' } } })).toEqual([200, 'b']);
  expect(await dry('DELETE', `${roles}/view`)).toEqual([200, '']);
  expect(await dry('DELETE', `${roles}/none`)).toEqual([404, 'NotFound']);
  expect(await dry('DELETE', bindings)).toEqual([200, 50]);
  const options = { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] };
  expect((await api.call('DELETE', `${roles}/view`, options)).status).toBe(200);
  const kind = {
    kind: 'ClusterRole',
    apiVersion: `${group}/v1`,
    metadata: { name: 'view', labels: { a: 'c' } },
  };
  expect(await dry('PUT', `${roles}/view`, kind)).toEqual([200, 'c']);
  const apply = { 'content-type': 'application/apply-patch+yaml' };
  const applied = await api.call('PATCH', `${roles}/view?dryRun=All&fieldManager=m`, kind, apply);
  expect([applied.status, applied.body.rules.length]).toEqual([200, 12]);
  expect(await written()).toBe(0);
  expect((await api.call('DELETE', `${roles}/view`)).status).toBe(200);
  expect((await api.call('GET', `${roles}/view`)).status).toBe(404);
});
