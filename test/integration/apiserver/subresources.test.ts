import { generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TokenKeys } from '../../../apiserver/authn/keys.ts';
import type { ManagedFieldsEntry } from '../../../kube/object.ts';
import { isRecord } from '../../../kube/untyped.ts';
import { type Answer, type Api, deployment, deployments, startApi } from './api.ts';

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const serviceAccountKey = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

let api: Api;
beforeEach(() => {
  api = startApi({ accountKeys: new TokenKeys([{ pem: serviceAccountKey, from: 0 }]) });
});
afterEach(() => api.close());

const namespace = '/api/v1/namespaces/default';
const pods = `${namespace}/pods`;
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';

async function pod(name: string, ready = true): Promise<void> {
  await api.call('POST', pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: 'web' } },
    spec: { containers: [{ name: 'c', image: 'nginx' }] },
  });
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
  await api.call('PATCH', `${pods}/${name}/status`, { status: { phase: 'Running', conditions } });
}

async function budget(name: string, status: object, spec: object = {}): Promise<void> {
  const made = await api.call('POST', budgets, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } }, ...spec },
  });
  expect(made.status).toBe(201);
  const whole = { observedGeneration: 1, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1, ...status };
  const told = { status: { disruptionsAllowed: 0, ...whole } };
  expect((await api.call('PATCH', `${budgets}/${name}/status`, told)).status).toBe(200);
}

const evict = (name: string, query = '', more: object = {}) =>
  api.call('POST', `${pods}/${name}/eviction${query}`, {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name },
    ...more,
  });

test.each<[string, object, string]>([
  ['too few', {}, 'The disruption budget web needs 1 healthy pods and has 1 currently'],
  [
    'not looked at yet',
    { observedGeneration: 0 },
    'The disruption budget web is still being processed by the server.',
  ],
  [
    'its controller failed',
    {
      currentHealthy: 3,
      conditions: [
        {
          type: 'DisruptionAllowed',
          status: 'False',
          reason: 'SyncFailed',
          message: 'why',
          lastTransitionTime: '2024-01-02T03:04:05Z',
        },
      ],
    },
    'The disruption budget web does not allow evicting pods currently because it failed sync: why',
  ],
])('an eviction that the budget does not allow: %s', async (_name, status, message) => {
  await pod('a');
  await budget('web', status);
  const { status: code, body } = await evict('a');
  expect(code).toBe(429);
  expect(body).toMatchObject({
    reason: 'TooManyRequests',
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    details: { causes: [{ reason: 'DisruptionBudget', message }] },
  });
  expect((await api.call('GET', `${pods}/a`)).status).toBe(200);
});

test('an allowed one is charged to the budget, once; a dry run is not', async () => {
  for (const name of ['a', 'b', 'c']) await pod(name);
  await budget('web', { disruptionsAllowed: 1, currentHealthy: 3 });
  expect((await evict('a', '?dryRun=All')).status).toBe(201);
  expect((await api.call('GET', `${budgets}/web`)).body.status.disruptionsAllowed).toBe(1);
  const answers = await Promise.all(['a', 'b', 'c'].map((name) => evict(name)));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 429, 429]);
  const { body } = await api.call('GET', `${budgets}/web`);
  expect(body.status.disruptionsAllowed).toBe(0);
  expect(Object.keys(body.status.disruptedPods)).toHaveLength(1);
  const none = { type: 'DisruptionAllowed', status: 'False', observedGeneration: 1 };
  expect(body.status.conditions).toEqual([expect.objectContaining(none)]);
});

test('an unready pod is spared the budget when the policy says so; preconditions count', async () => {
  await pod('sick', false);
  const wrong = await evict('sick', '', { deleteOptions: { preconditions: { uid: 'other' } } });
  expect([wrong.status, wrong.body.reason]).toEqual([409, 'Conflict']);
  await budget('web', { currentHealthy: 0 }, { unhealthyPodEvictionPolicy: 'AlwaysAllow' });
  expect((await evict('sick')).status).toBe(201);
  expect((await api.call('GET', `${pods}/sick`)).status).toBe(404);
});

test('two budgets of one pod', async () => {
  await pod('a');
  await budget('web', {});
  await budget('more', {});
  const { status, body } = await evict('a');
  expect(status).toBe(500);
  expect(body.message).toMatch(/more than one PodDisruptionBudget/);
});

const said = async (answer: Promise<Answer>) => {
  const { status, body } = await answer;
  return [status, body.message];
};

