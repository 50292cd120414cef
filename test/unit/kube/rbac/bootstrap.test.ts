import { expect, test } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { aggregatedRules, selectsLabels } from '../../../../kube/rbac/aggregate.ts';
import { bootstrapObjects, rbacResources } from '../../../../kube/rbac/bootstrap.ts';

const rulesIn = (name: string) => {
  const role = bootstrapObjects('clusterroles').find(({ metadata }) => metadata.name === name);
  return role?.['rules'] as { resources: string[]; verbs: string[] }[];
};

/** As a cluster of 1.36.3 has them. */
test('the defaults are those of kube-apiserver, aggregated', () => {
  expect(rbacResources.map((resource) => bootstrapObjects(resource).length)).toEqual([69, 50, 7, 7]);
  expect(['admin', 'edit', 'view'].map((name) => rulesIn(name).length)).toEqual([29, 27, 12]);
  expect(rulesIn('cluster-admin')).toHaveLength(2);
});

const role = (name: string, labels: Record<string, string>, ...verbs: string[]): KubeObject => ({
  kind: 'ClusterRole',
  apiVersion: 'rbac.authorization.k8s.io/v1',
  metadata: { name, labels },
  rules: verbs.map((verb) => ({ verbs: [verb] })),
});

test('rules are aggregated by name, each once, without its own', () => {
  const whole = {
    ...role('whole', { part: 'yes' }, 'old'),
    aggregationRule: {
      clusterRoleSelectors: [
        { matchLabels: { part: 'yes' } },
        { matchExpressions: [{ key: 'also', operator: 'Exists' }] },
      ],
    },
  };
  const all = [
    role('c', { also: '' }, 'w', 'u'),
    role('b', { part: 'yes' }, 'x', 'y'),
    role('a', { part: 'yes' }, 'z', 'x'),
    role('d', { part: 'no' }, 'q'),
    whole,
  ];
  const verbs = aggregatedRules(whole, all).map((rule) => (rule as { verbs: string[] }).verbs[0]);
  expect(verbs).toEqual(['z', 'x', 'y', 'w', 'u']);
  expect([{ part: 'yes' }, { part: 'no' }, undefined].map((labels) => selectsLabels(whole, labels))).toEqual([
    true,
    false,
    false,
  ]);
});
