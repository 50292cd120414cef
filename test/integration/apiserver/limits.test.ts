import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { configMap, take, thingsDefinition, watch } from './api.ts';
import { type Limited, own, startLimited, tenant } from './limited.ts';

let api: Limited;
let now = 0;
beforeAll(() => {
  api = startLimited({}, () => now);
});
afterAll(() => api.close());

const logical = 'apis/core.kcp.io/v1alpha1/logicalclusters';
const workspaces = 'apis/tenancy.kcp.io/v1alpha1/workspaces';
const maps = (path: string) => `/clusters/${path}/api/v1/namespaces/default/configmaps`;

function put(path: string, name: string, data: Record<string, string> = {}) {
  return api.as(tenant, 'POST', maps(path), configMap(name, data));
}

async function useOf(path: string) {
  const { body } = await api.as(tenant, 'GET', `/clusters/${path}/${logical}/cluster`);
  return body.status;
}

describe('what a logical cluster may store', () => {
  test('is no more than its Workspace says: 403 names the limit, what is used and the logical cluster', async () => {
    // Its LogicalCluster and Namespace are there.
    const path = await api.workspace('root', 'few', { objects: 3 });
    expect((await put(path, 'a')).status).toBe(201);
    const refused = await put(path, 'b');
    expect([refused.status, refused.body.reason, refused.body.message]).toEqual([
      403,
      'Forbidden',
      'configmaps "b" is forbidden: exceeded limits of logical cluster root:few, requested: objects=1, used: objects=3, limited: objects=3',
    ]);
    expect((await api.as(tenant, 'DELETE', `${maps(path)}/a`)).status).toBe(200);
    expect((await put(path, 'b')).status).toBe(201);
  });

  test('holds for 40 creates at once, over two processes: as many as fit are made', async () => {
    const path = await api.workspace('root', 'burst', { objects: 13 });
    const beside = api.beside();
    const names = Array.from({ length: 40 }, (_, i) => `c${i}`);
    const answers = await Promise.all(
      names.map((name, i) =>
        i % 2 === 0 ? put(path, name) : beside.call('POST', maps(path), configMap(name)),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(11);
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(29);
    const { body } = await api.as(tenant, 'GET', maps(path));
    expect(body.items).toHaveLength(11);
    await beside.close();
  });

  test('is refused to what grows, not to what shrinks or stays, nor to our own controllers', async () => {
    const path = await api.workspace('root', 'small', { bytes: '4Ki' });
    expect((await put(path, 'a', { k: 'x'.repeat(2000) })).status).toBe(201);
    const grow = (length: number) =>
      api.as(
        tenant,
        'PATCH',
        `${maps(path)}/a`,
        { data: { k: 'y'.repeat(length) } },
        'application/merge-patch+json',
      );
    const refused = await grow(4000);
    expect(refused.body.message).toMatch(
      /^configmaps "a" is forbidden: exceeded limits of logical cluster root:small, requested: bytes=\d+, used: bytes=\d+, limited: bytes=4096$/,
    );
    expect((await grow(2000)).status).toBe(200);
    expect((await grow(10)).status).toBe(200);
    expect((await own(api, 'POST', maps(path), configMap('ours', { k: 'z'.repeat(9000) }))).status).toBe(201);
    const over = await useOf(path);
    expect(Number(over.used.bytes)).toBeGreaterThan(9000);
    // More than it may have, by others: what it has may still go, and shrink.
    expect((await put(path, 'b')).status).toBe(403);
    expect((await grow(1)).status).toBe(200);
    expect((await api.as(tenant, 'DELETE', `${maps(path)}/a`)).status).toBe(200);
  });

  test('is as little for what is only tried, of which nothing is charged', async () => {
    const path = await api.workspace('root', 'tried', { objects: 3 });
    const dry = (name: string) => api.as(tenant, 'POST', `${maps(path)}?dryRun=All`, configMap(name));
    expect((await dry('a')).status).toBe(201);
    expect((await dry('b')).status).toBe(201);
    expect((await put(path, 'a')).status).toBe(201);
    expect((await dry('b')).body.message).toContain('used: objects=3, limited: objects=3');
  });

  test('bounds definitions and webhooks of their own, these by how many there are in a configuration', async () => {
    const path = await api.workspace('root', 'kinds', { customResourceDefinitions: 1, webhooks: 2 });
    const definitions = `/clusters/${path}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`;
    expect((await api.as(tenant, 'POST', definitions, thingsDefinition())).status).toBe(201);
    const other = JSON.parse(
      JSON.stringify(thingsDefinition()).replaceAll('things', 'others').replaceAll('Thing', 'Other'),
    );
    expect((await api.as(tenant, 'POST', definitions, other)).body.message).toContain(
      'requested: customResourceDefinitions=1, used: customResourceDefinitions=1, limited: customResourceDefinitions=1',
    );
    const configurations = `/clusters/${path}/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations`;
    const hooks = (count: number) => ({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'hooks' },
      webhooks: Array.from({ length: count }, (_, i) => ({
        name: `h${i}.example.com`,
        clientConfig: { url: 'https://example.com' },
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
      })),
    });
    expect((await api.as(tenant, 'POST', configurations, hooks(3))).body.message).toContain(
      'requested: webhooks=3',
    );
    expect((await api.as(tenant, 'POST', configurations, hooks(1))).status).toBe(201);
    const replace = (count: number) =>
      api.as(
        tenant,
        'PATCH',
        `${configurations}/hooks`,
        { webhooks: hooks(count).webhooks },
        'application/merge-patch+json',
      );
    expect((await replace(3)).body.message).toContain(
      'requested: webhooks=2, used: webhooks=1, limited: webhooks=2',
    );
    expect((await replace(2)).status).toBe(200);
    expect((await useOf(path)).used).toMatchObject({ customResourceDefinitions: 1, webhooks: 2 });
  });

  test('is shared with all that are below it, so that nobody has more by making children', async () => {
    const path = await api.workspace('root', 'parent', { objects: 10 });
    const child = await api.workspace(path, 'child', { objects: 1000 });
    const deep = await api.workspace(child, 'deep');
    // Three LogicalClusters, Namespaces and two Workspaces.
    expect((await useOf(path)).used.objects).toBe(8);
    expect((await put(deep, 'a')).status).toBe(201);
    expect((await put(child, 'a')).status).toBe(201);
    const refused = await put(deep, 'b');
    expect(refused.body.message).toContain(
      'exceeded limits of logical cluster root:parent, requested: objects=1, used: objects=10, limited: objects=10',
    );
    expect((await put(path, 'c')).status).toBe(403);
    expect((await api.as(tenant, 'DELETE', `${maps(deep)}/a`)).status).toBe(200);
    expect((await put(path, 'c')).status).toBe(201);
  });

  test('is counted right by a server that starts, and by one whose limit comes later', async () => {
    const path = await api.workspace('root', 'later');
    for (const name of ['a', 'b', 'c']) expect((await put(path, name)).status).toBe(201);
    const url = `/clusters/root/${workspaces}/later`;
    const limit = (objects: number) => api.call('PATCH', url, { spec: { limits: { objects } } });
    expect((await limit(5)).status).toBe(200);
    expect((await put(path, 'd')).status).toBe(403);
    expect((await limit(6)).status).toBe(200);
    expect((await put(path, 'd')).status).toBe(201);
    const again = startLimited({}, undefined, api.store);
    const answer = await again.as(tenant, 'POST', maps(path), configMap('e'));
    expect(answer.body.message).toContain('used: objects=6, limited: objects=6');
    await again.server.close();
  });
});

describe('who says how much', () => {
  const limits = { objects: 1000 };

  test('administers the parent: a tenant inside reaches its Workspace by no verb', async () => {
    const path = await api.workspace('root', 'held', { objects: 4 });
    const inside = `/clusters/${path}/${logical}/cluster`;
    const merge = 'application/merge-patch+json';
    const apply = 'application/apply-patch+yaml';
    const object = {
      apiVersion: 'core.kcp.io/v1alpha1',
      kind: 'LogicalCluster',
      metadata: { name: 'cluster' },
      spec: { limits },
      status: { hard: limits, used: { objects: 0 } },
    };
    for (const url of [inside, `${inside}/status`]) {
      await api.as(tenant, 'PATCH', url, object, merge);
      await api.as(tenant, 'PATCH', `${url}?fieldManager=me&force=true`, object, apply);
      await api.as(tenant, 'PUT', url, object);
    }
    expect((await useOf(path)).hard).toEqual({ objects: 4 });
    const { entries } = await api.store.list({ start: '/core.kcp.io/', end: '/core.kcp.io0' });
    expect(entries.map(({ value }) => Buffer.from(value).toString()).join()).not.toContain('"hard"');
    expect((await put(path, 'a')).status).toBe(201);
    expect((await put(path, 'b')).status).toBe(201);
    expect((await put(path, 'c')).status).toBe(403);
  });

  test.each([
    [
      'POST',
      '',
      'application/json',
      (name: string) => ({ metadata: { name: `${name}x` }, spec: { limits } }),
    ],
    [
      'POST',
      '?dryRun=All',
      'application/json',
      (name: string) => ({ metadata: { name: `${name}y` }, spec: { limits } }),
    ],
    ['PUT', '/NAME', 'application/json', (name: string) => ({ metadata: { name }, spec: { limits } })],
    ['PUT', '/NAME', 'application/json', (name: string) => ({ metadata: { name }, spec: {} })],
    [
      'PUT',
      '/NAME?dryRun=All',
      'application/json',
      (name: string) => ({ metadata: { name }, spec: { limits } }),
    ],
    ['PATCH', '/NAME', 'application/merge-patch+json', () => ({ spec: { limits: null } })],
    [
      'PATCH',
      '/NAME',
      'application/json-patch+json',
      () => [{ op: 'replace', path: '/spec/limits/objects', value: 9 }],
    ],
    [
      'PATCH',
      '/NAME?fieldManager=me&force=true',
      'application/apply-patch+yaml',
      () => ({ spec: { limits } }),
    ],
    [
      'PATCH',
      '/NEW?fieldManager=me',
      'application/apply-patch+yaml',
      (name: string) => ({ metadata: { name: `${name}z` }, spec: { limits } }),
    ],
  ])('takes the verb limit, beyond that of %s %s as %s', async (method, rest, type, body) => {
    const name = `verb${++count}`;
    await api.workspace('root', name, { objects: 4 });
    const url = `/clusters/root/${workspaces}${rest.replace('NAME', name).replace('NEW', `${name}z`)}`;
    const kind = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace' };
    const given = body(name);
    const now = await api.call('GET', `/clusters/root/${workspaces}/${name}`);
    if (method === 'PUT')
      Object.assign((given as { metadata: object }).metadata, {
        resourceVersion: now.body.metadata.resourceVersion,
      });
    const whole = Array.isArray(given) || type.includes('merge') ? given : { ...kind, ...given };
    const refused = await api.as(tenant, method, url, whole, type);
    expect([refused.status, refused.body.message]).toEqual([
      403,
      expect.stringContaining(
        'User "tenant" cannot set spec.limits: that needs the verb "limit" on resource "workspaces"',
      ),
    ]);
    expect((await useOf(`root:${name}`)).hard).toEqual({ objects: 4 });
  });
  let count = 0;

  test('may be impersonated by the administrator alone, and is then no more than that user', async () => {
    await api.workspace('root', 'as', { objects: 4 });
    const url = `/clusters/root/${workspaces}/as`;
    const headers = { 'impersonate-user': 'tenant' };
    const answer = await api.call('PATCH', url, { spec: { limits } }, headers);
    expect(answer.body.message).toContain('User "tenant" cannot set spec.limits');
  });

  test.each([
    [{ objects: -1 }, 'spec.limits.objects: Invalid value: -1: must be greater than or equal to 0'],
    [
      { bytes: '1x' },
      'spec.limits.bytes: Invalid value: "1x": quantities must match the regular expression \'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$\'',
    ],
    [
      { objects: 'many' },
      'spec.limits.objects: Invalid value: "string": spec.limits.objects in body must be of type integer: "string"',
    ],
    [{ requestsPerSecond: 0 }, 'spec.limits.requestsPerSecond: Invalid value: 0: must be greater than zero'],
    [{ requestBurst: 5 }, 'spec.limits.requestBurst: Forbidden: may only be set with requestsPerSecond'],
  ])('says %j in vain', async (wrong, message) => {
    const object = {
      apiVersion: 'tenancy.kcp.io/v1alpha1',
      kind: 'Workspace',
      metadata: { name: 'wrong' },
      spec: { limits: wrong },
    };
    const { status, body } = await api.call('POST', `/clusters/root/${workspaces}`, object);
    expect([status, body.message]).toEqual([422, `Workspace.tenancy.kcp.io "wrong" is invalid: ${message}`]);
  });
});

test('are no more than a warning where their name is not theirs: what else kcp’s clients write is kept', async () => {
  const said = async (method: string, url: string, spec: object) => {
    const object = {
      apiVersion: 'tenancy.kcp.io/v1alpha1',
      kind: 'Workspace',
      metadata: { name: 'typo' },
      spec,
    };
    const { headers } = await api.call(method, `/clusters/root/${workspaces}${url}`, object);
    return [headers['warning'] ?? []].flat();
  };
  expect(await said('POST', '', { type: { name: 'universal' }, limit: { objects: 1 } })).toEqual([
    '299 - "unknown field \\"spec.limit\\""',
  ]);
  expect(await said('PATCH', '/typo', { limit: { objects: 2 }, limits: { objects: 9 } })).toEqual([]);
});

describe('requests a second', () => {
  test('come from a bucket: 429 says when to come again; masters and our own controllers need no share', async () => {
    const path = await api.workspace('root', 'slow', { requestsPerSecond: 2, requestBurst: 3 });
    const get = () => api.as(tenant, 'GET', maps(path));
    const codes = async (count: number) => {
      const answers = [];
      for (let i = 0; i < count; i++) answers.push((await get()).status);
      return answers;
    };
    expect(await codes(4)).toEqual([200, 200, 200, 429]);
    const refused = await get();
    expect([refused.headers['retry-after'], refused.body.reason, refused.body.message]).toEqual([
      '1',
      'TooManyRequests',
      'exceeded limits of logical cluster root:slow, limited: requestsPerSecond=2',
    ]);
    expect((await api.call('GET', maps(path))).status).toBe(200);
    expect((await own(api, 'GET', maps(path))).status).toBe(200);
    expect((await api.as({ name: 'nobody', groups: [] }, 'GET', maps(path))).status).not.toBe(429);
    now += 1000;
    expect(await codes(3)).toEqual([200, 200, 429]);
    const other = await api.workspace('root', 'quick');
    expect((await api.as(tenant, 'GET', maps(other))).status).toBe(200);
  });

  test('are one budget over all processes', async () => {
    const path = await api.workspace('root', 'both', { requestsPerSecond: 10, requestBurst: 10 });
    const beside = api.beside();
    const answers = await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        if (i % 2 === 0) return (await api.as(tenant, 'GET', maps(path))).status;
        const transport = beside.server.transport(tenant);
        return (await transport({ method: 'GET', url: maps(path), headers: {} })).status;
      }),
    );
    expect(answers.filter((status) => status === 200)).toHaveLength(10);
    await beside.close();
  });
});

