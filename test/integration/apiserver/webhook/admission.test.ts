import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { WebhookCaller } from '../../../../apiserver/webhook/call.ts';
import { readyEndpoint } from '../../../../apiserver/webhook/resolve.ts';
import { decodeJson, encodeJson } from '../../../../kube/json.ts';
import { othersFirst } from '../../../../kube/others-first.ts';
import { eventually } from '../../../eventually.ts';
import { type Api, configMap, configMaps, deployment, deployments, startApi } from '../api.ts';
import { type Hooks, patchOf, startHooks } from './hooks.ts';

const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'o' };

let hooks: Hooks;
let api: Api;
beforeAll(async () => {
  hooks = await startHooks({
    '/deny': () => ({ allowed: false, status: { code: 403, reason: 'Forbidden', message: 'no' } }),
    '/warn': () => ({ allowed: true, warnings: ['careful'] }),
    '/many': () => ({
      allowed: true,
      warnings: Array.from({ length: 300_000 }, (_, index) => `careful ${index}`),
    }),
    '/one': () => patchOf([{ op: 'add', path: '/metadata/labels', value: { one: 'yes' } }]),
    '/two': ({ object }) =>
      object.data?.two ? { allowed: true } : patchOf([{ op: 'add', path: '/data', value: { two: 'yes' } }]),
    '/more': ({ object }) =>
      patchOf([{ op: 'add', path: '/data', value: { more: `${object.data?.more ?? ''}+` } }]),
    '/hang': () => null,
    '/uid': ({ operation }) =>
      operation === 'UPDATE'
        ? patchOf([{ op: 'add', path: '/metadata/uid', value: 'another' }])
        : { allowed: true },
    '/version': () => patchOf([{ op: 'add', path: '/metadata/resourceVersion', value: '5' }]),
    '/owners': () => patchOf([{ op: 'add', path: '/metadata/ownerReferences', value: [owner, owner] }]),
    '/bad': () => patchOf([{ op: 'add', path: '/data', value: 5 }]),
  });
});
afterAll(() => hooks.close());
beforeEach(() => {
  hooks.asked.length = 0;
  api = startApi();
});
afterEach(() => {
  vi.restoreAllMocks();
  return api.close();
});

const registration = '/apis/admissionregistration.k8s.io/v1';

async function configure(kind: 'Mutating' | 'Validating', ...webhooks: object[]): Promise<void> {
  const { status, body } = await api.call(
    'POST',
    `${registration}/${kind.toLowerCase()}webhookconfigurations`,
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: `${kind}WebhookConfiguration`,
      metadata: { name: 'test' },
      webhooks: webhooks.map((webhook, index) => ({
        name: `w${index}.example.com`,
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }],
        ...webhook,
      })),
    },
  );
  expect([status, body.message]).toEqual([201, undefined]);
}

test('a refusal is the answer, with its code, and nothing is stored', async () => {
  await configure('Validating', { clientConfig: hooks.config('/deny') });
  const { status, body } = await api.call('POST', configMaps, configMap('a'));
  expect(status).toBe(403);
  expect(body).toMatchObject({
    reason: 'Forbidden',
    message: 'admission webhook "w0.example.com" denied the request: no',
  });
  expect((await api.call('GET', `${configMaps}/a`)).status).toBe(404);
  expect(hooks.asked[0]?.request).toMatchObject({
    operation: 'CREATE',
    name: 'a',
    namespace: 'default',
    userInfo: { username: 'admin' },
    object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' } },
    options: { kind: 'CreateOptions' },
  });
});

test.each(['Mutating', 'Validating'] as const)(
  'however many of those that may fail do not answer, nobody is asked and nothing is written once the request is out of time: %s',
  async (kind) => {
    const atWork: Record<string, number> = {};
    const nothing = () => {};
    await api.close();
    api = startApi({
      observer: {
        answered: nothing,
        lasts: () => nothing,
        terminated: nothing,
        atWork: (side, count) => Object.assign(atWork, { [side]: count }),
        watching: () => ({ count: 0 }),
        cut: nothing,
      },
    });
    const hanging = { clientConfig: hooks.config('/hang'), timeoutSeconds: 1, failurePolicy: 'Ignore' };
    // More than are asked at a time.
    await configure(kind, ...Array.from({ length: 20 }, () => hanging));
    const { status, body } = await api.call('POST', `${configMaps}?timeout=200ms`, configMap('a'));
    expect([status, body.reason]).toEqual([504, 'Timeout']);
    await eventually(() => expect(atWork['write']).toBe(0));
    expect(hooks.asked.length).toBeLessThanOrEqual(kind === 'Mutating' ? 1 : 16);
    expect((await api.call('GET', `${configMaps}/a`)).status).toBe(404);
  },
);

