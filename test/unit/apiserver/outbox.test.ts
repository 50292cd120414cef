import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Outbox } from '../../../apiserver/wire/outbox.ts';

function answers() {
  const ended: string[] = [];
  const outbox = new Outbox();
  const answer = (name: string, destroyed = false) =>
    outbox.end({ destroyed, end: () => ended.push(name) } as unknown as ServerResponse, undefined);
  return { ended, answer };
}

test('an answer that comes alone goes at once', async () => {
  const { ended, answer } = answers();
  for (const name of ['a', 'b', 'c']) {
    answer(name);
    expect(ended.at(-1)).toBe(name);
    await nextTurn();
  }
});

test('after a turn with several, those of a turn go together at its end, in their order', async () => {
  const { ended, answer } = answers();
  answer('a');
  answer('b');
  expect(ended).toEqual(['a', 'b']);
  await nextTurn();
  answer('c');
  answer('d');
  expect(ended).toEqual(['a', 'b']);
  await nextTurn();
  expect(ended).toEqual(['a', 'b', 'c', 'd']);
});

test('one that comes alone after many waits for the end of its turn, the next one does not', async () => {
  const { ended, answer } = answers();
  answer('a');
  answer('b');
  await nextTurn();
  answer('c');
  expect(ended).not.toContain('c');
  await nextTurn();
  expect(ended).toContain('c');
  answer('d');
  expect(ended).toContain('d');
});

test('who left in the meantime is sent nothing, and the others get theirs', async () => {
  const { ended, answer } = answers();
  answer('a');
  answer('b');
  await nextTurn();
  answer('gone', true);
  answer('c');
  await nextTurn();
  expect(ended).toEqual(['a', 'b', 'c']);
});
