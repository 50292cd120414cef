import { expect, test } from 'vitest';
import { WorkQueue } from '../../../controller/queue.ts';
import { FakeClock } from './fake-clock.ts';

function queue() {
  const clock = new FakeClock();
  return { clock, queue: new WorkQueue({ clock, baseDelayMs: 10, maxDelayMs: 100 }) };
}

test('a key waits once; keys come in the order of their arrival', async () => {
  const { queue: q } = queue();
  for (const key of ['a', 'b', 'a', 'c']) q.add(key);
  expect(q.length).toBe(3);
  expect([await q.take(), await q.take(), await q.take()]).toEqual(['a', 'b', 'c']);
});

test('a key is with one worker at a time, and comes again if it was added meanwhile', async () => {
  const { queue: q } = queue();
  q.add('a');
  expect(await q.take()).toBe('a');
  q.add('a');
  q.add('a');
  expect(q.length).toBe(0);
  const next = q.take();
  q.done('a');
  expect(await next).toBe('a');
  q.done('a');
  expect(q.idle).toBe(true);
});

test('a key that was not added meanwhile does not come again', async () => {
  const { queue: q } = queue();
  q.add('a');
  await q.take();
  q.done('a');
  expect(q.idle).toBe(true);
});

test('parties take turns, and none has more than its part under way', async () => {
  const fair = { partyOf: (key: string) => key[0] ?? '', most: 2 };
  const q = new WorkQueue({ fair });
  for (const key of ['x1', 'x2', 'x3', 'x4', 'y1', 'y2', 'z1']) q.add(key);
  expect([await q.take(), await q.take(), await q.take(), await q.take()]).toEqual(['x1', 'y1', 'z1', 'x2']);
  expect(await q.take(), 'x has its part').toBe('y2');
  expect(q.length).toBe(2);
  const next = q.take();
  q.add('z2');
  expect(await next).toBe('z2');
  const later = q.take();
  q.done('x1');
  expect(await later).toBe('x3');
  for (const key of ['x2', 'x3', 'y1', 'y2', 'z1', 'z2']) q.done(key);
  q.done((await q.take()) ?? '');
  expect(q.idle).toBe(true);
});

test('a key that is added again while it waits keeps its place', async () => {
  const { queue: q } = queue();
  for (const key of ['a', 'b', 'a']) q.add(key);
  expect([await q.take(), await q.take()]).toEqual(['a', 'b']);
  q.done('a');
  q.done('b');
  expect(q.idle).toBe(true);
});

test('a delayed key comes when its time has come; the earliest of several delays wins', () => {
  const { queue: q, clock } = queue();
  q.addAfter('a', 50);
  q.addAfter('a', 20);
  q.addAfter('a', 90);
  clock.advance(19);
  expect(q.length).toBe(0);
  clock.advance(1);
  expect(q.length).toBe(1);
  expect(clock.pending).toBe(0);
});

test('a delay is as long as it says, also when the clock was set forward since an earlier one', () => {
  const timers = new FakeClock();
  let now = 0;
  const clock = {
    now: () => now,
    ticks: () => timers.now(),
    after: (ms: number, run: () => void) => timers.after(ms, run),
  };
  const q = new WorkQueue({ clock });
  q.addAfter('a', 60_000);
  now = 86_400_000;
  q.addAfter('a', 20);
  timers.advance(20);
  expect(q.length).toBe(1);
});

test('what was put off is done with what is done now, and may be put off anew', () => {
  const { queue: q, clock } = queue();
  q.addAfter('a', 50);
  q.addAfter('b', 50);
  q.overtake('a');
  q.overtake('never put off');
  expect(clock.pending).toBe(1);
  q.addAfter('a', 60);
  clock.advance(50);
  expect(q.length).toBe(1);
  clock.advance(10);
  expect(q.length).toBe(2);
});

test('of what is told in one go, which gives a key out with its first, the rest is done with that', async () => {
  const { queue: q } = queue();
  const taken = q.take();
  for (let n = 0; n < 3; n++) q.add('a');
  const key = (await taken) ?? '';
  q.overtake(key);
  q.done(key);
  expect(q.idle).toBe(true);
  const again = q.take();
  q.add('a');
  q.overtake((await again) ?? '');
  // What comes after the look has begun is looked at.
  q.add('a');
  q.done('a');
  expect(q.length).toBe(1);
});

test('failures delay a key longer each time, up to a bound, until it is forgotten', () => {
  const { queue: q, clock } = queue();
  const delays = Array.from({ length: 6 }, () => {
    q.addRateLimited('a');
    let waited = 0;
    while (q.length === 0) {
      clock.advance(1);
      waited += 1;
    }
    void q.take();
    q.done('a');
    return waited;
  });
  expect(delays).toEqual([10, 20, 40, 80, 100, 100]);
  expect(q.failures('a')).toBe(6);
  q.forget('a');
  q.addRateLimited('a');
  clock.advance(10);
  expect(q.length).toBe(1);
});

test('what nobody answered is given out when there are answers: once, and whenever there were none for a while', () => {
  const { queue: q, clock } = queue();
  const fail = (key: string, isHeard: boolean) => {
    q.noteHeard(key, isHeard);
    q.addRateLimited(key, undefined, 60_000);
  };
  const given = () => {
    const all = q.length;
    while (q.length > 0) void q.take();
    for (const key of ['unheard', 'refused']) q.done(key);
    return all;
  };
  fail('unheard', false);
  fail('refused', true);
  q.hurry(false);
  expect([given(), clock.pending]).toEqual([1, 1]);
  fail('unheard', false);
  q.hurry(false);
  expect(given()).toBe(0);
  q.hurry(true);
  expect([given(), q.failures('unheard'), q.failures('refused')]).toEqual([1, 0, 1]);
  fail('unheard', false);
  q.forget('unheard');
  fail('unheard', false);
  q.hurry(false);
  expect(given()).toBe(1);
  fail('unheard', true);
  q.hurry(true);
  expect(given()).toBe(0);
});

test('a closed queue gives nothing, lets waiting workers go, and leaves no timer', async () => {
  const { queue: q, clock } = queue();
  const waiting = q.take();
  q.addAfter('b', 10);
  q.close();
  q.add('c');
  expect(await waiting).toBeUndefined();
  expect(await q.take()).toBeUndefined();
  expect(clock.pending).toBe(0);
});
