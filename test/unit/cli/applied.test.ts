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
  expect(without(now, before)).toEqual({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', annotations: { a: '1', b: null }, labels: { l: null } },
    spec: {
      replicas: 2,
      paused: null,
      strategy: { type: null },
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
