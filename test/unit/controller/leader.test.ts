import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runLeader, type Term } from '../../../controller/leader.ts';
import { silentLogger } from '../../../kube/log.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import { type Lease, type Store, StoreError } from '../../../storage/store.ts';
import { until } from '../../contract/until.ts';

let store: Store;
let stop: AbortController;
beforeEach(() => {
  store = openMemory();
  stop = new AbortController();
});
afterEach(() => {
  stop.abort();
  vi.useRealTimers();
});

interface Candidate {
  terms: Term[];
  stop(): void;
  stopped: Promise<void>;
}

function candidate(
  over: Pick<Store, 'acquire'> = store,
  ttlMs = 1000,
  isMine: () => boolean = () => true,
): Candidate {
  const own = new AbortController();
  stop.signal.addEventListener('abort', () => own.abort());
  const terms: Term[] = [];
  const lead = async (term: Term) => {
    terms.push(term);
    await new Promise((resolve) => term.signal.addEventListener('abort', resolve));
  };
  const options = { store: over, name: 'x', lead, signal: own.signal, logger: silentLogger, ttlMs, isMine };
  return { terms, stop: () => own.abort(), stopped: runLeader(options) };
}

/** Block the event loop: as far as timers and promises go, the process is stopped. */
function pause(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe('of several candidates', () => {
  it('who is to lead does; who is not asks seldom, and gives back what it has', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    let who = 'a';
    const asked = vi.spyOn(store, 'acquire');
    const a = candidate(store, 1000, () => who === 'a');
    await vi.advanceTimersByTimeAsync(0);
    const b = candidate(store, 1000, () => who === 'b');
    await vi.advanceTimersByTimeAsync(3000);
    expect([a.terms.length, b.terms.length]).toEqual([1, 0]);
    expect(asked.mock.calls.length).toBeLessThanOrEqual(4);
    who = 'b';
    await vi.advanceTimersByTimeAsync(500);
    expect([a.terms[0]?.held(), b.terms[0]?.held()]).toEqual([false, true]);
    who = 'nobody';
    await vi.advanceTimersByTimeAsync(500);
    expect([...a.terms, ...b.terms].map((term) => term.held())).toEqual([false, false]);
  });

  it('what nobody leads whose turn it is, another does in its place, and gives it back some day', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    const a = candidate(store, 1000, () => false);
    await vi.advanceTimersByTimeAsync(2000);
    expect(a.terms.map((term) => term.held())).toEqual([true]);
    const b = candidate(store, 1000, () => true);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([a.terms.length, a.terms[0]?.held(), b.terms.length]).toEqual([1, true, 0]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([a.terms[0]?.held(), b.terms[0]?.held()]).toEqual([false, true]);
    expect([a.terms.length, b.terms.length]).toEqual([1, 1]);
  });

  it('who led in the place of another looks as long as at first before it does so again', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    const a = candidate(store, 1000, () => false);
    await vi.advanceTimersByTimeAsync(2000);
    while (a.terms[0]?.held()) await vi.advanceTimersByTimeAsync(100);
    await vi.advanceTimersByTimeAsync(1000);
    expect(a.terms.length).toBe(1);
    await vi.advanceTimersByTimeAsync(1500);
    expect(a.terms.map((term) => term.held())).toEqual([false, true]);
  });

  it('a lease that is free for a moment, while it goes from one to the other, is left to whose turn it is', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    const bystander = candidate(store, 1000, () => false);
    for (let i = 0; i < 40; i++) {
      const lease = await store.acquire('x', 1000);
      await vi.advanceTimersByTimeAsync(i % 2 === 0 ? 730 : 130);
      await lease?.release();
      await vi.advanceTimersByTimeAsync(130);
    }
    expect(bystander.terms).toEqual([]);
  });

  it('one leads, for longer than its lease would last, and the next when it stops', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    const all = [candidate(), candidate(), candidate()];
    const terms = () => all.flatMap((one) => one.terms);
    await vi.advanceTimersByTimeAsync(2500);
    expect(terms()).toHaveLength(1);
    const [first] = terms();
    expect([first?.held(), first?.signal.aborted]).toEqual([true, false]);
    const leader = all.find((one) => one.terms.length > 0);
    leader?.stop();
    await leader?.stopped;
    expect([first?.held(), first?.signal.aborted]).toEqual([false, true]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(terms()).toHaveLength(2);
    expect(Math.max(...terms().map(({ fence }) => fence.token))).toBeGreaterThan(
      first?.fence.token ?? Infinity,
    );
  });

  it('a paused one knows by the clock, before any timer could say so, and writes nothing more', async () => {
    const one = candidate();
    await until(() => one.terms.length === 1);
    const term = one.terms[0];
    pause(1500);
    expect(term?.held()).toBe(false);
    const late = store.create('/k', Buffer.from(''), { holding: term?.fence });
    await expect(late).rejects.toMatchObject({ code: 'fenced' });
    await until(() => term?.signal.aborted ?? false);
    await until(() => one.terms.length === 2);
    await store.create('/k', Buffer.from(''), { holding: one.terms[1]?.fence });
  });
});

describe('a leader', () => {
  /** A store whose lease cannot be kept alive. */
  const withKeepAlive = (keepAlive: () => Promise<boolean>): Pick<Store, 'acquire'> => {
    let token = 0;
    const acquire = async (name: string): Promise<Lease> => ({
      name,
      token: ++token,
      keepAlive,
      release: async () => {},
    });
    return { acquire };
  };

  it.each([
    ['hangs', () => new Promise<boolean>(() => {})],
    ['fails', () => Promise.reject(new StoreError('unavailable', 'away'))],
  ])('gives up in time where the question %s', async (_how, keepAlive) => {
    const one = candidate(withKeepAlive(keepAlive), 150);
    await until(() => one.terms.length === 1);
    const began = performance.now();
    await until(() => one.terms[0]?.signal.aborted ?? false);
    const took = performance.now() - began;
    expect(took).toBeGreaterThan(50);
  });

  it('gives up at once when the lease is gone', async () => {
    const one = candidate(
      withKeepAlive(async () => false),
      60_000,
    );
    await until(() => one.terms[0]?.signal.aborted ?? false);
    one.stop();
    await one.stopped;
  });

  it('is elected again after its work failed, and waits for nobody who does not stop', async () => {
    let terms = 0;
    const lead = async () => {
      terms++;
      throw new Error('broken');
    };
    const options = { store, name: 'x', lead, signal: stop.signal, logger: silentLogger, ttlMs: 100 };
    const leading = runLeader(options);
    await until(() => terms === 3);
    stop.abort();
    await leading;
    expect(await store.acquire('x', 100)).toBeDefined();
  });
});