test('what finalizers a Namespace may have', async () => {
  const path = '/api/v1/namespaces/ending';
  const metadata = { name: 'ending' };
  await api.call('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
  const finalize = (...finalizers: string[]) =>
    said(
      api.call('PUT', `${path}/finalize`, {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata,
        spec: { finalizers },
      }),
    );
  expect(await finalize('kubernetes', 'example.com/x')).toEqual([200, undefined]);
  expect(await finalize('bad')).toEqual([
    422,
    'Namespace "ending" is invalid: spec.finalizers[0]: Invalid value: "bad": name is neither a standard finalizer name nor is it fully qualified',
  ]);
});

test('a node that is not there has no proxy either', async () => {
  expect(await said(api.call('GET', '/api/v1/nodes/none/proxy/stats'))).toEqual([
    404,
    'nodes "none" not found',
  ]);
});

test('a binding gives a pod its node, once, and says that it is scheduled', async () => {
  await pod('a');
  const binding = (name: string) => ({
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name: 'a', annotations: { by: 'me' }, labels: { zone: 'z1' } },
    target: { kind: 'Node', name },
  });
  expect((await api.call('POST', `${pods}/a/binding`, binding('n1'))).body).toMatchObject({ code: 201 });
  const { body } = await api.call('GET', `${pods}/a`);
  expect(body.spec.nodeName).toBe('n1');
  expect(body.metadata).toMatchObject({ generation: 1, annotations: { by: 'me' }, labels: { zone: 'z1' } });
  expect(body.status.conditions.at(-1)).toMatchObject({ type: 'PodScheduled', status: 'True' });
  const nameless = { ...binding('n2'), metadata: {} };
  expect(await said(api.call('POST', `${pods}/a/binding`, nameless))).toEqual([
    400,
    'name in URL does not match name in Binding object',
  ]);
  expect(await said(api.call('POST', `${namespace}/bindings`, nameless))).toEqual([
    400,
    'Name parameter required.',
  ]);
  const again = await api.call('POST', `${namespace}/bindings`, binding('n2'));
  expect(again.body.message).toBe(
    'Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "n1"',
  );
});

async function account(name: string): Promise<Answer> {
  const object = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } };
  return (await api.call('POST', `${namespace}/serviceaccounts`, object)).body;
}

