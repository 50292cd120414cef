import { readdir, readFile } from 'node:fs/promises';
import https from 'node:https';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tokenAuthenticator } from '../../../apiserver/authn/token.ts';
import { certificateAuthenticator } from '../../../apiserver/authn/x509.ts';
import { createAuthority, type Issued } from '../../../apiserver/tls/ca.ts';
import { httpTransport } from '../../../client/http.ts';
import { type Api, admin, configMap, configMaps, startApi } from './api.ts';

/* As attacks.test.ts, of what takes a socket. */

let api: Api;
let url: URL;
let ca = '';
let client: Issued;
beforeAll(async () => {
  const authority = await createAuthority('test');
  const server = await authority.issueServer(['127.0.0.1']);
  client = await authority.issueClient('alice', ['system:masters']);
  ca = authority.certificate;
  const users = new Map([['secret', admin]]);
  api = startApi({
    authenticate: [certificateAuthenticator({ info() {} }), tokenAuthenticator(users)],
  });
  const listening = await api.server.listen({
    host: '127.0.0.1',
    port: 0,
    tls: { key: server.privateKey, cert: server.certificate, ca },
  });
  url = new URL(listening.url);
});
afterAll(() => api.close());

/** All that comes back until the connection goes, or for as long as nothing more comes. */
function say(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ host: url.hostname, port: Number(url.port), ca });
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
    socket.write(bytes);
  });
}

const bearer = 'authorization: Bearer secret\r\n';
const inner = `GET /api/v1/secrets HTTP/1.1\r\nhost: a\r\n${bearer}\r\n`;

describe('a request in another is none', () => {
  test.each([
    [
      'a length and chunks',
      `POST ${configMaps} HTTP/1.1\r\nhost: a\r\n${bearer}content-length: 6\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
    ],
    [
      'chunks and a length',
      `POST ${configMaps} HTTP/1.1\r\nhost: a\r\n${bearer}transfer-encoding: chunked\r\ncontent-length: 6\r\n\r\n0\r\n\r\n${inner}`,
    ],
    [
      'two lengths',
      `POST ${configMaps} HTTP/1.1\r\nhost: a\r\n${bearer}content-length: 0\r\ncontent-length: ${inner.length}\r\n\r\n${inner}`,
    ],
    [
      'a length that is signed',
      `POST ${configMaps} HTTP/1.1\r\nhost: a\r\n${bearer}content-length: +5\r\n\r\n${inner}`,
    ],
    [
      'an encoding with a space before the colon',
      `POST ${configMaps} HTTP/1.1\r\nhost: a\r\n${bearer}transfer-encoding : chunked\r\n\r\n0\r\n\r\n${inner}`,
    ],
    [
      'an encoding that is none',
      `POST ${configMaps} HTTP/1.1\r\nhost: a\r\n${bearer}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n${inner}`,
    ],
    [
      'an encoding twice',
      `POST ${configMaps} HTTP/1.1\r\nhost: a\r\n${bearer}transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n${inner}`,
    ],
    [
      'a length of a chunk that is none',
      `POST ${configMaps} HTTP/1.1\r\nhost: a\r\n${bearer}transfer-encoding: chunked\r\n\r\n0x0\r\n\r\n${inner}`,
    ],
    ['a NUL in a header', `GET /version HTTP/1.1\r\nhost: a\r\nx: a\u0000b\r\n\r\n${inner}`],
    [
      'a line that is folded',
      `GET /version HTTP/1.1\r\nhost: a\r\nx: a\r\n b: c\r\ntransfer-encoding:\r\n chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['no host', `GET /version HTTP/1.1\r\n\r\n${inner}`],
  ])('by %s', async (_name, bytes) => {
    const text = await say(bytes);
    expect(text).not.toContain('SecretList');
    expect(text.match(/HTTP\/1\.1 \d\d\d/g)?.at(-1)).toBe('HTTP/1.1 400');
  });
});

test('nothing but HTTP/1.1 is spoken', async () => {
  const spoken = await new Promise((resolve, reject) => {
    const socket = tls.connect({
      host: url.hostname,
      port: Number(url.port),
      ca,
      ALPNProtocols: ['h2', 'http/1.1'],
    });
    socket.on('secureConnect', () => {
      resolve(socket.alpnProtocol);
      socket.destroy();
    });
    socket.on('error', reject);
  });
  expect([false, 'http/1.1']).toContain(spoken);
});

test.each([
  ['SSL of old', { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'ALL:@SECLEVEL=0' }],
  ['DES', { maxVersion: 'TLSv1.2', ciphers: '3DES:DES:@SECLEVEL=0' }],
  ['nobody’s keys', { maxVersion: 'TLSv1.2', ciphers: 'aNULL:eNULL:@SECLEVEL=0' }],
] as const)('%s is not spoken', async (_name, options) => {
  const spoken = await new Promise((resolve) => {
    try {
      const socket = tls.connect({ host: url.hostname, port: Number(url.port), ca, ...options });
      socket.on('secureConnect', () => {
        resolve(`${socket.getProtocol()} ${socket.getCipher().name}`);
        socket.destroy();
      });
      socket.on('error', () => resolve(undefined));
    } catch {
      // Not even we can speak it here.
      resolve(undefined);
    }
  });
  expect(spoken).toBeUndefined();
});

interface Sent {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string;
  certified?: boolean;
}

function send({
  method = 'GET',
  path = configMaps,
  headers = {},
  body = '',
  certified = false,
}: Sent): Promise<number> {
  const { hostname, port } = url;
  const known = certified ? { cert: client.certificate, key: client.privateKey } : {};
  const shown = certified ? {} : { authorization: 'Bearer secret' };
  return new Promise((resolve, reject) => {
    const all = { ...shown, ...headers, ...(body && { 'content-length': String(body.length) }) };
    const request = https.request(
      { hostname, port, ca, agent: false, method, path, ...known, headers: all },
      (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
      },
    );
    request.on('upgrade', (_answer, socket) => {
      socket.destroy();
      resolve(101);
    });
    request.on('error', reject);
    request.end(body);
  });
}

test.each([
  'application/json\t',
  '\tapplication/json',
  ' application/json',
  'application/json ;',
  'application/json\t;charset=utf-8',
  'APPLICATION/JSON',
  'application/json, text/plain',
  'application/json;charset=utf-16',
  'application/json\u00a0',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  '',
])('a body is looked at whatever type it is said to be: %j', async (type) => {
  const headers = { 'content-type': type };
  const bad = JSON.stringify({ ...configMap('Bad Name'), kind: 'Secret' });
  expect([400, 415, 422]).toContain(await send({ method: 'POST', headers, body: bad }));
});

describe('a page that a browser shows', () => {
  const elsewhere = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://HOST' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site', origin: 'https://evil.HOST' },
    { origin: 'https://HOST.evil.example', 'sec-fetch-site': 'cross-site' },
  ] as Record<string, string>[];
  const named = (headers: Record<string, string>) =>
    Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace('HOST', url.host)]),
    );

  test.each(elsewhere)('has not the certificate of who looks at it: %j', async (headers) => {
    const body = JSON.stringify(configMap('forged'));
    expect(await send({ certified: true, headers: named(headers) })).toBe(401);
    expect(await send({ certified: true, method: 'POST', body, headers: named(headers) })).toBe(401);
    const upgrade = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    };
    expect(
      await send({
        certified: true,
        path: `${configMaps}?watch=true`,
        headers: { ...upgrade, ...named(headers) },
      }),
    ).toBe(401);
  });

  test.each([
    {},
    { origin: 'https://HOST' },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
    { origin: 'http://localhost:8001', 'sec-fetch-site': 'same-origin' },
  ] as Record<string, string>[])('of the server itself has it: %j', async (headers) => {
    expect(await send({ certified: true, headers: named(headers) })).toBe(200);
  });
});

