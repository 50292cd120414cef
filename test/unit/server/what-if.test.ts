import { expect, test } from 'vitest';
import type { PlannedItem } from '../../../scheduler/plan-items.ts';
import { linesOf, mostLines, shortened } from '../../../scheduler/plan-words.ts';
import { asksForPlan } from '../../../server/what-if.ts';

type Asked = Parameters<typeof asksForPlan>[0];

const kinds = {
  deployments: { group: 'apps', resource: 'deployments' },
  configmaps: { group: '', resource: 'configmaps' },
  namespaces: { group: '', resource: 'namespaces' },
  physicalclusters: { group: 'atoll.dev', resource: 'physicalclusters' },
  placements: { group: 'atoll.dev', resource: 'placements' },
  placementpolicies: { group: 'atoll.dev', resource: 'placementpolicies' },
  clusterplacementpolicies: { group: 'atoll.dev', resource: 'clusterplacementpolicies' },
};
const object = (annotations: object = {}, spec: object = {}) => ({
  metadata: { name: 'x', annotations },
  spec,
});
const east = { 'atoll.dev/clusters': 'east' };
const asked = (resource: keyof typeof kinds, now: object, old?: object, more: object = {}): Asked =>
  ({
    dryRun: true,
    operation: old ? 'UPDATE' : 'CREATE',
    subresource: '',
    stored: { info: kinds[resource] },
    object: now,
    old,
    ...more,
  }) as unknown as Asked;

test.each<[string, Asked, ReturnType<typeof asksForPlan>]>([
  ['an annotation that names clusters', asked('deployments', object(east), object()), 'where'],
  ['one of a Namespace', asked('namespaces', object(east), object()), 'where'],
  ['one that goes', asked('deployments', object(), object(east)), 'where'],
  ['a spread', asked('deployments', object({ 'atoll.dev/spread': 'region' }), object()), 'where'],
  [
    'more replicas',
    asked('deployments', object({}, { replicas: 3 }), object({}, { replicas: 1 })),
    'how many',
  ],
  ['both', asked('deployments', object(east, { replicas: 3 }), object({}, { replicas: 1 })), 'where'],
  ['a drain', asked('physicalclusters', object({}, { drain: true }), object()), 'where'],
  ['a policy', asked('placementpolicies', object({}, { priority: 1 }), object()), 'where'],
  ['one that comes', asked('clusterplacementpolicies', object()), 'where'],
  ['one that stays as it was', asked('placementpolicies', object(), object()), undefined],
  ['a cluster that stays as it was', asked('physicalclusters', object(), object()), undefined],
  ['an image', asked('deployments', object({}, { image: 'b' }), object({}, { image: 'a' })), undefined],
  ['another annotation', asked('deployments', object({ a: 'b' }), object()), undefined],
  ['something new without a word', asked('deployments', object({}, { replicas: 3 })), undefined],
  ['something new that names clusters', asked('deployments', object(east)), 'where'],
  ['what runs nothing', asked('configmaps', object(east), object()), undefined],
  ['a record', asked('placements', object({}, { clusters: [] }), object()), undefined],
  ['a status', asked('deployments', object(east), object(), { subresource: 'status' }), undefined],
  ['what is really written', asked('deployments', object(east), object(), { dryRun: false }), undefined],
  ['a deletion', asked('deployments', object(east), object(), { operation: 'DELETE' }), undefined],
  [
    "atoll plan's own",
    asked('deployments', object(east), object(), { options: { fieldManager: 'atoll-plan' } }),
    undefined,
  ],
])('%s', (_what, request, expected) => expect(asksForPlan(request)).toBe(expected));

const item = (more: Partial<PlannedItem> = {}): PlannedItem => ({
  logicalCluster: 'id',
  namespace: 'shop',
  object: 'deployments.apps/web',
  workload: true,
  outcome: 'moves',
  from: ['east'],
  to: ['west'],
  reasons: { east: 'it is being drained', west: 'it has the most room' },
  ...more,
});

