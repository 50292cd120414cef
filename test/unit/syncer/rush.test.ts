import { afterEach, expect, test, vi } from 'vitest';
import { type Load, Rush } from '../../../syncer/rush.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** A process that works such a part of its time. */
class Process implements Load {
  utilization = 1;
  at = 0;
  now = () => this.at;
  look = () => this.at;
  since = (before: unknown) => ({ utilization: this.utilization, ms: this.at - Number(before) });
}

interface Work {
  name: string;
  end(): void;
}

function setUp() {
  const process = new Process();
  const rush = new Rush(process);
  const underWay: Work[] = [];
  const work = (name: string) => () =>
    new Promise<string>((resolve) => underWay.push({ name, end: () => resolve(name) }));
  const end = async (name: string) => {
    const [found] = underWay.splice(
      underWay.findIndex((one) => one.name === name),
      1,
    );
    found?.end();
    for (let i = 0; i < 10; i++) await Promise.resolve();
  };
  return { process, rush, work, end, names: () => underWay.map(({ name }) => name) };
}

test('while it cannot do all, one thing is told at a time, in order, and what is made waits for nothing', async () => {
  const { process, rush, work, end, names } = setUp();
  const made = [rush.make(work('made 1')), rush.make(work('made 2'))];
  process.at = 100;
  const told = ['told 1', 'told 2', 'told 3'].map((name) => rush.tell(work(name)));
  expect(names()).toEqual(['made 1', 'made 2', 'told 1']);
  await end('told 1');
  expect(names()).toEqual(['made 1', 'made 2', 'told 2']);
  await end('told 2');
  await end('told 3');
  expect(await Promise.all(told)).toEqual(['told 1', 'told 2', 'told 3']);
  await end('made 1');
  await end('made 2');
  expect(await Promise.all(made)).toEqual(['made 1', 'made 2']);
});

test('one that keeps up tells at once, however much is made', async () => {
  const { process, rush, work, names } = setUp();
  process.utilization = 0.89;
  void rush.make(work('made'));
  process.at = 100;
  void rush.tell(work('told 1'));
  void rush.tell(work('told 2'));
  expect(names()).toEqual(['made', 'told 1', 'told 2']);
});

test('one that has nothing to make tells at once, however busy it is', async () => {
  const { process, rush, work, names } = setUp();
  process.at = 100;
  void rush.tell(work('told 1'));
  void rush.tell(work('told 2'));
  expect(names()).toEqual(['told 1', 'told 2']);
});

test.each<{ of: string; over(process: Process, end: (name: string) => Promise<void>): Promise<void> }>([
  {
    of: 'nothing has been made for a while',
    async over(process, end) {
      await end('made');
      process.at += 51;
    },
  },
  {
    of: 'it keeps up',
    async over(process) {
      process.at += 25;
      process.utilization = 0.5;
    },
  },
])('all that waits is told when $of', async ({ over }) => {
  const { process, rush, work, end, names } = setUp();
  void rush.make(work('made'));
  process.at = 100;
  for (const name of ['told 1', 'told 2', 'told 3']) void rush.tell(work(name));
  expect(names()).toEqual(['made', 'told 1']);
  await over(process, end);
  await end('told 1');
  expect(names().filter((name) => name !== 'made')).toEqual(['told 2', 'told 3']);
});

test('between two that are made in a row nothing else goes first', async () => {
  const { process, rush, work, end, names } = setUp();
  void rush.make(work('made'));
  process.at = 100;
  await end('made');
  process.at += 49;
  void rush.tell(work('told 1'));
  void rush.tell(work('told 2'));
  expect(names()).toEqual(['told 1']);
});

test('what fails keeps nobody else waiting', async () => {
  const { process, rush, work, end, names } = setUp();
  void rush.make(work('made'));
  process.at = 100;
  const failed = rush.tell(() => Promise.reject(new Error('refused')));
  const told = rush.tell(work('told'));
  await expect(failed).rejects.toThrow('refused');
  await end('told');
  expect(await told).toBe('told');
  expect(names()).toEqual(['made']);
});

test('what waits for somebody keeps others waiting for a moment, and for its turn alone', async () => {
  vi.useFakeTimers();
  const { process, rush, work, end, names } = setUp();
  void rush.make(work('made'));
  process.at = 100;
  for (const name of ['told 1', 'told 2', 'told 3']) void rush.tell(work(name));
  await vi.advanceTimersByTimeAsync(249);
  expect(names()).toEqual(['made', 'told 1']);
  await vi.advanceTimersByTimeAsync(1);
  expect(names()).toEqual(['made', 'told 1', 'told 2']);
  await end('told 1');
  expect(names(), 'its turn had ended').toEqual(['made', 'told 2']);
});
