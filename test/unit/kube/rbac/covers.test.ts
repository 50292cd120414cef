import { expect, test } from 'vitest';
import { compactRules, missingRules } from '../../../../kube/rbac/covers.ts';
import { describeRule, type PolicyRule, rulesOf } from '../../../../kube/rbac/rule.ts';

type Given = Partial<PolicyRule>;
const pods = (verbs: string[], more: Given = {}): Given => ({
  apiGroups: [''],
  resources: ['pods'],
  verbs,
  ...more,
});
const urls = (...nonResourceURLs: string[]): Given => ({ verbs: ['get'], nonResourceURLs });

/** What is held, what is wanted, and what of it is missing. */
test.each<[Given[], Given[], string[]]>([
  [[], [pods(['get'])], ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}']],
  [[pods(['get'])], [pods(['get'])], []],
  [[pods(['get']), pods(['list'])], [pods(['get', 'list'])], []],
  [
    [pods(['get'])],
    [pods(['get', 'list', 'watch'])],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["list" "watch"]}'],
  ],
  [[pods(['*'])], [pods(['get', 'x'])], []],
  [[pods(['get'])], [pods(['*'])], ['{APIGroups:[""], Resources:["pods"], Verbs:["*"]}']],
  [[pods(['get'], { apiGroups: ['*'] })], [pods(['get'], { apiGroups: ['a', 'b'] })], []],
  [[pods(['get'], { resources: ['*'] })], [pods(['get'], { resources: ['pods/log'] })], []],
  [[pods(['get'], { resources: ['*/log'] })], [pods(['get'], { resources: ['pods/log'] })], []],
  [
    [pods(['get'], { resources: ['pods'] })],
    [pods(['get'], { resources: ['pods/log'] })],
    ['{APIGroups:[""], Resources:["pods/log"], Verbs:["get"]}'],
  ],
  [[pods(['get'], { resourceNames: ['a', 'b'] })], [pods(['get'], { resourceNames: ['b'] })], []],
  [[pods(['get'])], [pods(['get'], { resourceNames: ['b'] })], []],
  [
    [pods(['get'], { resourceNames: ['a'] })],
    [pods(['get'])],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
  ],
  [[urls('/a/*')], [urls('/a/b', '/a/*')], []],
  [[urls('*')], [urls('/a/b', '*')], []],
  [[urls('/a/*')], [urls('/a')], ['{NonResourceURLs:["/a"], Verbs:["get"]}']],
  [
    [pods(['*'], { apiGroups: ['*'], resources: ['*'] })],
    [urls('/a')],
    ['{NonResourceURLs:["/a"], Verbs:["get"]}'],
  ],
])('%j does for %j but for %j', (held, wanted, missing) => {
  const found = missingRules(rulesOf({ rules: held }), rulesOf({ rules: wanted }));
  expect(compactRules(found ?? []).map(describeRule)).toEqual(missing);
});
