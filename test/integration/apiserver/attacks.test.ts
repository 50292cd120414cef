import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Transport, UserInfo } from '../../../kube/http.ts';
import { type Api, call, configMap, configMaps, definitions, startApi, thingsDefinition } from './api.ts';

/* Attacks of published advisories, as they would be tried here. docs/reference/attacks.md says which test is whose. */

const lead: UserInfo = { name: 'lead', groups: ['system:authenticated'] };
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const mark = 'c2VjcmV0LW1hcms=';

let api: Api;
let asLead: Transport;
let other = '';
const answers: Record<string, { status: number; headers: Record<string, string>; asked: number }> = {};

beforeAll(async () => {
  const transport: Transport = async ({ url }) => {
    const answer = answers['pod'];
    if (answer === undefined) throw new Error(`nothing answers ${url}`);
    answer.asked++;
    return { status: answer.status, headers: answer.headers, body: Buffer.from('elsewhere') };
  };
  api = startApi({ connectPod: () => ({ transport, path: '/api/v1/namespaces/there/pods/web' }) });
  asLead = api.server.transport(lead);
  other = await api.addCluster('root:other');
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'lead' }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
  const made = [
    [`${rbac}/clusterrolebindings`, { metadata: { name: 'lead' }, roleRef, subjects }],
    ['/api/v1/namespaces/kube-system/secrets', { metadata: { name: 'marked' }, data: { a: mark } }],
    [
      `/clusters/${other}/api/v1/namespaces/default/secrets`,
      { metadata: { name: 'marked' }, data: { a: mark } },
    ],
    [definitions, thingsDefinition()],
    [configMaps, configMap('mine')],
    [
      '/api/v1/namespaces/default/pods',
      { metadata: { name: 'web' }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    ],
  ] as const;
  await api.call('POST', '/api/v1/namespaces', { metadata: { name: 'kube-system' } });
  for (const [url, object] of made) {
    const { status, body } = await api.call('POST', url, object);
    expect([url, status, body.message]).toEqual([url, 201, undefined]);
  }
});
afterAll(() => api.close());

describe('whoever administers root’s roles becomes nobody of another logical cluster', () => {
  const reserved = ['system:masters', 'system:atoll:controllers', 'system:nodes', 'system:kcp:admin'];
  const spelled = reserved.flatMap((name) => [
    name,
    name.toUpperCase(),
    ` ${name}`,
    `${name} `,
    `x, ${name}`,
    `${name}, x`,
    `x,${name}`,
    encodeURIComponent(name),
    `${name}\u0000`,
  ]);
  const extras = [
    { 'impersonate-extra-authentication.kcp.io%2fscopes': 'cluster:OTHER' },
    { 'impersonate-extra-authentication.kcp.io%2Fscopes': 'cluster:*' },
    { 'impersonate-extra-authentication.kcp.io/cluster-name': 'OTHER' },
    { 'impersonate-extra-authorization.kcp.io%2fwarrant': '{"user":"x","groups":["system:masters"]}' },
  ];
  test.each<[string, Record<string, string>]>([
    ...spelled.map(
      (group) =>
        [`group ${JSON.stringify(group)}`, { 'impersonate-group': group }] as [
          string,
          Record<string, string>,
        ],
    ),
    ...spelled.map(
      (user) =>
        [`user ${JSON.stringify(user)}`, { 'impersonate-user': user }] as [string, Record<string, string>],
    ),
    ...extras.map(
      (extra) => [Object.keys(extra).join(), extra] as unknown as [string, Record<string, string>],
    ),
    ['another’s account', { 'impersonate-user': 'system:serviceaccount:kube-system:default' }],
  ])('by %s', async (_name, headers) => {
    const all = Object.entries({ 'impersonate-user': 'x', ...headers });
    const said = Object.fromEntries(all.map(([name, value]) => [name, value.replace('OTHER', other)]));
    for (const at of [`/clusters/${other}`, '/clusters/root:other', '/clusters/*']) {
      const { status } = await call(asLead, 'GET', `${at}/api/v1/secrets`, undefined, said);
      expect([at, status]).toEqual([at, 403]);
    }
    const { status, body } = await call(
      asLead,
      'GET',
      '/apis/atoll.dev/v1alpha1/placements',
      undefined,
      said,
    );
    expect([200, 403, 404]).toContain(status);
    expect(JSON.stringify(body)).not.toContain(mark);
    const review = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const who = await call(asLead, 'POST', review, {}, said);
    expect([201, 403]).toContain(who.status);
    const { username, groups = [] } = who.body.status?.userInfo ?? {};
    expect(groups).not.toContain('system:masters');
    expect(String(username)).not.toMatch(/^system:atoll:/);
  });
});

