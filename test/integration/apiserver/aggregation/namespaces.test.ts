import { setMaxListeners } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ownUser } from '../../../../apiserver/authn/controllers.ts';
import { Client } from '../../../../client/client.ts';
import { discover } from '../../../../client/discovery.ts';
import { InformerSet } from '../../../../client/informers.ts';
import { controllersUser } from '../../../../cluster/names.ts';
import { runNamespaceController } from '../../../../controller/namespace/controller.ts';
import { emptyNamespace } from '../../../../controller/namespace/empty.ts';
import { emptyLogicalCluster } from '../../../../controller/workspace/empty.ts';
import { silentLogger } from '../../../../kube/log.ts';
import { type Extension, group, gv, startExtension, version } from '../../../aggregation/extension.ts';
import { eventually } from '../../../eventually.ts';
import { type Api, startApi } from '../api.ts';
import { apiServices, register } from './scene.ts';

let api: Api;
let extension: Extension;
let client: Client;
let stop: AbortController;
let done: Promise<unknown>;
beforeEach(async () => {
  extension = await startExtension();
  api = startApi();
  stop = new AbortController();
  const { signal } = stop;
  setMaxListeners(0, signal);
  client = new Client(api.server.transport(ownUser(controllersUser)), { cluster: '*' });
  const informers = new InformerSet(client, { cluster: '*', signal });
  done = runNamespaceController({ client, informers, signal, logger: silentLogger });
  await register(api, extension);
});
afterEach(async () => {
  stop.abort();
  await done;
  await api.close();
  await extension.close();
});

async function goes(prefix: string): Promise<void> {
  await api.call('DELETE', `${prefix}/api/v1/namespaces/gone`);
  await eventually(async () =>
    expect((await api.call('GET', `${prefix}/api/v1/namespaces/gone`)).status).toBe(404),
  );
}

const make = (prefix: string) =>
  api.call('POST', `${prefix}/api/v1/namespaces`, {
    kind: 'Namespace',
    apiVersion: 'v1',
    metadata: { name: 'gone' },
  });

test('a namespace that goes takes along what other API servers have in it', async () => {
  await make('');
  const flunder = { apiVersion: gv, kind: 'Flunder', metadata: { name: 'a' } };
  const flunders = `/apis/${gv}/namespaces/gone/flunders`;
  expect((await api.call('POST', flunders, flunder)).status).toBe(201);
  await goes('');
  expect((await api.call('GET', flunders)).body.items).toEqual([]);
});

test('one waits for its own logical cluster’s server, which others do not', async () => {
  const other = `/clusters/${await api.addCluster('root:other')}`;
  extension.instead = () => true;
  await make('');
  await make(other);
  await api.call('DELETE', '/api/v1/namespaces/gone');
  await eventually(() => expect(extension.asked.some(({ url }) => url === `/apis/${gv}`)).toBe(true));
  await goes(other);
  expect((await api.call('GET', '/api/v1/namespaces/gone')).body.status.phase).toBe('Terminating');
  extension.instead = undefined;
  await goes('');
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
    signal: stop.signal,
  });
  expect(remains.failures).toHaveLength(times);
  expect(asked.filter((path) => path.includes('/namespaces/gone/'))).toHaveLength(times);
});

test('a logical cluster that goes asks none of its own servers', async () => {
  extension.instead = () => true;
  await emptyLogicalCluster(client, 'root', stop.signal);
  expect((await api.call('GET', `${apiServices}/${version}.${group}`)).status).toBe(404);
  expect(extension.asked).toEqual([]);
});
