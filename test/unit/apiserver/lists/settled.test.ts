import { expect, test } from 'vitest';
import { historyMs, pauseAfter } from '../../../../apiserver/handlers/lists/history.ts';
import { Settled } from '../../../../apiserver/handlers/lists/settled.ts';
import type { Entry } from '../../../../storage/store.ts';

const bytes = (object: object) => new TextEncoder().encode(JSON.stringify(object));
const workload = (generation: number, { revision = 5, created = 1, name = 'web' } = {}): Entry => ({
  key: `/apps/deployments/a/shop/${name}`,
  revision,
  created,
  value: bytes({ metadata: { labels: { generation: '9' }, generation }, spec: { generation: 7 } }),
});
const placement = (revision: number): Entry => ({ key: 'p', revision, created: 2, value: bytes({}) });

test('a generation that is settled is not looked at again, whatever else is written of it or of its Placement', () => {
  const known = new Settled();
  expect(known.has(workload(1), placement(3))).toBe(false);
  known.settle(workload(1));
  expect(known.has(workload(1, { revision: 8 }), placement(4))).toBe(true);
  expect(known.has(workload(1), undefined)).toBe(true);
  expect(known.has(workload(2), placement(4))).toBe(false);
  expect(known.has(workload(1, { created: 6 }), placement(4))).toBe(false);
});

test('a workload of which nothing is to come is looked at again once it or its Placement is another, and no sooner', () => {
  const known = new Settled();
  known.leave(workload(1), undefined);
  expect(known.has(workload(1, { revision: 8 }), undefined)).toBe(true);
  expect(known.has(workload(1), placement(3))).toBe(false);
  known.leave(workload(1), placement(3));
  expect(known.has(workload(1), placement(3))).toBe(true);
  expect(known.has(workload(1), placement(4))).toBe(false);
  expect(known.has(workload(2), placement(3))).toBe(false);
});

test('of the oldest nothing is known any more once there are too many', () => {
  const known = new Settled(2);
  const [a, b, c] = ['a', 'b', 'c'].map((name) => workload(1, { name })) as [Entry, Entry, Entry];
  for (const one of [a, b, c]) known.settle(one);
  expect([a, b, c].map((one) => known.has(one, undefined))).toEqual([false, true, true]);
});

test.each([
  [0, 20],
  [1, 20],
  [10, 200],
  [1000, historyMs],
])(
  'after a look of %d ms the next is %d ms later: whoever has much to be looked at is looked at seldom',
  (took, pause) => {
    expect(pauseAfter(took)).toBe(pause);
  },
);
