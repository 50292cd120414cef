import { expect, test } from 'vitest';
import type { LevelSpec } from '../../../../apiserver/fairness/configuration.ts';
import { limitsOf, mayHold, roomOf, type Using } from '../../../../apiserver/fairness/limits.ts';
import { type Queue, Queues, type Waiter } from '../../../../apiserver/fairness/queues.ts';
import { deal, dealWithin } from '../../../../apiserver/fairness/shuffle.ts';

test('a hand is of as many queues, none twice, and always the same', () => {
  for (let i = 0; i < 200; i++) {
    const hand = deal(`flow-${i}`, 16, 4);
    expect(new Set(hand).size).toBe(4);
    expect(hand.every((queue) => queue >= 0 && queue < 16)).toBe(true);
    expect(deal(`flow-${i}`, 16, 4)).toEqual(hand);
    const own = dealWithin(hand, 'ann');
    expect(own.length).toBe(2);
    expect(own.every((queue) => hand.includes(queue))).toBe(true);
  }
  expect(deal('all', 6, 6)).toHaveLength(6);
});

test('every queue is dealt about as often as every other', () => {
  const dealt = new Array<number>(128).fill(0);
  for (let i = 0; i < 12_800; i++)
    for (const queue of deal(`u${i}`, 128, 6)) dealt[queue] = (dealt[queue] ?? 0) + 1;
  expect(Math.min(...dealt)).toBeGreaterThan(450);
  expect(Math.max(...dealt)).toBeLessThan(750);
});

test('next to no two flows have all queues in common', () => {
  const flood = new Set(deal('flood', 128, 6));
  const shut = Array.from({ length: 10_000 }, (_, i) => deal(`tenant-${i}`, 128, 6)).filter((hand) =>
    hand.every((queue) => flood.has(queue)),
  );
  expect(shut).toEqual([]);
});

interface Named extends Waiter {
  name: string;
}

/** One seat: each is served when the one before has ended, after so many milliseconds. */
function serve(queues: Queues, millis: (name: string) => number): string[] {
  const order: string[] = [];
  for (let next = queues.next() as Named | undefined; next; next = queues.next() as Named | undefined) {
    queues.leave(next);
    queues.began(next);
    queues.ended(next, millis(next.name));
    order.push(next.name);
  }
  return order;
}

function put(queues: Queues, queue: Queue, name: string, seats = 1): boolean {
  return queues.enqueue({ queue, seats, name } as Named);
}

test('a queue with little is served between those with much', () => {
  const queues = new Queues({ queueLengthLimit: 100 });
  const [a, b] = [queues.choose([0]), queues.choose([1])];
  for (let i = 0; i < 6; i++) put(queues, a, 'a');
  for (let i = 0; i < 2; i++) put(queues, b, 'b');
  expect(serve(queues, () => 3).join('')).toBe('ababaaaa');
});

test('who takes longer, or more seats, comes less often', () => {
  const slow = new Queues({ queueLengthLimit: 100 });
  const [a, b] = [slow.choose([0]), slow.choose([1])];
  for (let i = 0; i < 4; i++) put(slow, a, 'a');
  for (let i = 0; i < 8; i++) put(slow, b, 'b');
  expect(
    serve(slow, (name) => (name === 'a' ? 30 : 10))
      .slice(0, 8)
      .join(''),
  ).toBe('abbbabbb');
  const wide = new Queues({ queueLengthLimit: 100 });
  const [c, d] = [wide.choose([0]), wide.choose([1])];
  for (let i = 0; i < 3; i++) put(wide, c, 'c', 3);
  for (let i = 0; i < 6; i++) put(wide, d, 'd');
  expect(
    serve(wide, () => 3)
      .join('')
      .replace(/d/g, '').length,
  ).toBe(3);
  expect(wide.length).toBe(0);
});

test('who was idle has saved nothing', () => {
  const queues = new Queues({ queueLengthLimit: 100 });
  const [a, b] = [queues.choose([0]), queues.choose([1])];
  for (let i = 0; i < 50; i++) put(queues, a, 'a');
  serve(queues, () => 3);
  for (let i = 0; i < 4; i++) put(queues, a, 'a');
  for (let i = 0; i < 4; i++) put(queues, b, 'b');
  const order = serve(queues, () => 3).join('');
  expect(order.slice(0, 4).replace(/b/g, '').length).toBeGreaterThan(0);
});

