import { expect, test } from 'vitest';
import { Turns } from '../../../../apiserver/webhook/turns.ts';

const forever = new AbortController().signal;

function held() {
  const done: (() => void)[] = [];
  return { done, work: () => new Promise<void>((resolve) => done.push(resolve)) };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('so many of one logical cluster have their turn at a time, the next as soon as one is done', async () => {
  const turns = new Turns(2);
  const { done, work } = held();
  const all = [0, 1, 2, 3].map(() => turns.run('a', forever, work));
  const other = held();
  void turns.run('b', forever, other.work);
  await settled();
  expect([done.length, other.done.length]).toEqual([2, 1]);
  done[0]?.();
  await all[0];
  await settled();
  expect(done).toHaveLength(3);
  for (const go of done) go();
  await settled();
  for (const go of done) go();
  await Promise.all(all);
  const after = held();
  void turns.run('a', forever, after.work);
  void turns.run('a', forever, after.work);
  await settled();
  expect(after.done).toHaveLength(2);
});

test('whoever gives up while waiting takes nobody’s turn', async () => {
  const turns = new Turns(1);
  const { done, work } = held();
  const first = turns.run('a', forever, work);
  const leaving = new AbortController();
  const second = turns.run('a', leaving.signal, work);
  const third = turns.run('a', forever, work);
  leaving.abort(new Error('late'));
  await expect(second).rejects.toThrow('late');
  done[0]?.();
  await first;
  await settled();
  expect(done).toHaveLength(2);
  done[1]?.();
  await third;
  await expect(turns.run('a', leaving.signal, async () => 1)).rejects.toThrow('late');
  await expect(turns.run('a', forever, async () => 1)).resolves.toBe(1);
});

test('what fails gives its turn back', async () => {
  const turns = new Turns(1);
  await expect(turns.run('a', forever, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await expect(turns.run('a', forever, async () => 1)).resolves.toBe(1);
});
