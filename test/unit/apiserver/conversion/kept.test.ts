import { expect, test } from 'vitest';
import { Keeping, Kept } from '../../../../apiserver/conversion/kept.ts';
import type { Entry } from '../../../../storage/store.ts';

const limits = { request: 100, cluster: 150 };
const entry = (length: number): Entry => ({
  key: '/a',
  value: new Uint8Array(length),
  revision: 1,
  created: 1,
});

test('one request keeps so much, and what it dropped does not count', () => {
  const kept = new Kept(limits);
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
  const kept = new Kept(limits);
  const [first, second, other] = ['a', 'a', 'b'].map((cluster) => new Keeping(kept, cluster)) as [
    Keeping,
    Keeping,
    Keeping,
  ];
  first.add(entry(100));
  expect(() => second.add(entry(51))).toThrow(
    'in this logical cluster is more than 150 bytes: ask for fewer at a time, with a smaller limit',
  );
  other.add(entry(100));
  first.release();
  first.release();
  second.add(entry(100));
  second.release();
  other.release();
  expect([kept.of('a'), kept.of('b')]).toEqual([0, 0]);
});
