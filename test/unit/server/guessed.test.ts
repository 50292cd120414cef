import { expect, test } from 'vitest';
import { objectKey } from '../../../apiserver/registry/keys.ts';
import { isGuessed } from '../../../server/control/guessed.ts';

const keyIn = (group: string, resource: string) =>
  objectKey({ group, resource, namespaced: true }, 'root', 'default', 'a');

test.each([
  ['atoll.dev', 'placements', true],
  ['atoll.dev', 'placementslices', true],
  ['apps', 'deployments', true],
  ['', 'services', true],
  ['example.com', 'pods', true],
  ['', 'pods', false],
  ['', 'events', false],
  ['events.k8s.io', 'events', false],
  ['', 'secrets', false],
  ['apps', 'replicasets', false],
  ['discovery.k8s.io', 'endpointslices', false],
])('what was seen last of %s %s is kept: %s', (group, resource, kept) => {
  expect(isGuessed(keyIn(group, resource))).toBe(kept);
});

test('and nothing that is no object', () => {
  expect(isGuessed('/!internal/leases/scheduler')).toBe(false);
});
