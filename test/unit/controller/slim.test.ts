import { expect, it } from 'vitest';
import { slim } from '../../../controller/slim.ts';
import type { KubeObject } from '../../../kube/object.ts';

const policies = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource: 'validatingadmissionpolicies',
};

it('of a policy it is kept which generation of it was checked, not what it says', () => {
  const policy: KubeObject = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'p', uid: 'u', generation: 2, annotations: { a: 'b' } },
    spec: { validations: [{ expression: 'true' }] },
    status: { observedGeneration: 1, typeChecking: { expressionWarnings: [] } },
  };
  const { apiVersion, kind, metadata } = policy;
  expect(slim(policies)?.(policy)).toEqual({
    apiVersion,
    kind,
    metadata,
    status: { observedGeneration: 1 },
  });
});

it.each(['configmaps', 'secrets'])('of %s what they carry is not kept', (resource) => {
  const object = { apiVersion: 'v1', kind: 'X', metadata: { name: 'x' }, data: { a: 'b' } };
  expect(slim({ group: '', version: 'v1', resource })?.(object)).toEqual({
    apiVersion: 'v1',
    kind: 'X',
    metadata: { name: 'x' },
  });
});

it('of a Secret its type is kept, by which it is placed or not', () => {
  const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' }, type: 'helm.sh/release.v1' };
  const kept = slim({ group: '', version: 'v1', resource: 'secrets' })?.({
    ...object,
    data: { a: 'b' },
  } as KubeObject);
  expect(kept).toEqual(object);
});

it.each([
  ['', 'services'],
  ['networking.k8s.io', 'ingresses'],
])('of %s %s who wrote the addresses is kept', (group, resource) => {
  const entry = (manager: string, fieldsV1: object) => ({ manager, fieldsV1 });
  const spoke = entry('speaker', { 'f:status': { 'f:loadBalancer': { 'f:ingress': {} } } });
  const made = entry('kubectl', { 'f:spec': { 'f:type': {} } });
  const object = { apiVersion: 'v1', kind: 'X', metadata: { name: 'x', managedFields: [made, spoke] } };
  const kept = slim({ group, version: 'v1', resource })?.(object as KubeObject);
  expect(kept?.metadata).toEqual({ name: 'x', managedFields: [spoke] });
  const unwritten = { ...object, metadata: { name: 'x', managedFields: [made] } };
  expect(slim({ group, version: 'v1', resource })?.(unwritten as KubeObject).metadata).toEqual({ name: 'x' });
});

it('of all others the cache keeps what it does', () => {
  expect(slim({ group: 'apps', version: 'v1', resource: 'deployments' })).toBeUndefined();
});
