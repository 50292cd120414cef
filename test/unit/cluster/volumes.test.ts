import { describe, expect, it } from 'vitest';
import { faultOf } from '../../../cluster/drain.ts';
import type { PlacementSpec, Share } from '../../../cluster/types.ts';
import { isInPlace } from '../../../cluster/volumes.ts';
import type { KubeObject } from '../../../kube/object.ts';

it.each([
  ['hold', undefined],
  ['recreate', undefined],
  ['copy', undefined],
  ['', 'must be "hold", "recreate" or "copy"'],
  ['Recreate', 'must be "hold", "recreate" or "copy"'],
])('atoll.dev/volumes: %j', (value, fault) => {
  expect(faultOf('atoll.dev/volumes', value)).toBe(fault);
});

const active: Share = { phase: 'Active', replicas: 2 };
const time = '2026-01-01T00:00:00.000Z';

describe('is in place', () => {
  const workload = { spec: { replicas: 2 } } as unknown as KubeObject;

  it.each<[string, Record<string, Share>, boolean]>([
    ['where all of it is', { b: active }, true],
    ['not on its way', { b: { ...active, phase: 'Joining' } }, false],
    ['not on its way elsewhere', { b: active, a: { phase: 'Leaving', replicas: 0 } }, false],
    ['not where it is nowhere', {}, false],
    ['not on another cluster', { a: active }, false],
    ['not in part', { b: { ...active, replicas: 1 } }, false],
    ['not where it is to have more', { b: { ...active, goal: { replicas: 3 } } }, false],
    ['not while it holds', { b: { ...active, held: { replicas: 3, since: time } } }, false],
    ['whatever has no replicas', { b: { phase: 'Active' } }, true],
  ])('%s', (_name, shares, expected) => {
    const spec = { clusters: ['b'], shares } as unknown as PlacementSpec;
    expect(isInPlace(spec, workload)).toBe(expected);
  });

  it('not of what is scaled to nothing: nothing shows that it would run there', () => {
    const spec = { clusters: ['b'], shares: { b: { ...active, replicas: 0 } } } as unknown as PlacementSpec;
    expect(isInPlace(spec, { spec: { replicas: 0 } } as unknown as KubeObject)).toBe(false);
  });
});
