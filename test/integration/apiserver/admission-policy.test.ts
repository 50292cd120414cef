import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Api, definitions, startApi, thingsDefinition } from './api.ts';

const group = '/apis/admissionregistration.k8s.io/v1';
const [policies, bindings] = [
  `${group}/validatingadmissionpolicies`,
  `${group}/validatingadmissionpolicybindings`,
];
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const ofDeployments = {
  resourceRules: [
    {
      apiGroups: ['apps'],
      apiVersions: ['v1'],
      operations: ['CREATE', 'UPDATE'],
      resources: ['deployments'],
    },
  ],
};

let api: Api;
beforeEach(() => {
  api = startApi();
});
afterEach(() => api.close());

async function bound(spec: object, binding: object = {}): Promise<void> {
  const policy = await api.call('POST', policies, {
    metadata: { name: 'p' },
    spec: { matchConstraints: ofDeployments, ...spec },
  });
  const it = await api.call('POST', bindings, {
    metadata: { name: 'b' },
    spec: { policyName: 'p', validationActions: ['Deny'], ...binding },
  });
  expect([policy.status, it.status, policy.body.message, it.body.message]).toEqual([
    201,
    201,
    undefined,
    undefined,
  ]);
}

const web = (replicas: number, more: object = {}) => ({
  metadata: { name: 'web', ...more },
  spec: {
    replicas,
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
});
const create = (replicas: number, more?: object) => api.call('POST', deployments, web(replicas, more));
const denied = (message: string) =>
  `deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ${message}`;

test('what an expression does not hold of is refused, created or changed, and nothing else is', async () => {
  const validations = [{ expression: 'object.spec.replicas > 1' }];
  await bound({ validations });
  const { status, body } = await create(1);
  const message = denied('failed expression: object.spec.replicas > 1');
  expect([status, body.reason, body.message]).toEqual([422, 'Invalid', message]);
  expect(body.details).toMatchObject({
    name: 'web',
    group: 'apps',
    kind: 'deployments',
    causes: [{ message: message.slice('deployments.apps "web" is forbidden: '.length) }],
  });
  expect((await create(2)).status).toBe(201);
  expect((await api.call('PATCH', `${deployments}/web`, { spec: { replicas: 1 } })).status).toBe(422);
  expect((await api.call('PATCH', `${deployments}/web`, { spec: { replicas: 3 } })).status).toBe(200);
  expect((await api.call('DELETE', `${deployments}/web`)).status).toBe(200);
  await api.call('DELETE', `${bindings}/b`);
  expect((await create(1)).status).toBe(201);
});

const one = { expression: 'object.spec.replicas > 1' };
test.each<[string, object, object, number, string | undefined]>([
  ['message', { validations: [{ ...one, message: ' more ' }] }, {}, 422, denied('more')],
  [
    'composed message',
    {
      validations: [{ ...one, message: 'more', messageExpression: "'not ' + string(object.spec.replicas)" }],
    },
    {},
    422,
    denied('not 1'),
  ],
  [
    'message that fails',
    { validations: [{ ...one, message: 'more', messageExpression: 'string(object.spec.nothing)' }] },
    {},
    422,
    denied('more'),
  ],
  ['reason', { validations: [{ ...one, reason: 'Forbidden', message: 'm' }] }, {}, 403, denied('m')],
  [
    'error',
    { validations: [{ expression: 'object.spec.nothing > 1' }] },
    {},
    422,
    denied("expression 'object.spec.nothing > 1' resulted in error: no such key: nothing"),
  ],
  [
    'error that is ignored',
    { failurePolicy: 'Ignore', validations: [{ expression: 'object.spec.nothing > 1' }] },
    {},
    201,
    undefined,
  ],
  [
    'variables',
    {
      variables: [
        { name: 'replicas', expression: 'object.spec.replicas' },
        { name: 'odd', expression: 'variables.replicas % 2 == 1' },
        { name: 'unused', expression: 'object.nothing' },
      ],
      validations: [{ expression: '!variables.odd', message: 'odd' }],
    },
    {},
    422,
    denied('odd'),
  ],
  [
    'condition that holds',
    {
      matchConditions: [{ name: 'c', expression: "request.userInfo.username == 'admin'" }],
      validations: [one],
    },
    {},
    422,
    denied('failed expression: object.spec.replicas > 1'),
  ],
  [
    'condition that does not',
    { matchConditions: [{ name: 'c', expression: 'has(object.metadata.labels)' }], validations: [one] },
    {},
    201,
    undefined,
  ],
  [
    'Namespace',
    { validations: [{ expression: "namespaceObject.metadata.name != 'default'", message: 'not here' }] },
    {},
    422,
    denied('not here'),
  ],
  [
    'binding for others',
    { validations: [one] },
    { matchResources: { objectSelector: { matchLabels: { x: 'y' } } } },
    201,
    undefined,
  ],
  [
    'exclusion',
    {
      matchConstraints: {
        ...ofDeployments,
        excludeResourceRules: [{ ...ofDeployments.resourceRules[0], resourceNames: ['web'] }],
      },
      validations: [one],
    },
    {},
    201,
    undefined,
  ],
])('%s', async (_, spec, binding, code, message) => {
  await bound(spec, binding);
  const { status, body } = await create(1);
  expect([status, body.message]).toEqual([code, message]);
});

test('what a request does not have is not there to ask for', async () => {
  const not = ['subResource', 'requestSubResource', 'userInfo.extra'].map(
    (field) => `!has(request.${field})`,
  );
  await bound({ validations: not.map((expression) => ({ expression })) });
  expect((await create(2)).body.message).toBeUndefined();
});

test('of two variables of one name the last counts', async () => {
  const variables = ['1', '2'].map((expression) => ({ name: 'most', expression }));
  const validations = [{ expression: 'object.spec.replicas <= variables.most', message: 'too many' }];
  await bound({ variables, validations });
  expect((await create(3)).body.message).toBe(denied('too many'));
  expect((await create(2)).status).toBe(201);
});

test.each<[string, string, string, object | undefined, object]>([
  ['DELETE', 'web', '?gracePeriodSeconds=0', undefined, { kind: 'DeleteOptions', gracePeriodSeconds: 0 }],
  [
    'DELETE',
    'web',
    '',
    { kind: 'DeleteOptions', propagationPolicy: 'Orphan', dryRun: ['All'] },
    { kind: 'DeleteOptions', propagationPolicy: 'Orphan', dryRun: ['All'] },
  ],
  [
    'PATCH',
    'web',
    '?fieldManager=me',
    { spec: { replicas: 3 } },
    { kind: 'UpdateOptions', fieldManager: 'me' },
  ],
])('%s %s%s %j: a policy sees what was asked for', async (method, name, query, body, expected) => {
  expect((await create(2)).status).toBe(201);
  const matchConstraints = {
    resourceRules: [{ ...ofDeployments.resourceRules[0], operations: ['UPDATE', 'DELETE'] }],
  };
  const messageExpression = `"%s".format([request.options])`;
  await bound({ matchConstraints, validations: [{ expression: 'false', messageExpression }] });
  const answer = await api.call(method, `${deployments}/${name}${query}`, body);
  const [, said = '{}'] = /denied request: (.*)$/.exec(answer.body.message) ?? [];
  expect(JSON.parse(said)).toEqual({ apiVersion: 'meta.k8s.io/v1', ...expected });
});

test('an eviction is asked about as such, and not as a deletion too', async () => {
  const pods = '/api/v1/namespaces/default/pods';
  const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  expect((await api.call('POST', pods, pod)).status).toBe(201);
  const resourceRules = [
    { apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['pods', 'pods/*'] },
  ];
  await bound({
    matchConstraints: { resourceRules },
    validations: [{ expression: 'request.operation == "CREATE" && object.metadata.namespace == "default"' }],
  });
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } };
  expect((await api.call('POST', `${pods}/p/eviction`, eviction)).body).toMatchObject({ status: 'Success' });
  expect((await api.call('GET', `${pods}/p`)).status).toBe(404);
});

