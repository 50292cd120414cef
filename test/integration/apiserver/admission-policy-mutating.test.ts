import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Api, definitions, startApi, thingsDefinition } from './api.ts';

const group = '/apis/admissionregistration.k8s.io/v1';
const [policies, bindings] = [
  `${group}/mutatingadmissionpolicies`,
  `${group}/mutatingadmissionpolicybindings`,
];
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const rule = (apiGroup: string, resource: string) => ({
  resourceRules: [
    { apiGroups: [apiGroup], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: [resource] },
  ],
});

let api: Api;
beforeEach(() => {
  api = startApi();
});
afterEach(() => api.close());

const applying = (expression: string) => ({
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression },
});
const patching = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } });

async function bound(name: string, mutations: object[], more: object = {}, how: object = {}): Promise<void> {
  const policy = await api.call('POST', policies, {
    metadata: { name },
    spec: { matchConstraints: rule('apps', 'deployments'), reinvocationPolicy: 'Never', mutations, ...more },
  });
  const it = await api.call('POST', bindings, { metadata: { name }, spec: { policyName: name, ...how } });
  expect([policy.body.message, it.body.message, policy.status, it.status]).toEqual([
    undefined,
    undefined,
    201,
    201,
  ]);
}

const web = {
  metadata: { name: 'web' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
};
const create = () => api.call('POST', deployments, web);

test('a configuration is laid over the object, lists by their keys, and who wrote it owns it', async () => {
  await bound('p', [
    applying('Object{spec: Object.spec{replicas: 1337}}'),
    applying(`Object{
      metadata: Object.metadata{annotations: {"mutated-by": request.userInfo.username}},
      spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{
        containers: [Object.spec.template.spec.containers{name: "side", image: "s:" + string(object.spec.replicas)}]
      }}}
    }`),
  ]);
  const { status, body } = await create();
  expect([status, body.message]).toEqual([201, undefined]);
  expect(body).toMatchObject({
    metadata: { annotations: { 'mutated-by': 'admin' } },
    spec: {
      replicas: 1337,
      template: {
        spec: {
          containers: [
            { name: 'c', image: 'i', imagePullPolicy: 'Always' },
            { name: 'side', image: 's:1337' },
          ],
        },
      },
    },
  });
});

const operations = (...all: string[]) => patching(`[${all.map((one) => `JSONPatch{${one}}`).join(', ')}]`);

test('a JSON patch is applied, but where a test of it fails; variables, conditions and tests see the object', async () => {
  await bound(
    'p',
    [
      operations(
        'op: "test", path: "/spec/replicas", value: 1',
        'op: "add", path: "/metadata/labels", value: {variables.key: "x"}',
      ),
      operations('op: "test", path: "/spec/replicas", value: 2', 'op: "remove", path: "/spec/replicas"'),
      operations(
        'op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("example.com/y"), value: "y"',
        'op: "add", path: "/spec/template/spec/containers/-", value: Object.any{name: "side", image: "s"}',
      ),
    ],
    {
      variables: [{ name: 'key', expression: '"of-" + object.metadata.name' }],
      matchConditions: [{ name: 'web', expression: 'object.metadata.name == "web"' }],
    },
  );
  const { body } = await create();
  expect(body.metadata.labels).toEqual({ 'of-web': 'x', 'example.com/y': 'y' });
  expect(body.spec).toMatchObject({
    replicas: 1,
    template: {
      spec: { containers: [{ name: 'c' }, { name: 'side', image: 's', imagePullPolicy: 'Always' }] },
    },
  });
  const other = { ...web, metadata: { name: 'other', labels: { own: 'label' } } };
  expect((await api.call('POST', deployments, other)).body.metadata.labels).toEqual({ own: 'label' });
});

test.each([
  [
    'op: "remove", path: "/spec/nothing"',
    "error in remove for path: '/spec/nothing': Unable to remove nonexistent key: nothing: missing value",
  ],
  ['op: "foo", path: "/spec"', 'Unexpected kind: foo'],
])('a JSON patch that does not apply refuses the request: %s', async (operation, why) => {
  await bound('p', [operations(operation)]);
  expect((await create()).body.message).toBe(
    `policy 'p' with binding 'p' denied request: JSON Patch: ${why}`,
  );
});

test('a JSON patch makes no fields that nobody knows', async () => {
  await bound('p', [operations('op: "add", path: "/spec/nothing", value: 1')]);
  const { status, body } = await create();
  expect([status, body.message]).toEqual([
    500,
    'Internal error occurred: strict decoding error: unknown field "spec.nothing"',
  ]);
});

test('who wants it sees what came after, once more; who does not, does not', async () => {
  const count = (label: string) =>
    applying(
      `Object{metadata: Object.metadata{labels: {"${label}": string(has(object.metadata.labels) ? size(object.metadata.labels) : 0)}}}`,
    );
  await bound('a', [count('a')], { reinvocationPolicy: 'IfNeeded' });
  await bound('b', [count('b')]);
  await bound('c', [applying('Object{metadata: Object.metadata{labels: {"c": "c"}}}')]);
  expect((await create()).body.metadata.labels).toEqual({ a: '3', b: '1', c: 'c' });
});

test.each([
  [
    'Object{spec: Object.spec{replicas: 1 / 0}}',
    "expression 'Object{spec: Object.spec{replicas: 1 / 0}}' resulted in error: division by zero",
  ],
  [
    'Object{spec: Object.wrong{replicas: 1}}',
    'type mismatch: unexpected type name "Object.wrong", expected "Object.spec", which matches field name path from root Object type',
  ],
  [
    'Object{spec: Object.spec{nothing: 1}}',
    'error applying patch: failed to convert patch object to typed object: .spec.nothing: field not declared in schema',
  ],
  [
    'Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {"a": "c"}}}}',
    'error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.selector',
  ],
])('what fails refuses the request, unless that is ignored: %s', async (expression, why) => {
  await bound('p', [applying(expression)]);
  const { status, body } = await create();
  expect([status, body.reason, body.message]).toEqual([
    403,
    'Invalid',
    expect.stringContaining(`policy 'p' with binding 'p' denied request: `),
  ]);
  expect(body.message).toContain(why);
  await api.call('PATCH', `${policies}/p`, { spec: { failurePolicy: 'Ignore' } });
  expect((await create()).body.spec.replicas).toBe(1);
});

test('one that cannot be asked forbids the request', async () => {
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
  const paramRef = { name: 'nothing', parameterNotFoundAction: 'Deny' };
  await bound('p', [applying('Object{}')], { paramKind }, { paramRef });
  const { status, body } = await create();
  expect([status, body.reason, body.message]).toEqual([
    403,
    'Forbidden',
    "policy 'p' with binding 'p' denied request: failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction",
  ]);
  await api.call('PATCH', `${policies}/p`, { spec: { paramKind: { kind: 'Nope' } } });
  expect((await create()).body.message).toBe(
    `policy "p" denied request: failed to configure policy: failed to find resource referenced by paramKind: '/v1, Kind=Nope'`,
  );
});

test('a custom resource is changed in the version that the rule names, and only where its schema knows', async () => {
  const most = { type: 'object', properties: { most: { type: 'integer' } } };
  await api.call('POST', definitions, thingsDefinition({ spec: most }));
  await bound('p', [applying('Object{spec: Object.spec{most: 7}}')], {
    matchConstraints: rule('example.com', 'things'),
  });
  const things = '/apis/example.com/v1/namespaces/default/things';
  const thing = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 't' } };
  expect((await api.call('POST', things, thing)).body.spec).toEqual({ most: 7 });
});

test('it is of its logical cluster alone, and is told what of it is not asked', async () => {
  await api.addCluster('root:team');
  await bound('p', [applying('Object{spec: Object.spec{replicas: 5}}')]);
  expect((await create()).body.spec.replicas).toBe(5);
  const elsewhere = await api.call('POST', `/clusters/root:team${deployments}`, web);
  expect(elsewhere.body.spec.replicas).toBe(1);
  expect((await api.call('DELETE', `${bindings}/p`)).status).toBe(200);
  const again = await api.call('PATCH', `${deployments}/web`, { spec: { replicas: 2 } });
  expect(again.body.spec.replicas).toBe(2);
});

test('what is made is where the request says, whatever a policy says', async () => {
  await bound('p', [patching("[JSONPatch{op: 'add', path: '/metadata/namespace', value: 'kube-system'}]")]);
  const { status, body } = await create();
  expect([status, body.message]).toEqual([
    400,
    'the namespace of the provided object does not match the namespace sent on the request',
  ]);
  await api.call('DELETE', `${bindings}/p`);
  await bound('q', [patching("[JSONPatch{op: 'remove', path: '/metadata/namespace'}]")]);
  expect((await create()).body.metadata.namespace).toBe('default');
});