test('warnings go to the client; deletions are asked about with the old object', async () => {
  await configure('Validating', { clientConfig: hooks.config('/warn') });
  const { headers } = await api.call('POST', configMaps, configMap('a', { k: 'v' }));
  expect(headers['warning']).toEqual(['299 - "careful"']);
  await api.call('DELETE', `${configMaps}/a`);
  expect(hooks.asked.at(-1)?.request).toMatchObject({
    operation: 'DELETE',
    object: null,
    oldObject: { data: { k: 'v' } },
  });
});

test('of very many that validate sixteen are asked at a time, and no more once one refuses', async () => {
  const post = vi.spyOn(WebhookCaller.prototype, 'post');
  const sent = () => post.mock.results.length;
  const most: number[] = [];
  post.mockImplementation(async (_call, take) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    most.push(sent() - most.length);
    const { request } = _call.review as { request: { uid: string } };
    const allowed = most.length < 100;
    return take({ ..._call.review, response: { uid: request.uid, allowed } });
  });
  const clientConfig = hooks.config('/any');
  await configure('Validating', ...Array.from({ length: 90 }, () => ({ clientConfig })));
  expect((await api.call('POST', configMaps, configMap('a'))).status).toBe(201);
  expect([sent(), Math.max(...most)]).toEqual([90, 16]);
  expect((await api.call('POST', configMaps, configMap('b'))).status).toBe(400);
  await eventually(() => expect(most.length).toBe(sent()));
  expect(sent()).toBeLessThanOrEqual(100 + 15);
});

test('webhooks that validate a small object are asked at once, whoever else works; of a large one others go first', async () => {
  vi.spyOn(WebhookCaller.prototype, 'post').mockImplementation(async ({ review }, take) => {
    const { uid } = (decodeJson(Buffer.from(encodeJson(review))).value as { request: { uid: string } })
      .request;
    return take({ ...review, response: { uid, allowed: true } });
  });
  const clientConfig = hooks.config('/any');
  await configure('Validating', ...Array.from({ length: 16 }, () => ({ clientConfig })));
  /** As many turns as another logical cluster has meanwhile. */
  const turnsWhile = async (work: () => Promise<unknown>) => {
    let [turns, isOver] = [0, false];
    const others = (async () => {
      for (; !isOver; turns++) await othersFirst('another');
    })();
    await work();
    isOver = true;
    await others;
    return turns;
  };
  const post = async (name: string, data: object) =>
    expect((await api.call('POST', configMaps, { ...configMap(name), data })).status).toBe(201);
  const small = () => Promise.all(Array.from({ length: 20 }, (_, n) => post(`small-${n}`, {})));
  expect(await turnsWhile(small)).toBeLessThan(100);
  const large = { a: 'a"'.repeat(400_000) };
  expect(await turnsWhile(() => post('large', large))).toBeGreaterThanOrEqual(15);
});

test('a webhook that warns of very many things is told on as far as Kubernetes does, and holds up nobody', async () => {
  await configure('Validating', { clientConfig: hooks.config('/many') });
  const { status, headers } = await api.call('POST', configMaps, configMap('a'));
  const warnings = [headers['warning'] ?? []].flat();
  expect([status, warnings[0], warnings.at(-1)]).toEqual([201, '299 - "careful 0"', '299 - "careful 382"']);
});

test('patches change what is stored; an earlier webhook that wants to is asked again', async () => {
  await configure(
    'Mutating',
    { clientConfig: hooks.config('/one'), reinvocationPolicy: 'IfNeeded' },
    { clientConfig: hooks.config('/two') },
  );
  const { body } = await api.call('POST', configMaps, configMap('a'));
  expect(body).toMatchObject({ data: { two: 'yes' }, metadata: { labels: { one: 'yes' } } });
  expect(hooks.asked.map(({ path }) => path)).toEqual(['/one', '/two', '/one']);
  expect(hooks.asked[0]?.request.object.metadata.uid).toBeUndefined();
  expect((await api.call('GET', `${configMaps}/a`)).body).toEqual(body);
});

test('of two that change it each time, the second one is asked again after the first one was', async () => {
  const more = { clientConfig: hooks.config('/more'), reinvocationPolicy: 'IfNeeded' };
  await configure('Mutating', more, more);
  const { body } = await api.call('POST', configMaps, configMap('a'));
  expect(body.data).toEqual({ more: '++++' });
});

