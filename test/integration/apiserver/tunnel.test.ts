import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { type Duplex, PassThrough } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tokenAuthenticator } from '../../../apiserver/authn/token.ts';
import { createAuthority } from '../../../apiserver/tls/ca.ts';
import { type HttpTransport, httpTransport } from '../../../client/http.ts';
import type { ApiResponse } from '../../../kube/http.ts';
import { eventually } from '../../eventually.ts';
import { type Api, admin, startApi } from './api.ts';

/** Stands for the API of the cluster that runs the pod: it echoes whatever a tunnel carries, in capitals. */
const physical = http.createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const seen = { method: request.method, url: request.url, body: Buffer.concat(chunks).toString() };
    const length = request.method === 'HEAD' && { 'content-length': '200000' };
    response.writeHead(request.url?.includes('teapot') ? 418 : 200, { 'x-from': 'the pod', ...length });
    const { authorization, 'impersonate-user': impersonated } = request.headers;
    response.end(JSON.stringify({ ...seen, secrets: [authorization, impersonated].filter(Boolean) }));
  });
});
const upgrades: http.IncomingMessage[] = [];
const tunnels = new Set<Duplex>();
physical.on('upgrade', (request, socket: Duplex) => {
  upgrades.push(request);
  tunnels.add(socket);
  socket.on('error', () => {});
  if (request.url?.includes('mute')) return;
  if (request.url?.includes('refused')) {
    const body = '{"kind":"Status","message":"container not found"}';
    socket.end(
      `HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    return;
  }
  const protocol = request.headers['sec-websocket-protocol'] ?? '';
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: ${request.headers.upgrade}\r\nConnection: Upgrade\r\nSec-WebSocket-Protocol: ${protocol}\r\nX-Secret: no\r\n\r\nwelcome `,
  );
  socket.on('data', (chunk: Buffer) => socket.write(chunk.toString().toUpperCase()));
  socket.on('end', () => socket.end());
});

/** The end of it came before anybody could listen. */
async function over(): Promise<ApiResponse> {
  const tunnel = new PassThrough();
  tunnel.destroy();
  await once(tunnel, 'close');
  const headers = { connection: 'Upgrade', upgrade: 'websocket' };
  return { status: 101, headers, body: new Uint8Array(), tunnel };
}

let api: Api;
let url: string;
let ca: string;
let transport: HttpTransport;
const pods = '/api/v1/namespaces/default/pods';

beforeAll(async () => {
  await new Promise<void>((resolve) => physical.listen(0, '127.0.0.1', resolve));
  transport = httpTransport({ server: `http://127.0.0.1:${(physical.address() as AddressInfo).port}` });
  const authority = await createAuthority('test');
  const server = await authority.issueServer(['127.0.0.1']);
  ca = authority.certificate;
  api = startApi({
    authenticate: [tokenAuthenticator(new Map([['secret', admin]]))],
    connectPod: (_, { metadata: { name } }) => {
      if (name === 'over') return { transport: over, path: '/' };
      return name === 'web' ? { transport, path: '/api/v1/namespaces/there/pods/web' } : undefined;
    },
    connectService: async (_, { metadata: { name } }) =>
      name === 'web' ? { transport, path: '/api/v1/namespaces/there/services/web' } : undefined,
  });
  const tls = { key: server.privateKey, cert: server.certificate, ca };
  ({ url } = await api.server.listen({ host: '127.0.0.1', port: 0, tls }));
  const spec = { containers: [{ name: 'main', image: 'a' }] };
  for (const name of ['web', 'nowhere']) {
    const metadata = { name };
    expect((await api.call('POST', pods, { apiVersion: 'v1', kind: 'Pod', metadata, spec })).status).toBe(
      201,
    );
    const service = { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 80 }] } };
    expect((await api.call('POST', '/api/v1/namespaces/default/services', service)).status).toBe(201);
  }
});
afterAll(async () => {
  await api.close();
  transport.close();
  for (const tunnel of tunnels) tunnel.destroy();
  await new Promise((resolve) => physical.close(resolve));
});

interface Opened {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: string;
  socket?: Duplex;
}