test('of requests that are at work at a time each is its own user’s', async () => {
  const review = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const names = Array.from({ length: 150 }, (_, i) => `user-${i}`);
  const said = await Promise.all(
    names.map(async (name, i) => {
      const headers = { 'impersonate-user': name, 'impersonate-extra-n': String(i) };
      const transport =
        i % 2 === 0 ? asLead : api.server.transport({ name, groups: ['system:authenticated'] });
      const { body } = await call(transport, 'POST', review, {}, i % 2 === 0 ? headers : {});
      return [body.status.userInfo.username, body.status.userInfo.extra?.n?.[0] ?? String(i)];
    }),
  );
  expect(said).toEqual(names.map((name, i) => [name, String(i)]));
});

test('nobody changes who asks: an identity that is frozen does for every verb', async () => {
  const groups = Object.freeze(['system:masters']);
  const extra = Object.freeze({ 'authentication.kcp.io/x': Object.freeze(['y']) });
  const frozen = api.server.transport(Object.freeze({ name: 'f', uid: '1', groups, extra }));
  const codes: number[] = [];
  const send = async (method: string, url: string, body?: object) =>
    codes.push((await call(frozen, method, url, body)).status);
  await send('POST', configMaps, configMap('frozen'));
  await send('GET', `${configMaps}/frozen`);
  await send('GET', configMaps);
  await send('PATCH', `${configMaps}/frozen`, { data: { a: 'b' } });
  await send('PUT', `${configMaps}/frozen`, configMap('frozen'));
  await send('POST', '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {
    spec: { namespace: 'default' },
  });
  await send('DELETE', `${configMaps}/frozen`);
  expect(codes).toEqual([201, 200, 200, 200, 200, 201, 200]);
});

interface Served {
  path: string;
  resource: string;
  namespaced: boolean;
}

async function served(): Promise<Served[]> {
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const found: Served[] = [];
  for (const root of ['/api', '/apis']) {
    const { body } = await api.call('GET', root, undefined, { accept });
    for (const { metadata, versions } of body.items) {
      for (const { version, resources } of versions) {
        const path = [root, metadata.name, version].filter(Boolean).join('/');
        for (const { resource, scope } of resources)
          found.push({ path, resource, namespaced: scope === 'Namespaced' });
      }
    }
  }
  return found;
}

test('an object of one scope is not reached by a path of the other', async () => {
  const reached: string[] = [];
  const all = await served();
  expect(all.length).toBeGreaterThan(60);
  for (const { path, resource, namespaced } of all) {
    if (path === '/api/v1' && resource === 'namespaces') continue;
    const wrong = namespaced ? `${path}/${resource}/x` : `${path}/namespaces/default/${resource}`;
    for (const url of namespaced ? [wrong] : [wrong, `${wrong}/x`, `${wrong}/x/status`]) {
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
        const { status } = await api.call(
          method,
          url,
          method === 'GET' || method === 'DELETE' ? undefined : {},
        );
        if (status !== 404 && status !== 405) reached.push(`${method} ${url} ${status}`);
      }
    }
  }
  expect(reached).toEqual([]);
});