test('a full queue takes none; who leaves makes room; the shorter one of a hand is chosen', () => {
  const queues = new Queues({ queueLengthLimit: 2 });
  const a = queues.choose([0]);
  expect([put(queues, a, '1'), put(queues, a, '2'), put(queues, a, '3')]).toEqual([true, true, false]);
  expect(queues.choose([0, 1])).not.toBe(a);
  queues.leave(a.waiting[0] as Waiter);
  expect(queues.length).toBe(1);
  expect((queues.next() as Named).name).toBe('2');
  expect(put(queues, a, '4')).toBe(true);
});

function level(name: string, shares: number, more: Partial<LevelSpec> = {}): LevelSpec {
  return {
    name,
    uid: '',
    exempt: false,
    shares,
    lendablePercent: 0,
    borrowingPercent: undefined,
    queuing: { queues: 128, handSize: 6, queueLengthLimit: 50 },
    ...more,
  };
}

test('seats by shares, rounded up', () => {
  const specs = [
    level('a', 30, { lendablePercent: 33 }),
    level('b', 10, { borrowingPercent: 50 }),
    level('c', 0, { exempt: true, queuing: undefined }),
  ];
  expect(limitsOf(specs, 100)).toEqual([
    { nominal: 75, least: 50, most: 175, widest: 10 },
    { nominal: 25, least: 25, most: 38, widest: 4 },
    { nominal: 0, least: 0, most: 100, widest: 1 },
  ]);
  expect(limitsOf(specs, 3).map(({ nominal }) => nominal)).toEqual([3, 1, 0]);
});

const lender = { nominal: 10, least: 4, most: 10, widest: 1 };
const borrower = { nominal: 5, least: 5, most: 12, widest: 1 };

test.for<[string, number, number, number]>([
  ['its own, and lent ones', 4, 0, 1 + 6],
  ['lent ones', 5, 0, 6],
  ['all of them', 10, 0, 1],
  ['no more than are lent', 11, 0, 0],
  ['what the lender uses is not lent', 5, 9, 1],
  ['nor more', 6, 9, 0],
  ['never beyond what it may borrow', 12, 0, 0],
  ['of those who lend nothing, its own', 3, 10, 2],
])('room: %s', ([, inUse, lent, room]) => {
  const one: Using = { limits: borrower, inUse };
  const other: Using = { limits: lender, inUse: lent };
  expect(roomOf(one, [one, other])).toBe(room);
});

test('who lent takes its own back without waiting', () => {
  const one: Using = { limits: borrower, inUse: 11 };
  const other: Using = { limits: lender, inUse: 9 };
  expect(roomOf(other, [one, other])).toBe(1);
});

/** Each takes as long as it may, in turns: what each holds then. */
function greedy(clusters: number, seats: number): number[] {
  const held = new Array<number>(clusters).fill(0);
  const room = () => seats - held.reduce((sum, own) => sum + own, 0);
  for (let more = true; more; ) {
    more = false;
    for (const [i, own] of held.entries()) {
      if (room() < 1 || !mayHold(own, 1, room())) continue;
      held[i] = own + 1;
      more = true;
    }
  }
  return held;
}

test.for<[number, number, number[]]>([
  [1, 100, [50]],
  [2, 100, [34, 33]],
  [3, 100, [25, 25, 25]],
  [1, 1, [1]],
  [3, 3, [1, 1, 1]],
])('%i logical clusters that take what they may of %i seats', ([clusters, seats, held]) => {
  expect(greedy(clusters, seats)).toEqual(held);
});

test('who may not be served is passed by', () => {
  const queues = new Queues({ queueLengthLimit: 100 });
  const [a, b] = [queues.choose([0]), queues.choose([1])];
  for (const name of ['1', '2']) put(queues, a, name);
  put(queues, b, '3');
  expect((queues.next((waiter) => waiter.queue !== a) as Named).name).toBe('3');
  expect(queues.next(() => false)).toBeUndefined();
});
