import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Load, Rush } from '../../../controller/rush.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** A process that works such a part of its time. */
class Process implements Load {
  utilization = 1;
  now = () => Date.now();
  look = () => Date.now();
  since = (before: unknown) => ({ utilization: this.utilization, ms: Date.now() - Number(before) });
}

async function setUp() {
  const process = new Process();
  const rush = new Rush(process);
  const underWay = new Map<string, () => void>();
  const work = (name: string) => () =>
    new Promise<string>((resolve) =>
      underWay.set(name, () => {
        underWay.delete(name);
        resolve(name);
      }),
    );
  const told: string[] = [];
  const end = new AbortController();
  const news = (madeAt: number | undefined = rush.now()) => ({ madeAt, signal: end.signal });
  const tell = (...names: string[]) => {
    for (const name of names) void rush.tell(news(), async () => told.push(name));
  };
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  await pass(100);
  const ended = (name: string) => underWay.get(name)?.();
  return { process, rush, work, told, news, tell, pass, end: ended, stop: () => end.abort() };
}

test('while it cannot do all, one thing in fifty milliseconds is told, in order', async () => {
  const { rush, work, told, tell, pass } = await setUp();
  void rush.make(work('made'));
  tell('1', '2', '3');
  await pass(49);
  expect(told).toEqual([]);
  await pass(1);
  expect(told).toEqual(['1']);
  await pass(50);
  expect(told).toEqual(['1', '2']);
  await pass(50);
  expect(told).toEqual(['1', '2', '3']);
});

test('what is made waits for nothing, and is answered as it was', async () => {
  const { rush, work, end } = await setUp();
  const made = [rush.make(work('1')), rush.make(work('2')), rush.make(() => Promise.reject(new Error('no')))];
  const failed = expect(made[2]).rejects.toThrow('no');
  end('2');
  expect(await made[1]).toBe('2');
  end('1');
  expect(await made[0]).toBe('1');
  await failed;
});

test('what is told is answered as it was', async () => {
  const { rush, work, news, pass } = await setUp();
  void rush.make(work('made'));
  const refused = expect(rush.tell(news(), () => Promise.reject(new Error('refused')))).rejects.toThrow(
    'refused',
  );
  const told = rush.tell(news(), async () => 'told');
  await pass(100);
  await refused;
  expect(await told).toBe('told');
});

test('one that keeps up tells at once, however much is made', async () => {
  const { process, rush, work, told, tell, pass } = await setUp();
  process.utilization = 0.89;
  void rush.make(work('made'));
  tell('1', '2');
  await pass(0);
  expect(told).toEqual(['1', '2']);
});

test('one that has nothing to make tells at once, however busy it is', async () => {
  const { told, tell, pass } = await setUp();
  tell('1', '2');
  await pass(0);
  expect(told).toEqual(['1', '2']);
});

test.each<{ of: string; over(it: Awaited<ReturnType<typeof setUp>>): Promise<void> }>([
  {
    of: 'nothing has been made for a while',
    async over({ end, pass }) {
      end('made');
      await pass(51);
    },
  },
  {
    of: 'it keeps up',
    async over({ process, pass }) {
      process.utilization = 0.5;
      await pass(50);
    },
  },
])('all that waits is told when $of', async ({ over }) => {
  const it = await setUp();
  void it.rush.make(it.work('made'));
  it.tell('1', '2', '3');
  await it.pass(0);
  expect(it.told).toEqual([]);
  await over(it);
  await it.pass(50);
  expect(it.told).toEqual(['1', '2', '3']);
});

test('between two that are made in a row nothing else goes first', async () => {
  const { rush, work, end, told, tell, pass } = await setUp();
  void rush.make(work('made'));
  end('made');
  await pass(49);
  tell('1');
  await pass(0);
  expect(told).toEqual([]);
});

test('what was made within a minute can wait', async () => {
  const { rush, pass } = await setUp();
  const madeAt = rush.now();
  expect(rush.isNew(madeAt)).toBe(true);
  await pass(59_999);
  expect(rush.isNew(madeAt)).toBe(true);
  await pass(1);
  expect(rush.isNew(madeAt)).toBe(false);
  expect(rush.isNew(undefined), 'somebody else made it').toBe(false);
});

test('what is not new, or of somebody who has ended, is told at once', async () => {
  const { rush, work, told, news, tell, pass, stop } = await setUp();
  void rush.make(work('made'));
  void rush.tell(news(rush.now() - 60_000), async () => told.push('old'));
  void rush.tell({ ...news(), madeAt: undefined }, async () => told.push("somebody else's"));
  await pass(0);
  expect(told).toEqual(['old', "somebody else's"]);
  stop();
  tell('ended');
  await pass(0);
  expect(told).toContain('ended');
});

test('however much waits, of a rush that does not end nothing waits longer than it is new', async () => {
  const { rush, work, told, tell, pass } = await setUp();
  void rush.make(work('made'));
  tell(...Array.from({ length: 3000 }, (_, i) => String(i)));
  await pass(59_950);
  expect(told.length).toBeLessThan(1500);
  await pass(50);
  expect(told).toHaveLength(3000);
  expect(vi.getTimerCount(), 'nothing waits').toBe(0);
});

test('who ends waits for no turn', async () => {
  const { rush, work, told, tell, pass, stop } = await setUp();
  void rush.make(work('made'));
  tell('1', '2', '3');
  stop();
  await pass(50);
  expect(told).toEqual(['1', '2', '3']);
});
