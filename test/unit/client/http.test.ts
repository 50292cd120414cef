import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Client } from '../../../client/client.ts';
import { type HttpTransport, httpTransport } from '../../../client/http.ts';
import { transportFromKubeconfig } from '../../../client/kubeconfig.ts';

const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
let server: http.Server;
let handler: http.RequestListener;
let open: HttpTransport[];

beforeEach(async () => {
  open = [];
  server = http.createServer((request, response) => handler(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  for (const transport of open) transport.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

function connect(config: Partial<Parameters<typeof httpTransport>[0]> = {}): HttpTransport {
  const transport = httpTransport({ server: address(), ...config });
  open.push(transport);
  return transport;
}

const get = { method: 'GET', url: '/x', headers: {} };

test('carries method, path, headers and body, and reuses the socket', async () => {
  const seen: string[] = [];
  const ports = new Set<number | undefined>();
  handler = (request, response) => {
    ports.add(request.socket.remotePort);
    request.setEncoding('utf8').on('data', (body) => seen.push(`${request.method} ${request.url} ${body}`));
    request.on('end', () => response.writeHead(201, { 'x-a': 'b' }).end('yes'));
  };
  const transport = connect({ server: `${address()}/base` });
  for (const body of ['1', '2']) {
    const answer = await transport({ method: 'POST', url: '/x?y=1', headers: {}, body: Buffer.from(body) });
    expect(answer).toMatchObject({ status: 201, headers: { 'x-a': 'b' } });
    expect(Buffer.from(answer.body as Uint8Array).toString()).toBe('yes');
  }
  expect(seen).toEqual(['POST /base/x?y=1 1', 'POST /base/x?y=1 2']);
  expect(ports.size).toBe(1);
});

test.each(['GET', 'DELETE', 'PATCH'])(
  'the body of a %s is framed: nothing of it is left on the socket',
  async (method) => {
    const seen: string[] = [];
    handler = (request, response) => {
      request.setEncoding('utf8').on('data', (body) => seen.push(`${request.method} ${body}`));
      request.on('end', () => response.end('ok'));
    };
    const transport = connect({ maxSockets: 1 });
    const headers = { 'content-length': '1', 'transfer-encoding': 'chunked' };
    for (const body of ['one', 'two']) {
      expect((await transport({ method, url: '/x', headers, body: Buffer.from(body) })).status).toBe(200);
    }
    expect(seen).toEqual([`${method} one`, `${method} two`]);
  },
);

test.each<[string, string, http.RequestListener]>([
  [
    'closes its connection after each answer',
    'GET',
    (_q, r) => r.writeHead(200, { connection: 'close' }).end('ok'),
  ],
  ['answers before it has read what is sent', 'PUT', (_q, r) => r.writeHead(413).end('ok')],
  ['is gone right after its answer', 'GET', (q, r) => r.end('ok', () => q.socket.destroy())],
  [
    'says that its answer is over and leaves the connection half open',
    'GET',
    ({ socket }) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'),
  ],
])('an answer is had, and the next, of a server that %s', async (_what, method, answer) => {
  handler = answer;
  const transport = connect({ timeoutMs: 20_000 });
  const sent = method === 'PUT' && { body: Buffer.alloc(64 << 10) };
  for (let i = 0; i < 5; i++) {
    const { body } = await transport({ ...get, method, ...sent });
    expect(Buffer.from(body as Uint8Array).toString()).toBe('ok');
  }
});

test('a redirect is an answer, not a journey; a token never travels in the clear', async () => {
  const seen: (string | undefined)[] = [];
  handler = (request, response) => {
    seen.push(`${request.url} ${request.headers.authorization}`);
    response.writeHead(302, { location: '/elsewhere' }).end();
  };
  expect((await connect({ token: 'secret' })(get)).status).toBe(302);
  expect(seen).toEqual(['/x undefined']);
});

test.each<[string, string, http.RequestListener, object]>([
  ['too large', 'ETOOLARGE', (_q, r) => r.end('x'.repeat(100)), { maxResponseBytes: 50 }],
  ['silent', 'ETIMEDOUT', () => {}, { timeoutMs: 30 }],
  ['stalled in mid-body', 'ETIMEDOUT', (_q, r) => r.writeHead(200).write('x'), { timeoutMs: 30 }],
  ['cut in mid-body', 'ECONNRESET', (_q, r) => r.writeHead(200).write('x', () => r.destroy()), {}],
  ['cut before', 'ECONNRESET', (q) => q.socket.destroy(), {}],
])('an answer that is %s fails with %s', async (_what, code, answer, config) => {
  handler = answer;
  await expect(connect(config)(get)).rejects.toMatchObject({ name: 'TransportError', code });
});

test('who asks may bound the answer below what the wire takes', async () => {
  handler = (_request, response) => response.end('x'.repeat(100));
  const transport = connect({ maxResponseBytes: 1000 });
  expect((await transport({ ...get, maxBytes: 100 })).body).toHaveLength(100);
  const bounded = transport({ ...get, maxBytes: 99 });
  await expect(bounded).rejects.toMatchObject({ name: 'TransportError', code: 'ETOOLARGE' });
});

test('a server that is not there is a TransportError', async () => {
  const nowhere = connect({ server: 'http://127.0.0.1:1' });
  await expect(nowhere(get)).rejects.toMatchObject({ name: 'TransportError', code: 'ECONNREFUSED' });
});

test('a read that met a socket just closed is asked again; a write is not', async () => {
  let kill = false;
  let asked = 0;
  handler = (request, response) => {
    asked += 1;
    if (kill) request.socket.destroy();
    else response.end('ok');
    kill = false;
  };
  const transport = connect({ maxSockets: 1 });
  await transport(get);
  kill = true;
  expect((await transport(get)).status).toBe(200);
  expect(asked).toBe(3);
  kill = true;
  await expect(transport({ ...get, method: 'POST' })).rejects.toMatchObject({ name: 'TransportError' });
  expect(asked).toBe(4);
});

test('an answer that changes the protocol is none where nobody asked for that, and its connection is closed', async () => {
  handler = (request) => {
    request.socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n');
  };
  const closed = new Promise<void>((resolve) =>
    server.once('connection', (socket) => socket.once('close', resolve)),
  );
  const transport = connect({ maxSockets: 1 });
  await expect(transport(get)).rejects.toMatchObject({ name: 'TransportError', code: 'EPROTOCOL' });
  await closed;
});

test('a watch streams, outlives the timeout of requests, and ends with its signal or the server', async () => {
  let response: http.ServerResponse | undefined;
  handler = (_request, answer) => {
    response = answer.writeHead(200);
    answer.flushHeaders();
  };
  const client = new Client(connect({ timeoutMs: 1000 }));
  const stop = new AbortController();
  const seen: string[] = [];
  const send = () => response?.write('{"type":"ADDED","object":{"metadata":{"name":"a"}}}\n');
  const watching = (async () => {
    for await (const { object } of client.watch(configMaps, { signal: stop.signal })) {
      seen.push(object.metadata.name ?? '');
      if (seen.length === 2) stop.abort();
      else setTimeout(send, 2000);
    }
  })();
  while (!response) await new Promise((resolve) => setImmediate(resolve));
  const closed = new Promise((resolve) => response?.on('close', resolve));
  send();
  await watching;
  await closed;
  expect(seen).toEqual(['a', 'a']);
});

test('a watch whose connection breaks fails, so that nobody takes it for a quiet end', async () => {
  handler = (_request, response) => {
    response.writeHead(200).write('{"type":"ADDED"', () => response.destroy());
  };
  const read = async () => {
    for await (const _event of new Client(connect()).watch(configMaps)) throw new Error('no event came');
  };
  await expect(read()).rejects.toMatchObject({ name: 'TransportError', code: 'ECONNRESET' });
});

const kubeconfig = (user: string, cluster = '') => `
apiVersion: v1
kind: Config
current-context: one
contexts: [{name: one, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"${cluster}}}]
users: [{name: u, user: ${user}}]`;

test.each([
  ['exec', '{exec: {apiVersion: client.authentication.k8s.io/v1, command: touch}}', ''],
  ['client-key', '{client-certificate-data: YQ==, client-key: /etc/key}', ''],
  ['certificate-authority', '{token: t}', ', certificate-authority: /etc/ca'],
  ['proxy-url', '{token: t}', ', proxy-url: "http://proxy"'],
])('a kubeconfig from elsewhere may not use %s', async (what, user, cluster) => {
  await expect(transportFromKubeconfig(kubeconfig(user, cluster))).rejects.toThrow(what);
});

test('a kubeconfig without an unknown context, without a cluster, or without sense is refused', async () => {
  const good = kubeconfig('{token: t}');
  await expect(transportFromKubeconfig(good, { context: 'two' })).rejects.toThrow('two');
  await expect(transportFromKubeconfig('apiVersion: v1\nkind: Config\n')).rejects.toThrow(/cluster|read/);
  await expect(transportFromKubeconfig(': {')).rejects.toThrow(/read/);
  (await transportFromKubeconfig(good)).close();
});

test('a socket that nothing is asked over any more ends, and one that is goes on', async () => {
  let sockets = 0;
  const ended: number[] = [];
  server.on('connection', (socket) => {
    const which = sockets++;
    socket.on('close', () => ended.push(which));
  });
  handler = (_, response) => setTimeout(() => response.end('ok'), 20);
  const transport = connect({ freeMs: 300 });
  await Promise.all([transport(get), transport(get), transport(get)]);
  expect(sockets).toBe(3);
  const until = performance.now() + 3_000;
  while (ended.length < 2 && performance.now() < until) await transport(get);
  expect(ended).toHaveLength(2);
  expect(sockets).toBe(3);
});

test('of the sockets that many requests at once have opened one stays for the next', async () => {
  let sockets = 0;
  const ended: number[] = [];
  server.on('connection', (socket) => {
    const which = sockets++;
    socket.on('close', () => ended.push(which));
  });
  handler = (_, response) => setTimeout(() => response.end('ok'), 20);
  const transport = connect();
  await Promise.all([transport(get), transport(get), transport(get)]);
  await vi.waitFor(() => expect(ended).toHaveLength(2), 10_000);
  await transport(get);
  expect([sockets, ended.length]).toEqual([3, 2]);
});

test('a connection that is just being closed is given to nobody', async () => {
  const agents: http.Agent[] = [];
  const guard = <A extends http.Agent>(agent: A) => {
    agents.push(agent);
    return agent;
  };
  handler = (_, response) => setTimeout(() => response.end('ok'), 20);
  const transport = connect({ guard });
  await Promise.all([transport(get), transport(get)]);
  const [free] = agents.flatMap(({ freeSockets }) => Object.values(freeSockets));
  expect(free).toHaveLength(2);
  free?.at(-1)?.emit('timeout');
  const post = { method: 'POST', url: '/x', headers: {}, body: Buffer.from('1') };
  expect((await transport(post)).status).toBe(200);
});
