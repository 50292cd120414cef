import { expect, test } from 'vitest';
import { isReadable, readability } from '../../../cluster/readable.ts';
import type { PhysicalCluster } from '../../../cluster/types.ts';

const slices = { group: 'discovery.k8s.io', resource: 'endpointslices' };
const name = 'endpointslices.discovery.k8s.io';
const cluster = (kinds?: Parameters<typeof readability>[0]): PhysicalCluster => ({
  apiVersion: 'atoll.dev/v1alpha1',
  kind: 'PhysicalCluster',
  metadata: { name: 'east' },
  status: { conditions: kinds ? [{ type: 'Readable', ...readability(kinds), lastTransitionTime: '' }] : [] },
});

test.each<[string, PhysicalCluster | undefined, boolean]>([
  ['nobody knows the cluster', undefined, true],
  ['it has not said yet', cluster(), true],
  ['every kind may be read', cluster({}), true],
  ['another kind may not', cluster({ Forbidden: ['services', `x${name}`] }), true],
  ['it is among those', cluster({ Forbidden: ['cronjobs.batch', name] }), false],
  ['its list has no end', cluster({ Forbidden: ['services'], Endless: [name] }), false],
  ['nobody answers of it', cluster({ Endless: ['configmaps'], Unanswered: ['pods', name] }), false],
])('whether a kind is readable: %s', (_what, of, expected) => {
  expect(isReadable(of, slices)).toBe(expected);
});

test('one reason is left out where it does not count', () => {
  const of = cluster({ Forbidden: ['pods'], Unanswered: ['services', name] });
  expect(isReadable(of, slices, 'Unanswered')).toBe(true);
  expect(isReadable(of, slices, 'Forbidden')).toBe(false);
  expect(isReadable(of, { group: '', resource: 'pods' }, 'Unanswered')).toBe(false);
});

test.each<[Parameters<typeof readability>[0], string, string]>([
  [{}, 'Allowed', 'every kind in use may be read'],
  [{ Forbidden: [] }, 'Allowed', 'every kind in use may be read'],
  [{ Forbidden: ['pods', 'services'] }, 'Forbidden', 'may not list pods, services'],
  [{ Endless: ['pods'] }, 'Endless', 'no list ends of pods'],
  [
    { Unanswered: ['pods'], Forbidden: ['secrets'], Endless: ['services'] },
    'Forbidden',
    'may not list secrets; no list ends of services; no list is answered of pods',
  ],
])('each cause has its own words: %j', (kinds, reason, message) => {
  expect(readability(kinds)).toMatchObject({ reason, message });
});
