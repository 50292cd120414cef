import { expect, test } from 'vitest';
import { Charges } from '../../../controller/quota/charges.ts';
import { printList, readList } from '../../../kube/quota/list.ts';

const begun = -2_000;
const pods = (n: number) => readList({ pods: String(n) });

function charges() {
  const all = new Charges();
  all.begin('q', begun);
  return {
    all,
    charged: (n: number, at: number) => all.charged('q', pods(n), at),
    came: (n: number, at: number) => all.came('q', pods(n), at),
    open: (at: number) => {
      const open = all.open('q', at);
      return open && printList(open);
    },
  };
}

test('nobody knows what was charged before a quota was seen, nor of one that is not there', () => {
  const { all, open } = charges();
  expect(open(begun + 1_999)).toBeUndefined();
  expect(open(0)).toBe('');
  expect(all.open('other', 0)).toBeUndefined();
  all.begin('new', undefined);
  expect(all.open('new', begun)).toEqual(new Map());
  all.end('q');
  expect(open(0)).toBeUndefined();
});

test('what is charged is open until it has come, or for as long as a write may take', () => {
  const { charged, came, open } = charges();
  charged(2, 0);
  charged(3, 1_000);
  expect(open(1_000)).toBe('pods=5');
  came(1, 1_500);
  expect(open(1_500)).toBe('pods=4');
  expect(open(2_000)).toBe('pods=2');
  expect(open(3_000)).toBe('');
});

test('what came may be told before its charge', () => {
  const { charged, came, open } = charges();
  came(1, 0);
  expect(open(0)).toBe('');
  charged(1, 10);
  expect(open(10)).toBe('');
  charged(1, 20);
  expect(open(20)).toBe('pods=1');
});

test('it settles when the last of it does', () => {
  const { all, charged } = charges();
  expect(all.settlesIn('q', begun + 500)).toBe(1_500);
  charged(1, 0);
  charged(1, 1_000);
  expect(all.settlesIn('q', 1_500)).toBe(1_500);
  expect(all.settlesIn('q', 9_000)).toBe(0);
});
