import { expect, test } from 'vitest';
import { clustersCell, sharesOf, stateOf, whyOf } from '../../../cluster/summary.ts';
import type { Placement, Share } from '../../../cluster/types.ts';

const active = (numbers: Partial<Share> = {}): Share => ({ phase: 'Active', ...numbers });
const many = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`c${i + 10}`, active()]));

test.each<[string, Record<string, Share> | undefined, string]>([
  ['nowhere', undefined, '<none>'],
  ['nowhere any more', {}, '<none>'],
  ['one has all', { east: active({ replicas: 3 }) }, 'east'],
  ['divided', { west: active({ replicas: 2 }), east: active({ replicas: 3 }) }, 'east=3,west=2'],
  [
    'divided by completions',
    { east: active({ completions: 4, parallelism: 1 }), west: active({ completions: 2 }) },
    'east=4,west=2',
  ],
  ['a copy on each', { east: active(), west: active() }, 'east,west'],
  ['on its way', { east: active({ replicas: 2 }), west: { phase: 'Joining', replicas: 2 } }, 'east=2,west=2'],
  ['nothing of it yet', { east: active({ replicas: 2 }), west: active({ replicas: 0 }) }, 'east=2,west=0'],
  [
    'made anew, where a former one is left',
    { east: active({ replicas: 2 }), west: { phase: 'Leaving', replicas: 2, former: true } },
    'east',
  ],
  ['on more than anybody reads', many, 'c10,c11,c12,c13,c14,c15,c16,c17,c18,c19 + 2 more...'],
])('CLUSTERS of what is %s', (_what, shares, cell) => {
  const placement = { spec: { ...(shares && { shares }) } } as unknown as Placement;
  expect(clustersCell(placement)).toBe(cell);
});

test.each<[string, object, string, string]>([
  ['is where it ought to be', { reasons: { a: 'by policy p', b: 'not needed' } }, 'Settled', 'by policy p'],
  ['stays for want of a copier', { reasons: { b: 'no copier' }, blocked: true }, 'Blocked', 'b: no copier'],
  [
    'stays where it is driven away',
    { reasons: { a: 'it is being drained', b: 'w', c: 'x', d: 'y', e: 'z' }, blocked: true },
    'Blocked',
    'it is being drained; b: w; c: x; d: y',
  ],
])('STATE and WHY of what %s', (_what, spec, state, why) => {
  const conditions = [{ type: 'Settled', status: 'True', reason: 'Settled' }];
  const placement = { spec: { clusters: ['a'], ...spec }, status: { conditions } } as unknown as Placement;
  expect([stateOf(placement), whyOf(placement)]).toEqual([state, why]);
});

test.each<[string, object, object, string]>([
  ['a built-in kind: those that are ready', {}, { readyReplicas: 2, availableReplicas: 1 }, 'east=2/3 west'],
  ['none is ready', {}, {}, 'east=0/3 west'],
  ['a custom resource that says only what is available', {}, { availableReplicas: 3 }, 'east=3/3 west'],
  [
    'one that says it elsewhere',
    { rule: { status: { availableReplicasPath: '.status.up.count' } } },
    { up: { count: 2 } },
    'east=2/3 west',
  ],
])('how much there is of %s', (_what, ref, there, expected) => {
  const former: Share = { phase: 'Leaving', replicas: 3, former: true };
  const shares = { east: active({ replicas: 3 }), west: former };
  const kind = { group: 'apps', resource: 'deployments', kind: 'Deployment', name: 'web', ...ref };
  const status = { clusters: { east: { present: true, status: there } } };
  expect(sharesOf({ spec: { ref: kind, clusters: ['east'], shares }, status } as unknown as Placement)).toBe(
    expected,
  );
});

test.each([
  ['Placed', 'east', 'it has the most room'],
  ['Ended', '<none>', 'it has ended'],
])('where a Job without a share is to be, and why, as its Placement is %s', (reason, expected, why) => {
  const ref = { group: 'batch', resource: 'jobs', kind: 'Job', name: 'once' };
  const status = { conditions: [{ type: 'Placed', status: 'True', reason, message: 'it has ended' }] };
  const reasons = { east: 'it has the most room' };
  const placement = {
    spec: { ref, clusters: ['east'], reasons, shares: {} },
    status,
  } as unknown as Placement;
  expect([sharesOf(placement), whyOf(placement)]).toEqual([expected, why]);
});
