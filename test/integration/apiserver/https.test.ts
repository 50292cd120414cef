import { randomBytes, X509Certificate } from 'node:crypto';
import https from 'node:https';
import { gunzipSync } from 'node:zlib';
import supertest from 'supertest';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { tokenAuthenticator } from '../../../apiserver/authn/token.ts';
import { certificateAuthenticator } from '../../../apiserver/authn/x509.ts';
import { createAuthority, type Issued } from '../../../apiserver/tls/ca.ts';
import { type Api, admin, configMap, configMaps, startApi } from './api.ts';

let api: Api;
let url: string;
let ca: string;
let client: Issued;
const info = vi.fn();

beforeAll(async () => {
  const authority = await createAuthority('test');
  const server = await authority.issueServer(['127.0.0.1']);
  client = await authority.issueClient('alice', ['system:masters']);
  ca = authority.certificate;
  const users = new Map([['secret', { ...admin, name: 'token' }]]);
  api = startApi({ authenticate: [certificateAuthenticator({ info }), tokenAuthenticator(users)] });
  const tls = { key: server.privateKey, cert: server.certificate, ca };
  ({ url } = await api.server.listen({ host: '127.0.0.1', port: 0, tls }));
});
afterAll(() => api.close());

interface Answer {
  status: number;
  headers: https.RequestOptions['headers'] & Record<string, unknown>;
  body: Buffer;
}

function request(
  path: string,
  options: https.RequestOptions & { body?: string | Buffer } = {},
): Promise<Answer> {
  const { body, ...rest } = options;
  return new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer secret', ...rest.headers };
    const out = https.request(`${url}${path}`, { ca, agent: false, ...rest, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
      response.on('error', reject);
    });
    out.on('error', reject);
    out.end(body);
  });
}

const json = (answer: Answer) => JSON.parse(answer.body.toString());
const type = { 'content-type': 'application/json' };

test('who is asking: certificate, token, nobody', async () => {
  const review = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const ask = (headers: object, extra: object = {}) =>
    request(review, { method: 'POST', body: '{}', headers: { ...type, ...headers }, ...extra });
  const byCertificate = await ask(
    { authorization: '' },
    { key: client.privateKey, cert: client.certificate },
  );
  expect(json(byCertificate).status.userInfo).toEqual({
    username: 'alice',
    groups: ['system:masters', 'system:authenticated'],
  });
  expect(json(await ask({})).status.userInfo.username).toBe('token');
  expect(json(await ask({ authorization: 'Bearer wrong' }))).toMatchObject({
    code: 401,
    reason: 'Unauthorized',
  });
});

test('a certificate of another authority is nobody', async () => {
  const other = await createAuthority('other');
  const forged = await other.issueClient('alice', ['system:masters']);
  const answer = await request('/api', {
    headers: { authorization: '' },
    key: forged.privateKey,
    cert: forged.certificate,
  });
  expect(answer.status).toBe(401);
});

test('a certificate that expires is nobody’s from then on, on the open connection too', async () => {
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
  const certified = {
    key: client.privateKey,
    cert: client.certificate,
    agent,
    headers: { authorization: '' },
  };
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    expect((await request('/api', certified)).status).toBe(200);
    vi.setSystemTime(Date.now() + 366 * 86_400_000);
    for (const _ of ['once', 'again']) expect((await request('/api', certified)).status).toBe(401);
    const told = {
      user: 'alice',
      until: new Date(new X509Certificate(client.certificate).validTo).toISOString(),
    };
    expect(info.mock.calls).toEqual([[told, 'a client certificate has expired']]);
  } finally {
    vi.useRealTimers();
    agent.destroy();
  }
});

test.each([
  ['/healthz', 200],
  ['/livez?verbose', 200],
  ['/readyz?verbose&exclude=ping', 200],
  ['/version', 200],
  ['/openid/v1/jwks', 404],
  ['/readyz/ping', 401],
  ['/healthz/', 401],
  ['/metrics', 401],
  ['/api', 401],
  ['/clusters/root/healthz', 401],
  [configMaps, 401],
])('without credentials %s is %i', async (path, status) => {
  await supertest(url).get(path).ca(ca).expect(status);
  // As on kube-apiserver, whoever shows wrong ones is refused what anybody may see.
  await supertest(url).get(path).ca(ca).set('authorization', 'Bearer wrong').expect(401);
});

