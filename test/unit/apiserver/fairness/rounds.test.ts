import { describe, expect, test } from 'vitest';
import { Rounds } from '../../../../apiserver/fairness/rounds.ts';

interface Asked {
  cluster: string;
  user?: string;
  times: number;
}

/** Who was begun, in order, where all ask in the same moment. */
async function begun(asked: readonly Asked[]): Promise<string[]> {
  const rounds = new Rounds();
  const order: string[] = [];
  const all = asked.flatMap(({ cluster, user = 'u', times }) =>
    Array.from({ length: times }, () =>
      rounds.run(cluster, user, async () => void order.push(`${cluster}/${user}`)),
    ),
  );
  await Promise.all(all);
  return order;
}

const count = (order: readonly string[], who: string) => order.filter((one) => one === who).length;

describe('rounds', () => {
  test('what can be begun at once is, in the order in which it came', async () => {
    const rounds = new Rounds();
    const order: number[] = [];
    const all = [1, 2, 3].map((i) => rounds.run('a', 'u', async () => void order.push(i)));
    expect(order).toEqual([1, 2, 3]);
    await Promise.all(all);
  });

  test('who asks once waits for one of those who ask a thousand times', async () => {
    const order = await begun([
      { cluster: 'flood', times: 1000 },
      { cluster: 'quiet', times: 1 },
    ]);
    expect(order).toHaveLength(1001);
    // Those that began before anybody waited, and one.
    expect(order.indexOf('quiet/u')).toBeLessThan(20);
  });

  test('many users of a logical cluster have its turns, and no more', async () => {
    const users = Array.from({ length: 50 }, (_, i) => ({ cluster: 'many', user: `${i}`, times: 20 }));
    const order = await begun([...users, { cluster: 'one', times: 20 }]);
    const until = order.lastIndexOf('one/u');
    expect(order.slice(0, until).filter((who) => who.startsWith('many/')).length).toBeLessThan(40);
  });

  test('users of one logical cluster take turns', async () => {
    const order = await begun([
      { cluster: 'a', user: 'flood', times: 500 },
      { cluster: 'a', user: 'other', times: 10 },
    ]);
    expect(count(order.slice(0, order.lastIndexOf('a/other')), 'a/flood')).toBeLessThan(30);
  });

  test('between rounds what came meanwhile is looked at', async () => {
    const rounds = new Rounds();
    let done = 0;
    const all = Array.from({ length: 1000 }, () => rounds.run('flood', 'u', async () => void done++));
    await new Promise<void>((resolve) => setTimeout(resolve, 0));
    expect(done).toBeLessThan(1000);
    await Promise.all(all);
    expect(done).toBe(1000);
  });

  test('a failure is told to whom it belongs, thrown or rejected, now or later', async () => {
    const rounds = new Rounds();
    const failing = (i: number) =>
      rounds.run('a', 'u', () => {
        if (i % 2 === 0) throw new Error(`thrown ${i}`);
        return Promise.reject(new Error(`rejected ${i}`));
      });
    const answers = await Promise.allSettled(
      Array.from({ length: 40 }, async (_, i) => failing(i).catch((error: Error) => error.message)),
    );
    expect(answers.map((answer) => answer.status === 'fulfilled' && answer.value)).toEqual(
      Array.from({ length: 40 }, (_, i) => `${i % 2 === 0 ? 'thrown' : 'rejected'} ${i}`),
    );
    expect(await rounds.run('a', 'u', async () => 'after')).toBe('after');
  });
});
