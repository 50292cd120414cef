import { expect, it } from 'vitest';
import { sameJson } from '../../../../kube/strategy/equal.ts';

it('takes absent and null for the same, at any depth', () => {
  expect(sameJson({ a: { b: null } }, { a: {} })).toBe(true);
  expect(sameJson({ a: [{ b: 1 }] }, { a: [{ b: 2 }] })).toBe(false);
  expect(sameJson({ a: 1 }, { a: 1, b: 2 })).toBe(false);
});

it('looks at each value once, however deep it is', () => {
  let looks = 0;
  const deep = (levels: number): object => {
    const inner = levels === 0 ? {} : deep(levels - 1);
    const get = () => {
      looks++;
      return inner;
    };
    return Object.defineProperty({}, 'a', { enumerable: true, get });
  };
  expect(sameJson(deep(40), deep(40))).toBe(true);
  expect(looks).toBeLessThan(200);
});