describe('a path that leads out of its place leads nowhere', () => {
  const parts = [
    '..',
    '.',
    '%2e%2e',
    '..%2f..',
    '..%2F..%2Fsecrets%2Fkube-system',
    '%252e%252e',
    'a%5c..',
    '%00',
    'x%00',
    '%ed%a0%80',
    '%ff',
    '*',
    '%2A',
    'root%3Aother',
    'OTHER',
  ];
  const places: ((part: string) => string)[] = [
    (part) => `/api/v1/namespaces/${part}/kube-system/secrets/marked`,
    (part) => `/api/v1/namespaces/default/configmaps/${part}/secrets/marked`,
    (part) => `/api/v1/namespaces/default/configmaps/${part}`,
    (part) => `/api/v1/namespaces/default/${part}/kube-system/secrets/marked`,
    (part) => `/api/v1/${part}/namespaces/kube-system/secrets/marked`,
    (part) => `/api/${part}/v1/namespaces/kube-system/secrets/marked`,
    (part) => `/apis/${part}/api/v1/namespaces/kube-system/secrets/marked`,
    (part) => `/apis/example.com/v1/namespaces/default/things/${part}%2f..%2fsecrets%2fkube-system%2fmarked`,
    (part) => `/apis/example.com/v1/namespaces/${part}%2f..%2f..%2fsecrets/things/marked`,
    (part) => `/clusters/${part}%2f..%2f${other}/api/v1/namespaces/default/secrets/marked`,
    (part) => `/clusters/root:none/${part}/${other}/api/v1/namespaces/default/secrets/marked`,
    (part) => `/clusters/${part}/../${other}/api/v1/namespaces/default/secrets/marked`,
    (part) =>
      `${configMaps}?continue=${btoa(`{"v":"meta.k8s.io/v1","rv":1,"start":"${part}/../../secrets/"}`)}`,
  ];
  test.each(parts)('%s', async (written) => {
    const part = written.replace('OTHER', other);
    for (const place of places) {
      const url = place(part);
      const { status, body } = await call(
        api.server.transport({ name: 'admin', groups: ['system:masters'] }),
        'GET',
        url,
      );
      expect([url, JSON.stringify(body).includes(mark)]).toEqual([url, false]);
      const asOne = await call(asLead, 'GET', url);
      expect([url, JSON.stringify(asOne.body).includes(mark)]).toEqual([url, false]);
      expect(status).toBeLessThan(500);
      expect(asOne.status).toBeLessThan(500);
    }
  });
});

test.each(['exec', 'attach', 'portforward', 'log'])(
  'where the other end of %s redirects to is neither followed nor passed on',
  async (what) => {
    const answer = {
      status: 302,
      headers: { location: 'https://169.254.169.254/', 'content-type': 'text/plain' },
      asked: 0,
    };
    answers['pod'] = answer;
    const url = `/api/v1/namespaces/default/pods/web/${what}?ports=80`;
    const headers: Record<string, string> =
      what === 'log' ? {} : { connection: 'Upgrade', upgrade: 'SPDY/3.1' };
    const got = await api.call('GET', url, undefined, headers);
    expect(answer.asked).toBe(1);
    expect(got.headers['location']).toBeUndefined();
    expect(got.status).not.toBe(101);
  },
);

test.each([
  '/<script>alert(1)</script>',
  '/api/v1/<script>',
  `${configMaps}/<script>`,
  '/clusters/<script>/api',
  '/apis/<b>/v1/c',
])('what a browser is told of %s is no page', async (url) => {
  for (const accept of ['text/html', 'text/html,application/xhtml+xml,*/*;q=0.8', '*/*']) {
    const { headers } = await api.call('GET', url, undefined, { accept });
    const type = String(headers['content-type']);
    expect(type).toMatch(/^(application\/json|text\/plain)/);
    if (type.startsWith('text/')) expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['access-control-allow-origin']).toBeUndefined();
  }
});
