import { expect, test } from 'vitest';
import { parseQuantity } from '../../../kube/quantity.ts';
import { Rounds } from '../../../scheduler/rounds.ts';
import { cluster } from './world.ts';

const bounded = { capacity: { cpu: '100' } };
const clusters = [cluster('a', { ...bounded, rebalance: true }), cluster('b', bounded)];
const cpu = (n: number) => new Map([['cpu', parseQuantity(String(n))]]);

/** What is asked, one after the other, where so much is taken. */
function asked(...steps: { a: number; b: number; leaves?: boolean; busy?: boolean }[]): boolean[] {
  const rounds = new Rounds();
  return steps.map(({ a, b, leaves = false, busy = false }) => {
    const settled = new Map([['a', cpu(a)] as const, ['b', cpu(b)] as const]);
    const is = { settled, leaves: new Set(leaves ? ['a'] : []), isCalm: () => !busy };
    return rounds.next(clusters, is).length > 0;
  });
}

test.each<[string, Parameters<typeof asked>, boolean[]]>([
  [
    'never while there is no more room elsewhere',
    [
      { a: 50, b: 40 },
      { a: 40, b: 50 },
    ],
    [false, false],
  ],
  [
    'once there is',
    [
      { a: 50, b: 40 },
      { a: 52, b: 40 },
      { a: 52, b: 40 },
    ],
    [false, true, false],
  ],
  [
    'not when there is less',
    [
      { a: 60, b: 20 },
      { a: 60, b: 30 },
    ],
    [true, false],
  ],
  [
    'when there is more again',
    [
      { a: 60, b: 20 },
      { a: 60, b: 30 },
      { a: 60, b: 28 },
    ],
    [true, false, true],
  ],
  [
    'not for noise',
    [
      { a: 60, b: 20 },
      { a: 60.4, b: 20 },
    ],
    [true, false],
  ],
  [
    'for noise that adds up',
    [
      { a: 60, b: 20 },
      { a: 60.4, b: 20 },
      { a: 60.8, b: 20 },
    ],
    [true, false, true],
  ],
  [
    'when those are gone that left',
    [
      { a: 40, b: 40, leaves: true, busy: true },
      { a: 40, b: 40, busy: true },
      { a: 40, b: 40 },
      { a: 40, b: 40 },
    ],
    [false, false, true, false],
  ],
])('all are asked anew: %s', (_what, steps, expected) => {
  expect(asked(...steps)).toEqual(expected);
});

test('nobody is asked where nothing rebalances', () => {
  const is = { settled: new Map([['b', cpu(90)]]), leaves: new Set(['a', 'b']), isCalm: () => true };
  expect(new Rounds().next([cluster('a', bounded), cluster('b', bounded)], is)).toEqual([]);
  const drained = cluster('b', { ...bounded, rebalance: true, drain: true });
  expect(new Rounds().next([cluster('a', bounded), drained], is)).toEqual([]);
});
