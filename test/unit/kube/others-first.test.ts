import { expect, test } from 'vitest';
import { othersFirst, Pace } from '../../../kube/others-first.ts';

test('who waits goes on one at a time, of one logical cluster after the other, and what else there is to do goes between', async () => {
  const order: string[] = [];
  const wait = (cluster: string, name: string) => othersFirst(cluster).then(() => order.push(name));
  let looks = 0;
  const look = () => {
    order.push('else');
    if (++looks < 4) setImmediate(look);
  };
  setImmediate(look);
  await Promise.all([wait('a', 'a1'), wait('a', 'a2'), wait('a', 'a3'), wait('b', 'b1')]);
  expect(order.slice(0, 8)).toEqual(['else', 'a1', 'else', 'b1', 'else', 'a2', 'else', 'a3']);
});

test('whoever comes when nobody waits is served, too', async () => {
  await othersFirst('a');
  await expect(othersFirst('a')).resolves.toBeUndefined();
});

test('who goes over many objects waits for others after so many bytes, and not before', async () => {
  const pace = new Pace('a');
  expect(pace.after(100_000)).toBeUndefined();
  const others = pace.after(100_000);
  expect(others).toBeInstanceOf(Promise);
  await others;
  expect(pace.after(100_000)).toBeUndefined();
});
