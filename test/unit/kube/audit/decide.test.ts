import { expect, test } from 'vitest';
import { type Audited, decideAudit } from '../../../../kube/audit/decide.ts';
import { readPolicy } from '../../../../kube/audit/policy.ts';
import type { PolicyRule } from '../../../../kube/audit/types.ts';

const pods: Audited = {
  user: { name: 'tim', groups: ['people'] },
  verb: 'list',
  isResource: true,
  group: '',
  resource: 'pods',
  subresource: '',
  namespace: 'default',
  name: 'busybox',
  path: '/api/v1/namespaces/default/pods/busybox',
};
const log: Audited = { ...pods, subresource: 'log' };
const roles: Audited = { ...pods, group: 'rbac', resource: 'roles', namespace: '', name: 'edit' };
const logs: Audited = {
  ...pods,
  isResource: false,
  group: '',
  resource: '',
  namespace: '',
  name: '',
  path: '/logs',
};
const nobody: Audited = { ...pods, user: undefined };

/** Rows of k8s.io/apiserver/pkg/audit/policy/checker_test.go, and more. */
const rows: [string, Omit<PolicyRule, 'level'>, Audited, boolean][] = [
  ['an empty rule', {}, pods, true],
  ['lists that are empty', { users: [], resources: [], nonResourceURLs: [] }, pods, true],
  ['a user', { users: ['tim'] }, pods, true],
  ['another user', { users: ['tam'] }, pods, false],
  ['a user where nobody knows who asks', { users: ['tim'] }, nobody, false],
  ['a group', { userGroups: ['people'] }, pods, true],
  ['a group where nobody knows who asks', { userGroups: ['people'] }, nobody, false],
  ['another verb', { verbs: ['get'] }, pods, false],
  ['a namespace', { namespaces: ['default'] }, pods, true],
  ['the namespace of what has none', { namespaces: [''] }, roles, true],
  ['a namespace of a URL', { namespaces: [''] }, logs, false],
  ['a resource', { resources: [{ resources: ['pods'] }] }, pods, true],
  ['all of a group', { resources: [{ group: 'rbac' }] }, roles, true],
  ['all groups', { resources: [{ group: '*' }] }, roles, true],
  ['another group', { resources: [{}] }, roles, false],
  ['a resource, not its subresource', { resources: [{ resources: ['pods'] }] }, log, false],
  ['a subresource', { resources: [{ resources: ['pods/log'] }] }, log, true],
  ['a subresource of all', { resources: [{ resources: ['*/log'] }] }, log, true],
  ['all subresources', { resources: [{ resources: ['pods/*'] }] }, log, true],
  ['all subresources, and itself', { resources: [{ resources: ['pods/*'] }] }, pods, true],
  ['everything', { resources: [{ resources: ['*'] }] }, log, true],
  ['a name', { resources: [{ resources: ['pods'], resourceNames: ['busybox'] }] }, pods, true],
  ['another name', { resources: [{ resources: ['pods'], resourceNames: ['other'] }] }, pods, false],
  ['a URL', { nonResourceURLs: ['/logs'] }, logs, true],
  ['a URL with a star', { nonResourceURLs: ['/lo*'] }, logs, true],
  ['every URL', { nonResourceURLs: ['*'] }, logs, true],
  ['every URL, of a resource', { nonResourceURLs: ['*'] }, pods, false],
  ['another URL', { nonResourceURLs: ['/metrics'] }, logs, false],
];

test.each(rows)('%s', (_, rule, asked, expected) => {
  const { level } = decideAudit({ rules: [{ level: 'Request', ...rule }] }, asked);
  expect(level).toBe(expected ? 'Request' : 'None');
});

test('the first rule counts, its stages are added, its managed fields are its own', () => {
  const policy = {
    omitStages: ['RequestReceived' as const],
    omitManagedFields: true,
    rules: [
      { level: 'None' as const, users: ['tam'] },
      { level: 'Metadata' as const, omitStages: ['Panic' as const], omitManagedFields: false },
    ],
  };
  expect(decideAudit(policy, pods)).toEqual({
    level: 'Metadata',
    omitStages: ['RequestReceived', 'Panic'],
    omitManagedFields: false,
  });
});

const head = 'apiVersion: audit.k8s.io/v1\nkind: Policy\n';

test.each([
  ['kind: Policy', 'no kind "Policy" is registered for version ""'],
  [`${head}rules: []`, 'loaded illegal policy with 0 rules'],
  [`${head}rules: [{level: 5}]`, 'rules[0].level must be a string'],
  [`${head}rules: [{}]`, 'rules[0].level: Required value'],
  [`${head}rules: [{level: All}]`, 'rules[0].level: Unsupported value: "All"'],
  [
    `${head}omitStages: [Never]\nrules: [{level: None}]`,
    'omitStages[0]: Invalid value: "Never": allowed stages are',
  ],
  [`${head}rules: [{level: None, nonResourceURLs: [logs]}]`, "must begin with a '/' character"],
  [`${head}rules: [{level: None, nonResourceURLs: ['/a*b']}]`, "'*' must be the final character of the rule"],
  [`${head}rules: [{level: None, nonResourceURLs: ['/a'], namespaces: [a]}]`, 'rules cannot apply to both'],
  [`${head}rules: [{level: None, resources: [{group: a/v1}]}]`, 'rules[0].resources.group: Invalid value'],
  [`${head}rules: [{level: None, resources: [{resourceNames: [a]}]}]`, 'requires at least one resource'],
])('a policy that is refused: %s', (source, why) => {
  expect(() => readPolicy(source)).toThrow(why);
});

test('a field that nobody knows is told, and the rest holds', () => {
  const { policy, warnings } = readPolicy(`${head}rules: [{level: Metadata, namespace: [a]}]`);
  expect(policy.rules[0]?.level).toBe('Metadata');
  expect(warnings).toEqual(['unknown field "rules[0].namespace"']);
});