const request = (name: string, spec: object = {}) =>
  api.call('POST', `${namespace}/serviceaccounts/${name}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec,
  });

const review = async (token: string, audiences?: string[]) =>
  (
    await api.call('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token, ...(audiences && { audiences }) },
    })
  ).body.status;

test('a token of a ServiceAccount is it, for its audiences, until the account goes', async () => {
  const { metadata } = await account('robot');
  const { body } = await request('robot');
  expect(body.spec).toMatchObject({ audiences: ['https://kubernetes.default.svc'], expirationSeconds: 3600 });
  const { token } = body.status;
  expect(await review(token)).toMatchObject({
    authenticated: true,
    user: {
      username: 'system:serviceaccount:default:robot',
      uid: metadata.uid,
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
    },
  });
  expect((await review(token, ['other'])).authenticated).toBeUndefined();
  expect((await review(`${token.slice(0, -4)}AAAA`)).authenticated).toBeUndefined();
  const other = (await request('robot', { audiences: ['other'] })).body.status.token;
  expect(await review(other)).toEqual({ user: {}, error: 'invalid bearer token' });
  expect((await review(other, ['other'])).authenticated).toBe(true);
  await api.call('DELETE', `${namespace}/serviceaccounts/robot`);
  expect((await review(token)).authenticated).toBeUndefined();
});

test('a token bound to a pod dies with it', async () => {
  await account('robot');
  await pod('a');
  const wrong = { boundObjectRef: { kind: 'Pod', name: 'a' } };
  expect((await request('robot', wrong)).body.message).toMatch(/different serviceaccount name/);
  await account('default');
  const { token } = (await request('default', wrong)).body.status;
  expect((await review(token)).user.extra['authentication.kubernetes.io/pod-name']).toEqual(['a']);
  await api.call('DELETE', `${pods}/a?gracePeriodSeconds=0`);
  expect((await review(token)).authenticated).toBeUndefined();
});

test.each([
  [{ expirationSeconds: 5 }, 422, /may not specify a duration less than 10 minutes/],
  [
    { boundObjectRef: { kind: 'Deployment', apiVersion: 'apps/v1', name: 'x' } },
    400,
    /cannot bind token to object of type apps\/v1, Kind=Deployment/,
  ],
])('a token that nobody gets: %j', async (spec, code, message) => {
  await account('robot');
  const { status, body } = await request('robot', spec);
  expect(status).toBe(code);
  expect(body.message).toMatch(message);
});

test.each([
  [{ name: 'other' }, /the name of the object \(other\) does not match the name on the URL \(web\)/],
  [{}, /was undeterminable: name must be provided/],
  [{ name: 'web', namespace: 'other' }, /namespace of the provided object does not match/],
])('a Scale that is not of this object: %j', async (metadata, message) => {
  await api.call('POST', deployments, deployment('web', 1));
  const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata, spec: { replicas: 3 } };
  const { status, body } = await api.call('PUT', `${deployments}/web/scale`, scale);
  expect(status).toBe(400);
  expect(body.message).toMatch(message);
});

test.each<[string, object, object, number]>([
  ['another state', { resourceVersion: '1' }, { replicas: 3 }, 409],
  ['another object', { uid: 'another' }, { replicas: 3 }, 409],
  ['another name', { name: 'other' }, { replicas: 3 }, 400],
  ['less than none', {}, { replicas: -1 }, 422],
  ['a part of one', {}, { replicas: 1.5 }, 500],
  ['more than an int32', {}, { replicas: 2147483648 }, 422],
  ['a word', {}, { replicas: 'two' }, 500],
])('a Scale that is applied with %s is refused, and changes nothing', async (_, metadata, spec, code) => {
  await api.call('POST', deployments, deployment('web', 1));
  const before = await api.call('GET', `${deployments}/web`);
  const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'web', ...metadata }, spec };
  const headers = { 'content-type': 'application/apply-patch+yaml' };
  const path = `${deployments}/web/scale?fieldManager=f&force=true`;
  const { status } = await api.call('PATCH', path, scale, headers);
  expect(status).toBe(code);
  expect((await api.call('GET', `${deployments}/web`)).body).toEqual(before.body);
});

const strategic = 'application/strategic-merge-patch+json';
const merge = 'application/merge-patch+json';

test.each([strategic, merge])('a Scale of another object, by %s', async (type) => {
  const { body: web } = await api.call('POST', deployments, deployment('web', 1));
  const patch = { metadata: { uid: 'other' }, spec: { replicas: 3 } };
  const { status, body } = await api.call('PATCH', `${deployments}/web/scale`, patch, {
    'content-type': type,
  });
  expect([status, body.message]).toEqual([
    409,
    `Operation cannot be fulfilled on deployments/scale.apps "web": Precondition failed: UID in precondition: other, UID in object meta: ${web.metadata.uid}`,
  ]);
});

test.each<[string, string, object, number]>([
  // As Ansible's k8s_scale names what it scales.
  ['the scaled kind', strategic, { kind: 'Deployment' }, 200],
  ['the scaled kind and its version', strategic, { kind: 'Deployment', apiVersion: 'apps/v1' }, 200],
  ['a version that nobody has', strategic, { apiVersion: 'bogus/v1' }, 200],
  ['a kind that is no name', strategic, { kind: 5 }, 422],
  ['the scaled kind', merge, { kind: 'Deployment' }, 422],
])('a Scale patched with %s, by %s', async (_, type, named, code) => {
  await api.call('POST', deployments, deployment('web', 1));
  const patch = { ...named, metadata: { name: 'web', namespace: 'default' }, spec: { replicas: 3 } };
  const headers = { 'content-type': type };
  const { status, body } = await api.call('PATCH', `${deployments}/web/scale`, patch, headers);
  expect(status).toBe(code);
  if (code === 200) expect(body).toMatchObject({ kind: 'Scale', apiVersion: 'autoscaling/v1' });
  const { body: after } = await api.call('GET', `${deployments}/web`);
  expect(after.spec.replicas).toBe(code === 200 ? 3 : 1);
});

test.each(['PUT', 'PATCH'])('who scales by %s owns the replicas under the subresource', async (verb) => {
  await api.call('POST', deployments, deployment('web', 1));
  const scale = {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: 'web' },
    spec: { replicas: 3 },
  };
  const { status } = await api.call(verb, `${deployments}/web/scale?fieldManager=scaler`, scale);
  expect(status).toBe(200);
  const { body } = await api.call('GET', `${deployments}/web`);
  expect(
    body.metadata.managedFields.find((one: { manager: string }) => one.manager === 'scaler'),
  ).toMatchObject({
    operation: 'Update',
    subresource: 'scale',
    fieldsV1: { 'f:spec': { 'f:replicas': {} } },
  });
});

test('ephemeral containers only ever come; a resize keeps the class', async () => {
  await pod('a');
  const add = (names: string[]) =>
    api.call('PATCH', `${pods}/a/ephemeralcontainers`, {
      spec: { ephemeralContainers: names.map((name) => ({ name, image: 'debug' })) },
    });
  expect((await add(['d'])).body.spec.ephemeralContainers).toHaveLength(1);
  expect((await add(['d', 'c'])).body.message).toMatch(
    /ephemeralContainers\[1\]\.name: Duplicate value: "c"/,
  );
  expect((await add([])).body.message).toMatch(/existing ephemeral containers "d" may not be removed/);
  const resized = await api.call('PATCH', `${pods}/a/resize`, {
    spec: { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] },
  });
  expect(resized.body.message).toMatch(/Pod QOS Class may not change as a result of resizing/);
});

test.each([
  [
    'selfsubjectaccessreviews',
    'SelfSubjectAccessReview',
    {},
    'exactly one of nonResourceAttributes or resourceAttributes must be specified',
  ],
  [
    'subjectaccessreviews',
    'SubjectAccessReview',
    { resourceAttributes: { verb: 'get' } },
    'at least one of user or group must be specified',
  ],
])('a question that is none: %s', async (resource, kind, spec, why) => {
  const apiVersion = 'authorization.k8s.io/v1';
  const { status, body } = await api.call('POST', `/apis/${apiVersion}/${resource}`, {
    apiVersion,
    kind,
    spec,
  });
  expect(status).toBe(422);
  expect(body.message).toContain(`.authorization.k8s.io "" is invalid: spec.`);
  expect(body.message).toContain(why);
});

test('a token that is bound to a pod says on which node that is, and dies with the pod alone', async () => {
  const accounts = `${namespace}/serviceaccounts`;
  expect((await api.call('POST', accounts, { metadata: { name: 'agent' } })).status).toBe(201);
  const nodes = '/api/v1/nodes';
  const node = await api.call('POST', nodes, { metadata: { name: 'n1' } });
  const bound = async (name: string, nodeName?: string) => {
    const spec = {
      serviceAccountName: 'agent',
      ...(nodeName && { nodeName }),
      containers: [{ name: 'c', image: 'i' }],
    };
    expect((await api.call('POST', pods, { metadata: { name }, spec })).status).toBe(201);
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name };
    const { body } = await api.call('POST', `${accounts}/agent/token`, { spec: { boundObjectRef } });
    return body.status.token;
  };
  const said = async (token: string) => {
    const { body } = await api.call('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
      spec: { token },
    });
    const { authenticated, user } = body.status;
    const of = (key: string) => user?.extra[`authentication.kubernetes.io/${key}`];
    return [authenticated, of('node-name'), of('node-uid')];
  };
  const known = await bound('known', 'n1');
  expect(await said(known)).toEqual([true, ['n1'], [node.body.metadata.uid]]);
  expect(await said(await bound('unknown', 'n2'))).toEqual([true, ['n2'], undefined]);
  expect(await said(await bound('nowhere'))).toEqual([true, undefined, undefined]);
  expect((await api.call('DELETE', `${nodes}/n1`)).status).toBe(200);
  expect(await said(known)).toEqual([true, ['n1'], [node.body.metadata.uid]]);
});

/** Answers of kube-apiserver 1.36.3, and who owns the replicas after each. */
const applies: [query: string, spec: object, code: number, owners: string[]][] = [
  ['a', {}, 200, ['me Update']],
  ['a', { replicas: 0 }, 409, ['me Update']],
  ['a&force=true', { replicas: 0 }, 200, ['a Apply scale']],
  ['b', { replicas: 0 }, 409, ['a Apply scale']],
  ['b&force=true', { replicas: 4294967298 }, 200, ['b Apply scale']],
  ['c', { replicas: 2 }, 200, ['b Apply scale', 'c Apply scale']],
  ['b', {}, 200, ['b Apply scale', 'c Apply scale']],
];

test('who applies a Scale owns its replicas, of which 0 is a field that no Scale has', async () => {
  await api.call('POST', `${deployments}?fieldManager=me`, deployment('web', 2));
  const seen: unknown[] = [];
  for (const [query, spec] of applies) {
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'web' }, spec };
    const path = `${deployments}/web/scale?fieldManager=${query}`;
    const { status } = await api.call('PATCH', path, scale, {
      'content-type': 'application/apply-patch+yaml',
    });
    const { body } = await api.call('GET', `${deployments}/web`);
    const owners = body.metadata.managedFields
      .filter(
        (one: ManagedFieldsEntry) =>
          isRecord(one.fieldsV1?.['f:spec']) && one.fieldsV1['f:spec']['f:replicas'],
      )
      .map((one: ManagedFieldsEntry) => [one.manager, one.operation, one.subresource].join(' ').trim());
    seen.push([query, spec, status, owners]);
  }
  expect(seen).toEqual(applies);
});
