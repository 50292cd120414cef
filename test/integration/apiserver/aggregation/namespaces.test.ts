import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Client } from '../../../../client/client.ts';
import { discover } from '../../../../client/discovery.ts';
import { runNamespaceController } from '../../../../controller/namespace/controller.ts';
import { emptyNamespace } from '../../../../controller/namespace/empty.ts';
import { emptyLogicalCluster } from '../../../../controller/workspace/empty.ts';
import { type Extension, group, gv, startExtension, version } from '../../../aggregation/extension.ts';
import { eventually } from '../../../eventually.ts';
import { type Api, startApi } from '../api.ts';
import { apiServices, control, register } from './scene.ts';

let api: Api;
let extension: Extension;
let client: Client;
let signal: AbortSignal;
let stop: () => Promise<unknown>;
beforeEach(async () => {
  extension = await startExtension();
  api = startApi();
  ({ client, signal, stop } = control(api, runNamespaceController));
  await register(api, extension);
});
afterEach(async () => {
  await stop();
  await api.close();
  await extension.close();
});

async function goes(prefix: string, name = 'gone'): Promise<void> {
  await api.call('DELETE', `${prefix}/api/v1/namespaces/${name}`);
  await eventually(async () =>
    expect((await api.call('GET', `${prefix}/api/v1/namespaces/${name}`)).status).toBe(404),
  );
}

const make = (prefix: string, name = 'gone') =>
  api.call('POST', `${prefix}/api/v1/namespaces`, {
    kind: 'Namespace',
    apiVersion: 'v1',
    metadata: { name },
  });

test('a namespace that goes takes along what other API servers have in it', async () => {
  await make('');
  const flunder = { apiVersion: gv, kind: 'Flunder', metadata: { name: 'a' } };
  const flunders = `/apis/${gv}/namespaces/gone/flunders`;
  expect((await api.call('POST', flunders, flunder)).status).toBe(201);
  await goes('');
  expect((await api.call('GET', flunders)).body.items).toEqual([]);
});

test('those of one logical cluster wait for its own server, however many, which others do not', async () => {
  const other = `/clusters/${await api.addCluster('root:other')}`;
  extension.instead = () => true;
  const waiting = Array.from({ length: 6 }, (_, i) => `waiting-${i}`);
  for (const name of waiting) await make('', name);
  await make(other);
  for (const name of waiting) await api.call('DELETE', `/api/v1/namespaces/${name}`);
  await eventually(() => expect(extension.asked.some(({ url }) => url === `/apis/${gv}`)).toBe(true));
  await goes(other);
  for (const name of waiting)
    expect((await api.call('GET', `/api/v1/namespaces/${name}`)).body.status.phase).toBe('Terminating');
  extension.instead = undefined;
  for (const name of waiting) await goes('', name);
});

test('what reads all logical clusters at once is told of no server of one of them, root’s neither', async () => {
  extension.instead = () => true;
  const { resources, failed } = await discover(client, { cluster: 'root' });
  expect(failed).toEqual([]);
  expect(resources.some(({ resource }) => resource === 'flunders')).toBe(false);
  expect(extension.asked).toEqual([]);
});

test.each([
  [503, 1],
  [500, 9],
])('a server that answers %i for what it lists is asked %i times in a pass', async (code, times) => {
  const verbs = ['delete', 'list'];
  const resources = Array.from({ length: 9 }, (_, i) => ({
    name: `r${i}`,
    kind: `R${i}`,
    namespaced: true,
    verbs,
  }));
  const asked: string[] = [];
  extension.instead = ({ url = '' }, response) => {
    asked.push(url.split('?')[0] ?? '');
    const list = { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: gv, resources };
    response.writeHead(url === `/apis/${gv}` ? 200 : code, { 'content-type': 'application/json' });
    response.end(url === `/apis/${gv}` ? JSON.stringify(list) : '{}');
    return true;
  };
  const remains = await emptyNamespace(client, {
    cluster: 'root',
    namespace: 'gone',
    signal,
  });
  expect(remains.failures).toHaveLength(times);
  expect(asked.filter((path) => path.includes('/namespaces/gone/'))).toHaveLength(times);
});

test('a logical cluster that goes asks none of its own servers', async () => {
  extension.instead = () => true;
  await emptyLogicalCluster(client, 'root', signal);
  expect((await api.call('GET', `${apiServices}/${version}.${group}`)).status).toBe(404);
  expect(extension.asked).toEqual([]);
});
