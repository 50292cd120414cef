import { expect, test } from 'vitest';
import { Pieces } from '../../../kube/pieces.ts';

const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));

test.each([
  ['one byte each', () => 1],
  ['long ones', () => 5000],
  ['short and long ones', (at: number) => (at % 3 === 0 ? 4096 : (at % 97) + 1)],
  ['as long as a block, but for one byte', () => 4095],
])('what comes is what is there: %s', (_, lengthAt) => {
  const pieces = new Pieces();
  let at = 0;
  while (at < bytes.length) {
    const piece = Buffer.from(bytes.subarray(at, at + lengthAt(at)));
    pieces.add(piece);
    at += piece.length;
    if (at % 1009 === 0) expect(Buffer.compare(pieces.whole(), bytes.subarray(0, at))).toBe(0);
    // Whoever sent a short one may use its memory again, but for that of the first.
    if (at > piece.length && piece.length < 4096) piece.fill(255);
  }
  expect(pieces.length).toBe(bytes.length);
  expect(Buffer.compare(pieces.whole(), bytes)).toBe(0);
});

test('what comes in one piece is not copied; nothing is nothing', () => {
  const pieces = new Pieces();
  expect([pieces.length, pieces.whole().length]).toEqual([0, 0]);
  pieces.add(bytes);
  expect(pieces.whole()).toBe(bytes);
});