function open(path: string, headers: Record<string, string>, method = 'GET'): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const sent = { connection: 'Upgrade', upgrade: 'websocket', ...headers };
    const out = https.request(`${url}${path}`, { ca, agent: false, method, headers: sent });
    out.on('error', reject);
    out.on('upgrade', ({ statusCode = 0, headers: got }, socket, head) => {
      if (head.length > 0) socket.unshift(head);
      resolve({ status: statusCode, headers: got, body: '', socket });
    });
    out.on('response', (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
      );
    });
    out.end();
  });
}

function heard(socket: Duplex, until: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes(until)) resolve(text);
    });
    socket.on('close', () => reject(new Error(`closed after ${JSON.stringify(text)}`)));
  });
}

const bearer = { authorization: 'Bearer secret' };

test('a tunnel that ended before it was joined ends', async () => {
  const spec = { containers: [{ name: 'main', image: 'a' }] };
  await api.call('POST', pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'over' }, spec });
  const { status, socket } = await open(`${pods}/over/exec?command=a`, bearer);
  if (socket === undefined) throw new Error(`no tunnel, but ${status}`);
  if (!socket.destroyed) await new Promise((resolve) => socket.on('close', resolve).resume());
  expect((await api.call('DELETE', `${pods}/over`)).status).toBe(200);
});

test.each([
  ['exec', 'GET', 'websocket'],
  ['attach', 'POST', 'SPDY/3.1'],
  ['portforward', 'POST', 'SPDY/3.1'],
])('%s by %s is a tunnel to where the pod runs, in %s', async (what, method, upgrade) => {
  const query = '?command=a&command=b%20c';
  const path = `${pods}/web/${what}${query}`;
  const { status, headers, socket } = await open(
    path,
    { ...bearer, upgrade, 'x-stream-protocol-version': 'v4.channel.k8s.io' },
    method,
  );
  expect([status, headers.upgrade]).toEqual([101, upgrade]);
  expect(headers['x-secret']).toBeUndefined();
  const seen = upgrades.at(-1);
  expect([seen?.method, seen?.url]).toEqual([
    method,
    `/api/v1/namespaces/there/pods/web/${what}${what === 'exec' ? query : ''}`,
  ]);
  expect(seen?.headers).toMatchObject({ upgrade, 'x-stream-protocol-version': 'v4.channel.k8s.io' });
  expect(seen?.headers.authorization).toBeUndefined();
  socket?.write('hello');
  expect(await heard(socket as Duplex, 'HELLO')).toBe('welcome HELLO');
  const closed = new Promise((resolve) => [...tunnels].at(-1)?.on('close', resolve));
  socket?.destroy();
  await closed;
});

test('a browser brings its token among the protocols, and it goes no further', async () => {
  const token = Buffer.from('secret').toString('base64url');
  const protocols = `base64url.bearer.authorization.k8s.io.${token}, v5.channel.k8s.io`;
  const { status, headers, socket } = await open(`${pods}/web/exec?command=a`, {
    'sec-websocket-protocol': protocols,
  });
  expect([status, headers['sec-websocket-protocol']]).toEqual([101, 'v5.channel.k8s.io']);
  expect(upgrades.at(-1)?.headers['sec-websocket-protocol']).toBe('v5.channel.k8s.io');
  socket?.destroy();
});

test.each([
  ['nobody', `${pods}/web/exec`, {}, 401, 'Unauthorized'],
  ['no such pod', `${pods}/none/exec`, bearer, 404, '"none\\" not found'],
  ['a pod that runs nowhere', `${pods}/nowhere/exec`, bearer, 400, 'does not have a host assigned'],
  ['refused over there', `${pods}/web/exec?container=refused`, bearer, 400, 'container not found'],
  ['nothing to upgrade', '/version', bearer, 200, '"major": "1"'],
  ['a body', '/version', { ...bearer, 'content-length': '2' }, 400, 'an upgrade has no body'],
])('an upgrade without a tunnel gets a plain answer: %s', async (_, path, headers, status, message) => {
  const answer = await open(path, headers);
  expect(answer.status).toBe(status);
  expect(answer.body).toContain(message);
  expect(answer.headers.connection).toBe('close');
});

