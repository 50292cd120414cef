import { expect, test } from 'vitest';
import { MadeOfServed } from '../../../../apiserver/info/made-of-served.ts';

/** Which logical clusters define something, and how often that has changed. */
function catalogOf(defining: Set<string>) {
  const catalog = { generation: 1, hasCustom: (cluster: string) => defining.has(cluster) };
  return {
    ...catalog,
    change: () => catalog.generation++,
    generationOf: (cluster: string) => (defining.has(cluster) ? catalog.generation : 0),
  };
}

test('it is made once for all that define nothing, and anew where something else is served', () => {
  const catalog = catalogOf(new Set(['a']));
  const made = new MadeOfServed<object>(catalog);
  const [plain, own] = [made.of('b', () => ({})), made.of('a', () => ({}))];
  expect(made.of('c', () => ({}))).toBe(plain);
  expect(made.of('a', () => ({}))).toBe(own);
  expect(own).not.toBe(plain);
  catalog.change();
  expect(made.of('c', () => ({}))).toBe(plain);
  expect(made.of('a', () => ({}))).not.toBe(own);
});

test('of logical clusters that came and went nothing is kept', () => {
  const defining = new Set<string>();
  const catalog = catalogOf(defining);
  const made = new MadeOfServed<object>(catalog);
  for (let i = 0; i < 100; i++) {
    defining.add(`ended-${i}`);
    catalog.change();
    made.of(`ended-${i}`, () => ({}));
    defining.delete(`ended-${i}`);
    catalog.change();
  }
  made.of('plain', () => ({}));
  expect(made.size).toBe(1);
});
