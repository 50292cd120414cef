import { afterAll, beforeAll, expect, test } from 'vitest';
import type { UserInfo } from '../../../kube/http.ts';
import { type Api, call, startApi } from './api.ts';

const group = '/apis/admissionregistration.k8s.io/v1';
const rbac = 'rbac.authorization.k8s.io';
const someone = (name: string): UserInfo => ({ name, groups: ['system:authenticated'] });

/** What each may do beside writing ConfigMaps. */
const more: Readonly<Record<string, object[]>> = {
  plain: [],
  special: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['c'], verbs: ['special'] }],
  paths: [{ nonResourceURLs: ['/special'], verbs: ['get'] }],
};

let api: Api;
beforeAll(async () => {
  api = startApi();
  for (const [name, rules] of Object.entries(more))
    await role(name, { kind: 'User', apiGroup: rbac, name }, rules);
  const account = { kind: 'ServiceAccount', namespace: 'default', name: 'robot' };
  await role('robot', account, more['special'] ?? []);
});
afterAll(() => api.close());

async function role(name: string, subject: object, rules: object[]): Promise<void> {
  const write = { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] };
  const made = await api.call('POST', `/apis/${rbac}/v1/clusterroles`, {
    metadata: { name },
    rules: [write, ...rules],
  });
  const bound = await api.call('POST', `/apis/${rbac}/v1/clusterrolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
    subjects: [subject],
  });
  expect([made.status, bound.status]).toEqual([201, 201]);
}

async function onlyWhere(spec: object): Promise<string> {
  const name = 'p';
  const resourceRules = [
    { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
  ];
  const policy = await api.call('POST', `${group}/validatingadmissionpolicies`, {
    metadata: { name },
    spec: { matchConstraints: { resourceRules }, validations: [{ expression: 'false' }], ...spec },
  });
  expect([policy.body.message, policy.headers['warning']]).toEqual([undefined, undefined]);
  await api.call('POST', `${group}/validatingadmissionpolicybindings`, {
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  });
  const able: string[] = [];
  for (const user of Object.keys(more)) {
    const { status } = await call(
      api.server.transport(someone(user)),
      'POST',
      '/api/v1/namespaces/default/configmaps?dryRun=All',
      { metadata: { name: 'c' } },
    );
    if (status === 201) able.push(user);
  }
  await api.call('DELETE', `${group}/validatingadmissionpolicybindings/${name}`);
  await api.call('DELETE', `${group}/validatingadmissionpolicies/${name}`);
  return able.join();
}

const check = "authorizer.requestResource.check('special').allowed()";

test.each([
  ['an own verb of what is written', { validations: [{ expression: check }] }, 'special'],
  [
    'a path',
    { validations: [{ expression: "authorizer.path('/special').check('get').allowed()" }] },
    'paths',
  ],
  [
    'an account of this logical cluster',
    {
      validations: [
        {
          expression:
            "authorizer.serviceAccount('default', 'robot').group('').resource('configmaps').name('c').check('special').allowed()",
        },
      ],
    },
    'plain,special,paths',
  ],
  [
    'an account that may not',
    {
      validations: [
        {
          expression:
            "authorizer.serviceAccount('default', 'other').group('').resource('configmaps').name('c').check('special').allowed()",
        },
      ],
    },
    '',
  ],
  ['in a match condition', { matchConditions: [{ name: 'm', expression: `!${check}` }] }, 'special'],
  [
    'in a variable',
    {
      variables: [{ name: 'may', expression: check }],
      validations: [{ expression: 'variables.may' }],
    },
    'special',
  ],
])('a policy asks what the user may: %s', async (_, spec, able) => {
  expect(await onlyWhere(spec)).toBe(able);
});
