import { expect, test } from 'vitest';
import { Slots } from '../../../kube/slots.ts';

const { signal } = new AbortController();

test('so many at a time, the others in their order, each given back once', async () => {
  const slots = new Slots(2);
  const order: string[] = [];
  const [one, two] = await Promise.all([slots.take(signal), slots.take(signal)]);
  const third = slots.take(signal).then((release) => {
    order.push('third');
    return release;
  });
  const fourth = slots.take(signal).then(() => order.push('fourth'));
  await Promise.resolve();
  expect(order).toEqual([]);
  one();
  one();
  const release = await third;
  expect(order).toEqual(['third']);
  two();
  await fourth;
  release();
  expect(order).toEqual(['third', 'fourth']);
  expect(slots.areIdle).toBe(false);
});

test('who gives up takes none, and is not waited for', async () => {
  const slots = new Slots(1);
  const first = await slots.take(signal);
  const gone = new AbortController();
  const left = slots.take(gone.signal);
  const next = slots.take(signal);
  gone.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  first();
  (await next)();
  expect(slots.areIdle).toBe(true);
  await expect(slots.take(gone.signal)).rejects.toThrow('gone');
});