describe('a server that cannot prove who it is', () => {
  const get = { method: 'GET', url: '/version', headers: {} };
  test('is told nothing: another authority, another name', async () => {
    const other = await createAuthority('other');
    for (const wrong of [{ ca: other.certificate }, { ca, tlsServerName: 'else.example' }, {}]) {
      const transport = httpTransport({ server: url.href, token: 'secret', ...wrong });
      await expect(transport(get)).rejects.toMatchObject({ name: 'TransportError' });
      transport.close();
    }
    const transport = httpTransport({ server: url.href, ca });
    expect((await transport(get)).status).toBe(200);
    transport.close();
  });

  test('is nowhere taken at its word, but where a user says so', async () => {
    const root = join(import.meta.dirname, '../../..');
    const found: string[] = [];
    for (const folder of [
      'apiserver',
      'client',
      'cli',
      'controller',
      'kube',
      'server',
      'sim',
      'storage',
      'syncer',
    ]) {
      for (const file of await readdir(join(root, folder), { recursive: true })) {
        if (!file.endsWith('.ts')) continue;
        const text = await readFile(join(root, folder, file), 'utf8');
        for (const [one] of text.matchAll(/rejectUnauthorized.*|NODE_TLS_REJECT.*|checkServerIdentity.*/g))
          found.push(`${folder}/${file}: ${one}`);
      }
    }
    expect(found.sort()).toEqual([
      // An APIService's insecureSkipTLSVerify; who says so is asked as he is, and remembered for nobody.
      'apiserver/aggregation/proxy.ts: rejectUnauthorized !== false && this.#met.has(ca)) return await send(byIssuer);',
      'apiserver/aggregation/proxy.ts: rejectUnauthorized } = options;',
      'apiserver/aggregation/proxy.ts: rejectUnauthorized: !insecure,',
      // What is looked at here, before a byte is sent: test/unit/apiserver/webhook/issued.test.ts.
      'apiserver/forward/agent.ts: rejectUnauthorized: false }),',
      "apiserver/webhook/issued.ts: checkServerIdentity(servername || host || '', leaf.toLegacyObject() as PeerCertificate);",
      "apiserver/webhook/issued.ts: checkServerIdentity, type PeerCertificate, type TLSSocket } from 'node:tls';",
      'apiserver/webhook/issued.ts: rejectUnauthorized: false } as never, (error) => done(error)) as',
      'apiserver/wire/http.ts: rejectUnauthorized: false },',
      'client/http.ts: rejectUnauthorized: !of.insecure,',
      'client/kubeconfig.ts: rejectUnauthorized === false,',
    ]);
  });
});

test.each([
  'secre',
  'secret0',
  'SECRET',
  'secret\u00a0',
  ' secret',
  'secret,secret',
  '__proto__',
  'constructor',
])('a token is one or none: %j', async (token) => {
  const code = await send({ headers: { authorization: `Bearer ${token}` } });
  expect(code).toBe(token === ' secret' ? code : 401);
});