test('a webhook that says another uid or resourceVersion is refused as kube-apiserver refuses it', async () => {
  await configure('Mutating', { clientConfig: hooks.config('/uid') });
  await api.call('POST', configMaps, configMap('a'));
  const other = await api.call('PUT', `${configMaps}/a`, configMap('a', { b: 'c' }));
  expect([other.status, other.body.message]).toEqual([
    422,
    'ConfigMap "a" is invalid: metadata.uid: Invalid value: "another": field is immutable',
  ]);
  await api.call('DELETE', `${registration}/mutatingwebhookconfigurations/test`);
  await configure('Mutating', { clientConfig: hooks.config('/version') });
  const made = await api.call('POST', configMaps, configMap('b'));
  expect([made.status, made.body.message]).toEqual([
    500,
    'resourceVersion should not be set on objects to be created',
  ]);
  const put = await api.call('PUT', `${configMaps}/a`, configMap('a', { b: 'c' }));
  expect([put.status, put.body.message]).toEqual([
    409,
    'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
  ]);
});

test('owners that a webhook, or who writes, names twice count once', async () => {
  const { metadata, ...rest } = configMap('a') as { metadata: object };
  const given = { ...rest, metadata: { ...metadata, ownerReferences: [owner, owner] } };
  const made = await api.call('POST', configMaps, given);
  expect([made.status, made.body.metadata.ownerReferences]).toEqual([201, [owner]]);
  await configure('Mutating', { clientConfig: hooks.config('/owners') });
  const put = await api.call('PUT', `${configMaps}/a`, configMap('a', { b: 'c' }));
  expect([put.status, put.body.metadata.ownerReferences]).toEqual([200, [owner]]);
});

test('a patch that makes no object of the kind', async () => {
  await configure('Mutating', { clientConfig: hooks.config('/bad') });
  const { status, body } = await api.call('POST', configMaps, configMap('a'));
  expect(status).toBe(500);
  expect(body.message).toBe(
    'Internal error occurred: json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string',
  );
});

test('who is not asked: other labels, other namespaces, the configurations themselves', async () => {
  await configure('Validating', {
    clientConfig: hooks.config('/deny'),
    objectSelector: { matchLabels: { strict: 'yes' } },
    namespaceSelector: { matchExpressions: [{ key: 'free', operator: 'DoesNotExist' }] },
  });
  expect((await api.call('POST', configMaps, configMap('a'))).status).toBe(201);
  expect((await api.call('POST', configMaps, configMap('b', {}, { strict: 'yes' }))).status).toBe(403);
  await api.call('PATCH', '/api/v1/namespaces/default', { metadata: { labels: { free: 'yes' } } });
  expect((await api.call('POST', configMaps, configMap('b', {}, { strict: 'yes' }))).status).toBe(201);
  const own = `${registration}/validatingwebhookconfigurations/test`;
  expect((await api.call('PATCH', own, { metadata: { labels: { strict: 'yes' } } })).status).toBe(200);
});

test('nobody there: failurePolicy decides; dryRun asks only who says that it has no side effects', async () => {
  const clientConfig = { url: 'https://127.0.0.1:1/x', caBundle: hooks.caBundle };
  await configure('Validating', { clientConfig, failurePolicy: 'Ignore' });
  expect((await api.call('POST', configMaps, configMap('a'))).status).toBe(201);
  await api.call('DELETE', `${registration}/validatingwebhookconfigurations/test`);
  await configure('Validating', { clientConfig, timeoutSeconds: 3 });
  const { status, body } = await api.call('POST', configMaps, configMap('b'));
  expect([status, body.message]).toEqual([
    500,
    'Internal error occurred: failed calling webhook "w0.example.com": failed to call webhook: Post "https://127.0.0.1:1/x?timeout=3s": dial tcp 127.0.0.1:1: connect: connection refused',
  ]);
});

test.each([
  ['nosvc', 'service "nosvc" not found'],
  ['headless', 'cannot route to service with ClusterIP "None"'],
  ['noport', 'no service port 443 found for service "noport"'],
  ['empty', 'no endpoints available for service "empty"'],
])('a Service that leads nowhere: %s', async (name, why) => {
  const services = '/api/v1/namespaces/default/services';
  const ports = [{ port: name === 'noport' ? 80 : 443 }];
  const spec = { ports, ...(name === 'headless' && { clusterIP: 'None' }) };
  if (name !== 'nosvc') {
    const made = { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec };
    expect((await api.call('POST', services, made)).status).toBe(201);
  }
  await configure('Validating', { clientConfig: { service: { name, namespace: 'default', path: '/x' } } });
  const { body } = await api.call('POST', configMaps, configMap('a'));
  expect(body.message).toBe(
    `Internal error occurred: failed calling webhook "w0.example.com": failed to call webhook: Post "https://${name}.default.svc:443/x?timeout=10s": ${why}`,
  );
});

