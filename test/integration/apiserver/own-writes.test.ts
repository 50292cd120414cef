import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownUser } from '../../../apiserver/authn/controllers.ts';
import { controllersUser, schedulerUser } from '../../../cluster/names.ts';
import type { UserInfo } from '../../../kube/http.ts';
import { type Api, admin, call, configMaps, startApi } from './api.ts';
import { type Hooks, patchOf, startHooks } from './webhook/hooks.ts';

const base = '/apis/admissionregistration.k8s.io/v1';
const rule = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE', 'UPDATE'],
  resources: ['configmaps'],
};

let api: Api;
let hooks: Hooks;
beforeAll(async () => {
  api = startApi();
  hooks = await startHooks({
    '/change': () => patchOf([{ op: 'add', path: '/metadata/labels/hook', value: 'yes' }]),
  });
  const webhook = {
    name: 'w.example.com',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    clientConfig: hooks.config('/change'),
    rules: [rule],
  };
  const expression = "[JSONPatch{op: 'add', path: '/metadata/labels/policy', value: 'yes'}]";
  const spec = {
    matchConstraints: { resourceRules: [rule] },
    reinvocationPolicy: 'IfNeeded',
    mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }],
  };
  const metadata = { name: 'change' };
  for (const [kind, object] of [
    ['mutatingwebhookconfigurations', { metadata, webhooks: [webhook] }],
    ['mutatingadmissionpolicies', { metadata, spec }],
    ['mutatingadmissionpolicybindings', { metadata, spec: { policyName: 'change' } }],
  ] as const)
    expect((await api.call('POST', `${base}/${kind}`, object)).status).toBe(201);
});
afterAll(async () => {
  await hooks.close();
  await api.close();
});

test('what a user writes is changed by webhooks and policies of the logical cluster, and what our own controllers write is not', async () => {
  const labels = { its: 'own' };
  const write = async (user: UserInfo, method: string, url: string, body: object) => {
    const answer = await call(api.server.transport(user), method, url, body);
    return answer.body.metadata?.labels;
  };
  const own = ownUser(controllersUser);
  const made = { metadata: { name: 'a', labels } };
  const change = { data: { a: 'b' } };
  expect(await write(own, 'POST', configMaps, made)).toEqual(labels);
  expect(await write(ownUser(schedulerUser), 'PATCH', `${configMaps}/a`, change)).toEqual(labels);
  const all = { ...labels, hook: 'yes', policy: 'yes' };
  expect(await write(admin, 'PATCH', `${configMaps}/a`, { data: { a: 'c' } })).toEqual(all);
  // Somebody who is merely called so is somebody.
  const called = { name: controllersUser, groups: ['system:masters'] };
  expect(await write(called, 'POST', configMaps, { metadata: { name: 'b', labels } })).toEqual(all);
});

test('and who may deny does', async () => {
  const spec = {
    matchConstraints: { resourceRules: [{ ...rule, operations: ['DELETE'] }] },
    validations: [{ expression: 'false', message: 'no' }],
  };
  const binding = { policyName: 'deny', validationActions: ['Deny'] };
  await api.call('POST', `${base}/validatingadmissionpolicies`, { metadata: { name: 'deny' }, spec });
  await api.call('POST', `${base}/validatingadmissionpolicybindings`, {
    metadata: { name: 'deny' },
    spec: binding,
  });
  const { status } = await call(api.server.transport(ownUser(controllersUser)), 'DELETE', `${configMaps}/a`);
  expect(status).toBe(422);
});
