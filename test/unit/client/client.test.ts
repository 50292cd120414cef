import { expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import { isTransportError } from '../../../client/errors.ts';
import { lines } from '../../../client/lines.ts';
import type { ApiRequest } from '../../../kube/http.ts';
import { configMap, failure, json, list, scripted } from './scripted.ts';

const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
const deployments = { group: 'apps', version: 'v1', resource: 'deployments' };
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'x' } };

test.each<[string, (client: Client) => Promise<unknown>, string]>([
  ['get', (c) => c.get(configMaps, { namespace: 'x', name: 'a' }), 'GET /api/v1/namespaces/x/configmaps/a'],
  [
    'another cluster',
    (c) => c.get(deployments, { cluster: 'root:t', namespace: 'x', name: 'a', subresource: 'scale' }),
    'GET /clusters/root:t/apis/apps/v1/namespaces/x/deployments/a/scale',
  ],
  [
    'wildcard list',
    (c) => c.list(deployments, { cluster: '*', labelSelector: 'a=b,c' }),
    'GET /clusters/*/apis/apps/v1/deployments?labelSelector=a%3Db%2Cc&limit=500',
  ],
  ['create', (c) => c.create(configMaps, object), 'POST /api/v1/namespaces/x/configmaps?fieldManager=me'],
  [
    'update',
    (c) => c.update(configMaps, object, { subresource: 'status' }),
    'PUT /api/v1/namespaces/x/configmaps/a/status?fieldManager=me',
  ],
  [
    'apply',
    (c) => c.patch(configMaps, { namespace: 'x', name: 'a' }, 'apply', object, { force: true }),
    'PATCH /api/v1/namespaces/x/configmaps/a?fieldManager=me&force=true application/apply-patch+yaml',
  ],
  ['delete', (c) => c.delete(configMaps, { name: 'a%/é' }), 'DELETE /api/v1/configmaps/a%25%2F%C3%A9'],
])('%s', async (_name, call, expected) => {
  const sent: ApiRequest[] = [];
  const client = new Client(
    async (request) => {
      sent.push(request);
      return { status: 200, headers: {}, body: Buffer.from('{"kind":"List","metadata":{},"items":[]}') };
    },
    { fieldManager: 'me' },
  );
  await call(client);
  const [request] = sent;
  const type = request?.headers['content-type'] ?? '';
  const line = `${request?.method} ${request?.url} ${type === 'application/json' ? '' : type}`;
  expect(line.trim()).toBe(expected);
});

test('an answer that nobody looks at is not read; a refusal is', async () => {
  const answers = [200, 200, 409];
  const client = new Client(async () => ({
    status: answers.shift() ?? 0,
    headers: {},
    body: Buffer.from('{'),
  }));
  const at = { namespace: 'x', name: 'a' };
  await client.createUnread(configMaps, object);
  await client.patchUnread(configMaps, at, 'merge', {});
  await expect(client.patchUnread(configMaps, at, 'merge', {})).rejects.toMatchObject({ code: 409 });
});

test('prefix and cluster of the client go before every path', async () => {
  const { transport, urls } = scripted(json(200, object), json(200, {}));
  const client = new Client(transport, { prefix: '/syncers/east', cluster: 'root' });
  await client.get(configMaps, { name: 'a' });
  await client.raw({ method: 'GET', path: '/version' });
  expect(urls).toEqual([
    '/syncers/east/clusters/root/api/v1/configmaps/a',
    '/syncers/east/clusters/root/version',
  ]);
});

test('a list that is too long to be decoded is read in shorter pages', async () => {
  const long = () => ({ status: 200, headers: {}, body: Buffer.alloc((256 << 20) + 1) });
  const { transport, urls } = scripted(long, list('7', configMap('a', '1')));
  const { items } = await new Client(transport).list(configMaps);
  expect(items).toHaveLength(1);
  expect(urls).toEqual(['/api/v1/configmaps?limit=500', '/api/v1/configmaps?limit=125']);
});

test('reads all pages, names the kinds, and starts anew when the pages expire', async () => {
  const page = (items: object[], next?: string) =>
    json(200, {
      kind: 'ConfigMapList',
      apiVersion: 'v1',
      metadata: { resourceVersion: '9', ...(next && { continue: next }) },
      items,
    });
  const a = { metadata: { name: 'a' } };
  const b = { metadata: { name: 'b' } };
  const whole = scripted(page([a], 'more'), page([b]));
  const answer = await new Client(whole.transport).list(configMaps, { limit: 1 });
  expect(answer.items).toEqual([
    { apiVersion: 'v1', kind: 'ConfigMap', ...a },
    { apiVersion: 'v1', kind: 'ConfigMap', ...b },
  ]);
  expect(answer.metadata).toEqual({ resourceVersion: '9' });
  expect(whole.urls[1]).toBe('/api/v1/configmaps?limit=1&continue=more');

  const lost = scripted(page([a], 'more'), failure(410, 'Expired'), list('12', configMap('c', '11')));
  const anew = await new Client(lost.transport).list(configMaps);
  expect(anew.metadata.resourceVersion).toBe('12');
  expect(anew.items.map(({ metadata }) => metadata.name)).toEqual(['c']);
});

test.each([
  ['a Status', failure(404, 'NotFound'), { code: 404, reason: 'NotFound' }],
  ['a proxy', json(502, 'bad gateway'), { code: 502, reason: 'InternalError' }],
  ['a redirect', json(302, {}), { code: 302, reason: 'Unknown' }],
  ['a Status without reason', json(409, { kind: 'Status' }), { code: 409, reason: 'Conflict' }],
])('a failure told by %s is a StatusError', async (_who, answer, expected) => {
  const client = new Client(scripted(answer).transport);
  await expect(client.get(configMaps, { name: 'a' })).rejects.toMatchObject({
    name: 'StatusError',
    ...expected,
  });
});

test('an answer that is not JSON is a TransportError', async () => {
  const client = new Client(async () => ({ status: 200, headers: {}, body: Buffer.from('{"ki') }));
  const error = await client.get(configMaps, { name: 'a' }).catch((caught: unknown) => caught);
  expect(isTransportError(error)).toBe(true);
});

test('a line longer than the bound is refused, before and after its end came', async () => {
  const read = async (...chunks: string[]) => {
    const seen: string[] = [];
    for await (const line of lines(
      chunks.map((chunk) => Buffer.from(chunk)),
      4,
    ))
      seen.push(line);
    return seen;
  };
  await expect(read('abc\n\nabcd\n')).resolves.toEqual(['abc', 'abcd']);
  await expect(read('abc', 'de')).rejects.toMatchObject({ code: 'ETOOLARGE' });
  await expect(read('abcde\n')).rejects.toMatchObject({ code: 'ETOOLARGE' });
});
