import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Answer, type Api, startApi } from './api.ts';

const group = '/apis/admissionregistration.k8s.io/v1';
const maps = '/api/v1/namespaces/default/configmaps';
const failure = 'validation.policy.admission.k8s.io/validation_failure';
let api: Api;
let lines: string[] = [];

beforeEach(() => {
  lines = [];
  const policy = { rules: [{ level: 'Metadata' as const, omitStages: ['RequestReceived' as const] }] };
  api = startApi({ audit: { policy, write: (line) => lines.push(line) } });
});
afterEach(() => api.close());

async function bound(name: string, spec: object, validationActions: string[], binding: object = {}) {
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] };
  const { body } = await api.call('POST', `${group}/validatingadmissionpolicies`, {
    metadata: { name },
    spec: { matchConstraints: { resourceRules: [rule] }, ...spec },
  });
  const one = await api.call('POST', `${group}/validatingadmissionpolicybindings`, {
    metadata: { name: `${name}-b` },
    spec: { policyName: name, validationActions, ...binding },
  });
  expect([body.message, one.body.message, one.headers['warning']]).toEqual([undefined, undefined, undefined]);
}

/** What the event of a create says that is not our own. */
async function told(data: object = { a: 'x' }): Promise<{ status: number; message: string; said: Answer }> {
  lines = [];
  const { status, body } = await api.call('POST', maps, { metadata: { name: 'm' }, data });
  const { annotations } = JSON.parse(lines[0] ?? '{}') as Answer;
  const said = Object.entries(annotations).filter(
    ([key]) => !/^(atoll\.dev|authorization\.k8s\.io)\//.test(key),
  );
  return { status, message: body.message, said: Object.fromEntries(said) };
}

const annotation = (key: string, valueExpression: string) => ({ key, valueExpression });

test('what a policy is to have recorded is in the event, of a refused request, too', async () => {
  const auditAnnotations = [
    annotation('name', "'is ' + object.metadata.name + ' '"),
    annotation('none', 'null'),
    annotation('blank', "'  '"),
    annotation('long', 'string(object.data.a)'),
  ];
  await bound('p.example.com', { auditAnnotations }, ['Deny']);
  const long = 'x'.repeat(11_000);
  const first = await told({ a: long });
  expect(first).toEqual({
    status: 201,
    message: undefined,
    said: { 'p.example.com/name': 'is m', 'p.example.com/long': long.slice(0, 10_240) },
  });
  await bound('q', { validations: [{ expression: 'false' }] }, ['Deny']);
  expect(await told()).toMatchObject({ status: 422, said: { 'p.example.com/name': 'is m' } });
});

test('a validation that fails is recorded by Audit alone, and the first of them is told', async () => {
  const validations = [
    { expression: 'true' },
    { expression: 'false', message: 'no <&>' },
    { expression: '1 > 2' },
  ];
  await bound('p', { validations }, ['Audit', 'Warn']);
  const { status, said } = await told();
  expect(said[failure]).not.toMatch(/[<>&]/);
  expect([status, Object.keys(said), JSON.parse(said[failure])]).toEqual([
    201,
    [failure],
    [
      {
        message: 'no <&>',
        policy: 'p',
        binding: 'p-b',
        expressionIndex: 1,
        validationActions: ['Audit', 'Warn'],
      },
    ],
  ]);
});

test('an annotation that cannot be found refuses, whatever the binding says, unless failures are ignored', async () => {
  const auditAnnotations = [annotation('a', 'string(object.data.nothing)')];
  await bound('p', { auditAnnotations, failurePolicy: 'Ignore' }, ['Audit']);
  expect(await told()).toMatchObject({ status: 201, said: {} });
  await api.call('DELETE', `${maps}/m`);
  await bound('q', { auditAnnotations }, ['Audit']);
  expect(await told()).toMatchObject({
    status: 422,
    message: expect.stringContaining(
      "'q' with binding 'q-b' denied request: expression 'string(object.data.nothing)' resulted in error: no such key: nothing",
    ),
    said: {},
  });
});

test('of several bindings each value is said once', async () => {
  for (const name of ['one', 'two'])
    await api.call('POST', maps, { metadata: { name, labels: { of: 'p' } }, data: { said: name } });
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
  const auditAnnotations = [annotation('a', 'string(params.data.said)'), annotation('b', "'same'")];
  const paramRef = { selector: { matchLabels: { of: 'p' } }, parameterNotFoundAction: 'Deny' };
  await bound('p', { paramKind, auditAnnotations }, ['Audit'], { paramRef });
  expect((await told()).said).toEqual({ 'p/a': 'one, two', 'p/b': 'same' });
});

test('no policy says in an event what the server says, nor without end', async () => {
  const own = [annotation('logical-cluster', "'another'"), annotation('path', "'another'")];
  await bound('atoll.dev', { auditAnnotations: own }, ['Audit']);
  await bound('authorization.k8s.io', { auditAnnotations: [annotation('decision', "'forbid'")] }, ['Audit']);
  const many = Array.from({ length: 20 }, (_, i) => annotation(`a${i}`, 'string(object.data.a)'));
  await bound('p', { auditAnnotations: many }, ['Audit']);
  const { status, said } = await told({ a: '"'.repeat(10_000) });
  const { annotations } = JSON.parse(lines[0] ?? '{}') as Answer;
  expect([
    status,
    annotations['atoll.dev/logical-cluster'],
    annotations['authorization.k8s.io/decision'],
  ]).toEqual([201, 'root', 'allow']);
  expect(Object.keys(said).length).toBeGreaterThan(0);
  expect(lines[0]?.length).toBeLessThan(66_000);
});
