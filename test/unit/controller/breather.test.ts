import { afterEach, expect, test, vi } from 'vitest';
import { Breather, breather } from '../../../controller/breather.ts';
import { runController } from '../../../controller/controller.ts';
import { WorkQueue } from '../../../controller/queue.ts';
import { silentLogger } from '../../../kube/log.ts';
import { eventually } from '../../eventually.ts';

afterEach(() => vi.restoreAllMocks());

const never = () => new Promise<void>(() => undefined);

test('others stand back until what is written before them is', async () => {
  const own = new Breather();
  let done: () => void = () => undefined;
  const work = own.before(() => new Promise<void>((resolve) => (done = resolve)));
  const held = own.held;
  expect(held).toBeDefined();
  done();
  await work;
  await held;
  expect(own.held).toBeUndefined();
});

test('and where that fails', async () => {
  const own = new Breather();
  const work = own.before(() => Promise.reject(new Error('no')));
  const held = own.held;
  await expect(work).rejects.toThrow('no');
  await held;
  expect(own.held).toBeUndefined();
});

test('for a bounded time, and not again soon', async () => {
  const own = new Breather({ mostHeldMs: 20 });
  void own.before(never);
  await own.held;
  expect(own.held).toBeUndefined();
  expect(await own.before(async () => own.held)).toBeUndefined();
});

test('two at the same time are one time of standing back', async () => {
  const own = new Breather();
  let done: () => void = () => undefined;
  const first = own.before(() => new Promise<void>((resolve) => (done = resolve)));
  const held = own.held;
  await own.before(async () => undefined);
  expect(own.held).toBe(held);
  done();
  await first;
});

test('a controller stands back, and one that goes first does not', async () => {
  const stop = new AbortController();
  const seen: string[] = [];
  const start = (name: string, goesFirst: boolean) => {
    const queue = new WorkQueue();
    const reconcile = async () => {
      seen.push(name);
    };
    const { signal } = stop;
    const done = runController({ name, queue, goesFirst, reconcile, signal, logger: silentLogger });
    return { queue, done };
  };
  const [others, first] = [start('others', false), start('first', true)];
  // Each waits for a key by now.
  others.queue.add('a');
  await eventually(() => expect(seen).toEqual(['others']));
  await breather.before(async () => {
    others.queue.add('b');
    others.queue.add('c');
    first.queue.add('a');
    first.queue.add('b');
    await eventually(() => expect(seen.filter((name) => name === 'first')).toHaveLength(2));
    expect(seen.filter((name) => name === 'others')).toHaveLength(1);
  });
  await eventually(() => expect(seen).toHaveLength(5));
  stop.abort();
  await Promise.all([others.done, first.done]);
});

test('one that ends while it stands back with a key does nothing more with it', async () => {
  const stop = new AbortController();
  const seen: string[] = [];
  const queue = new WorkQueue();
  const reconcile = async (key: string) => {
    seen.push(key);
  };
  const { signal } = stop;
  const ended = runController({ name: 'others', queue, reconcile, signal, logger: silentLogger });
  queue.add('a');
  await eventually(() => expect(seen).toEqual(['a']));
  await eventually(() => expect(queue.idle).toBe(true));
  let done: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (done = resolve));
  const asked = vi.spyOn(breather, 'held', 'get').mockReturnValue(held);
  queue.add('b');
  await eventually(() => expect(asked.mock.calls.length, 'it stands back').toBeGreaterThan(0));
  stop.abort();
  done();
  await ended;
  expect(seen).toEqual(['a']);
  expect(queue.idle).toBe(true);
});