test('without credentials nothing is taken, and nobody is impersonated', async () => {
  const nobody = { authorization: '' };
  expect((await request('/healthz', { method: 'POST', body: '{}', headers: nobody })).status).toBe(401);
  const masters = { 'impersonate-user': 'alice', 'impersonate-group': 'system:masters' };
  expect((await request('/version', { headers: { ...nobody, ...masters } })).status).toBe(403);
});

test('bodies: YAML, too large, of an unknown type, hostile, empty on DELETE', async () => {
  const yaml = await request(configMaps, {
    method: 'POST',
    headers: { 'content-type': 'application/yaml' },
    body: 'metadata: {name: fromyaml}\ndata: {a: "1"}\n',
  });
  expect(yaml.status).toBe(201);
  const big = JSON.stringify(configMap('big', { a: 'x'.repeat(3_300_000) }));
  const large = await request(configMaps, { method: 'POST', headers: type, body: big });
  expect(json(large)).toMatchObject({
    code: 413,
    reason: 'RequestEntityTooLarge',
    message: 'Request entity too large: limit is 3145728',
  });
  const odd = await request(configMaps, {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: '{}',
  });
  expect(json(odd)).toMatchObject({ code: 415, reason: 'UnsupportedMediaType' });
  const hostile = '{"metadata":{"name":"h"},"data":{"__proto__":"x","constructor":"y"}}';
  expect((await request(configMaps, { method: 'POST', headers: type, body: hostile })).status).toBe(201);
  expect(json(await request(`${configMaps}/h`)).data.constructor).toBe('y');
  expect((await request(`${configMaps}/fromyaml`, { method: 'DELETE', headers: type })).status).toBe(200);
});

test('long names, long queries, HEAD, gzip', async () => {
  const name = 'n'.repeat(253);
  const long = await request(configMaps, {
    method: 'POST',
    headers: type,
    body: JSON.stringify(configMap(name)),
  });
  expect(long.status).toBe(201);
  expect((await request(`${configMaps}/${name}`)).status).toBe(200);
  expect((await request(`${configMaps}?labelSelector=a%3D${'b'.repeat(9000)}`)).status).toBe(400);
  expect((await request('/api', { method: 'HEAD' })).body).toHaveLength(0);
  const data = { a: 'x'.repeat(400_000) };
  await request(configMaps, { method: 'POST', headers: type, body: JSON.stringify(configMap('fat', data)) });
  const packed = await request(`${configMaps}/fat`, { headers: { 'accept-encoding': 'gzip' } });
  expect(packed.headers['content-encoding']).toBe('gzip');
  expect(JSON.parse(gunzipSync(packed.body).toString()).data).toEqual(data);
});

test('a long list is packed piece by piece, and leaves nobody listening for each', async () => {
  const warned: Error[] = [];
  const hear = (warning: Error) => warned.push(warning);
  process.on('warning', hear);
  const data = { a: randomBytes(150_000).toString('base64') };
  for (let i = 0; i < 40; i++) await api.call('POST', configMaps, configMap(`long-${i}`, data));
  const { headers, body } = await request(configMaps, { headers: { 'accept-encoding': 'gzip' } });
  process.off('warning', hear);
  expect(headers['content-encoding']).toBe('gzip');
  expect(JSON.parse(gunzipSync(body).toString()).items.length).toBeGreaterThanOrEqual(40);
  expect(warned).toEqual([]);
});

test('a watch: headers at once, events as they come, an end when the server closes', async () => {
  const authority = await createAuthority('second');
  const server = await authority.issueServer(['127.0.0.1']);
  const own = startApi({ authenticate: [() => admin] });
  const tls = { key: server.privateKey, cert: server.certificate, ca: authority.certificate };
  const where = await own.server.listen({ host: '127.0.0.1', port: 0, tls });
  let text = '';
  const ended = new Promise<void>((resolve, reject) => {
    const options = { ca: authority.certificate, agent: false } as const;
    const out = https.get(`${where.url}${configMaps}?watch=1`, options, (response) => {
      // Nothing was written yet: these are the headers alone.
      void own.call('POST', configMaps, configMap('a'));
      response.on('data', (chunk) => {
        text += chunk;
        if (text.includes('"name":"a"')) void own.server.close();
      });
      response.on('end', resolve);
    });
    out.on('error', reject);
  });
  await ended;
  expect(JSON.parse(text.split('\n')[0] ?? '')).toMatchObject({
    type: 'ADDED',
    object: { metadata: { name: 'a' } },
  });
  await own.close();
});
