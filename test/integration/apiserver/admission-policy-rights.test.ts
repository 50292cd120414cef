import { afterAll, beforeAll, expect, test } from 'vitest';
import type { UserInfo } from '../../../kube/http.ts';
import { type Api, call, startApi } from './api.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const group = 'admissionregistration.k8s.io';
const base = `/apis/${group}/v1`;
const [policies, bindings] = [
  `${base}/validatingadmissionpolicies`,
  `${base}/validatingadmissionpolicybindings`,
];
const someone = (name: string): UserInfo => ({ name, groups: ['system:authenticated'] });

/** What each may do beside writing policies. */
const more: Readonly<Record<string, object[]>> = {
  writer: [],
  one: [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['limits'], verbs: ['get'] }],
  reader: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
};

let api: Api;
beforeAll(async () => {
  api = startApi();
  for (const [name, rules] of Object.entries(more)) {
    const all = { apiGroups: [group], resources: ['*'], verbs: ['*'] };
    await api.call('POST', `${rbac}/clusterroles`, { metadata: { name }, rules: [all, ...rules] });
    await api.call('POST', `${rbac}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name }],
    });
  }
});
afterAll(() => api.close());

const ask = (user: string, method: string, path: string, body: object) =>
  call(api.server.transport(someone(user)), method, path, body);
const policy = (name: string, spec: object) => ({
  metadata: { name },
  spec: {
    validations: [{ expression: 'true' }],
    matchConstraints: {
      resourceRules: [
        { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
      ],
    },
    ...spec,
  },
});
const binding = (name: string, policyName: string, paramRef: object) => ({
  metadata: { name },
  spec: {
    policyName,
    validationActions: ['Deny'],
    paramRef: { parameterNotFoundAction: 'Deny', ...paramRef },
  },
});
const paramKind = { apiVersion: 'v1', kind: 'Secret' };

test.each([
  ['writer', 422],
  ['one', 422],
  ['reader', 201],
])('who reads parameters through a policy may read them: %s', async (user, code) => {
  const { status, body } = await ask(user, 'POST', policies, policy(`of-${user}`, { paramKind }));
  expect(status).toBe(code);
  if (code === 201) return;
  expect(body.message).toBe(
    `ValidatingAdmissionPolicy.${group} "of-${user}" is invalid: spec.paramKind: Forbidden: user ${user} must have "get" permission on all objects of the referenced paramKind (kind=Secret, apiVersion=v1)`,
  );
  expect((await ask(user, 'POST', policies, policy(`without-${user}`, {}))).status).toBe(201);
  const given = await ask(user, 'PATCH', `${policies}/without-${user}`, { spec: { paramKind } });
  expect(given.status).toBe(422);
});

test('who binds a policy may read what the binding names, and changes the rest of it freely', async () => {
  await api.call('POST', policies, policy('secret', { paramKind }));
  const named = { name: 'limits', namespace: 'default' };
  const refused = await ask('writer', 'POST', bindings, binding('w', 'secret', named));
  expect([refused.status, refused.body.message]).toEqual([
    422,
    `ValidatingAdmissionPolicyBinding.${group} "w" is invalid: spec.paramRef: Forbidden: user writer does not have "get" permission on the object referenced by paramRef`,
  ]);
  const one = await ask('one', 'POST', bindings, binding('o', 'secret', named));
  expect(one.status).toBe(201);
  const label = { metadata: { labels: { a: 'b' } } };
  expect((await ask('writer', 'PATCH', `${bindings}/o`, label)).status).toBe(200);
  const other = { spec: { paramRef: { name: 'other' } } };
  expect((await ask('one', 'PATCH', `${bindings}/o`, other)).status).toBe(422);
  const many = await ask('one', 'POST', bindings, binding('m', 'secret', { selector: {} }));
  expect(many.body.message).toContain('does not have "list" permission on the object referenced by paramRef');
  const unknown = await ask('reader', 'POST', bindings, binding('u', 'nowhere', named));
  expect(unknown.body.message).toContain(
    'unable to get policy nowhere to determine minimum required permissions',
  );
});
