import { expect, test } from 'vitest';
import { describeRule, type PolicyRule, ruleAllows, rulesOf } from '../../../../kube/rbac/rule.ts';

const base = { group: '', resource: '', subresource: '', name: '' };

function rule(given: Partial<PolicyRule>): PolicyRule {
  return rulesOf({ rules: [given] })[0]!;
}

const pods = { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] };

test.each<[boolean, Partial<PolicyRule>, object]>([
  [true, pods, { verb: 'get', resource: 'pods', name: 'a' }],
  [false, pods, { verb: 'delete', resource: 'pods', name: 'a' }],
  [false, pods, { verb: 'get', resource: 'secrets' }],
  [false, pods, { verb: 'get', resource: 'pods', group: 'metrics.k8s.io' }],
  [false, pods, { verb: 'get', resource: 'pods', subresource: 'log' }],
  [false, pods, { verb: 'get', path: '/pods' }],
  [true, { ...pods, verbs: ['*'] }, { verb: 'impersonate', resource: 'pods' }],
  [true, { ...pods, apiGroups: ['*'] }, { verb: 'get', resource: 'pods', group: 'x.io' }],
  [true, { ...pods, resources: ['*'] }, { verb: 'get', resource: 'pods', subresource: 'log' }],
  [true, { ...pods, resources: ['pods/log'] }, { verb: 'get', resource: 'pods', subresource: 'log' }],
  [false, { ...pods, resources: ['pods/log'] }, { verb: 'get', resource: 'pods' }],
  [true, { ...pods, resources: ['*/scale'] }, { verb: 'get', resource: 'things', subresource: 'scale' }],
  [false, { ...pods, resources: ['*/scale'] }, { verb: 'get', resource: 'things', subresource: 'status' }],
  [false, { ...pods, resources: ['*/scale'] }, { verb: 'get', resource: 'scale' }],
  [false, { ...pods, resources: ['pods/*'] }, { verb: 'get', resource: 'pods', subresource: 'log' }],
  [true, { ...pods, resourceNames: ['a'] }, { verb: 'get', resource: 'pods', name: 'a' }],
  [false, { ...pods, resourceNames: ['a'] }, { verb: 'get', resource: 'pods', name: 'b' }],
  [false, { ...pods, resourceNames: ['a'] }, { verb: 'list', resource: 'pods' }],
  [false, { ...pods, resourceNames: ['*'] }, { verb: 'get', resource: 'pods', name: 'a' }],
  [false, { ...pods, apiGroups: [] }, { verb: 'get', resource: 'pods' }],
  [true, { verbs: ['get'], nonResourceURLs: ['/healthz'] }, { verb: 'get', path: '/healthz' }],
  [false, { verbs: ['get'], nonResourceURLs: ['/healthz'] }, { verb: 'get', path: '/healthz/etcd' }],
  [true, { verbs: ['get'], nonResourceURLs: ['/healthz/*'] }, { verb: 'get', path: '/healthz/etcd' }],
  [false, { verbs: ['get'], nonResourceURLs: ['/healthz/*'] }, { verb: 'get', path: '/healthz' }],
  [true, { verbs: ['get'], nonResourceURLs: ['/a**'] }, { verb: 'get', path: '/apis' }],
  [false, { verbs: ['get'], nonResourceURLs: ['/a*b'] }, { verb: 'get', path: '/axb' }],
  [true, { verbs: ['*'], nonResourceURLs: ['*'] }, { verb: 'post', path: '/anything' }],
  [false, { verbs: ['*'], nonResourceURLs: ['*'] }, { verb: 'get', resource: 'pods' }],
])('%j: %j of %j', (allowed, given, action) => {
  expect(ruleAllows(rule(given), { ...base, verb: '', ...action })).toBe(allowed);
});

test('messages show what a rule has', () => {
  expect(describeRule(rule({ ...pods, resourceNames: ['a', 'b"'] }))).toBe(
    '{APIGroups:[""], Resources:["pods"], ResourceNames:["a" "b\\""], Verbs:["get" "list"]}',
  );
  expect(describeRule(rule({ verbs: ['get'], nonResourceURLs: ['/x'] }))).toBe(
    '{NonResourceURLs:["/x"], Verbs:["get"]}',
  );
});

test('what is no rule allows nothing', () => {
  for (const role of [undefined, {}, { rules: null }, { rules: [null, 'x', { verbs: '*' }] }]) {
    const found = rulesOf(role);
    expect(found.some((one) => ruleAllows(one, { ...base, verb: 'get', resource: 'pods' }))).toBe(false);
  }
});
