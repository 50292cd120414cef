import { setMaxListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LongSteps } from '../../../../apiserver/fairness/long-steps.ts';

const wanted = { wanted: () => true };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** Begins one for each name; each takes as long as `millis` says, and meanwhile `comes` may happen. */
function begin(steps: LongSteps, share: string, order: string[], { millis = 0, comes = () => {} } = {}) {
  return steps.turn(share, wanted).then(() => {
    order.push(share);
    clock += millis;
    comes();
  });
}

let clock = 0;

const create = () => {
  clock = 0;
  return new LongSteps(() => clock);
};

/** Whatever is to be done without time passing: the loop goes round more often than any of this takes. */
async function settle(): Promise<void> {
  for (let i = 0; i < 300; i++) await new Promise((resolve) => setImmediate(resolve));
}

async function pass(millis: number): Promise<void> {
  vi.advanceTimersByTime(millis);
  await settle();
}

describe('long steps', () => {
  test('each share has one in its turn', async () => {
    const steps = create();
    const order: string[] = [];
    for (let i = 0; i < 20; i++) void begin(steps, 'flood', order);
    void begin(steps, 'a', order);
    void begin(steps, 'b', order);
    void begin(steps, 'b', order);
    await settle();
    for (let i = 0; i < 22; i++) await pass(1);
    expect(order.slice(0, 6)).toEqual(['flood', 'a', 'b', 'flood', 'b', 'flood']);
    expect(order).toHaveLength(23);
  });

  test.each([
    ['where others wait for theirs', (steps: LongSteps, order: string[]) => void begin(steps, 'b', order)],
    ['where others asked for anything', (steps: LongSteps) => steps.came()],
  ])('after each the thread is everybody else’s for as long as it took, %s', async (_, comes) => {
    const steps = create();
    const order: string[] = [];
    void begin(steps, 'a', order, { millis: 500, comes: () => setImmediate(() => comes(steps, order)) });
    await settle();
    void begin(steps, 'c', order);
    await pass(499);
    expect(order).toEqual(['a']);
    await pass(1);
    await pass(1);
    expect(order.at(-1)).toBe('c');
  });

  test('who takes several turns hides nobody else', async () => {
    const steps = create();
    const order: string[] = [];
    const comes = () => {
      steps.turn('a', { wanted: () => true, signal: AbortSignal.abort() }).catch(() => {});
      steps.came();
    };
    void begin(steps, 'a', order, { millis: 500, comes });
    await settle();
    void begin(steps, 'b', order);
    await pass(499);
    expect(order).toEqual(['a']);
    await pass(1);
    expect(order).toEqual(['a', 'b']);
  });

  test('one that comes after the other goes on at once while nobody else asks', async () => {
    const steps = create();
    const order: string[] = [];
    for (const share of ['a', 'a', 'b']) {
      steps.came();
      void begin(steps, share, order, { millis: 500 });
      await settle();
    }
    expect(order).toEqual(['a', 'a', 'b']);
  });

  test('whose caller has gone is left out, and ends', async () => {
    const steps = create();
    const order: string[] = [];
    const late = steps.turn('a', { wanted: () => false });
    const isLate = expect(late).rejects.toMatchObject({ code: 504, reason: 'Timeout' });
    void begin(steps, 'a', order);
    await settle();
    await pass(1);
    await isLate;
    expect(order).toEqual(['a']);
    void begin(steps, 'a', order);
    await settle();
    expect(order).toEqual(['a', 'a']);
  });

  test('whose caller goes ends at once, and makes room for the next of its share', async () => {
    const steps = create();
    const order: string[] = [];
    const gone = new AbortController();
    setMaxListeners(0, gone.signal);
    const asked = { ...wanted, signal: gone.signal };
    const waiting = Array.from({ length: 64 }, () => steps.turn('flood', asked));
    const ended = Promise.allSettled(waiting);
    gone.abort();
    expect((await ended).map(({ status }) => status)).toEqual(waiting.map(() => 'rejected'));
    await expect(steps.turn('flood', asked)).rejects.toMatchObject({ code: 504 });
    void begin(steps, 'flood', order);
    await settle();
    await pass(1);
    expect(order).toEqual(['flood']);
  });

  test('more than can be waited for are refused, of that share alone', async () => {
    const steps = create();
    const order: string[] = [];
    for (let i = 0; i < 64; i++) void begin(steps, 'flood', order);
    await expect(steps.turn('flood', wanted)).rejects.toMatchObject({
      code: 429,
      reason: 'TooManyRequests',
      details: { retryAfterSeconds: 1 },
    });
    void begin(steps, 'a', order);
    await settle();
    for (let i = 0; i < 64; i++) await pass(1);
    expect(order).toHaveLength(65);
  });
});
