import { expect, test } from 'vitest';
import { ownUser } from '../../../../apiserver/authn/controllers.ts';
import { ownRights } from '../../../../apiserver/authz/own.ts';
import type { Attributes } from '../../../../apiserver/plugins.ts';

const decide = ownRights(() => ({ allowed: false, reason: 'asked as ever' }));
const base = { group: '', version: 'v1', subresource: '', namespace: 'n', name: 'x', cluster: 'a' };
const asks = (name: string, verb: string, what: string, cluster = 'a'): Attributes => {
  const [group = '', resource = '', subresource = ''] = what.split('/');
  return { ...base, group, resource, subresource, cluster, verb, user: ownUser(`system:atoll:${name}`) };
};

test.each([
  ['controllers', 'delete', 'example.com/widgets', true],
  ['controllers', 'watch', '/secrets', true],
  ['controllers', 'create', '/configmaps', true],
  ['controllers', 'create', '/pods', false],
  ['controllers', 'create', '/secrets', false],
  ['controllers', 'create', '/pods/exec', false],
  ['controllers', 'get', '/pods/exec', false],
  ['controllers', 'get', '/nodes/proxy', false],
  ['controllers', 'create', '/serviceaccounts/token', false],
  ['controllers', 'escalate', 'rbac.authorization.k8s.io/clusterroles', false],
  ['controllers', 'impersonate', '/users', false],
  ['controllers', 'place', 'atoll.dev/physicalclusters', false],
  ['scheduler', 'place', 'atoll.dev/physicalclusters', true],
  ['scheduler', 'create', 'atoll.dev/placements', true],
  ['scheduler', 'patch', 'apps/deployments', true],
  ['scheduler', 'patch', 'apps/deployments/status', false],
  ['scheduler', 'delete', 'apps/deployments', false],
  ['scheduler', 'get', '/secrets', false],
  ['splitter', 'patch', 'apps/deployments/status', true],
  ['splitter', 'update', 'apps/deployments/scale', true],
  ['splitter', 'patch', 'apps/deployments', false],
  ['splitter', 'patch', '/secrets', false],
  ['splitter', 'patch', 'rbac.authorization.k8s.io/clusterroles', false],
  ['splitter', 'patch', 'atoll.dev/physicalclusters', false],
  ['splitter', 'patch', 'tenancy.kcp.io/workspaces', false],
  ['splitter', 'patch', 'argoproj.io/workflows', true],
  ['splitter', 'delete', 'argoproj.io/workflows', false],
  ['splitter', 'get', '/secrets', false],
  ['serving', 'get', '/secrets', false],
  ['unheard-of', 'get', '/configmaps', false],
] as const)('%s: %s %s: %s', async (name, verb, what, allowed) => {
  expect(await decide(asks(name, verb, what))).toEqual({ allowed });
});

test('whoever reads how clusters are reached reads no tenant’s Secrets', async () => {
  expect(await decide(asks('syncer-manager', 'get', '/secrets', 'root'))).toEqual({ allowed: true });
  for (const cluster of ['a', '*'])
    expect(await decide(asks('syncer-manager', 'list', '/secrets', cluster))).toEqual({ allowed: false });
});

test('who has such a name from elsewhere is asked about as ever', async () => {
  const user = { name: 'system:atoll:controllers', groups: ['system:authenticated'] };
  const asked = { ...asks('controllers', 'get', '/secrets'), user };
  expect(await decide(asked)).toEqual({ allowed: false, reason: 'asked as ever' });
});