test('a Service is called under its own name, wherever it leads', async () => {
  await api.call('POST', '/api/v1/namespaces/default/services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'hook' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  });
  const service = { name: 'hook', namespace: 'default', path: '/deny', port: hooks.port };
  await configure('Validating', { clientConfig: { service, caBundle: hooks.caBundle } });
  const { body } = await api.call('POST', configMaps, configMap('a'));
  expect(body.message).toBe('admission webhook "w0.example.com" denied the request: no');
});

test('the first ready address of the right port', () => {
  const slice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    addressType: 'IPv4',
    metadata: { name: 'hook-1', labels: { 'kubernetes.io/service-name': 'hook' } },
    ports: [{ name: 'web', port: 9443 }],
    endpoints: [
      { addresses: ['10.0.0.1'], conditions: { ready: false } },
      { addresses: ['10.0.0.2'], conditions: {} },
    ],
  };
  expect(readyEndpoint([slice], 'hook', 'web')).toEqual({ host: '10.0.0.2', port: 9443 });
  expect(readyEndpoint([slice], 'hook', '')).toBeUndefined();
  expect(readyEndpoint([slice], 'other', 'web')).toBeUndefined();
});

test('an update is asked about in the version of the request, and matched by an equivalent one', async () => {
  await api.call('POST', deployments, deployment('web'));
  const rules = (apiVersions: string[]) => [
    { apiGroups: ['autoscaling'], apiVersions, operations: ['*'], resources: ['horizontalpodautoscalers'] },
  ];
  await configure('Validating', { clientConfig: hooks.config('/warn'), rules: rules(['v1']) });
  const { status } = await api.call(
    'POST',
    '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
    {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'web' },
      spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
    },
  );
  expect(status).toBe(201);
  expect(hooks.asked[0]?.request).toMatchObject({
    kind: { group: 'autoscaling', version: 'v1' },
    requestKind: { group: 'autoscaling', version: 'v2' },
    object: { apiVersion: 'autoscaling/v1' },
  });
});

test.each([
  ['object.metadata.name == "a"', true],
  ['request.resource.resource == "secrets"', false],
  ['!(request.userInfo.username.startsWith("system:")) && request.operation == "CREATE"', true],
  ['has(object.metadata.labels) && object.metadata.labels.x == "y"', false],
  ['oldObject == null', true],
])('a webhook is asked when its condition holds: %s', async (expression, asked) => {
  const matchConditions = [{ name: 'when', expression }];
  await configure('Validating', { clientConfig: hooks.config('/deny'), matchConditions });
  expect((await api.call('POST', configMaps, configMap('a'))).status).toBe(asked ? 403 : 201);
  expect(hooks.asked).toHaveLength(asked ? 1 : 0);
});

test('a condition ends within its budget whatever its literals are, and has failed then', async () => {
  const list = `[${Array.from({ length: 6000 }, (_, i) => i)}]`;
  const expression = `${list}.all(x, ${list}.all(y, ${list}.all(z, x + y + z >= 0)))`;
  const webhook = { clientConfig: hooks.config('/deny'), matchConditions: [{ name: 'long', expression }] };
  const ignoring = { ...webhook, failurePolicy: 'Ignore', name: 'i.example.com' };
  await configure('Validating', ignoring, { ...webhook, failurePolicy: 'Fail' });
  const { status, body } = await api.call('POST', configMaps, configMap('a'));
  expect([status, hooks.asked.length]).toEqual([403, 0]);
  expect(body.message).toContain('operation cancelled: actual cost limit exceeded');
});

test('a condition that fails is a failure of the webhook', async () => {
  const matchConditions = [{ name: 'when', expression: 'object.data.missing == "x"' }];
  const webhook = { clientConfig: hooks.config('/warn'), matchConditions };
  await configure(
    'Validating',
    { ...webhook, failurePolicy: 'Ignore' },
    { ...webhook, name: 'f.example.com' },
  );
  const { status, body } = await api.call('POST', configMaps, configMap('a', { k: 'v' }));
  expect([status, hooks.asked.length]).toEqual([403, 0]);
  const why = `expression 'object.data.missing == "x"' resulted in error: no such key: missing`;
  expect(body.message).toBe(`configmaps "a" is forbidden: ${why}`);
});