test('who is only warned is warned', async () => {
  await bound({ validations: [{ ...one, message: 'more' }] }, { validationActions: ['Warn'] });
  const { status, headers } = await create(1);
  expect(status).toBe(201);
  expect(String(headers['warning'])).toContain(
    "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': more",
  );
});

test('parameters are what is compared with; without them the binding says what follows', async () => {
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
  const validations = [{ expression: 'object.spec.replicas <= int(params.data.most)', message: 'too many' }];
  await bound({ paramKind, validations }, { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' } });
  const why =
    'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction';
  expect((await create(1)).body.message).toBe(denied(why));
  const map = { metadata: { name: 'limits' }, data: { most: '2' } };
  await api.call('POST', '/api/v1/namespaces/default/configmaps', map);
  expect((await create(3)).body.message).toBe(denied('too many'));
  expect((await create(2)).status).toBe(201);
});

test('a policy whose paramKind nobody serves is asked of nothing, whatever its binding gives it', async () => {
  const paramKind = { apiVersion: 'v1', kind: 'Nope' };
  await bound({ paramKind, validations: [{ expression: 'true' }] }, { validationActions: ['Warn'] });
  const { status, body, headers } = await create(1);
  const why = "failed to configure policy: failed to find resource referenced by paramKind: '/v1, Kind=Nope'";
  const message = `deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'p' denied request: ${why}`;
  expect([status, body.message, headers['warning']]).toEqual([422, message, undefined]);
});

test('a custom resource can be the parameters, and is chosen by its labels', async () => {
  const most = { type: 'object', properties: { most: { type: 'integer' } } };
  await api.call('POST', definitions, thingsDefinition({ spec: most }));
  const paramKind = { apiVersion: 'example.com/v1', kind: 'Thing' };
  const validations = [{ expression: 'object.spec.replicas <= params.spec.most', message: 'too many' }];
  const paramRef = { selector: { matchLabels: { for: 'web' } }, parameterNotFoundAction: 'Allow' };
  await bound({ paramKind, validations }, { paramRef });
  expect((await api.call('POST', `${deployments}?dryRun=All`, web(9))).status).toBe(201);
  const things = '/apis/example.com/v1/namespaces/default/things';
  const thing = {
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { name: 't', labels: { for: 'web' } },
    spec: { most: 2 },
  };
  expect((await api.call('POST', things, thing)).status).toBe(201);
  expect((await create(3)).body.message).toBe(denied('too many'));
  expect((await create(2)).status).toBe(201);
});

test('a policy is of its logical cluster alone, and no policy keeps a policy', async () => {
  await api.addCluster('root:team');
  const matchConstraints = {
    resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }],
  };
  await bound({ matchConstraints, validations: [{ expression: 'false', message: 'never' }] });
  expect((await create(2)).status).toBe(422);
  expect((await api.call('POST', `/clusters/root:team${deployments}`, web(2))).status).toBe(201);
  expect((await api.call('DELETE', `${bindings}/b`)).status).toBe(200);
  expect((await create(2)).status).toBe(201);
});

