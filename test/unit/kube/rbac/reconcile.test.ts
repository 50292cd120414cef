import { expect, test } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { bootstrapObjects, rbacResources } from '../../../../kube/rbac/bootstrap.ts';
import { reconciled } from '../../../../kube/rbac/reconcile.ts';

const auto = { 'rbac.authorization.kubernetes.io/autoupdate': 'true' };
const object = (said: object, metadata: object = { annotations: auto }): KubeObject =>
  ({ kind: 'ClusterRole', metadata: { name: 'r', labels: {}, ...metadata }, ...said }) as KubeObject;
const rule = (verbs: string[], resources = ['pods']) => ({ verbs, apiGroups: [''], resources });
const ref = (name: string) => ({ roleRef: { apiGroup: 'x', kind: 'ClusterRole', name } });
const group = (name: string) => ({ kind: 'Group', name });
const selecting = (...names: string[]) => ({
  aggregationRule: { clusterRoleSelectors: names.map((name) => ({ matchLabels: { [name]: 'true' } })) },
});

test.each([
  [
    'a verb that is missing',
    { rules: [rule(['get'])] },
    { rules: [rule(['get', 'list'])] },
    { rules: [rule(['get']), rule(['list'])] },
  ],
  [
    'all of them, of one without rules',
    { rules: null },
    { rules: [rule(['get'])] },
    { rules: [rule(['get'])] },
  ],
  [
    'nothing where another rule covers it',
    { rules: [rule(['*'], ['*'])] },
    { rules: [rule(['get'])] },
    { rules: [rule(['*'], ['*'])] },
  ],
  ['a selector', selecting('a'), selecting('a', 'b'), selecting('a', 'b')],
  [
    'a subject',
    { ...ref('r'), subjects: [group('mine')] },
    { ...ref('r'), subjects: [group('theirs')] },
    { ...ref('r'), subjects: [group('mine'), group('theirs')] },
  ],
  [
    'nothing of a binding to another role',
    { ...ref('mine') },
    { ...ref('r'), subjects: [group('theirs')] },
    { ...ref('mine') },
  ],
])('adds %s, and takes nothing away', (_, have, want, expected) => {
  expect(reconciled(object(have), object(want))).toEqual(object(expected));
});

test('a role that gathers has no rules of its own to add', () => {
  const have = object({ ...selecting('a'), rules: [] });
  expect(reconciled(have, object({ ...selecting('a'), rules: [rule(['get'])] }))).toBe(have);
});

test('labels and annotations that are there stay as they are', () => {
  const have = object({}, { labels: { a: 'mine' }, annotations: { ...auto, b: 'mine' } });
  const want = object({}, { labels: { a: 'theirs', c: 'theirs' }, annotations: { ...auto, b: 'theirs' } });
  expect(reconciled(have, want).metadata).toEqual({
    name: 'r',
    labels: { a: 'mine', c: 'theirs' },
    annotations: { ...auto, b: 'mine' },
  });
});

test('one whose annotation says so stays as it is', () => {
  const annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' };
  const have = object({ rules: [] }, { annotations });
  expect(reconciled(have, object({ rules: [rule(['get'])] }))).toBe(have);
});

test.each([...rbacResources])('%s as they are by default lack nothing', (resource) => {
  for (const one of bootstrapObjects(resource)) expect(reconciled(one, one)).toBe(one);
});
