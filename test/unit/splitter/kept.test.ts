import { expect, test } from 'vitest';
import type { ObjectRef } from '../../../cluster/types.ts';
import { asKept } from '../../../splitter/kept.ts';

const time = '2026-01-02T03:04:05Z';
const deployment: ObjectRef = {
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  kind: 'Deployment',
  name: 'x',
  uid: 'u',
};
const custom: ObjectRef = {
  ...deployment,
  group: 'example.com',
  kind: 'Roller',
  rule: { specReplicasPath: 'spec.replicas' },
};
const root = (status?: object) => ({
  apiVersion: 'v1',
  kind: 'K',
  metadata: { name: 'x' },
  ...(status && { status }),
});
const said = { conditions: [{ type: 'Available', status: 'True', lastTransitionTime: time, message: '' }] };
const kept = {
  conditions: [{ type: 'Available', status: 'True', lastUpdateTime: null, lastTransitionTime: time }],
};

test('a status of a built-in kind says what the API keeps of it', () => {
  expect(asKept(root(), deployment, said)).toEqual(kept);
});

test('where nothing is new in it, it is the very one that is there', () => {
  const there = root(kept);
  expect(asKept(there, deployment, said)).toBe(there.status);
  expect(asKept(there, deployment, { ...said, replicas: 1 })).toEqual({ ...kept, replicas: 1 });
});

test('a null of a custom resource is a word', () => {
  const there = root({ phase: null });
  expect(asKept(there, custom, {})).toEqual({});
  expect(asKept(there, custom, { phase: null })).toBe(there.status);
});
