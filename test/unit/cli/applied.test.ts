import { expect, test } from 'vitest';
import { saidBefore, without } from '../../../cli/applied.ts';
import type { KubeObject, ManagedFieldsEntry } from '../../../kube/object.ts';

const object = (annotations: Record<string, string>, spec: object): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', annotations },
  spec,
});
const now = object({ a: '1' }, { replicas: 2, template: { spec: { containers: [{ name: 'c' }] } } });
const lastKey = 'kubectl.kubernetes.io/last-applied-configuration';

test('what was applied before and is not any more is null, but for what the object is called', () => {
  const before = {
    apiVersion: 'apps/v1beta1',
    kind: 'Deployment',
    metadata: {
      name: 'web',
      namespace: 'shop',
      creationTimestamp: null,
      labels: { l: '1' },
      annotations: { a: '1', b: '2' },
    },
    spec: {
      paused: true,
      strategy: { type: 'Recreate' },
      template: { spec: { containers: [{}, {}], hostname: 'h' } },
    },
    status: { replicas: 3 },
  };
  expect(without(now, before, object({ [lastKey]: '{}' }, {}))).toEqual({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', annotations: { a: '1', b: null }, labels: null },
    spec: {
      replicas: 2,
      paused: null,
      strategy: null,
      template: { spec: { containers: [{ name: 'c' }], hostname: null } },
    },
  });
});

const entry = (manager: string, operation: string, fieldsV1: object): ManagedFieldsEntry =>
  ({ manager, operation, apiVersion: 'apps/v1', fieldsType: 'FieldsV1', fieldsV1 }) as ManagedFieldsEntry;
const own = {
  'f:spec': { 'f:replicas': {}, 'f:template': { '.': {}, 'k:{"name":"c"}': { 'f:image': {} } } },
};
const owned = { spec: { replicas: {}, template: {} } };

test.each<[string, ManagedFieldsEntry[], Record<string, string>, object | undefined]>([
  ['nobody applied it', [entry('kubectl-edit', 'Update', own)], {}, undefined],
  ['by kubectl apply', [], { [lastKey]: '{"spec":{"replicas":1}}' }, { spec: { replicas: 1 } }],
  ['that cannot be read', [], { [lastKey]: '{' }, undefined],
  ['by one server-side', [entry('flux', 'Apply', own), entry('kcm', 'Update', {})], {}, owned],
  [
    'by several: nobody knows whose it is',
    [entry('flux', 'Apply', own), entry('argo', 'Apply', {})],
    {},
    undefined,
  ],
])('what was said before: %s', (_, managedFields, annotations, expected) => {
  const live = object(annotations, {});
  expect(saidBefore({ ...live, metadata: { ...live.metadata, managedFields } })).toEqual(expected);
});

test.each<[string, object, Record<string, string>, object]>([
  ['nothing else is in it', { affinity: { nodeAffinity: { required: {} } } }, {}, { affinity: null }],
  [
    'others have something in it',
    { affinity: { nodeAffinity: { required: {} }, podAffinity: {} } },
    {},
    { affinity: { nodeAffinity: null } },
  ],
  [
    'client-side apply said it: whatever is in it',
    { affinity: { nodeAffinity: { required: {} }, podAffinity: {} } },
    { [lastKey]: '{}' },
    { affinity: null },
  ],
])('a map that is not said any more goes whole, where %s', (_, live, annotations, expected) => {
  const before = { spec: { affinity: { nodeAffinity: { required: {} } } } };
  const { metadata: _metadata, ...patch } = without(object({}, {}), before, object(annotations, live));
  expect(patch).toMatchObject({ spec: expected });
});

test.each<[string, Record<string, string>, object]>([
  ['client-side', { [lastKey]: '{}' }, { type: 'Recreate', rollingUpdate: null }],
  ['server-side, where that is refused', {}, { type: 'Recreate' }],
])('of a strategy that is another now, what the API had filled in: %s', (_, annotations, expected) => {
  const live = object(annotations, {
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%' } },
  });
  const patch = without(object({}, { strategy: { type: 'Recreate' } }), {}, live);
  expect((patch['spec'] as { strategy: object }).strategy).toEqual(expected);
});

test('annotations that others wrote stay, whoever applied', () => {
  const live = object({ [lastKey]: '{}', 'atoll.dev/clusters': 'east', b: '2' }, {});
  const { annotations: _none, ...metadata } = object({}, {}).metadata;
  const patch = without({ ...object({}, {}), metadata }, { metadata: { annotations: { b: '2' } } }, live);
  expect(patch).toMatchObject({ metadata: { annotations: { b: null } } });
});
