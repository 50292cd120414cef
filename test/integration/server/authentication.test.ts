import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requestHeaderAuthenticator } from '../../../apiserver/authn/request-header.ts';
import { certificateAuthenticator } from '../../../apiserver/authn/x509.ts';
import { createAuthority } from '../../../apiserver/tls/ca.ts';
import { httpTransport } from '../../../client/http.ts';
import { silentLogger } from '../../../kube/log.ts';
import { encodeYaml } from '../../../kube/yaml.ts';
import { loadAuthentication } from '../../../server/authentication/load.ts';
import { resolveSettings } from '../../../server/settings.ts';
import { TakenFiles } from '../../../server/taken-files.ts';
import { eventually } from '../../eventually.ts';
import { signer } from '../../unit/kube/authentication/tokens.ts';
import { type Api, call, startApi } from '../apiserver/api.ts';
import { type Issuer, startIssuer } from './issuer.ts';

const review = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };

let directory: string;
let issuer: Issuer;
let other: Issuer;
let api: Api;
let server: { url: string; ca: string };
let file: string;
let a = '';
const stop = new AbortController();

const configuration = (...jwt: object[]) => ({
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'AuthenticationConfiguration',
  jwt,
});
const jwt = ({ url, ca }: Issuer, more: object = {}) => ({
  issuer: { url, audiences: ['atoll'], certificateAuthority: ca },
  claimMappings: {
    username: { claim: 'sub', prefix: 'oidc:' },
    groups: { claim: 'groups', prefix: 'oidc:' },
  },
  ...more,
});
const load = (path: string) =>
  loadAuthentication({
    settings: resolveSettings({ dataDir: directory, authenticationConfig: path }, undefined, {}),
    files: new TakenFiles(),
    signal: stop.signal,
    logger: silentLogger,
  });

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-authentication-'));
  [issuer, other] = await Promise.all([startIssuer(), startIssuer()]);
  file = join(directory, 'authentication.yaml');
  await writeFile(file, encodeYaml(configuration(jwt(issuer))));
  const { tokens, anonymous } = await load(file);
  api = startApi({ authenticate: tokens, ...(anonymous && { anonymous }) });
  a = await api.addCluster('root:a');
  const authority = await createAuthority('server');
  const { privateKey: key, certificate: cert } = await authority.issueServer(['127.0.0.1']);
  const tls = { key, cert, ca: authority.certificate };
  const { url } = await api.server.listen({ host: '127.0.0.1', port: 0, tls });
  server = { url, ca: authority.certificate };
});
afterAll(async () => {
  stop.abort();
  await api.close();
  await Promise.all([issuer.close(), other.close()]);
  await rm(directory, { recursive: true });
});

/** Over the network, with that token and nothing else. */
async function as(token: string | undefined, method: string, path: string, body?: object) {
  const transport = httpTransport({ server: server.url, ca: server.ca, ...(token && { token }) });
  try {
    return await call(transport, method, path, body);
  } finally {
    transport.close();
  }
}
const who = async (token: string) => (await as(token, 'POST', review, asked)).body.status?.userInfo;

test('a token of an issuer is taken; its keys are fetched once', async () => {
  const token = issuer.token({ sub: 'ann', groups: ['dev'] });
  expect(issuer.asked).toEqual([]);
  for (let i = 0; i < 3; i++) {
    expect(await who(token)).toMatchObject({
      username: 'oidc:ann',
      groups: ['oidc:dev', 'system:authenticated'],
    });
  }
  expect((await who(issuer.token({ sub: 'bob' }))).username).toBe('oidc:bob');
  expect(issuer.asked).toEqual(['/.well-known/openid-configuration', '/keys']);
});

test('what its roles give it counts in each logical cluster for itself', async () => {
  const token = issuer.token({ sub: 'ann' });
  const pods = '/api/v1/namespaces/default/pods';
  expect((await as(token, 'GET', `/clusters/root:a${pods}`)).status).toBe(403);
  const binding = {
    metadata: { name: 'ann' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'oidc:ann' }],
  };
  const bindings = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings';
  expect((await api.call('POST', `/clusters/${a}${bindings}`, binding)).status).toBe(201);
  expect((await as(token, 'GET', `/clusters/root:a${pods}`)).status).toBe(200);
  expect((await as(token, 'GET', pods)).status).toBe(403);
});

test('TokenReview knows it, for the audience of this server', async () => {
  const reviewed = async (spec: object) => {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {}, spec };
    return (await api.call('POST', '/apis/authentication.k8s.io/v1/tokenreviews', body)).body.status;
  };
  const token = issuer.token({ sub: 'ann' });
  expect(await reviewed({ token })).toMatchObject({
    authenticated: true,
    user: { username: 'oidc:ann', groups: ['system:authenticated'] },
    audiences: ['https://kubernetes.default.svc'],
  });
  expect((await reviewed({ token, audiences: ['vault'] })).authenticated).toBeUndefined();
});