test('what all policies cost one request together has a bound', async () => {
  const ten = '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]';
  const loops = [...'abcd'].reduceRight(
    (inner, name) => `${ten}.all(${name}, ${inner})`,
    'a + b + c + d >= 0',
  );
  const validations = Array.from({ length: 8 }, () => ({ expression: loops }));
  await bound({ validations });
  expect((await create(1)).body.message).toBeUndefined();
  for (let n = 0; n < 15; n += 1) {
    const name = `more-${n}`;
    const spec = { matchConstraints: ofDeployments, validations };
    await api.call('POST', policies, { metadata: { name }, spec });
    await api.call('POST', bindings, {
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    });
  }
  const { status, body } = await api.call('PATCH', `${deployments}/web`, { spec: { replicas: 2 } });
  expect([status, body.message]).toEqual([422, expect.stringContaining('actual cost limit exceeded')]);
});

test('an update without a version is shown with that of what it updates', async () => {
  await create(1);
  await bound({
    validations: [{ expression: 'object.metadata.resourceVersion != oldObject.metadata.resourceVersion' }],
  });
  const message = denied(
    'failed expression: object.metadata.resourceVersion != oldObject.metadata.resourceVersion',
  );
  const { status, body } = await api.call('PUT', `${deployments}/web`, web(2));
  expect([status, body.message]).toEqual([422, message]);
});

test('of a collection that is deleted nobody said the names', async () => {
  const maps = '/api/v1/namespaces/default/configmaps';
  await api.call('POST', maps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } });
  const rules = { apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['configmaps'] };
  await bound({
    matchConstraints: { resourceRules: [rules] },
    validations: [{ expression: 'has(request.name) && has(object.metadata)', message: 'unsaid' }],
  });
  const { status, body } = await api.call('DELETE', maps);
  const message = `configmaps "Unknown" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: unsaid`;
  expect([status, body.message, body.details.name]).toEqual([422, message, 'Unknown']);
});
