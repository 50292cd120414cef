import { afterAll, beforeAll, expect, test } from 'vitest';
import type { UserInfo } from '../../../kube/http.ts';
import { type Api, call, startApi } from './api.ts';

const group = 'rbac.authorization.k8s.io';
const ns = '/api/v1/namespaces/default';
const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
const apply = { 'content-type': 'application/apply-patch+yaml' };
const someone = (name: string): UserInfo => ({ name, groups: ['system:authenticated'] });

let api: Api;
beforeAll(async () => {
  api = startApi();
  const spec = { containers: [{ name: 'main', image: 'a' }] };
  await api.call('POST', `${ns}/pods`, { metadata: { name: 'web' }, spec });
  const change = ['get', 'update', 'patch'];
  for (const [name, verbs] of Object.entries({ changes: change, creates: [...change, 'create'] })) {
    const rules = [{ apiGroups: ['', 'coordination.k8s.io'], resources: ['*'], verbs }];
    const at = `/apis/${group}/v1/namespaces/default`;
    await api.call('POST', `${at}/roles`, { metadata: { name }, rules });
    await api.call('POST', `${at}/rolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: group, kind: 'Role', name },
      subjects: [{ kind: 'User', apiGroup: group, name }],
    });
  }
});
afterAll(() => api.close());

const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'new' } };
const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'new' } };

/** What who may only change things is told, and who may create them. */
test.each<[string, string, object | undefined, string, number]>([
  ['PATCH', `${ns}/configmaps/new?fieldManager=m&dryRun=All`, map, 'configmaps "new"', 201],
  ['PATCH', `${ns}/configmaps/new?fieldManager=m`, map, 'configmaps "new"', 201],
  ['PUT', `${leases}/new?dryRun=All`, lease, 'leases.coordination.k8s.io "new"', 201],
  ['PUT', `${leases}/new`, lease, 'leases.coordination.k8s.io "new"', 201],
  ['GET', `${ns}/pods/web/exec?command=ls`, undefined, 'pods "web"', 400],
  ['GET', `${ns}/pods/none/exec?command=ls`, undefined, 'pods "none"', 404],
  ['GET', `${ns}/pods/web/attach`, undefined, 'pods "web"', 400],
  ['GET', `${ns}/pods/web/portforward?ports=80`, undefined, 'pods "web"', 400],
])('%s %s takes the verb create', async (method, url, body, what, code) => {
  const ask = (name: string) =>
    call(api.server.transport(someone(name)), method, url, body, method === 'PATCH' ? apply : {});
  const refused = await ask('changes');
  expect([refused.status, refused.body.message]).toEqual([
    403,
    expect.stringContaining(`${what} is forbidden: `),
  ]);
  expect((await ask('creates')).status).toBe(code);
  if (method !== 'PATCH' || url.includes('dryRun')) return;
  // What is there may be changed.
  expect((await ask('changes')).status).toBe(200);
});