/** Unmasked text messages, each shorter than 64 KiB, as they come. */
async function* messages(socket: Duplex): AsyncGenerator<string> {
  let rest = Buffer.alloc(0);
  for await (const chunk of socket) {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 2) {
      const short = rest.readUInt8(1);
      const [head, length] = short < 126 ? [2, short] : [4, rest.length < 4 ? 1e9 : rest.readUInt16BE(2)];
      if (rest.length < head + length) break;
      yield `${rest.readUInt8(0).toString(16)} ${rest.subarray(head, head + length).toString()}`;
      rest = rest.subarray(head + length);
    }
  }
}

test('a watch goes over a WebSocket too, an event a message', async () => {
  const watch = `${pods}?watch=true&resourceVersion=0`;
  const key = 'dGhlIHNhbXBsZSBub25jZQ==';
  const asking = { ...bearer, 'sec-websocket-key': key, 'sec-websocket-version': '13' };
  const { status, headers, socket } = await open(watch, asking);
  expect([status, headers['sec-websocket-accept']]).toEqual([101, 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=']);
  const heardSoFar = messages(socket as Duplex);
  const next = async () => (await heardSoFar.next()).value as string;
  const [first, second] = [await next(), await next()];
  const event = (message: string) => JSON.parse(message.slice(3));
  expect([first.slice(0, 3), event(first).type, event(second).type]).toEqual(['81 ', 'ADDED', 'ADDED']);
  // A ping of two bytes, masked with zeros.
  socket?.write(Buffer.from([0x89, 0x82, 0, 0, 0, 0, 0x68, 0x69]));
  expect(await next()).toBe('8a hi');
  const spec = { containers: [{ name: 'main', image: 'a' }] };
  await api.call('POST', pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'late' }, spec });
  expect(event(await next())).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'late' } } });
  socket?.write(Buffer.from([0x88, 0x80, 0, 0, 0, 0]));
  expect(await next()).toBe('88 ');
  expect((await heardSoFar.next()).done).toBe(true);
});

