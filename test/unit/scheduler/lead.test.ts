import { expect, it } from 'vitest';
import { inOrder } from '../../../scheduler/lead.ts';

/** `asks` and `is` by numbers; whoever is named in `first` leads. */
function order(all: Record<string, { asks?: number[]; is?: number[] }>, first = ''): string {
  const tieOf = (name: string) => ({ asks: all[name]?.asks ?? [], is: new Set(all[name]?.is ?? []) });
  const leads = (a: string, b: string) => Number(b === first) - Number(a === first);
  return inOrder(Object.keys(all), tieOf, leads).join('');
}

it.each([
  ['what asks for nothing stays as it is', { b: {}, a: {} }, '', 'ba'],
  ['what is asked for comes first', { a: { asks: [1] }, b: { is: [1] } }, '', 'ba'],
  ['along a chain', { a: { asks: [1] }, b: { is: [1], asks: [2] }, c: { is: [2] } }, '', 'cba'],
  ['a ring is led', { a: { asks: [1], is: [2] }, b: { asks: [2], is: [1] } }, 'b', 'ba'],
  [
    'who hangs on a ring does not lead it',
    { x: { asks: [1] }, a: { asks: [1], is: [2] }, b: { asks: [2], is: [1] } },
    'x',
    'abx',
  ],
  [
    'of those that ask for their like one leads',
    { a: { asks: [1], is: [1] }, b: { asks: [1], is: [1] } },
    'b',
    'ba',
  ],
  ['who asks for what nobody is comes last', { a: { asks: [7] }, b: {} }, '', 'ba'],
  [
    'a ring of three goes from one to whoever asks for it',
    { a: { asks: [2], is: [1] }, b: { asks: [3], is: [2] }, c: { asks: [1], is: [3] } },
    '',
    'acb',
  ],
])('%s', (_what, all, first, expected) => {
  expect(order(all, first)).toBe(expected);
});

it('costs as much as there are of them, however different they are', () => {
  const all = Array.from({ length: 4000 }, (_, i) => i);
  const asked = (i: number, most: number) => [
    ...new Set(Array.from({ length: 10 }, (_, k) => (i * 7 + k * k * 13) % most)),
  ];
  let looked = 0;
  const tieOf = (i: number) => {
    looked += 1;
    return { asks: asked(i, 100), is: new Set(asked(i + 1, 100)) };
  };
  expect(new Set(inOrder(all, tieOf, (a, b) => a - b)).size).toBe(4000);
  expect(looked).toBe(4000);
});
