import { expect, test } from 'vitest';
import { UnderWay } from '../../../kube/under-way.ts';

const itemsOf = (all: UnderWay<string>) =>
  all
    .places()
    .map(({ item }) => item)
    .sort();

test('what is given back, first, last or in between, leaves the others', () => {
  const all = new UnderWay<string>();
  const places = ['a', 'b', 'c', 'd'].map((item) => all.add(item));
  const [a, b, , d] = places as [never, never, never, never];
  expect(all.delete(b)).toBe(true);
  expect(itemsOf(all)).toEqual(['a', 'c', 'd']);
  expect(all.delete(d)).toBe(true);
  expect(all.delete(a)).toBe(true);
  expect(itemsOf(all)).toEqual(['c']);
  expect(all.size).toBe(1);
});

test('what was given back is not given back twice, nor what has come since in its place', () => {
  const all = new UnderWay<string>();
  const a = all.add('a');
  expect(all.delete(a)).toBe(true);
  all.add('b');
  expect(all.delete(a)).toBe(false);
  expect(itemsOf(all)).toEqual(['b']);
});

test('one item twice is two', () => {
  const all = new UnderWay<string>();
  const [first] = [all.add('a'), all.add('a')];
  all.delete(first as never);
  expect(itemsOf(all)).toEqual(['a']);
});

test('whoever goes through them may add and give back', () => {
  const all = new UnderWay<string>();
  for (const item of ['a', 'b', 'c']) all.add(item);
  for (const place of all.places()) {
    all.delete(place);
    all.add(`${place.item}${place.item}`);
  }
  expect(itemsOf(all)).toEqual(['aa', 'bb', 'cc']);
});
