import { generateKeyPairSync } from 'node:crypto';
import https from 'node:https';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { TokenKeys } from '../../../apiserver/authn/keys.ts';
import { tokenAuthenticator } from '../../../apiserver/authn/token.ts';
import type { AdmissionPlugin } from '../../../apiserver/plugins.ts';
import { createAuthority } from '../../../apiserver/tls/ca.ts';
import type { Policy } from '../../../kube/audit/types.ts';
import type { ApiResponse } from '../../../kube/http.ts';
import { eventually } from '../../eventually.ts';
import { type Answer, type Api, admin, startApi } from './api.ts';

const policy: Policy = {
  rules: [
    { level: 'None', nonResourceURLs: ['/healthz'] },
    { level: 'Metadata', namespaces: ['kube-public'] },
    { level: 'Request', namespaces: ['kube-system'], omitStages: ['RequestReceived'] },
    { level: 'RequestResponse', omitManagedFields: true },
  ],
};
/** What whoever runs on a physical cluster answers. */
let there: ApiResponse = { status: 200, headers: {}, body: new Uint8Array() };
const adminToken = 'admin-token-0123456789';
const issued = 'authentication.kubernetes.io/issued-credential-id';
/** As a policy of that name has it recorded, and as much beside it as there is room for. */
const forger: AdmissionPlugin = {
  name: 'Forger',
  validate({ subresource, annotate }) {
    if (subresource !== 'token') return;
    annotate?.(issued, 'JTI=forged');
    annotate?.('policy/filler', 'x'.repeat(65_400));
  },
};
let api: Api;
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const serviceAccountKey = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

let url: string;
let ca: string;
let tenant: string;
let lines: string[] = [];

beforeAll(async () => {
  const authority = await createAuthority('test');
  const server = await authority.issueServer(['127.0.0.1']);
  ca = authority.certificate;
  const users = new Map([
    [adminToken, { ...admin, uid: '1' }],
    ['bob-token', { name: 'bob', groups: ['people'] }],
  ]);
  api = startApi({
    accountKeys: new TokenKeys([{ pem: serviceAccountKey, from: 0 }]),
    authenticate: [tokenAuthenticator(users)],
    admission: [forger],
    audit: { policy, write: (line) => lines.push(line) },
    connectPod: () => ({
      transport: () => Promise.resolve(there),
      path: '/api/v1/namespaces/there/pods/web',
    }),
  });
  for (const name of ['default', 'kube-public', 'kube-system'])
    await api.call('POST', '/api/v1/namespaces', { metadata: { name } });
  tenant = await api.addCluster('root:team');
  const tls = { key: server.privateKey, cert: server.certificate, ca };
  ({ url } = await api.server.listen({ host: '127.0.0.1', port: 0, tls }));
});
beforeEach(() => {
  lines = [];
});
afterAll(() => api.close());

