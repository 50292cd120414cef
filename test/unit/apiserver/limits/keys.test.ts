import { expect, test } from 'vitest';
import { amountsOf, clusterOf } from '../../../../apiserver/limits/keys.ts';

test.each([
  ['/core/configmaps/abc/default/x', 'abc'],
  ['/apps/deployments/root/default/x', 'root'],
  ['/core/namespaces/abc/default', 'abc'],
  ['/atoll.dev/placements/abc/default/x', ''],
  ['/atoll.development.example/things/abc/x', 'abc'],
  ['/rbac.authorization.k8s.io/!written/abc/roles', ''],
  ['/!internal/clusterips/abc/10.0.0.1', ''],
  ['/!leases', ''],
  ['', ''],
])('%s counts against %j', (key, cluster) => {
  expect(clusterOf(key)).toBe(cluster);
});

const hooks = Buffer.from('{"webhooks":[{},{},{}]}');
const other = Buffer.from('{}');

test.each([
  ['/core/configmaps/a/default/x', other, [1, 2, 0, 0]],
  ['/apiextensions.k8s.io/customresourcedefinitions/a/x', other, [1, 2, 1, 0]],
  ['/admissionregistration.k8s.io/mutatingwebhookconfigurations/a/x', hooks, [1, hooks.length, 0, 3]],
  ['/admissionregistration.k8s.io/validatingwebhookconfigurations/a/x', other, [1, 2, 0, 0]],
  ['/admissionregistration.k8s.io/validatingwebhookconfigurations/a/x', Buffer.from('k8s:enc'), [1, 7, 0, 1]],
  ['/admissionregistration.k8s.io/validatingadmissionpolicies/a/x', other, [1, 2, 0, 0]],
  ['/rbac.authorization.k8s.io/clusterroles/a/cluster-admin', other, [0, 2, 0, 0]],
  ['/rbac.authorization.k8s.io/clusterroles/a/mine', other, [1, 2, 0, 0]],
  [
    '/rbac.authorization.k8s.io/roles/a/kube-system/extension-apiserver-authentication-reader',
    other,
    [0, 2, 0, 0],
  ],
  [
    '/rbac.authorization.k8s.io/roles/a/default/extension-apiserver-authentication-reader',
    other,
    [1, 2, 0, 0],
  ],
])('%s is counted', (key, value, [objects, bytes, customResourceDefinitions, webhooks]) => {
  expect(amountsOf(key, value)).toEqual({ objects, bytes, customResourceDefinitions, webhooks });
});
