import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import type { Lease, Store } from '../../storage/store.ts';
import { patienceMs } from '../eventually.ts';
import { bytes, fails, type StoreUnderTest, text } from './store.ts';

/** Long enough that nothing ends by itself in a test. */
const LONG_MS = 60_000;

/** Of what Store promises, the leases. */
export function leases(now: () => StoreUnderTest): void {
  const taken: Lease[] = [];
  // What ends by itself later would change an etcd that the next test uses.
  afterEach(async () => {
    await Promise.all(taken.splice(0).map((lease) => lease.release()));
  });

  async function tryTake(store: Store, name: string, ttlMs = LONG_MS): Promise<Lease | undefined> {
    const lease = await store.acquire(name, ttlMs);
    if (lease !== undefined) taken.push(lease);
    return lease;
  }

  async function take(store: Store, name: string, ttlMs = LONG_MS): Promise<Lease> {
    const lease = await tryTake(store, name, ttlMs);
    if (lease === undefined) throw new Error(`${name} is held by somebody`);
    return lease;
  }

  it('are held by one at a time, each with a higher token', async () => {
    const { store } = now();
    const tries = await Promise.all(Array.from({ length: 10 }, () => tryTake(store, 'a')));
    const first = tries.filter((lease) => lease !== undefined);
    expect(first).toHaveLength(1);
    expect(await tryTake(store, 'a')).toBeUndefined();
    const other = await take(store, 'b');
    expect(await first[0]?.keepAlive()).toBe(true);
    await first[0]?.release();
    expect(await first[0]?.keepAlive()).toBe(false);
    const second = await take(store, 'a');
    expect(second.token).toBeGreaterThan(first[0]?.token ?? Infinity);
    // Who held it before ends nobody else's term.
    await first[0]?.release();
    expect([await second.keepAlive(), await other.keepAlive()]).toEqual([true, true]);
  });

  it('let through the writes of who holds them, and of nobody else', async () => {
    const { store } = now();
    const lease = await take(store, 'a');
    const made = await store.create('/k', bytes('1'), { holding: lease });
    const changed = await store.update('/k', bytes('2'), made.revision, { holding: lease });
    for (const wrong of [
      { name: 'b', token: lease.token },
      { name: 'a', token: lease.token + 1 },
      { name: 'a', token: 0 },
    ]) {
      await fails(store.create('/new', bytes(''), { holding: wrong }), 'fenced');
      await fails(store.update('/k', bytes('3'), changed.revision, { holding: wrong }), 'fenced');
      await fails(store.delete('/k', changed.revision, { holding: wrong }), 'fenced');
    }
    await fails(store.update('/k', bytes('3'), 1_000_000, { holding: lease }), 'conflict');
    await fails(store.create('/k', bytes('3'), { holding: lease }), 'exists');
    expect(text(await store.get('/k'))).toBe('2');
    await store.delete('/k', changed.revision, { holding: lease });
    expect(await store.get('/k')).toBeUndefined();
    await lease.release();
    await fails(store.create('/k', bytes('4'), { holding: lease }), 'fenced');
    await take(store, 'a');
    await fails(store.create('/k', bytes('5'), { holding: lease }), 'fenced');
    expect((await store.list({ start: '', end: '\x7f' })).entries).toEqual([]);
  });

  it('end by themselves unless kept alive', async () => {
    const { store } = now();
    // More than two seconds for a machine that stands still now and then.
    const ttlMs = 4000;
    let kept = await take(store, 'kept', ttlMs);
    const left = await take(store, 'left', ttlMs);
    const began = performance.now();
    let heard = began;
    let next: Lease | undefined;
    while (next === undefined && performance.now() - began < patienceMs) {
      await sleep(200);
      const since = heard;
      heard = performance.now();
      const isKept = await kept.keepAlive();
      // A machine that stood still for longer than that has lost it rightly.
      if (performance.now() - since < ttlMs) expect(isKept).toBe(true);
      else if (!isKept) kept = await take(store, 'kept', ttlMs);
      next = await tryTake(store, 'left', ttlMs);
    }
    expect(performance.now() - began).toBeGreaterThan(ttlMs - 500);
    expect(next?.token).toBeGreaterThan(left.token);
    expect(await left.keepAlive()).toBe(false);
    await fails(store.create('/late', bytes(''), { holding: left }), 'fenced');
    await store.create('/in-time', bytes(''), { holding: kept });
  });

  it('hold back what an earlier holder had under way', async () => {
    const { store } = now();
    await store.create('/n', bytes('0'));
    for (let round = 0; round < 20; round++) {
      const old = await take(store, 'a');
      let entry = (await store.get('/n'))!;
      // Unanswered when the lease changes hands.
      const late = Promise.allSettled(
        Array.from({ length: 8 }, () =>
          store.update('/n', bytes(`old ${round}`), entry.revision, { holding: old }),
        ),
      );
      await old.release();
      const lease = await take(store, 'a');
      entry = (await store.get('/n'))!;
      // Whatever they did is visible by now, so this one cannot meet a conflict.
      await store.update('/n', bytes(`new ${round}`), entry.revision, { holding: lease });
      await late;
      expect(text(await store.get('/n'))).toBe(`new ${round}`);
      await lease.release();
    }
  });

  it('have tokens that go on rising after a restart', async (context) => {
    const { store, reopen } = now();
    if (reopen === undefined) return context.skip();
    const tokens: number[] = [];
    for (let i = 0; i < 5; i++) {
      const lease = await take(store, 'a');
      tokens.push(lease.token);
      await lease.release();
    }
    const again = await reopen();
    const lease = await take(again, 'a');
    expect(lease.token).toBeGreaterThan(Math.max(...tokens));
    await again.create('/k', bytes(''), { holding: lease });
  });
}
