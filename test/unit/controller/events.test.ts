import { expect, test } from 'vitest';
import type { Client } from '../../../client/client.ts';
import { type About, EventRecorder } from '../../../controller/events.ts';
import { silentLogger } from '../../../kube/log.ts';
import type { KubeObject } from '../../../kube/object.ts';

const word = { type: 'Normal', reason: 'Placed', message: 'on east' } as const;

function about(cluster: string, name: string): About {
  return { cluster, group: 'apps', version: 'v1', kind: 'Deployment', namespace: 'shop', name, uid: name };
}

/** A recorder, its clock, and whoever writes: each write waits until it is let go. */
function scene(rush?: { isOn: boolean }) {
  const started: string[] = [];
  const open = new Map<string, () => void>();
  const client = {
    createUnread: (_resource: unknown, event: KubeObject, { cluster }: { cluster: string }) => {
      const name = `${cluster}/${event.metadata.name?.split('.')[0]}`;
      started.push(name);
      return new Promise<void>((resolve) => open.set(name, resolve));
    },
  } as unknown as Client;
  const timers: (() => void)[] = [];
  const clock = {
    now: () => 0,
    after: (_ms: number, run: () => void) => {
      timers.push(run);
      return () => undefined;
    },
  };
  const end = new AbortController();
  const options = {
    client,
    component: 'test',
    signal: end.signal,
    logger: silentLogger,
    clock,
    ...(rush && { rush }),
  };
  return { recorder: new EventRecorder(options), started, open, timers, end };
}

test('what is said goes out a moment later, all of it that was said by then', () => {
  const { recorder, started, timers } = scene();
  recorder.say(about('a', 'one'), [word]);
  recorder.say(about('a', 'two'), [word]);
  expect([started, timers.length]).toEqual([[], 1]);
  timers.shift()?.();
  expect(started).toEqual(['a/one', 'a/two']);
  recorder.say(about('a', 'three'), [word]);
  expect(timers).toHaveLength(1);
});

test('in a rush it goes out when that is over', () => {
  const rush = { isOn: true };
  const { recorder, started, timers } = scene(rush);
  recorder.say(about('a', 'one'), [word]);
  timers.shift()?.();
  expect([started, timers.length]).toEqual([[], 1]);
  rush.isOn = false;
  timers.shift()?.();
  expect(started).toEqual(['a/one']);
});

test('in a rush that does not end it waits for ten seconds', () => {
  const { recorder, started, timers } = scene({ isOn: true });
  recorder.say(about('a', 'one'), [word]);
  for (let i = 0; i < 19; i++) timers.shift()?.();
  expect(started).toEqual([]);
  timers.shift()?.();
  expect([started, timers]).toEqual([['a/one'], []]);
});

test('of what is said in a rush nothing is lost for having waited', () => {
  const { recorder, started, timers } = scene({ isOn: true });
  for (let i = 0; i < 1024; i++) recorder.say(about('a', `app-${i}`), [word]);
  timers.shift()?.();
  expect(started).toHaveLength(8);
});

test('a logical cluster whose writes hang holds up nobody else', async () => {
  const { recorder, started, open, timers } = scene();
  for (let i = 0; i < 20; i++) recorder.say(about('a', `app-${i}`), [word]);
  recorder.say(about('b', 'app'), [word]);
  timers.shift()?.();
  expect(started).toEqual([...Array.from({ length: 8 }, (_, i) => `a/app-${i}`), 'b/app']);
  open.get('a/app-3')?.();
  await expect.poll(() => started.at(-1)).toBe('a/app-8');
  expect(started).toHaveLength(10);
});

test('who says more than can be written takes the place of nobody else', () => {
  const { recorder, started, timers } = scene();
  for (let i = 0; i < 10_000; i++) recorder.say(about('a', `app-${i}`), [word]);
  recorder.say(about('b', 'app'), [word]);
  timers.shift()?.();
  expect(started.at(-1)).toBe('b/app');
});

test('once it has ended nothing more goes out', async () => {
  const { recorder, started, open, timers, end } = scene();
  for (let i = 0; i < 9; i++) recorder.say(about('a', `app-${i}`), [word]);
  timers.shift()?.();
  end.abort();
  for (const letGo of open.values()) letGo();
  await new Promise((resolve) => setImmediate(resolve));
  recorder.say(about('a', 'late'), [word]);
  expect([started.length, timers.length]).toEqual([8, 0]);
});