const configMaps = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`;
const events = (): Answer[] => lines.map((line) => JSON.parse(line));

function ask(
  method: string,
  path: string,
  body?: object | string,
  extra: Record<string, string> = {},
): Promise<{ status: number; id: string; text: string }> {
  const headers = { authorization: `Bearer ${adminToken}`, 'user-agent': 'test', ...extra };
  const type = { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' };
  return new Promise((resolve, reject) => {
    const options = { ca, agent: false, method, headers: { ...(body && type), ...headers } };
    const out = https.request(`${url}${path}`, options, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, id: String(response.headers['audit-id']), text }),
      );
    });
    out.on('error', reject);
    out.end(typeof body === 'object' ? JSON.stringify(body) : body);
  });
}

test('a create is told twice, with what was sent and what was answered', async () => {
  const { id } = await ask('POST', configMaps('default'), { metadata: { name: 'a' }, data: { k: 'v' } });
  const [received, complete] = events();
  expect(Object.keys(received)).toEqual(
    'kind apiVersion level auditID stage requestURI verb user sourceIPs userAgent objectRef requestReceivedTimestamp stageTimestamp annotations'.split(
      ' ',
    ),
  );
  expect(received).toMatchObject({ auditID: id, stage: 'RequestReceived', verb: 'create' });
  expect(received.objectRef).toEqual({ resource: 'configmaps', namespace: 'default', apiVersion: 'v1' });
  expect(received.stageTimestamp).toBe(received.requestReceivedTimestamp);
  expect(complete).toMatchObject({
    stage: 'ResponseComplete',
    user: { username: 'admin', uid: '1', groups: ['system:masters', 'system:authenticated'] },
    sourceIPs: ['127.0.0.1'],
    userAgent: 'test',
    objectRef: { resource: 'configmaps', namespace: 'default', name: 'a', apiVersion: 'v1' },
    responseStatus: { metadata: {}, code: 201 },
    requestObject: { metadata: { name: 'a' }, data: { k: 'v' } },
    responseObject: { kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } },
    annotations: { 'authorization.k8s.io/decision': 'allow', 'atoll.dev/logical-cluster': 'root' },
  });
  expect(complete.requestObject.metadata.namespace).toBeUndefined();
  expect(lines.join('')).not.toContain('managedFields');
  expect(complete.stageTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
});

test('levels and stages are those of the policy', async () => {
  await ask('GET', '/healthz');
  await ask('POST', configMaps('kube-public'), { metadata: { name: 'm' } });
  await ask('POST', configMaps('kube-system'), { metadata: { name: 'r' } });
  const told = events().map(({ level, stage, objectRef, requestObject, responseObject }) => [
    level,
    stage,
    objectRef.name,
    requestObject !== undefined,
    responseObject !== undefined,
  ]);
  expect(told).toEqual([
    ['Metadata', 'RequestReceived', undefined, false, false],
    ['Metadata', 'ResponseComplete', 'm', false, false],
    ['Request', 'ResponseComplete', 'r', true, false],
  ]);
});

test('a no, with its reason', async () => {
  await ask('GET', '/api/v1/namespaces/default/secrets', undefined, { authorization: 'Bearer bob-token' });
  expect(events()[1]).toMatchObject({
    responseStatus: { status: 'Failure', reason: 'Forbidden', code: 403, details: { kind: 'secrets' } },
    annotations: { 'authorization.k8s.io/decision': 'forbid' },
  });
});

test('failed authentication is one event of nobody', async () => {
  const { id } = await ask('GET', '/api/v1/namespaces', undefined, { authorization: 'Bearer wrong-token' });
  const [event, ...more] = events();
  expect(more).toEqual([]);
  expect(event).toMatchObject({ auditID: id, stage: 'ResponseStarted', verb: 'list', user: {} });
  expect(event.responseStatus).toMatchObject({ reason: 'Unauthorized', code: 401 });
});

test('whoever asks, and for whom', async () => {
  await ask('GET', configMaps('default'), undefined, { 'impersonate-user': 'jane' });
  const [received, complete] = events();
  expect(received.impersonatedUser).toBeUndefined();
  expect(complete.user.username).toBe('admin');
  expect(complete.impersonatedUser).toEqual({ username: 'jane', groups: ['system:authenticated'] });
});

test('a watch is told as it begins and as it ends', async () => {
  await ask('GET', `${configMaps('default')}?watch=1&timeoutSeconds=1`);
  expect(events().map(({ stage }) => stage)).toEqual([
    'RequestReceived',
    'ResponseStarted',
    'ResponseComplete',
  ]);
});

test('a watch whose reader goes ends, too', async () => {
  const out = https.get(`${url}${configMaps('default')}?watch=1`, {
    ca,
    agent: false,
    headers: { authorization: `Bearer ${adminToken}` },
  });
  out.on('response', () => out.destroy());
  out.on('error', () => {});
  await eventually(() => expect(events().at(-1)?.stage).toBe('ResponseComplete'));
});

test('the logical cluster is in each event: its id, and what the URL calls it', async () => {
  await ask('GET', `/clusters/root:team${configMaps('default')}`);
  await ask('GET', `/clusters/${tenant}${configMaps('default')}`);
  const [byPath, , byId] = events();
  expect(byPath.annotations).toEqual({ 'atoll.dev/logical-cluster': tenant, 'atoll.dev/path': 'root:team' });
  expect(byId.annotations).toEqual({ 'atoll.dev/logical-cluster': tenant });
});

test('a client may name its request, by what can be printed', async () => {
  expect((await ask('GET', '/version', undefined, { 'audit-id': 'mine' })).id).toBe('mine');
  expect((await ask('GET', '/version', undefined, { 'audit-id': 'x'.repeat(300) })).id).toHaveLength(36);
  expect(events().map(({ auditID }) => auditID.length)).toEqual([4, 4, 36, 36]);
});

test('proxies on the way, as they say', async () => {
  await ask('GET', '/version', undefined, {
    'x-forwarded-for': '1.2.3.4, nonsense, ::1',
    'x-real-ip': '9.9.9.9',
  });
  expect(events()[0].sourceIPs).toEqual(['1.2.3.4', '::1', '9.9.9.9', '127.0.0.1']);
});

test('no token is in any event, whatever the level', async () => {
  const token = 'SECRET-token';
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } };
  const reviews = '/apis/authentication.k8s.io/v1/tokenreviews';
  await ask('POST', reviews, review);
  await ask('POST', reviews, `{"spec": {"token": "${token}"`);
  await ask('POST', reviews, { ...review, kind: token });
  await ask('POST', '/api/v1/namespaces/default/serviceaccounts/default/token', {
    spec: { audiences: [token] },
  });
  for (const query of [`access_token=${token}`, `a=1&access%5Ftoken=${token}`, `id_token=${token}&b=2`])
    await ask('GET', `/api?${query}`, undefined, { authorization: `Bearer ${token}` });
  await ask('GET', '/api', undefined, {
    'sec-websocket-protocol': `base64url.bearer.authorization.k8s.io.${token}`,
    cookie: token,
  });
  const text = lines.join('\n');
  expect(events().length).toBeGreaterThan(8);
  expect(text).not.toContain(token);
  expect(text).not.toContain(adminToken);
  expect(text).toContain('/api?a=1&access%5Ftoken=...');
});

test('a token that is issued is told by its id, which whoever shows it has, whatever policies have recorded', async () => {
  await ask('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } });
  lines = [];
  const asked = await ask('POST', '/api/v1/namespaces/default/serviceaccounts/robot/token', { spec: {} });
  expect(asked.status).toBe(201);
  const [, claims = ''] = JSON.parse(asked.text).status.token.split('.');
  const { jti } = JSON.parse(Buffer.from(claims, 'base64url').toString());
  expect(jti).toMatch(/^[0-9a-f-]{36}$/);
  const { annotations } = events().at(-1);
  expect(annotations[issued]).toBe(`JTI=${jti}`);
  expect(annotations['policy/filler']).toHaveLength(65_400);
});

test('a patch is told as it was sent, whatever its dialect', async () => {
  await ask('PATCH', `${configMaps('default')}/a`, { data: { k: 'w' } });
  await ask(
    'PATCH',
    `${configMaps('default')}/b?fieldManager=x`,
    'apiVersion: v1\nkind: ConfigMap\ndata: {k: v}\n',
    {
      'content-type': 'application/apply-patch+yaml',
    },
  );
  await ask(
    'DELETE',
    `${configMaps('default')}/a`,
    { propagationPolicy: 'Background' },
    { 'content-length': '34' },
  );
  const complete = events().filter(({ stage }) => stage === 'ResponseComplete');
  expect(complete.map(({ requestObject }) => requestObject)).toEqual([
    { data: { k: 'w' } },
    { apiVersion: 'v1', kind: 'ConfigMap', data: { k: 'v' } },
    { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/__internal', propagationPolicy: 'Background' },
  ]);
  expect(complete[2].responseStatus).toMatchObject({ status: 'Success', code: 200 });
});

test.each(['merge-patch+json', 'strategic-merge-patch+json', 'apply-patch+yaml', 'json-patch+json'])(
  'a %s that is none says nothing of the event around it',
  async (dialect) => {
    const forged = '{"data":{}},"user":{"username":"somebody else"},"verb":"get","a":{"b":1}';
    const type = { 'content-type': `application/${dialect}` };
    const { status } = await ask('PATCH', `${configMaps('kube-system')}/kube-root`, forged, type);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(events()).toMatchObject([{ verb: 'patch', user: { username: 'admin' } }]);
    expect(lines.join('')).not.toContain('somebody else"}');
  },
);

test.each([
  ['GET', 'proxy/', 400],
  ['DELETE', 'proxy/', 200],
  ['GET', 'log', 500],
  ['GET', 'exec?command=a&container=main', 403],
  ['POST', 'eviction', 403],
])(
  '%s pods/web/%s: an answer of elsewhere, %s, comes as it is, and says nothing of the event around it',
  async (method, what, status) => {
    const metadata = { name: 'web' };
    const pod = { metadata, spec: { containers: [{ name: 'main', image: 'a' }], nodeName: 'n' } };
    const pods = '/api/v1/namespaces/default/pods';
    await api.call('POST', pods, pod);
    const forged = '{"a":1},"user":{"username":"somebody else"},"b":{"c":""}';
    const type = { 'content-type': 'application/json' };
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata };
    const upgrade = what.startsWith('exec') ? { upgrade: 'websocket' } : {};
    for (const body of ['{"a":', forged, forged.replace('""', `"${'x'.repeat(1 << 17)}"`)]) {
      there = { status, headers: type, body: Buffer.from(body) };
      lines = [];
      const sent = method === 'POST' ? eviction : undefined;
      const answer = await api.call(method, `${pods}/web/${what}`, sent, upgrade);
      expect([answer.status, answer.body]).toEqual([status, body]);
      expect(events().map(({ user }) => user.username)).toEqual(lines.map(() => 'admin'));
      expect(lines.join('')).not.toContain('somebody else');
    }
  },
);