describe('watches', () => {
  test('are refused beyond the limit, and given back when they end or their process does', async () => {
    const path = await api.workspace('root', 'watched', { watches: 2 });
    const url = `${maps(path)}?watch=true&resourceVersion=0`;
    const stop = new AbortController();
    const first = watch(api.server.transport(tenant), url, stop.signal);
    await put(path, 'a');
    await take(first, 1);
    const beside = api.beside();
    const second = watch(beside.server.transport(tenant), url);
    await take(second, 1);
    const refused = await api.as(tenant, 'GET', url);
    expect([refused.status, refused.headers['retry-after'], refused.body.message]).toEqual([
      429,
      '5',
      'exceeded limits of logical cluster root:watched, requested: watches=1, used: watches=2, limited: watches=2',
    ]);
    expect((await useOf(path)).used.watches).toBe(2);
    stop.abort();
    await first.return(undefined);
    expect((await useOf(path)).used.watches).toBe(1);
    beside.leave();
    expect((await useOf(path)).used.watches).toBe(0);
    await beside.close();
  });
});

describe('use', () => {
  test('is shown in wide columns of LogicalClusters and Workspaces', async () => {
    const path = await api.workspace('root', 'shown', {
      objects: 1000,
      bytes: '10Mi',
      watches: 5,
      requestsPerSecond: 50,
    });
    const accept = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
    const inside = await api.call('GET', `/clusters/${path}/${logical}`, undefined, accept);
    const wide = inside.body.columnDefinitions.flatMap(
      ({ name, priority }: { name: string; priority: number }, i: number) =>
        priority === 1 ? [[name, inside.body.rows[0].cells[i]]] : [],
    );
    expect(wide).toEqual([
      ['Objects', '2/1000'],
      ['Bytes', expect.stringMatching(/^\d+\/10Mi$/)],
      ['Requests/s', '0/50'],
      ['Watches', '0/5'],
      ['CRDs', '0'],
      ['Webhooks', '0'],
    ]);
    const beside = await api.call('GET', `/clusters/root/${workspaces}/shown`);
    expect(beside.body.status).toEqual(await useOf(path));
  });
});