test('a plan is told in few lines', () => {
  expect(linesOf([], 'id')).toEqual(['plan: nothing would be placed otherwise']);
  expect(
    linesOf(
      [
        item(),
        item({ to: ['east', 'west'], reasons: { west: 'it takes 2 pods that have no room on east' } }),
        item({ from: ['east', 'north', 'west'], to: ['north', 'west'], reasons: {} }),
        item({ logicalCluster: 'other', outcome: 'starts', from: [], reasons: {} }),
        item({ outcome: 'leaves', to: [], reasons: {} }),
        item({ outcome: 'blocked', to: ['east'], reasons: { west: 'it is cordoned' } }),
        item({ outcome: 'stays' }),
        item({
          outcome: 'stays',
          to: ['east'],
          replicas: { from: { east: 3 }, to: { east: 900 } },
          reasons: {},
          lacks: { east: 'for 897 more it needs 897 pods, 2 left' },
        }),
        item({ workload: false }),
      ],
      'id',
    ),
  ).toEqual([
    'plan: shop/deployments.apps/web moves from east to west: east: it is being drained; west: it has the most room',
    'plan: shop/deployments.apps/web spreads from east to west too: it takes 2 pods that have no room on east',
    'plan: shop/deployments.apps/web leaves east for north, west, where it is already',
    'plan: other/shop/deployments.apps/web starts on west',
    'plan: shop/deployments.apps/web leaves east',
    'plan: shop/deployments.apps/web is blocked on east: west: it is cordoned',
    'plan: shop/deployments.apps/web stays on east (east=3 to east=900): east: for 897 more it needs 897 pods, 2 left',
  ]);
  const long = linesOf(Array(5000).fill(item({ reasons: { west: 'x'.repeat(999) } })), 'id');
  expect(long).toHaveLength(mostLines + 1);
  expect(long.every((line) => line.length <= 240)).toBe(true);
  expect(long.at(-1)).toBe('plan: and 4990 more; atoll plan tells all of them');
});

test('what is too long keeps its cause and what is waited for', () => {
  const reasons = Object.fromEntries(
    Array.from({ length: 12 }, (_, i) => [
      `cluster-${i}`,
      'its labels do not match what the policy asks for',
    ]),
  );
  const blocked = item({
    outcome: 'blocked',
    from: ['cluster-0'],
    to: ['cluster-0'],
    reasons,
    awaits: ['east, which is silent'],
  });
  const [line = ''] = linesOf([blocked], 'id');
  expect(line.length).toBeLessThanOrEqual(240);
  expect(line).toMatch(
    / is blocked on cluster-0: cluster-0: its labels do not match .*; 10 more; waiting for east, which is silent$/,
  );
  const long = (n: number) => 'x'.repeat(n);
  expect(shortened('a; b; c', 240)).toBe('a; b; c');
  expect(shortened(`a; ${long(40)}; c; ${long(40)}; e`, 50)).toBe('a; 3 more; e');
  expect(shortened(`${long(90)}; b; wait`, 60)).toBe(`${long(43)}...; 1 more; wait`);
  expect(shortened(`cause; ${long(90)}`, 60)).toBe(`cause; ${long(50)}...`);
  for (const text of [long(99), `${long(99)}; ${long(99)}`, `${long(99)}; b; ${long(99)}`])
    for (const most of [10, 60, 98]) expect(shortened(text, most).length).toBeLessThanOrEqual(most);
  expect(shortened(`${long(99)}; ${long(99)}`, 61)).toBe(`${long(26)}...; ${long(27)}...`);
});

test('with how many replicas, where that is more than the names say', () => {
  const items = [
    item({
      to: ['east', 'west'],
      replicas: { from: { east: 5 }, to: { east: 3, west: 2 } },
      reasons: { west: 'y' },
    }),
    item({
      from: ['east', 'west'],
      to: ['east', 'west'],
      replicas: { from: { east: 3, west: 2 }, to: { east: 2, west: 3 } },
      reasons: {},
    }),
    item({ replicas: { from: { east: 5 }, to: { west: 5 } }, reasons: {} }),
    item({
      outcome: 'blocked',
      to: ['east', 'west'],
      replicas: { from: { east: 4 }, to: { east: 6, west: 3 } },
      reasons: { east: 'x' },
    }),
    item({
      outcome: 'starts',
      from: [],
      to: ['east', 'west'],
      replicas: { from: {}, to: { east: 4, west: 1 } },
      reasons: {},
    }),
  ];
  expect(linesOf(items, 'id')).toEqual([
    'plan: shop/deployments.apps/web spreads from east to west too (east=5 to east=3,west=2): y',
    'plan: shop/deployments.apps/web shifts on east, west (east=3,west=2 to east=2,west=3)',
    'plan: shop/deployments.apps/web moves from east to west',
    'plan: shop/deployments.apps/web is blocked on east (east=4 to east=6,west=3): east: x',
    'plan: shop/deployments.apps/web starts on east=4,west=1',
  ]);
});
