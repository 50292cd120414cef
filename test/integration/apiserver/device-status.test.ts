import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { UserInfo } from '../../../kube/http.ts';
import { type Api, call, startApi } from './api.ts';

const group = 'resource.k8s.io';
const claims = `/apis/${group}/v1/namespaces/default/resourceclaims`;
const rbac = '/apis/rbac.authorization.k8s.io/v1';

const device = { driver: 'd.example.com', pool: 'p', device: 'x' };
const onNode = {
  nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }],
};
const allocation = { devices: { results: [{ request: 'a', ...device }] }, nodeSelector: onNode };
const reservedFor = [{ resource: 'pods', name: 'p', uid: 'u' }];
const told = { ...device, data: { a: 1 } };

const account = (name: string, extra = {}): UserInfo => ({
  name: `system:serviceaccount:default:${name}`,
  groups: ['system:authenticated'],
  extra: { 'authentication.kcp.io/cluster-name': ['root'], ...extra },
});
const there = { 'authentication.kubernetes.io/node-name': ['n1'] };

let api: Api;
beforeAll(async () => {
  api = startApi();
  const status = { apiGroups: [group], resources: ['resourceclaims/status'], verbs: ['update', 'patch'] };
  const synthetic = (resource: string, ...verbs: string[]) => ({
    apiGroups: [group],
    resources: [resource],
    verbs,
  });
  const roles: Record<string, object[]> = {
    plain: [],
    binder: [synthetic('resourceclaims/binding', 'patch')],
    driver: [
      { ...synthetic('resourceclaims/driver', 'associated-node:patch'), resourceNames: ['d.example.com'] },
    ],
    anywhere: [synthetic('resourceclaims/driver', 'arbitrary-node:patch')],
  };
  for (const [name, rules] of Object.entries(roles)) {
    const made = await api.call('POST', `${rbac}/clusterroles`, {
      metadata: { name },
      rules: [status, ...rules],
    });
    const binding = await api.call('POST', `${rbac}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', namespace: 'default', name }],
    });
    expect([made.status, binding.status]).toEqual([201, 201]);
  }
});
afterAll(() => api.close());

let made = 0;
async function claim(status: object): Promise<string> {
  const name = `c${made++}`;
  const spec = { devices: { requests: [{ name: 'a', exactly: { deviceClassName: 'c' } }] } };
  expect((await api.call('POST', claims, { metadata: { name }, spec })).status).toBe(201);
  if (Object.keys(status).length > 0)
    expect((await api.call('PATCH', `${claims}/${name}/status`, { status })).status).toBe(200);
  return `${claims}/${name}/status`;
}

const cannot = (verb: string, what: string, where: string, who: string, name = '') =>
  `resourceclaims.${group}${name && ` "${name}"`} is forbidden: User "system:serviceaccount:default:${who}" cannot ${verb} resource "resourceclaims/${what}" in API group "${group}" ${where}`;
const binding = (who: string) =>
  `status.allocation: Forbidden: changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="patch" permission: ${cannot('patch', 'binding', 'at the cluster scope', who)}`;
const telling = (who: string, ...verbs: string[]) =>
  `status.devices: Forbidden: changing status.devices requires resource="resourceclaims/driver", verb="[${verbs.join(' ')}]" permission: ${cannot(verbs[0] ?? '', 'driver', 'in the namespace "default"', who, 'd.example.com')}`;

describe('who tells the status of a claim', () => {
  const bound = { allocation, reservedFor };
  test.each<[string, object, object, UserInfo, string?]>([
    ['binds it', {}, bound, account('binder')],
    ['may not bind it', {}, bound, account('plain'), binding('plain')],
    ['may not reserve it', { allocation }, { reservedFor }, account('driver', there), binding('driver')],
    ['tells of a device there', bound, { devices: [told] }, account('driver', there)],
    [
      'tells of a device elsewhere',
      bound,
      { devices: [told] },
      account('driver'),
      telling('driver', 'arbitrary-node:patch'),
    ],
    [
      'may tell of no device there',
      bound,
      { devices: [told] },
      account('plain', there),
      telling('plain', 'associated-node:patch', 'arbitrary-node:patch'),
    ],
    ['tells of devices anywhere', bound, { devices: [told] }, account('anywhere')],
    [
      'takes back what is told',
      { ...bound, devices: [told] },
      { devices: null },
      account('plain'),
      telling('plain', 'arbitrary-node:patch'),
    ],
    ['says what was said', { ...bound, devices: [told] }, { devices: [told] }, account('plain')],
  ])('%s', async (_, before, status, who, refused) => {
    const url = await claim(before);
    const { status: code, body } = await call(api.server.transport(who), 'PATCH', url, { status });
    if (refused === undefined) return expect([code, body.message]).toEqual([200, undefined]);
    expect([code, body.message]).toEqual([422, expect.stringContaining(` is invalid: ${refused}`)]);
  });
});

test('devices that others use are given in no namespace that is not labelled for it', async () => {
  const url = await claim({});
  const results = [{ request: 'a', ...device, adminAccess: true }];
  const { status, body } = await api.call('PATCH', url, { status: { allocation: { devices: { results } } } });
  expect([status, body.message]).toEqual([
    422,
    expect.stringContaining(
      'status.allocation.devices.results[0].adminAccess: Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace',
    ),
  ]);
});

test('what is told of devices goes when a claim gives them up', async () => {
  const url = await claim({ allocation, devices: [told] });
  const { status, body } = await api.call('PATCH', url, { status: { allocation: null } });
  expect([status, body.status]).toEqual([200, {}]);
});
