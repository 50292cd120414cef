import { describe, expect, it } from 'vitest';
import { faultOf } from '../../../cluster/drain.ts';
import { type Left, leftOn } from '../../../cluster/given-up.ts';
import type { Placement, PlacementSpec, PlacementStatus, Share } from '../../../cluster/types.ts';
import { isInPlace } from '../../../cluster/volumes.ts';
import type { KubeObject } from '../../../kube/object.ts';

it.each([
  ['hold', undefined],
  ['recreate', undefined],
  ['', 'must be "hold" or "recreate"'],
  ['Recreate', 'must be "hold" or "recreate"'],
  ['copy', 'must be "hold" or "recreate"; "copy" takes a copier, and none is configured'],
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
});

describe('claims that a set left', () => {
  const settled = {
    type: 'Settled',
    status: 'True',
    reason: 'Settled',
    message: '',
    lastTransitionTime: time,
  } as const;
  const there = { present: true, status: { availableReplicas: 2 } };
  const after = Date.parse(time) + 1;

  function left(
    spec: Partial<PlacementSpec>,
    status: PlacementStatus,
    { heard = after, uid = '1', metadata = {} }: { heard?: number; uid?: string; metadata?: object } = {},
  ): Left {
    const whole = {
      ref: { uid: '1' },
      clusters: ['b'],
      shares: { b: active },
      givenUp: { a: time },
      ...spec,
    };
    const placement = {
      metadata,
      spec: whole,
      status: { conditions: [settled], clusters: { b: there }, ...status },
    };
    return leftOn('a', placement as unknown as Placement, { uid, heardAt: () => heard });
  }
  const slice = (of: object): PlacementStatus => ({ clusters: { b: { ...there, ...of } } });

  it.each<[string, Left, Left]>([
    ['when it is in place', left({}, {}), 'removed'],
    ['given up by nobody', left({ givenUp: {} }, {}), 'kept'],
    ['given up elsewhere', left({ givenUp: { c: time } }, {}), 'kept'],
    ['where it is wanted again', left({ clusters: ['a', 'b'] }, {}), 'kept'],
    ['of another of its name', left({}, {}, { uid: '2' }), 'kept'],
    ['of one that goes', left({}, {}, { metadata: { deletionTimestamp: time } }), 'kept'],
    ['before it has left', left({ shares: { a: active, b: active } }, {}), 'awaited'],
    ['before it is counted on', left({ shares: { b: { ...active, phase: 'Joining' } } }, {}), 'awaited'],
    ['before that is said', left({}, { conditions: [{ ...settled, status: 'False' }] }), 'awaited'],
    ['of which nothing is known', left({}, { conditions: [] }), 'awaited'],
    ['when it fails', left({}, slice({ status: { availableReplicas: 1 } })), 'awaited'],
    ['when it is gone', left({}, slice({ present: false })), 'awaited'],
    ['when it is refused', left({}, slice({ error: { reason: 'Invalid', message: '' } })), 'awaited'],
    ['when nobody says anything of it', left({}, { clusters: {} }), 'awaited'],
    ['while its cluster was not heard of since', left({}, {}, { heard: after - 1 }), 'awaited'],
    ['while its cluster is silent', left({}, {}, { heard: 0 }), 'awaited'],
    ['when it is to be nowhere', left({ clusters: [], shares: {} }, {}), 'awaited'],
  ])('%s', (_name, found, expected) => {
    expect(found).toBe(expected);
  });
});
