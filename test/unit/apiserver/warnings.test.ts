import { expect, test } from 'vitest';
import { Warnings } from '../../../apiserver/warnings.ts';

const told = (...texts: string[]) => {
  const warnings = new Warnings();
  for (const text of texts) warnings.add(text);
  return warnings.texts;
};
const long = 'l'.repeat(300);
const cut = 'l'.repeat(256);

test('each is told once, in the order in which they came; no text is none', () => {
  expect(told()).toEqual([]);
  expect(told('b', '', 'a', 'b', 'c', 'a')).toEqual(['b', 'a', 'c']);
});

test('what is no more than 4096 characters together is told whole', () => {
  const most = 'm'.repeat(4096 - 300);
  expect(told(long, most, long)).toEqual([long, most]);
  expect(told('😀'.repeat(4096))).toEqual(['😀'.repeat(4096)]);
});

test('of what is more each is cut, those from before too', () => {
  expect(told(long, 'm'.repeat(4096 - 299), 'n')).toEqual([cut, 'm'.repeat(256), 'n']);
  expect(told('😀'.repeat(4097))).toEqual(['😀'.repeat(256)]);
  // Which are not told of twice by what is left of them.
  expect(told(long, `${long}2`, 'm'.repeat(4096), long)).toEqual([cut, cut, 'm'.repeat(256)]);
});

test('a million of them are told as far as the first 4096 characters go, cut', () => {
  const warnings = new Warnings();
  for (let i = 0; i < 1_000_000; i++) warnings.add(`${i}:${long}`);
  expect(warnings.texts.map((text) => text.length)).toEqual(Array(16).fill(256));
  expect(warnings.texts.at(-1)?.slice(0, 4)).toBe('15:l');
});
