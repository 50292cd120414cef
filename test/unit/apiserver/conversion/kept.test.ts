import { beforeEach, expect, test } from 'vitest';
import { Keeping, Kept, keptLimits } from '../../../../apiserver/conversion/kept.ts';
import type { Entry } from '../../../../storage/store.ts';

const limits = { request: 100, cluster: 150, all: 1000 };
const entry = (length: number): Entry => ({
  key: '/a',
  value: new Uint8Array(length),
  revision: 1,
  created: 1,
});

let now: number;
let cut: string[];
let kept: Kept;
beforeEach(() => {
  now = 0;
  cut = [];
  kept = new Kept(limits, () => now);
});

/** Answered, and read as far as `taken` says. */
function reading(cluster: string, bytes: number, name = cluster, taken = () => 0): Keeping {
  const keeping = new Keeping(kept, cluster);
  keeping.add(entry(bytes));
  keeping.readBy({ taken, cut: () => cut.push(name) });
  return keeping;
}

test('one request keeps so much, and what it dropped does not count', () => {
  const keeping = new Keeping(kept, 'a');
  const first = entry(60);
  keeping.add(first);
  expect(() => keeping.add(entry(41))).toThrow('more than 100 bytes: ask for them with a smaller limit');
  keeping.drop(first);
  keeping.drop(first);
  keeping.drop(entry(60));
  keeping.add(entry(41));
  expect(kept.of('a')).toBe(41);
});

test('all of one logical cluster keep so much until they are read, and nobody else is refused for it', () => {
  const [first, second, other] = ['a', 'a', 'b'].map((cluster) => new Keeping(kept, cluster)) as [
    Keeping,
    Keeping,
    Keeping,
  ];
  first.add(entry(100));
  expect(() => second.add(entry(51))).toThrow(
    expect.objectContaining({
      code: 429,
      reason: 'TooManyRequests',
      details: { retryAfterSeconds: 1 },
      message:
        'what conversion webhooks made of what is being read in this logical cluster is more than 150 bytes: try again later, or with a smaller limit',
    }),
  );
  other.add(entry(100));
  first.release();
  first.release();
  second.add(entry(100));
  second.release();
  other.release();
  expect([kept.of('a'), kept.of('b')]).toEqual([0, 0]);
});

test('who does not read gives way to who asks, once it has had time enough', () => {
  const sleeping = reading('a', 100, 'sleeping');
  now = 5000;
  expect(() => reading('a', 100)).toThrow('try again later');
  now = 5001;
  reading('a', 100);
  expect(cut).toEqual(['sleeping']);
  expect(kept.of('a')).toBe(100);
  sleeping.release();
  expect(kept.of('a')).toBe(100);
});

test('who reads has the time that it takes, and who takes a byte now and then has not', () => {
  reading('a', 100, 'reading', () => 10 << 20);
  now = 45_000;
  expect(() => reading('a', 100)).toThrow('try again later');
  now = 45_001;
  reading('a', 100, 'next', () => 1000);
  expect(cut).toEqual(['reading']);
  now = 45_001 + 5010;
  reading('a', 100);
  expect(cut).toEqual(['reading', 'next']);
});

test('what is still being made gives way once no request would take so long, and is made no further', () => {
  const making = new Keeping(kept, 'a');
  making.add(entry(90));
  now = 60_000;
  expect(() => reading('a', 100)).toThrow('try again later');
  now = 60_001;
  reading('a', 100);
  expect(kept.of('a')).toBe(100);
  expect(() => making.add(entry(10))).toThrow(
    expect.objectContaining({ code: 429, message: expect.stringContaining('too long to be made') }),
  );
  making.readBy({ taken: () => 0, cut: () => cut.push('made') });
  expect(cut).toEqual(['made']);
});

test('what has been made begins to be read then', () => {
  const made = new Keeping(kept, 'a');
  made.add(entry(90));
  now = 59_000;
  made.readBy({ taken: () => 0, cut: () => cut.push('made') });
  now = 64_000;
  expect(() => reading('a', 100)).toThrow('try again later');
  now = 64_001;
  reading('a', 100);
  expect(cut).toEqual(['made']);
});

test('all together keep so much: who keeps more than its share gives way to who keeps less, the oldest first', () => {
  for (const cluster of ['a', 'b', 'c', 'd', 'e', 'f']) {
    reading(cluster, 80, `${cluster}1`);
    reading(cluster, 70, `${cluster}2`);
  }
  reading('g', 100);
  // All have 150 and no more: nobody gives way to them.
  expect(() => reading('g', 50)).toThrow(
    'made of what is being read leaves too little of 1000 bytes for others: try again later, or with a smaller limit',
  );
  expect(cut).toEqual([]);
  reading('h', 90);
  expect(cut).toEqual(['a1', 'b1']);
  // So long as there is anybody who keeps more.
  for (const cluster of ['i', 'j', 'k', 'l', 'm']) reading(cluster, 60);
  expect(cut).toEqual(['a1', 'b1', 'c1', 'd1', 'e1']);
  expect(() => reading('n', 90)).toThrow('try again later');
  reading('n', 60);
  expect(cut).toEqual(['a1', 'b1', 'c1', 'd1', 'e1', 'f1']);
});

test('however many keep all they may while it is being made, and begin anew, there is room for the next', () => {
  const making = (cluster: string) => {
    const made: Keeping[] = [];
    for (let round = 0; round < 15; round++) {
      const keeping = new Keeping(kept, cluster);
      try {
        keeping.add(entry(10));
      } catch {
        break;
      }
      made.push(keeping);
    }
    return made;
  };
  const clusters = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  let others = clusters.flatMap(making);
  for (let round = 0; round < 20; round++) {
    for (let second = 0; second < 30; second++) {
      now += 1000;
      const next = new Keeping(kept, 'next');
      next.add(entry(10));
      next.add(entry(10));
      next.release();
    }
    for (const one of others) one.release();
    others = clusters.flatMap(making);
  }
  // Five have all that one may have of 1000, the others leave as much as they have.
  expect(clusters.map((cluster) => kept.of(cluster))).toEqual([150, 150, 150, 150, 150, 130, 60, 30]);
});

test('alone one may keep half of all', () => {
  const small = new Kept({ request: 100, cluster: 100, all: 100 });
  const keeping = new Keeping(small, 'a');
  for (let part = 0; part < 5; part++) keeping.add(entry(10));
  expect(() => keeping.add(entry(10))).toThrow(
    'made of what is being read leaves too little of 100 bytes for others: try again later',
  );
});

test('it is a share of what the process may have', () => {
  expect(keptLimits(4 * 1024 ** 3)).toEqual({ request: 64 << 20, cluster: 128 << 20, all: 512 << 20 });
  expect(keptLimits(300 << 20)).toEqual({ request: 18 << 20, cluster: 18 << 20, all: 37 << 20 });
  expect(keptLimits(8 << 20)).toEqual({ request: 1 << 20, cluster: 1 << 20, all: 2 << 20 });
});
