import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Api, configMap, configMaps, deployment, deployments, startApi } from './api.ts';

let api: Api;
beforeEach(() => {
  api = startApi();
});
afterEach(() => api.close());

test.each([
  ['DELETE', 'apps/v1/namespaces//deployments', 400, 'Namespace parameter required.'],
  ['GET', 'apps/v1/namespaces//deployments/web', 400, 'Namespace parameter required.'],
  ['DELETE', 'apps/v1/namespaces//deployments/web', 400, 'Namespace parameter required.'],
  ['GET', 'apps/v1/namespaces//deployments/web/scale', 400, 'Namespace parameter required.'],
  [
    'GET',
    'apps/v1/namespaces//deployments/web/none',
    404,
    'the server could not find the requested resource',
  ],
  ['GET', 'apps/v1/deployments/web', 404, 'the server could not find the requested resource'],
])('%s /apis/%s is in no namespace', async (method, path, status, message) => {
  expect(await api.call(method, `/apis/${path}`)).toMatchObject({ status, body: { message } });
});

test.each([
  ['/api/v1/namespaces//configmaps', 'v1', 'ConfigMap "x"'],
  ['/apis/apps/v1/namespaces//deployments', 'apps/v1', 'Deployment.apps "x"'],
])('what is made by %s says that it lacks a namespace, and is not made', async (path, apiVersion, what) => {
  const kind = what.split(/[. ]/)[0];
  const sent = { apiVersion, kind, metadata: { name: 'x', namespace: 'default' } };
  const message = `${what} is invalid: metadata.namespace: Required value`;
  expect(await api.call('POST', path, sent)).toMatchObject({ status: 422, body: { message } });
  expect((await api.call('GET', path)).body.items).toEqual([]);
});

test('no grace of an object that is going is changed by what is written; its time stays', async () => {
  const object = `${configMaps}/going`;
  await api.call('POST', configMaps, { metadata: { name: 'going', finalizers: ['a.b/c'] } });
  const { body: going } = await api.call('DELETE', object);
  const { deletionTimestamp } = going.metadata;
  const refused = await api.call('PATCH', object, { metadata: { deletionGracePeriodSeconds: 9 } });
  const why = 'metadata.deletionGracePeriodSeconds: Invalid value: 9: field is immutable';
  expect(refused).toMatchObject({
    status: 422,
    body: { message: `ConfigMap "going" is invalid: ${why}` },
  });
  const time = { deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: null };
  const kept = await api.call('PATCH', object, { metadata: time });
  expect(kept.body.metadata).toMatchObject({ deletionTimestamp, deletionGracePeriodSeconds: 0 });
});

const noSuch = 'the server could not find the requested resource';
const dots = `Name parameter invalid: "..": may not be '..'`;

