import { expect, it } from 'vitest';
import { withOwnersThere } from '../../../syncer/owners-there.ts';

const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' };
const set = (...claims: object[]) => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'db' },
  spec: { replicas: 3, volumeClaimTemplates: claims.map((metadata) => ({ metadata, spec: {} })) },
});
const data = { name: 'data' };
const log = { name: 'log' };

it('the templates of claims keep the owners that they have there, and nothing else changes', () => {
  const there = { ...set({ ...data, ownerReferences: [owner] }, log), status: { replicas: 2 } };
  expect(withOwnersThere(set(data, log), there)).toEqual(set({ ...data, ownerReferences: [owner] }, log));
});

it.each([
  ['none is owned there', set(data), set(data)],
  ['there is no such template', set(data), set()],
  ['it has none', { ...set(), kind: 'Deployment', spec: {} }, set({ ...data, ownerReferences: [owner] })],
])('undefined where %s', (_what, manifest, object) => {
  expect(withOwnersThere(manifest, object)).toBeUndefined();
});
