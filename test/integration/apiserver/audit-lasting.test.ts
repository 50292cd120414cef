import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { tokenAuthenticator } from '../../../apiserver/authn/token.ts';
import type { AdmissionPlugin } from '../../../apiserver/plugins.ts';
import { createAuthority } from '../../../apiserver/tls/ca.ts';
import { type HttpTransport, httpTransport } from '../../../client/http.ts';
import { eventually } from '../../eventually.ts';
import { type Answer, type Api, admin, startApi } from './api.ts';

const upgrades: http.IncomingMessage[] = [];
/** Stands for the API of the cluster that runs the pod. */
const physical = http.createServer((_, response) => response.end('a line of a log\n'));
physical.on('upgrade', (request, socket: Duplex) => {
  upgrades.push(request);
  socket.on('error', () => {});
  socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
  socket.on('data', () => {});
  socket.on('end', () => socket.end());
});
const broken: AdmissionPlugin = {
  name: 'broken',
  validate: ({ name }) => {
    if (name === 'boom') throw new TypeError('nobody foresaw this');
  },
};

let api: Api;
let url: string;
let ca: string;
let transport: HttpTransport;
let lines: string[] = [];
const web = '/api/v1/namespaces/default/pods/web';
const token = 'secret-token-0123';

beforeAll(async () => {
  await new Promise<void>((resolve) => physical.listen(0, '127.0.0.1', resolve));
  transport = httpTransport({ server: `http://127.0.0.1:${(physical.address() as AddressInfo).port}` });
  const authority = await createAuthority('test');
  const server = await authority.issueServer(['127.0.0.1']);
  ca = authority.certificate;
  api = startApi({
    authenticate: [tokenAuthenticator(new Map([[token, admin]]))],
    admission: [broken],
    connectPod: () => ({ transport, path: '/api/v1/namespaces/there/pods/web' }),
    audit: {
      policy: { omitStages: ['RequestReceived'], rules: [{ level: 'RequestResponse' }] },
      write: (line) => lines.push(line),
    },
  });
  const tls = { key: server.privateKey, cert: server.certificate, ca };
  ({ url } = await api.server.listen({ host: '127.0.0.1', port: 0, tls }));
  const spec = { containers: [{ name: 'main', image: 'a' }] };
  await api.call('POST', '/api/v1/namespaces', { metadata: { name: 'default' } });
  await api.call('POST', '/api/v1/namespaces/default/pods', { metadata: { name: 'web' }, spec });
});
beforeEach(() => {
  lines = [];
});
afterAll(async () => {
  await api.close();
  transport.close();
  await new Promise((resolve) => physical.close(resolve));
});

const events = (): Answer[] => lines.map((line) => JSON.parse(line));

function open(path: string, headers: Record<string, string>): Promise<{ id: string; socket: Duplex }> {
  return new Promise((resolve, reject) => {
    const sent = { connection: 'Upgrade', upgrade: 'websocket', ...headers };
    const out = https.get(`${url}${path}`, { ca, agent: false, headers: sent });
    out.on('error', reject);
    out.on('upgrade', (response, socket) => resolve({ id: String(response.headers['audit-id']), socket }));
  });
}

test('an exec is told as it begins and as it ends, under one name on both sides, and its token is not', async () => {
  const { id, socket } = await open(`${web}/exec?command=ls&stdin=true`, {
    'sec-websocket-protocol': `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}, v5.channel.k8s.io`,
  });
  const [started, ...more] = events();
  expect(more).toEqual([]);
  expect(started).toMatchObject({
    auditID: id,
    stage: 'ResponseStarted',
    verb: 'get',
    requestURI: `${web}/exec?command=ls&stdin=true`,
    objectRef: { resource: 'pods', namespace: 'default', name: 'web', subresource: 'exec' },
    responseStatus: { code: 101 },
  });
  expect(upgrades.at(-1)?.headers['audit-id']).toBe(id);
  socket.end();
  await eventually(() => expect(events()[1]?.stage).toBe('ResponseComplete'));
  expect(events()[1].auditID).toBe(id);
  expect(lines.join()).not.toContain(token);
  expect(lines.join()).not.toContain(Buffer.from(token).toString('base64url'));
});

test('logs are told as they begin and as they end, without what they say', async () => {
  await api.call('GET', `${web}/log`);
  await eventually(() => expect(lines).toHaveLength(2));
  expect(events().map(({ stage }) => stage)).toEqual(['ResponseStarted', 'ResponseComplete']);
  expect(lines.join()).not.toContain('a line of a log');
});

test('what does not begin says why as it is told, twice', async () => {
  await api.call('GET', '/api/v1/namespaces/default/pods/none/log');
  const why = { responseStatus: { code: 404 }, responseObject: { message: 'pods "none" not found' } };
  expect(events()).toMatchObject([
    { stage: 'ResponseStarted', ...why },
    { stage: 'ResponseComplete', ...why },
  ]);
});

test('what is sent is recorded with its defaults', async () => {
  const spec = { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } } } };
  const containers = [{ name: 'c', image: 'i' }];
  await api.call('POST', '/apis/apps/v1/namespaces/default/deployments', {
    metadata: { name: 'recorded' },
    spec: { ...spec, template: { ...spec.template, spec: { containers } } },
  });
  const template = {
    spec: { containers: [{ name: 'c', imagePullPolicy: 'Always' }], dnsPolicy: 'ClusterFirst' },
  };
  expect(events().at(-1)).toMatchObject({ requestObject: { spec: { replicas: 1, template } } });
  expect(events().at(-1).requestObject.metadata.namespace).toBeUndefined();
});

test('what is sent to a pod is told by no event', async () => {
  const { status } = await api.call('PATCH', `${web}/proxy/x`, { password: 'hidden' });
  expect(status).toBe(200);
  expect(events().at(-1)).toMatchObject({ verb: 'patch', objectRef: { subresource: 'proxy' } });
  expect(lines.join()).not.toContain('hidden');
});

test('what nobody foresaw is a panic', async () => {
  const boom = { metadata: { name: 'boom' } };
  const { status } = await api.call('POST', '/api/v1/namespaces/default/configmaps', boom);
  expect(status).toBe(500);
  expect(events()).toMatchObject([
    { stage: 'Panic', responseStatus: { code: 500 }, requestObject: boom, objectRef: { name: 'boom' } },
  ]);
});

test("a Secret's data is there at the level that asks for it, as in kube-apiserver; a token that is made is not", async () => {
  const secrets = '/api/v1/namespaces/default/secrets';
  await api.call('POST', secrets, { metadata: { name: 's' }, data: { p: 'cGFzcw==' } });
  expect(events()[0]).toMatchObject({
    requestObject: { data: { p: 'cGFzcw==' } },
    responseObject: { data: { p: 'cGFzcw==' } },
  });
  lines = [];
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } };
  const { status } = await api.call('POST', '/apis/authentication.k8s.io/v1/tokenreviews', review);
  expect(status).toBe(201);
  expect(lines.join()).not.toContain(token);
});
