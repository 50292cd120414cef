import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Transport } from '../../../../kube/http.ts';
import { type Extension, group, gv, startExtension } from '../../../aggregation/extension.ts';
import { eventually } from '../../../eventually.ts';
import { type Api, admin, call, startApi, take, watch } from '../api.ts';
import { apiService, apiServices, authentication, externalService, register } from './scene.ts';

let api: Api;
let extension: Extension;
beforeEach(async () => {
  extension = await startExtension();
  api = startApi();
});
afterEach(async () => {
  await api.close();
  await extension.close();
});

const flunders = `/apis/${gv}/namespaces/default/flunders`;
const flunder = (name: string) => ({ apiVersion: gv, kind: 'Flunder', metadata: { name } });

test('requests to a group of an APIService go to its service, whatever the verb, and the answers come back', async () => {
  await register(api, extension);
  expect((await api.call('GET', `/apis/${gv}`)).body.resources[0].kind).toBe('Flunder');
  const made = await api.call('POST', flunders, flunder('a'));
  expect([made.status, made.body.metadata.namespace]).toEqual([201, 'default']);
  expect((await api.call('POST', flunders, flunder('a'))).body.reason).toBe('AlreadyExists');
  const changed = { ...flunder('a'), spec: { color: 'red' } };
  expect((await api.call('PUT', `${flunders}/a`, changed)).body.spec).toEqual({ color: 'red' });
  expect((await api.call('GET', `${flunders}?limit=5&labelSelector=a%3Db`)).body.items).toHaveLength(1);
  expect(extension.asked.at(-1)?.url).toBe(`${flunders}?limit=5&labelSelector=a%3Db`);
  expect((await api.call('DELETE', `${flunders}/a`)).status).toBe(200);
  expect((await api.call('GET', `${flunders}/a`)).status).toBe(404);
});

test('the server is told who asks by headers, and shown a certificate of its logical cluster', async () => {
  await register(api, extension);
  const user = {
    name: 'änn',
    uid: '7',
    groups: ['one, two', 'three'],
    extra: { 'Example.com/a%b': ['x', 'y'] },
  };
  const transport = api.server.transport({ ...user, groups: [...user.groups, 'system:masters'] });
  expect((await call(transport, 'GET', flunders)).status).toBe(200);
  const { headers, raw, shown, authorized } = extension.asked[0] ?? expect.fail();
  expect([shown, authorized]).toEqual(['front-proxy-client', true]);
  expect(Buffer.from(headers['x-remote-user'] as string, 'latin1').toString()).toBe('änn');
  expect(headers['x-remote-uid']).toBe('7');
  const values = (name: string) => raw.filter((_value, at) => at % 2 === 1 && raw[at - 1] === name);
  expect(values('x-remote-group')).toEqual(['one, two', 'three', 'system:masters']);
  expect(values('x-remote-extra-Example.com%2Fa%25b')).toEqual(['x', 'y']);
  expect(headers.host).toBe(`wardle.default.svc:${extension.port}`);
});

test('its group is among the paths of its logical cluster', async () => {
  const before = (await api.call('GET', '/')).body.paths;
  await register(api, extension);
  const { paths } = (await api.call('GET', '/')).body;
  expect(paths).toEqual([...before, `/apis/${group}`, `/apis/${gv}`].sort());
});

test('a watch streams until whoever watches goes, and then ends there too', async () => {
  await register(api, extension);
  const ended = new AbortController();
  const transport: Transport = api.server.transport(admin);
  const events = watch(transport, `${flunders}?watch=true`, ended.signal);
  const first = take(events, 1);
  await eventually(() => expect(extension.asked).toHaveLength(1));
  await api.call('POST', flunders, flunder('a'));
  expect(await first).toMatchObject([{ type: 'ADDED', object: { metadata: { name: 'a' } } }]);
  await api.call('DELETE', `${flunders}/a`);
  expect(await take(events, 1)).toMatchObject([{ type: 'DELETED' }]);
  ended.abort();
  await expect(take(events, 1)).rejects.toThrow();
});

test('one that is not available, or whose service is not there, is 503 as kube-aggregator says it', async () => {
  const { body } = await api.call('POST', apiServices, apiService(extension));
  expect(body.metadata.name).toBe(`v1alpha1.${group}`);
  const told = await api.call('GET', `${apiServices}/v1alpha1.${group}`);
  expect(told.body.status.conditions).toMatchObject([
    {
      type: 'Available',
      status: 'False',
      reason: 'ServiceNotFound',
      message: 'service/wardle in "default" is not present',
    },
  ]);
  expect(await api.call('GET', flunders)).toMatchObject({ status: 503, body: 'service unavailable\n' });
  await register(api, extension, '', { version: 'v1' });
  await api.call('DELETE', '/api/v1/namespaces/default/services/wardle');
  const gone = await api.call('GET', `/apis/${group}/v1/flunders`);
  expect(gone).toMatchObject({ status: 503, body: 'service unavailable\n' });
  expect(extension.asked).toEqual([]);
});

test('the ConfigMap by which servers know us is written when it is looked for, by its name, in each logical cluster', async () => {
  const other = await api.addCluster('root:team-a');
  for (const prefix of ['', `/clusters/${other}`]) {
    await api.call('POST', `${prefix}/api/v1/namespaces`, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'kube-system' },
    });
    const listed = `${prefix}/api/v1/namespaces/kube-system/configmaps?fieldSelector=metadata.name%3Dextension-apiserver-authentication`;
    const { body } = await api.call('GET', listed);
    expect(body.items).toHaveLength(1);
    expect(body.items[0].data).toMatchObject({
      'requestheader-allowed-names': '["front-proxy-client"]',
      'requestheader-username-headers': '["X-Remote-User"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
      'requestheader-uid-headers': '["X-Remote-Uid"]',
    });
  }
  const [one, two] = await Promise.all([
    api.call('GET', authentication),
    api.call('GET', `/clusters/${other}${authentication}`),
  ]);
  for (const field of ['client-ca-file', 'requestheader-client-ca-file']) {
    expect(one.body.data[field]).toContain('BEGIN CERTIFICATE');
    expect(one.body.data[field]).not.toBe(two.body.data[field]);
  }
  await api.call('PATCH', authentication, { data: { own: 'word' } });
  expect((await api.call('GET', authentication)).body.data.own).toBe('word');
});

test('an upgrade becomes a tunnel', async () => {
  await register(api, extension);
  const headers = { connection: 'Upgrade', upgrade: 'echo/1', cookie: 'a=b', authorization: 'Bearer secret' };
  const url = `${flunders}/a/exec`;
  const response = await api.server.transport(admin)({ method: 'GET', url, headers });
  expect(response.status).toBe(101);
  expect(response.headers['set-cookie']).toBeUndefined();
  const tunnel = response.tunnel ?? expect.fail();
  tunnel.write('hello');
  const [said] = (await tunnel.take(1).toArray()) as Buffer[];
  expect(String(said)).toBe('hello');
  expect(JSON.stringify(extension.asked.at(-1)?.headers)).not.toMatch(/secret|a=b/);
  tunnel.destroy();
});

test('a server that hangs is told no more after the time of a request', async () => {
  await api.close();
  api = startApi({ limits: { requestSeconds: 0.3 } });
  await register(api, extension);
  extension.instead = () => true;
  expect((await api.call('GET', flunders)).status).toBeGreaterThanOrEqual(503);
  await api.call('POST', '/api/v1/namespaces/default/services', externalService());
});
