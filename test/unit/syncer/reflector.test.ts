import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Client } from '../../../client/client.ts';
import { silentLogger as logger } from '../../../kube/log.ts';
import type { Engine } from '../../../syncer/engine.ts';
import { Reflector } from '../../../syncer/reflector.ts';
import { Unreadable } from '../../../syncer/unreadable.ts';

const lifetime = new Set<AbortController>();
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  for (const life of lifetime) life.abort();
  lifetime.clear();
  vi.useRealTimers();
});

/** One whose cluster never answers; `list`: what is asked of the logical clusters. */
function start(list: () => Promise<unknown>, ready: readonly Promise<unknown>[]): void {
  const life = new AbortController();
  lifetime.add(life);
  const never = () => new Promise(() => {});
  const engine = {
    name: 'east',
    client: { list: never, watch: never, json: never } as unknown as Client,
    upstream: { list } as unknown as Client,
    unreadable: new Unreadable(() => {}),
    signal: life.signal,
    logger,
  };
  const reflector = new Reflector(engine as unknown as Engine, 'pods', async () => undefined);
  reflector.informer.wake();
  reflector.run(ready).catch(() => {});
}

test('nothing that was reflected is looked at before it is known which namespaces are whose', async () => {
  const list = vi.fn(async () => ({ items: [] }));
  start(list, [new Promise(() => {})]);
  await vi.advanceTimersByTimeAsync(1_000_000);
  expect(list).not.toHaveBeenCalled();
});

test('what was reflected is asked for again after ten seconds where that fails, and else after five minutes', async () => {
  let isDown = true;
  const list = vi.fn(async () => {
    if (isDown) throw new Error('not now');
    return { items: [] };
  });
  start(list, [Promise.resolve()]);
  await vi.advanceTimersByTimeAsync(9_999);
  expect(list).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(list).toHaveBeenCalledTimes(2);
  isDown = false;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(list).toHaveBeenCalledTimes(3);
  await vi.advanceTimersByTimeAsync(279_999);
  expect(list).toHaveBeenCalledTimes(3);
  await vi.advanceTimersByTimeAsync(1);
  expect(list).toHaveBeenCalledTimes(4);
});
