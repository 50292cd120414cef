import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { divide, divideRanges, type Range } from '../../../splitter/divide.ts';

const parts = (m: ReadonlyMap<string, number>) => Object.fromEntries(m);

describe('divide', () => {
  it.each<[string, number, string[], Record<string, number>, Record<string, number>]>([
    ['nothing', 0, ['a', 'b'], {}, { a: 0, b: 0 }],
    ['to one', 5, ['a'], {}, { a: 5 }],
    ['the remainder by name', 5, ['a', 'b'], {}, { a: 3, b: 2 }],
    ['two left over', 5, ['a', 'b', 'c'], {}, { a: 2, b: 2, c: 1 }],
    ['the remainder to whoever has more', 5, ['a', 'b'], { a: 2, b: 3 }, { a: 2, b: 3 }],
    ['growing by one moves nothing else', 6, ['a', 'b'], { a: 2, b: 3 }, { a: 3, b: 3 }],
    ['a newcomer gets the smaller part', 5, ['a', 'b'], { b: 5 }, { a: 2, b: 3 }],
    ['fewer than clusters', 1, ['a', 'b', 'c'], { c: 1 }, { a: 0, b: 0, c: 1 }],
  ])('%s', (_name, total, clusters, current, expected) => {
    expect(parts(divide(total, clusters, new Map(Object.entries(current))))).toEqual(expected);
  });

  it.each<[number, Record<string, number>, Record<string, number>]>([
    [6, { a: 2, b: 1 }, { a: 4, b: 2 }],
    [7, { a: 2, b: 1 }, { a: 5, b: 2 }],
    [5, { a: 0, b: 1 }, { a: 0, b: 5 }],
    [5, { a: 0, b: 0 }, { a: 0, b: 0 }],
  ])('%d by weight %o', (total, weights, expected) => {
    const clusters = Object.keys(weights);
    expect(parts(divide(total, clusters, new Map(), new Map(Object.entries(weights))))).toEqual(expected);
  });

  it('is exact, fair, and changes no more than it must when asked again', () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    fc.assert(
      fc.property(fc.nat(1000), fc.subarray(names, { minLength: 1 }), fc.array(fc.nat(500)), (n, on, had) => {
        const first = divide(n, on, new Map(names.map((c, i) => [c, had[i] ?? 0])));
        const sizes = [...first.values()];
        expect(sizes.reduce((x, y) => x + y, 0)).toBe(n);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
        expect(parts(divide(n, on, first))).toEqual(parts(first));
      }),
    );
  });
});

describe('divideRanges', () => {
  const ranges = (of: Record<string, [number, number]>) =>
    new Map(Object.entries(of).map(([c, [start, end]]): [string, Range] => [c, { start, end }]));
  it.each<
    [string, [number, number], string[], Record<string, [number, number]>, Record<string, [number, number]>]
  >([
    ['anew', [0, 5], ['a', 'b'], {}, { a: [0, 3], b: [3, 5] }],
    ['from where the whole begins', [10, 14], ['a', 'b'], {}, { a: [10, 12], b: [12, 14] }],
    ['more: at the highest ordinals', [0, 7], ['a', 'b'], { a: [0, 3], b: [3, 5] }, { a: [0, 3], b: [3, 7] }],
    [
      'fewer: from the highest ordinals',
      [0, 2],
      ['a', 'b'],
      { a: [0, 3], b: [3, 5] },
      { a: [0, 2], b: [3, 3] },
    ],
    ['a newcomer takes the end', [0, 5], ['a', 'b'], { a: [0, 5] }, { a: [0, 3], b: [3, 5] }],
    ['a newcomer takes the place of who left', [0, 5], ['b', 'c'], { b: [3, 5] }, { c: [0, 2], b: [2, 5] }],
    ['all to one', [0, 5], ['b'], { a: [0, 3], b: [3, 5] }, { b: [0, 5] }],
    ['all to a stranger', [0, 5], ['c'], { a: [0, 3], b: [3, 5] }, { c: [0, 5] }],
    ['from nothing', [0, 4], ['a', 'b'], { a: [0, 0], b: [0, 0] }, { a: [0, 2], b: [2, 4] }],
  ])('%s', (_name, [start, end], clusters, current, expected) => {
    expect(divideRanges({ start, end }, clusters, ranges(current))).toEqual(ranges(expected));
  });
});
