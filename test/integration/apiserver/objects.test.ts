import { afterAll, beforeAll, expect, it } from 'vitest';
import { Client } from '../../../client/client.ts';
import type { Transport } from '../../../kube/http.ts';
import type { WatchEvent } from '../../../kube/object.ts';
import { type Api, admin, startApi } from './api.ts';

const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
const path = '/clusters/root/api/v1/namespaces/default/configmaps';
let api: Api;
beforeAll(async () => {
  api = startApi();
  await api.call('GET', '/api');
  await api.call('POST', '/api/v1/namespaces', { metadata: { name: 'default' } });
});
afterAll(() => api.close());

/** Until the object of that name was deleted. */
async function told(
  transport: Transport,
  cluster: string,
  labelSelector: string | undefined,
  resourceVersion: string,
): Promise<WatchEvent[]> {
  const client = new Client(transport, { cluster });
  const stop = new AbortController();
  const events: WatchEvent[] = [];
  const options = { labelSelector, resourceVersion, signal: stop.signal };
  for await (const event of client.watch(configMaps, options)) {
    if (event.type === 'BOOKMARK') continue;
    events.push(JSON.parse(JSON.stringify(event)));
    if (event.type === 'DELETED' && event.object.metadata.name === 'last') stop.abort();
  }
  return events;
}

it.each([
  ['root', undefined],
  ['*', undefined],
  ['*', 'app in (a, last)'],
])('tells the same of %s as objects and as bytes, selected by %s', async (cluster, labels) => {
  const objects = api.server.transport(admin);
  const bytes: Transport = ({ objects: _, ...request }) => objects(request);
  const { resourceVersion } = (await api.call('GET', path)).body.metadata;
  const watches = [objects, bytes].map((transport) => told(transport, cluster, labels, resourceVersion));
  const object = (name: string) => ({
    metadata: { name, labels: { app: name }, annotations: { note: 'x' } },
    data: { b: '1', a: '' },
  });
  for (const name of ['a', 'b']) {
    expect((await api.call('POST', path, object(name))).status).toBe(201);
    await api.call('PATCH', `${path}/${name}`, { data: { c: '2' } });
    await api.call('PATCH', `${path}/${name}`, { metadata: { labels: { app: 'other' } } });
    await api.call('DELETE', `${path}/${name}`);
  }
  await api.call('POST', path, object('last'));
  await api.call('DELETE', `${path}/last`);
  const [asObjects, asBytes] = await Promise.all(watches);
  expect(asObjects?.length).toBeGreaterThan(4);
  expect(asObjects).toEqual(asBytes);
});

it('sends bytes to those who do not ask for objects', async () => {
  const response = await api.server.transport(admin)({
    method: 'GET',
    url: `${path}?watch=true&timeoutSeconds=1`,
    headers: { accept: 'application/json' },
  });
  expect(response.events).toBeUndefined();
  expect(response.body).not.toBeInstanceOf(Uint8Array);
});