test.each([
  ['GET', '/api/v1/namespaces/default/configmaps/kept//x', 404, noSuch],
  ['DELETE', '/api/v1/namespaces/default/configmaps/kept//x', 404, noSuch],
  ['POST', '/api/v1/namespaces/default/serviceaccounts/default/token/x', 404, noSuch],
  ['GET', '/api/v1/namespaces/default/status/x', 404, noSuch],
  ['GET', '/api/v1/namespaces/default/pods/web/log/x', 404, noSuch],
  ['GET', '/apis/apps/v1/namespaces/default/deployments/web/status/x', 404, noSuch],
  ['GET', '/api/v1/namespaces//nodes', 404, noSuch],
  ['GET', '/api/v1/namespaces//nodes/a', 404, noSuch],
  ['GET', '/api/v1/namespaces/../pods', 404, noSuch],
  ['GET', '/api/v1/namespaces/default/pods/../none', 404, noSuch],
  ['GET', '/api/v1/namespaces/default/pods/web/..', 404, noSuch],
  ['GET', '/api/v1/namespaces/default/services/web/proxy/../x', 404, noSuch],
  ['GET', '/api/v1/namespaces/default/services/web/proxy/%2e%2e', 404, noSuch],
  ['GET', '/apis/apps/v1/..', 404, noSuch],
  ['GET', '/api/v1/none/..', 404, noSuch],
  ['GET', '/api/v1/pods/..', 404, noSuch],
  ['GET', '/api/v1/nodes/..', 400, dots],
  ['GET', '/api/v1/namespaces/../status', 400, dots],
  ['GET', '/api/v1/namespaces/default/pods/%2e%2e/log', 400, dots],
  ['DELETE', '/api/v1/namespaces/default/configmaps/..', 400, dots],
  [
    'POST',
    '/api/v1/namespaces//pods/web',
    405,
    'the server does not allow this method on the requested resource',
  ],
])('%s %s names nothing', async (method, path, status, message) => {
  await api.call('POST', configMaps, { metadata: { name: 'kept' } });
  await api.call('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
  const body = method === 'POST' ? {} : undefined;
  expect(await api.call(method, path, body)).toMatchObject({ status, body: { message } });
  expect((await api.call('GET', `${configMaps}/kept`)).status).toBe(200);
});

test.each([
  '/api/v1/namespaces/default//',
  '/api/v1/namespaces///',
  '/api/v1/namespaces/default/configmaps//',
])('%s is what it is without slashes behind it', async (path) => {
  const bare = await api.call('GET', path.replace(/\/+$/, ''));
  expect(bare.status).toBe(200);
  expect(await api.call('GET', path)).toMatchObject({ status: 200, body: { kind: bare.body.kind } });
});

describe('create', () => {
  test('fills in what the server owns', async () => {
    const { status, body } = await api.call('POST', deployments, deployment('web'));
    expect(status).toBe(201);
    expect(body.metadata).toMatchObject({ name: 'web', namespace: 'default', generation: 1 });
    expect(body.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(body.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(Number(body.metadata.resourceVersion)).toBeGreaterThan(0);
    expect(body.spec.replicas).toBe(1);
    expect((await api.call('GET', `${deployments}/web`)).body).toEqual(body);
  });

  test('generateName', async () => {
    const given = { ...configMap(''), metadata: { generateName: 'job-' } };
    const names = new Set<string>();
    for (let i = 0; i < 5; i++) names.add((await api.call('POST', configMaps, given)).body.metadata.name);
    expect(names.size).toBe(5);
    for (const name of names) expect(name).toMatch(/^job-[a-z0-9]{5}$/);
  });

  test('dryRun stores nothing', async () => {
    const { status } = await api.call('POST', `${configMaps}?dryRun=All`, configMap('a'));
    expect(status).toBe(201);
    expect((await api.call('GET', `${configMaps}/a`)).status).toBe(404);
  });

  test.each(['dryRun=', 'dryRun=All&dryRun=', 'dryRun'])('?%s is no dry run, and no write', async (query) => {
    const one = `${configMaps}/a`;
    expect((await api.call('POST', `${configMaps}?${query}`, configMap('a'))).status).toBe(422);
    expect((await api.call('POST', configMaps, configMap('a'))).status).toBe(201);
    const { status, body } = await api.call('DELETE', `${one}?${query}`);
    expect(status).toBe(422);
    expect(body.details.causes).toMatchObject([{ field: 'dryRun', reason: 'FieldValueNotSupported' }]);
    expect((await api.call('GET', one)).status).toBe(200);
  });

  test.each([
    ['{"apiVersion":"v1",', 400, 'BadRequest', /json parse error: unexpected end of JSON input/],
    ['{"apiVersion":"v1","kind":"Nope"}', 400, 'BadRequest', /no kind "Nope" is registered/],
    [{ ...configMap('a'), metadata: { name: 'Bad_' } }, 422, 'Invalid', /lowercase RFC 1123 subdomain/],
    [{ ...configMap('a'), metadata: {} }, 422, 'Invalid', /name or generateName is required/],
    [
      { ...configMap('a'), metadata: { name: 'a', namespace: 'b' } },
      400,
      'BadRequest',
      /namespace of the provided object does not match/,
    ],
    [
      { ...configMap('a'), metadata: { name: 'a', labels: { a: 5 } } },
      400,
      'BadRequest',
      /cannot unmarshal number into Go struct field ObjectMeta\.metadata\.labels of type string/,
    ],
  ])('refuses %j', async (body, code, reason, message) => {
    const answer = await api.call('POST', configMaps, body);
    expect(answer.status).toBe(code);
    expect(answer.body).toMatchObject({ kind: 'Status', reason, code });
    expect(answer.body.message).toMatch(message);
  });

  test('a second of the same name, a missing namespace, a namespace that goes', async () => {
    await api.call('POST', configMaps, configMap('a'));
    const again = await api.call('POST', configMaps, configMap('a'));
    expect(again.body).toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
      message: 'configmaps "a" already exists',
    });
    await api.call('POST', configMaps, { metadata: { name: 'going', finalizers: ['example.com/x'] } });
    await api.call('DELETE', `${configMaps}/going`);
    for (const query of ['', '?dryRun=All'])
      expect((await api.call('POST', `${configMaps}${query}`, configMap('going'))).body).toMatchObject({
        code: 409,
        reason: 'AlreadyExists',
        message: 'object is being deleted: configmaps "going" already exists',
      });
    const nowhere = await api.call('POST', '/api/v1/namespaces/x/configmaps', configMap('a'));
    expect(nowhere.body).toMatchObject({ code: 404, message: 'namespaces "x" not found' });
    await api.call('POST', '/api/v1/namespaces', { metadata: { name: 'x' } });
    expect((await api.call('DELETE', '/api/v1/namespaces/x')).body.status.phase).toBe('Terminating');
    const going = await api.call('POST', '/api/v1/namespaces/x/configmaps', configMap('a'));
    expect(going.body).toMatchObject({
      code: 403,
      details: { causes: [{ reason: 'NamespaceTerminating' }] },
    });
  });

  test.each([
    ['Strict', 400, undefined],
    ['Warn', 201, ['299 - "unknown field \\"foo\\""', '299 - "duplicate field \\"data.a\\""']],
    ['Ignore', 201, undefined],
  ])('fieldValidation=%s', async (validation, code, warning) => {
    const text = '{"metadata":{"name":"a"},"foo":1,"data":{"a":"b","a":"c"}}';
    const answer = await api.call('POST', `${configMaps}?fieldValidation=${validation}`, text);
    expect(answer.status).toBe(code);
    expect(answer.headers['warning']).toEqual(warning);
    expect(answer.body).not.toHaveProperty('foo');
  });
});

describe('update', () => {
  test('a stale resourceVersion, another name, another uid: refused', async () => {
    const { body } = await api.call('POST', configMaps, configMap('a'));
    const put = (metadata: object) => api.call('PUT', `${configMaps}/a`, { ...configMap('a'), metadata });
    expect((await put({ name: 'a', resourceVersion: '1' })).body).toMatchObject({
      code: 409,
      reason: 'Conflict',
    });
    expect((await put({ name: 'b' })).body).toMatchObject({ code: 400 });
    expect((await put({ name: 'a', uid: 'x' })).body).toMatchObject({ code: 409 });
    const { resourceVersion } = body.metadata;
    expect((await put({ name: 'a', resourceVersion, labels: { x: 'y' } })).status).toBe(200);
  });

  test('what changes nothing keeps the resourceVersion', async () => {
    const { body } = await api.call('POST', deployments, deployment('web'));
    expect((await api.call('PUT', `${deployments}/web`, body)).body).toEqual(body);
    const patched = await api.call('PATCH', `${deployments}/web`, { metadata: { labels: { app: 'web' } } });
    expect(patched.body.metadata.resourceVersion).toBe(body.metadata.resourceVersion);
  });

  test('spec and status are written apart; only spec moves the generation', async () => {
    await api.call('POST', deployments, deployment('web'));
    const both = { spec: { replicas: 5 }, status: { replicas: 3 } };
    const spec = await api.call('PATCH', `${deployments}/web`, both);
    expect(spec.body).toMatchObject({ metadata: { generation: 2 }, spec: { replicas: 5 } });
    expect(spec.body.status).not.toHaveProperty('replicas');
    const status = await api.call('PATCH', `${deployments}/web/status`, {
      spec: { replicas: 9 },
      status: { replicas: 3 },
    });
    expect(status.body).toMatchObject({
      metadata: { generation: 2 },
      spec: { replicas: 5 },
      status: { replicas: 3 },
    });
  });

  test('concurrent patches all take effect', async () => {
    await api.call('POST', configMaps, configMap('a'));
    const all = Array.from({ length: 5 }, (_, i) =>
      api.call('PATCH', `${configMaps}/a`, { data: { [`k${i}`]: 'v' } }),
    );
    expect((await Promise.all(all)).map((answer) => answer.status)).toEqual([200, 200, 200, 200, 200]);
    const { body } = await api.call('GET', `${configMaps}/a`);
    expect(Object.keys(body.data).sort()).toEqual(['k0', 'k1', 'k2', 'k3', 'k4']);
  });
});

describe('patch', () => {
  const typed = (type: string) => ({ 'content-type': `application/${type}` });

  test('JSON, merge and strategic merge', async () => {
    await api.call('POST', deployments, deployment('web'));
    const json = [{ op: 'replace', path: '/spec/replicas', value: 4 }];
    const byJson = await api.call('PATCH', `${deployments}/web`, json, typed('json-patch+json'));
    expect(byJson.body.spec.replicas).toBe(4);
    const added = { spec: { template: { spec: { containers: [{ name: 'd', image: 'x' }] } } } };
    const byName = await api.call('PATCH', `${deployments}/web`, added, typed('strategic-merge-patch+json'));
    expect(byName.body.spec.template.spec.containers).toHaveLength(2);
    const replaced = await api.call('PATCH', `${deployments}/web`, added, typed('merge-patch+json'));
    expect(replaced.body.spec.template.spec.containers).toHaveLength(1);
  });

  test('server-side apply creates, owns, and conflicts', async () => {
    const apply = (replicas: number, manager: string, force = false) =>
      api.call(
        'PATCH',
        `${deployments}/web?fieldManager=${manager}&force=${force}`,
        deployment('web', replicas),
        typed('apply-patch+yaml'),
      );
    expect((await apply(2, 'one')).status).toBe(201);
    expect((await apply(2, 'one')).status).toBe(200);
    const refused = await apply(3, 'two');
    expect(refused.body).toMatchObject({ code: 409, reason: 'Conflict' });
    expect(refused.body.message).toContain('conflict with "one": .spec.replicas');
    expect((await apply(3, 'two', true)).body.spec.replicas).toBe(3);
  });

  test('what is applied has a name, or is there', async () => {
    const apply = (name: string, metadata?: object) =>
      api.call(
        'PATCH',
        `${configMaps}/${name}?fieldManager=one`,
        { apiVersion: 'v1', kind: 'ConfigMap', ...(metadata && { metadata }), data: { a: 'b' } },
        typed('apply-patch+yaml'),
      );
    const message = 'the name of the object (a based on URL) was undeterminable: name must be provided';
    const unnamed = { status: 400, body: { reason: 'BadRequest', message } };
    expect(await apply('a')).toMatchObject(unnamed);
    expect(await apply('a', { generateName: 'a-' })).toMatchObject(unnamed);
    expect((await apply('a', { name: 'a' })).status).toBe(201);
    expect((await apply('a')).status).toBe(200);
    expect(await apply('a', { name: '' })).toMatchObject(unnamed);
  });

  test('what is applied by the uid of something is not made anew', async () => {
    const applied = { ...deployment('web'), metadata: { name: 'web', uid: 'x' } };
    const refused = await api.call(
      'PATCH',
      `${deployments}/web?fieldManager=one`,
      applied,
      typed('apply-patch+yaml'),
    );
    expect(refused).toMatchObject({
      status: 409,
      body: {
        message:
          'Operation cannot be fulfilled on deployments.apps "web": uid mismatch: the provided object specified uid x, and no existing object was found',
        details: { name: 'web', group: 'apps', kind: 'deployments' },
      },
    });
  });

  test.each([
    ['v1', 'Secret', 'secrets', { data: { a: '*' } }, 'error decoding from json: illegal base64'],
    [
      'v1',
      'LimitRange',
      'limitranges',
      { spec: { limits: [{ max: { cpu: 'x' } }] } },
      'quantities must match',
    ],
  ])(
    'server-side apply of %s %s that its type cannot hold',
    async (apiVersion, kind, plural, fields, why) => {
      const { body } = await api.call(
        'PATCH',
        `/api/v1/namespaces/default/${plural}/a?fieldManager=one`,
        { apiVersion, kind, metadata: { name: 'a' }, ...fields },
        typed('apply-patch+yaml'),
      );
      const type = `/v1, Kind=${kind}`;
      expect(body.code).toBe(500);
      expect(body.message).toContain(
        `; ${type}) to proper version: unable to convert unstructured object to ${type}: ${why}`,
      );
    },
  );

  test.each([
    ['text/plain', 415],
    ['application/json', 415],
  ])('%s is no patch', async (type, code) => {
    await api.call('POST', configMaps, configMap('a'));
    expect((await api.call('PATCH', `${configMaps}/a`, {}, { 'content-type': type })).status).toBe(code);
  });
});

describe('delete', () => {
  test('a Status with the uid; preconditions; a second time 404', async () => {
    const { body } = await api.call('POST', configMaps, configMap('a'));
    const wrong = await api.call('DELETE', `${configMaps}/a`, { preconditions: { uid: 'x' } });
    expect(wrong.body).toMatchObject({ code: 409, reason: 'Conflict' });
    const gone = await api.call('DELETE', `${configMaps}/a`);
    expect(gone.body).toMatchObject({
      status: 'Success',
      details: { name: 'a', kind: 'configmaps', uid: body.metadata.uid },
    });
    expect((await api.call('DELETE', `${configMaps}/a`)).status).toBe(404);
  });

  test.each(['uid=x', 'resourceVersion=1'])('a precondition in the query: %s', async (query) => {
    await api.call('POST', configMaps, configMap('a'));
    const wrong = await api.call('DELETE', `${configMaps}/a?${query}`);
    expect(wrong.body).toMatchObject({ code: 409, reason: 'Conflict' });
    expect((await api.call('DELETE', `${configMaps}?${query}`)).status).toBe(409);
    expect((await api.call('GET', `${configMaps}/a`)).status).toBe(200);
  });

  test('finalizers keep the object; the update that drops the last is the deletion', async () => {
    await api.call('POST', configMaps, {
      ...configMap('a'),
      metadata: { name: 'a', finalizers: ['example.com/f'] },
    });
    const marked = await api.call('DELETE', `${configMaps}/a`);
    expect(marked.body.metadata).toMatchObject({ deletionGracePeriodSeconds: 0 });
    expect(marked.body.metadata.deletionTimestamp).toBeDefined();
    expect((await api.call('GET', `${configMaps}/a`)).status).toBe(200);
    await api.call('PATCH', `${configMaps}/a`, { metadata: { finalizers: null } });
    expect((await api.call('GET', `${configMaps}/a`)).status).toBe(404);
  });

  test.each([
    ['Foreground', 'foregroundDeletion'],
    ['Orphan', 'orphan'],
  ])('propagationPolicy %s', async (policy, finalizer) => {
    await api.call('POST', deployments, deployment('web'));
    const { body } = await api.call('DELETE', `${deployments}/web?propagationPolicy=${policy}`);
    expect(body.metadata.finalizers).toEqual([finalizer]);
  });

  test('a collection, by selector', async () => {
    await api.call('POST', configMaps, configMap('a', {}, { x: '1' }));
    await api.call('POST', configMaps, configMap('b'));
    const { body } = await api.call('DELETE', `${configMaps}?labelSelector=x%3D1`);
    expect(body.items).toHaveLength(1);
    expect(
      (await api.call('GET', configMaps)).body.items.map(
        (i: { metadata: { name: string } }) => i.metadata.name,
      ),
    ).toEqual(['b']);
  });

  test('the initial namespaces stay', async () => {
    const { body } = await api.call('DELETE', '/api/v1/namespaces/default');
    expect(body).toMatchObject({
      code: 403,
      message: 'namespaces "default" is forbidden: this namespace may not be deleted',
    });
  });
});

test('scale is a view of the replicas', async () => {
  await api.call('POST', deployments, deployment('web', 2));
  const url = `${deployments}/web/scale`;
  const { body } = await api.call('GET', url);
  expect(body).toMatchObject({
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    spec: { replicas: 2 },
    status: { selector: 'app=web' },
  });
  expect((await api.call('PATCH', url, { spec: { replicas: 7 } })).body.spec.replicas).toBe(7);
  expect((await api.call('PUT', url, { ...body, spec: { replicas: 3 } })).status).toBe(409);
  expect((await api.call('GET', `${deployments}/web`)).body).toMatchObject({
    metadata: { generation: 2 },
    spec: { replicas: 7 },
  });
});

test('every service gets an address of its own, and keeps it', async () => {
  const url = '/api/v1/namespaces/default/services';
  const service = (name: string, spec: object = {}) => ({
    metadata: { name },
    spec: { ports: [{ port: 80 }], ...spec },
  });
  const first = (await api.call('POST', url, service('a'))).body.spec.clusterIP;
  const second = (await api.call('POST', url, service('b'))).body.spec.clusterIP;
  expect(first).toMatch(/^10\.(9[6-9]|10\d|11[01])\./);
  expect(second).not.toBe(first);
  expect((await api.call('PUT', `${url}/a`, service('a'))).body.spec.clusterIP).toBe(first);
  expect((await api.call('POST', url, service('c', { clusterIP: first }))).status).toBe(422);
  expect((await api.call('POST', url, service('d', { clusterIP: 'None' }))).body.spec.clusterIP).toBe('None');
});

test.each([
  ['GET', '/nope', 404, undefined],
  ['GET', '/apis/nope/v1/x', 404, undefined],
  ['GET', '/apis/apps/v1/nope', 404, 'NotFound'],
  ['GET', '/api/v1/namespaces/default/nodes', 404, 'NotFound'],
  ['GET', '/api/v1/pods/x', 404, 'NotFound'],
  ['POST', '/api/v1/configmaps', 405, 'MethodNotAllowed'],
  ['PUT', configMaps, 405, 'MethodNotAllowed'],
  ['GET', '/clusters/absent/api/v1/pods', 404, 'NotFound'],
  ['GET', '/api/v1/namespaces/a%2Fb/pods', 404, 'NotFound'],
])('%s %s is %d', async (method, url, code, reason) => {
  const { status, body } = await api.call(method, url);
  expect(status).toBe(code);
  if (reason) expect(body).toMatchObject({ kind: 'Status', reason, code });
});