test.each<[string, (from: Issuer) => string]>([
  ['of another audience', (from) => from.token({ sub: 'ann', aud: 'others' })],
  ['that has expired', (from) => from.token({ sub: 'ann', exp: 1 })],
  ['of another key', (from) => from.token({ sub: 'ann' }, signer('RS256', 'one'))],
  ['of the system', (from) => from.token({ sub: 'ann', groups: [1] })],
  ['of an issuer that is not known', () => other.token({ sub: 'ann' })],
  ['without a name', (from) => from.token({})],
])('a token %s is nobody’s', async (_what, make) => {
  expect((await as(make(issuer), 'GET', '/version')).status).toBe(401);
});

test('the file is read again; one that cannot be meant changes nothing', async () => {
  const token = other.token({ sub: 'eve' });
  await writeFile(file, encodeYaml(configuration(jwt(issuer), jwt(other))));
  await eventually(async () => expect((await who(token))?.username).toBe('oidc:eve'));
  await writeFile(file, encodeYaml(configuration({ issuer: {} })));
  await writeFile(join(directory, 'bad.yaml'), encodeYaml(configuration({ issuer: {} })));
  await expect(load(join(directory, 'bad.yaml'))).rejects.toThrow(
    /--authentication-config .*bad.yaml: invalid authentication configuration: \[jwt\[0\]\.issuer\.url: Required value/,
  );
  await expect(load(join(directory, 'none.yaml'))).rejects.toThrow('no such file');
  expect((await who(token)).username).toBe('oidc:eve');
  await writeFile(file, encodeYaml(configuration(jwt(issuer))));
  await eventually(async () => expect(await who(token)).toBeUndefined());
});

test.each<[string, string, (of: Issuer) => (response: import('node:http').ServerResponse) => void]>([
  [
    'a redirect',
    '/.well-known/openid-configuration',
    ({ url }) =>
      (r) =>
        r.writeHead(302, { location: `${url}/x` }).end(),
  ],
  ['an endless answer', '/keys', () => (r) => r.end(`{"keys":["${'x'.repeat(2 << 20)}"]}`)],
  ['an error', '/keys', () => (r) => r.writeHead(500).end('{}')],
  [
    'another issuer',
    '/.well-known/openid-configuration',
    () => (r) => r.end('{"issuer":"https://x","jwks_uri":"https://x"}'),
  ],
])('%s for the keys is none, and harms nobody else', async (_what, path, answer) => {
  const bad = await startIssuer();
  bad.answers.set(path, answer(bad));
  await writeFile(file, encodeYaml(configuration(jwt(bad), jwt(issuer))));
  await eventually(async () => {
    expect((await as(bad.token({ sub: 'ann' }), 'GET', '/version')).status).toBe(401);
    expect(bad.asked).toContain(path);
  });
  expect(bad.asked).not.toContain('/x');
  expect((await who(issuer.token({ sub: 'ann' }))).username).toBe('oidc:ann');
  await bad.close();
});

test('nobody is somebody where the file says so, and nowhere else', async () => {
  const anonymous = { enabled: true, conditions: [{ path: '/livez' }] };
  await writeFile(file, encodeYaml({ ...configuration(), anonymous }));
  const status = async (path: string) => (await as(undefined, 'GET', path)).status;
  await eventually(async () => expect(await status('/version')).toBe(401));
  expect(await status('/livez?verbose')).toBe(200);
  await writeFile(file, encodeYaml({ ...configuration(), anonymous: { enabled: false } }));
  await eventually(async () => expect(await status('/livez')).toBe(401));
  await writeFile(file, encodeYaml({ ...configuration(), anonymous: { enabled: true } }));
  await eventually(async () => expect(await status('/version')).toBe(200));
  expect(await status('/api/v1/pods')).toBe(403);
  expect(await status('/clusters/root:a/api/v1/pods')).toBe(403);
});

test('static tokens are read from a file, again when it changes', async () => {
  const tokenAuthFile = join(directory, 'tokens.csv');
  await writeFile(tokenAuthFile, 'secret-1,ann,1,"dev,ops"\n');
  const settings = resolveSettings({ dataDir: directory, tokenAuthFile }, undefined, {});
  const { tokens } = await loadAuthentication({
    settings,
    files: new TakenFiles(),
    signal: stop.signal,
    logger: silentLogger,
  });
  const who = (token: string) =>
    tokens[0]?.({ method: 'GET', url: '/', headers: { authorization: `Bearer ${token}` } }, {}, 'root');
  expect(who('secret-1')).toEqual({ name: 'ann', uid: '1', groups: ['dev', 'ops'] });
  expect(who('secret-2')).toBeUndefined();
  await writeFile(tokenAuthFile, 'secret-2,bob,2\n');
  await eventually(() => expect(who('secret-2')).toMatchObject({ name: 'bob' }));
  expect(who('secret-1')).toBeUndefined();
});

test('a bootstrap token counts in the logical cluster of its Secret alone, while it is there', async () => {
  const own = startApi({ bootstrapTokens: true, authenticate: [] });
  const b = await own.addCluster('root:b');
  const authority = await createAuthority('server');
  const { privateKey: key, certificate: cert } = await authority.issueServer(['127.0.0.1']);
  const tls = { key, cert, ca: authority.certificate };
  const { url } = await own.server.listen({ host: '127.0.0.1', port: 0, tls });
  const transport = httpTransport({ server: url, ca: tls.ca, token: 'abcdef.0123456789abcdef' });
  const status = async (place: string) => {
    const { status, body } = await call(transport, 'POST', `${place}${review}`, asked);
    return status === 201 ? body.status.userInfo.username : status;
  };
  const places = ['', '/clusters/root:b', `/clusters/${b}`, '/clusters/root:none', '/clusters/*'];
  const all = () => Promise.all(places.map(status));
  expect(await all()).toEqual([401, 401, 401, 401, 401]);
  await own.call('POST', `/clusters/${b}/api/v1/namespaces`, { metadata: { name: 'kube-system' } });
  const stringData = {
    'token-id': 'abcdef',
    'token-secret': '0123456789abcdef',
    'usage-bootstrap-authentication': 'true',
  };
  const type = 'bootstrap.kubernetes.io/token';
  const secrets = `/clusters/${b}/api/v1/namespaces/kube-system/secrets`;
  expect(
    (await own.call('POST', secrets, { metadata: { name: 'bootstrap-token-abcdef' }, type, stringData }))
      .status,
  ).toBe(201);
  const name = 'system:bootstrap:abcdef';
  expect(await all()).toEqual([401, name, name, 401, 401]);
  await own.call('DELETE', `${secrets}/bootstrap-token-abcdef`);
  expect(await all()).toEqual([401, 401, 401, 401, 401]);
  transport.close();
  await own.close();
});

test('a proxy is known by its own authority, which makes no users; users’ makes no proxies', async () => {
  const [users, proxies] = await Promise.all([createAuthority('users'), createAuthority('proxies')]);
  const headers = { username: ['X-Remote-User'], uid: [], group: ['X-Remote-Group'], extraPrefix: [] };
  const own = startApi({
    authenticate: [requestHeaderAuthenticator({ allowedNames: [], ...headers }), certificateAuthenticator()],
  });
  const { privateKey: key, certificate: cert } = await users.issueServer(['127.0.0.1']);
  const tls = { key, cert, ca: users.certificate, proxyCa: proxies.certificate };
  const { url: at } = await own.server.listen({ host: '127.0.0.1', port: 0, tls });
  const who = async (by: typeof users | undefined, headers: Record<string, string>) => {
    const issued = await by?.issueClient('front', ['system:masters']);
    const credentials = issued && { cert: issued.certificate, key: issued.privateKey };
    const transport = httpTransport({ server: at, ca: users.certificate, ...credentials });
    const { body, status } = await call(transport, 'POST', review, asked, headers);
    transport.close();
    return status === 201 ? [body.status.userInfo.username, ...body.status.userInfo.groups] : status;
  };
  const said = { 'x-remote-user': 'ann', 'x-remote-group': 'dev' };
  expect(await who(proxies, said)).toEqual(['ann', 'dev', 'system:authenticated']);
  expect(await who(proxies, {})).toBe(401);
  expect(await who(users, said)).toEqual(['front', 'system:masters', 'system:authenticated']);
  expect(await who(undefined, said)).toBe(401);
  const stranger = await createAuthority('proxies');
  expect(await who(stranger, said)).toBe(401);
  await own.close();
});

test('a webhook is asked at its own path, of tokens that nobody else knows', async () => {
  const hook = await startIssuer();
  const status = { authenticated: true, user: { username: 'ann' } };
  const answer = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', status };
  hook.answers.set('/authenticate', (response) => response.end(JSON.stringify(answer)));
  const file = join(directory, 'webhook.kubeconfig');
  const cluster = {
    server: `${hook.url}/authenticate`,
    'certificate-authority-data': Buffer.from(hook.ca).toString('base64'),
  };
  await writeFile(
    file,
    encodeYaml({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'hook', cluster }],
      users: [{ name: 'atoll', user: {} }],
      contexts: [{ name: 'hook', context: { cluster: 'hook', user: 'atoll' } }],
      'current-context': 'hook',
    }),
  );
  const raw = { dataDir: directory, authenticationTokenWebhookConfigFile: file };
  const settings = resolveSettings(raw, undefined, {});
  const { last } = await loadAuthentication({
    settings,
    files: new TakenFiles(),
    signal: stop.signal,
    logger: silentLogger,
  });
  const request = { method: 'GET', url: '/', headers: { authorization: 'Bearer t' } };
  expect(await last[0]?.(request, {}, 'root')).toEqual({ name: 'ann', groups: [] });
  expect(hook.asked).toEqual(['/authenticate']);
  await hook.close();
});
