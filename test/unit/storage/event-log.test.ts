import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { EventLog } from '../../../storage/event-log.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import type { StoreEvent } from '../../../storage/store.ts';
import { Versions } from '../../../storage/versions.ts';

function event(revision: number, key = `/k/${revision}`): StoreEvent {
  return { type: 'put', entry: { key, value: Buffer.from('v'), revision, created: revision } };
}

/** Revisions first, first + step, ... */
function logOf(count: number, step = 1): EventLog {
  const log = new EventLog();
  for (let i = 1; i <= count; i++) log.append(event(i * step));
  return log;
}

const revisions = (events: readonly StoreEvent[]): number[] => events.map(({ entry }) => entry.revision);

describe('EventLog', () => {
  it.each([
    { after: 0, until: 3, want: [1, 2, 3] },
    { after: 1022, until: 1027, want: [1023, 1024, 1025, 1026, 1027] },
    { after: 2499, until: 9999, want: [2500] },
    { after: 2500, until: 9999, want: [] },
  ])('gives what is after $after up to $until', ({ after, until, want }) => {
    expect(revisions(logOf(2500).slice(after, until))).toEqual(want);
  });

  it.each([0, 1, 1000, 1023, 1024, 1025, 2047, 2048, 2049, 2499, 2500, 9999])(
    'has exactly what is after %i when it forgot up to there',
    (revision) => {
      const log = logOf(2500);
      log.drop(revision);
      const left = Math.max(0, 2500 - revision);
      expect(log.length).toBe(left);
      expect(revisions(log.slice(0, Infinity))).toEqual(
        Array.from({ length: left }, (_, i) => revision + 1 + i),
      );
      log.append(event(2501));
      expect(revisions(log.slice(2500, Infinity))).toEqual([2501]);
    },
  );

  it('finds its way where revisions are left out or repeat', () => {
    const log = logOf(2000, 3);
    for (let i = 0; i < 3; i++) log.append(event(9000, `/same/${i}`));
    expect(revisions(log.slice(2998, 3006))).toEqual([3000, 3003, 3006]);
    expect(log.next(5999, { start: '/same', end: '/samf' }).events.length).toBe(3);
    log.drop(4000);
    expect(revisions(log.slice(0, 4005))).toEqual([4002, 4005]);
  });

  it('never tears the events of one revision apart', () => {
    const log = new EventLog();
    for (let i = 0; i < 400; i++) log.append(event(7, `/k/${i}`));
    log.append(event(8));
    const { events, until } = log.next(0, { start: '/', end: '0' });
    expect({ count: events.length, until }).toEqual({ count: 400, until: 7 });
  });

  it('lets go of what it forgot at once', async () => {
    const log = new EventLog();
    const watched: WeakRef<StoreEvent>[] = [];
    for (let i = 1; i <= 5000; i++) {
      const one = event(i);
      log.append(one);
      if (i <= 1500) watched.push(new WeakRef(one));
    }
    log.drop(1500);
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    // A WeakRef holds what it was made of until the turn is over.
    await setImmediate();
    gc();
    expect(watched.filter((ref) => ref.deref() !== undefined).length).toBe(0);
    expect(log.length).toBe(3500);
  });
});

describe('what history costs', () => {
  it('counts the values that only history keeps, and something for each event', () => {
    const versions = new Versions();
    const value = Buffer.alloc(1000);
    const first = { key: '/a', value, revision: 1, created: 1 };
    versions.apply({ type: 'put', entry: first });
    const each = versions.historyBytes;
    expect(each).toBeGreaterThan(0);
    versions.apply({ type: 'put', entry: { ...first, revision: 2 }, previous: first });
    expect(versions.historyBytes).toBe(2 * each + 1000);
    versions.compact(2);
    expect(versions.historyBytes).toBe(0);
  });

  it.each(['create', 'update'] as const)('is that of the value alone after a %s from a pool', async (op) => {
    const store = openMemory();
    const pool = Buffer.alloc(64 << 10, 'x');
    const value = pool.subarray(100, 1000);
    const made = await store.create('/a', op === 'create' ? value : Buffer.from('0'));
    const kept = op === 'create' ? made : await store.update('/a', value, made.revision);
    expect(Buffer.from(kept.value).equals(value)).toBe(true);
    expect(kept.value.buffer.byteLength).toBe(900);
    await store.close();
  });

  it('keeps a value that has memory of its own as it is', async () => {
    const store = openMemory();
    const value = Buffer.alloc(900);
    expect((await store.create('/a', value)).value).toBe(value);
    await store.close();
  });
});