test('a connection is asked about before it is opened, with what it is for', async () => {
  const base = '/apis/admissionregistration.k8s.io/v1';
  const rules = { apiGroups: [''], apiVersions: ['v1'], operations: ['CONNECT'] };
  const resources = ['pods/exec', 'pods/portforward', 'pods/proxy', 'services/proxy'];
  const validations = [
    {
      expression:
        "!has(object.metadata) && (!has(object.command) || object.command[0] != 'sh') && (!has(object.path) || object.path != '/secret') && (!has(object.container) || object.container != 'main') && (!has(object.ports) || !(22 in object.ports))",
      messageExpression: "request.operation + ' ' + request.kind.kind + ' ' + request.subResource",
    },
  ];
  const spec = { matchConstraints: { resourceRules: [{ ...rules, resources }] }, validations };
  const metadata = { name: 'closed' };
  await api.call('POST', `${base}/validatingadmissionpolicies`, { metadata, spec });
  const binding = { metadata, spec: { policyName: 'closed', validationActions: ['Deny'] } };
  await api.call('POST', `${base}/validatingadmissionpolicybindings`, binding);
  const before = upgrades.length;
  const refused = async (path: string) => {
    const { status, body } = await open(path, bearer);
    return [status, /denied request: (.*?)"/.exec(body)?.[1]];
  };
  expect([
    await refused(`${pods}/web/exec?command=sh&stdin=true`),
    await refused(`${pods}/web/portforward?ports=22`),
    await refused(`${pods}/web/proxy/secret`),
    await refused('/api/v1/namespaces/default/services/web/proxy/secret?a=b'),
    await refused(`${pods}/web/proxy/%73ecret`),
    await refused(`${pods}/web/proxy//secret`),
    await refused(`${pods}/web/exec?command=ls&container=x;&container=main`),
    await refused(`${pods}/web/exec?command=ls&container=%zz&container=main`),
  ]).toEqual([
    [422, 'CONNECT PodExecOptions exec'],
    [422, 'CONNECT PodPortForwardOptions portforward'],
    [422, 'CONNECT PodProxyOptions proxy'],
    [422, 'CONNECT ServiceProxyOptions proxy'],
    [422, 'CONNECT PodProxyOptions proxy'],
    [422, 'CONNECT PodProxyOptions proxy'],
    [422, 'CONNECT PodExecOptions exec'],
    [422, 'CONNECT PodExecOptions exec'],
  ]);
  expect(upgrades).toHaveLength(before);
  const query = 'command=ls&command=sh&container=&container=main';
  const { status, socket } = await open(`${pods}/web/exec?${query}`, bearer);
  expect(status).toBe(101);
  expect(upgrades.at(-1)?.url).toBe('/api/v1/namespaces/there/pods/web/exec?command=ls&command=sh');
  socket?.destroy();
  await api.call('DELETE', `${base}/validatingadmissionpolicybindings/closed`);
});

test('exec without an upgrade is refused', async () => {
  const { status, body } = await api.call('GET', `${pods}/web/exec?command=a`);
  expect([status, body.message]).toEqual([400, 'Upgrade request required']);
});

test('proxy carries any request to a pod or a Service, and their answers back', async () => {
  const service = '/api/v1/namespaces/default/services/http:web:80/proxy';
  const mine = {
    authorization: 'Bearer x',
    'impersonate-user': 'bob',
    'impersonate-group': 'system:masters',
  };
  const got = await api.call('POST', `${service}/a%20b/?c=d`, { some: 'body' }, mine);
  expect(got.status).toBe(200);
  expect(got.headers['x-from']).toBe('the pod');
  expect(got.body).toEqual({
    method: 'POST',
    url: '/api/v1/namespaces/there/services/http%3Aweb%3A80/proxy/a%20b/?c=d',
    body: '{"some":"body"}',
    secrets: [],
  });
  const teapot = await api.call('GET', `${pods}/web:8080/proxy/teapot`);
  expect([teapot.status, teapot.body.url]).toEqual([
    418,
    '/api/v1/namespaces/there/pods/web%3A8080/proxy/teapot',
  ]);
  const patched = await api.call('PATCH', `${service}/a`, { b: 1 }, { 'content-type': 'application/json' });
  expect([patched.status, patched.body.method, patched.body.body]).toEqual([200, 'PATCH', '{"b":1}']);
  expect((await api.call('OPTIONS', `${pods}/web:8080/proxy/teapot`)).status).toBe(418);
  const nowhere = await api.call('GET', '/api/v1/namespaces/default/services/nowhere:80/proxy/');
  expect([nowhere.status, nowhere.body.message]).toEqual([
    503,
    'no endpoints available for service "nowhere"',
  ]);
});

test.each([
  ['teapot', 418],
  ['file', 200],
])('HEAD through a proxy tells how long %s is', async (what, code) => {
  const answer = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const headers = { ...bearer, 'accept-encoding': 'gzip' };
    const asked = https.request(`${url}${pods}/web/proxy/${what}`, { method: 'HEAD', ca, headers });
    asked.on('response', resolve).on('error', reject).end();
  });
  answer.resume();
  expect([answer.statusCode, answer.headers['content-length']]).toEqual([code, '200000']);
});

test('who waits for a node that is mute holds up nobody else', async () => {
  const before = upgrades.length;
  const gone = new AbortController();
  const asked = Array.from({ length: 40 }, () =>
    api.server.transport(admin)({
      method: 'GET',
      url: `${pods}/web/exec?container=main&command=mute`,
      headers: { upgrade: 'websocket' },
      signal: gone.signal,
    }),
  );
  const all = Promise.allSettled(asked);
  const { status } = await transport({ method: 'GET', url: '/version', headers: {} });
  expect(status).toBe(200);
  await eventually(() => expect(upgrades.length - before).toBe(40));
  gone.abort();
  expect((await all).every((one) => one.status === 'fulfilled' && one.value.status >= 400)).toBe(true);
});

test('a server that stops ends its tunnels', async () => {
  const { socket } = await open(`${pods}/web/exec?command=a`, bearer);
  const closed = new Promise((resolve) => socket?.on('close', resolve).resume());
  await api.server.close();
  await closed;
});
