import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ShareView } from '../../../cluster/types.ts';
import { runBusiness, type Tended } from '../../../syncer/business.ts';

type Engine = Parameters<typeof runBusiness>[0];

const life = new Set<AbortController>();
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  for (const one of life) one.abort();
  life.clear();
  vi.useRealTimers();
});

class Fake implements Tended {
  readonly resource: string;
  readonly firstRead: Promise<void>;
  mayBeShown = false;
  readonly log: string[] = [];
  readonly informer: { isAwake: boolean; synced: Promise<void>; wake(): void; rest(): void };

  constructor(resource: string, firstRead = Promise.resolve()) {
    this.resource = resource;
    this.firstRead = firstRead;
    const note = (isAwake: boolean) => {
      if (this.informer.isAwake !== isAwake || this.log.length === 0)
        this.log.push(isAwake ? 'wake' : 'rest');
      this.informer.isAwake = isAwake;
    };
    this.informer = {
      isAwake: false,
      synced: Promise.resolve(),
      wake: () => note(true),
      rest: () => note(false),
    };
  }
}

const share = (resource: string, group = 'apps', rule?: object) =>
  ({
    spec: { ref: { group, resource, ...(rule && { rule }) }, physicalNamespace: 'home' },
  }) as unknown as ShareView;

const shows = (tended: Fake[], isShown: boolean) => {
  const [pods] = tended;
  if (pods) pods.mayBeShown = isShown;
};

function world(all: ShareView[] = [], homes = 0) {
  const stop = new AbortController();
  life.add(stop);
  const shares = new Set(all);
  let [tellShare, tellHome] = [(_: ShareView) => {}, (_: object) => {}];
  const physical = { rest: vi.fn(), search: vi.fn(async () => {}), isAtRest: true };
  const state = { homes, isIdle: false, isOver: false };
  const engine = {
    signal: stop.signal,
    physical,
    shares: {
      synced: Promise.resolve(),
      get size() {
        return shares.size;
      },
      values: () => shares.values(),
      hasIndexed: () => shares.size > 0,
      on: ({ add }: { add(share: ShareView): void }) => {
        for (const one of shares) add(one);
        tellShare = add;
      },
    },
    namespaces: {
      count: () => state.homes,
      own: () => ({}),
      informer: {
        synced: Promise.resolve(),
        hasSynced: true,
        get size() {
          return state.homes;
        },
        on: ({ add }: { add(object: object): void }) => {
          tellHome = add;
        },
      },
    },
  } as unknown as Engine;
  const tended = ['pods', 'events', 'replicasets.apps', 'jobs.batch', 'endpoints'].map(
    (one) => new Fake(one),
  );
  const awake = () => tended.filter(({ informer }) => informer.isAwake).map(({ resource }) => resource);
  return {
    engine,
    physical,
    tended,
    awake,
    state,
    begin: async (isWoken = false) => {
      const course = { isWoken, isIdle: () => state.isIdle, restMs: 60_000 };
      void runBusiness(engine, tended, Promise.resolve(), course).then(() => {
        state.isOver = true;
      });
      await vi.advanceTimersByTimeAsync(0);
    },
    share: (one: ShareView) => {
      shares.add(one);
      tellShare(one);
    },
    unshare: (one: ShareView) => shares.delete(one),
    home: () => {
      state.homes += 1;
      tellHome({ metadata: { name: 'home' } });
    },
    leave: () => {
      state.homes = 0;
    },
  };
}

test('of a cluster that has nothing of ours nothing is watched, and all is known', async () => {
  const { begin, tended, awake, physical } = world();
  await begin();
  expect(awake()).toEqual([]);
  expect(tended.map(({ log }) => log)).toEqual(tended.map(() => ['rest']));
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(physical.search).not.toHaveBeenCalled();
});

test.each<[string, ShareView, string[]]>([
  ['a Deployment', share('deployments'), ['pods', 'events', 'replicasets.apps']],
  ['a ConfigMap', share('configmaps', ''), ['pods', 'events']],
  ['a Service', share('services', ''), ['pods', 'events', 'endpoints']],
  ['a CronJob', share('cronjobs', 'batch'), ['pods', 'events', 'jobs.batch']],
  [
    'a custom resource',
    share('rollouts', 'x', {}),
    ['pods', 'events', 'replicasets.apps', 'jobs.batch', 'endpoints'],
  ],
])('%s wakes what is made of it, at the start and later', async (_, one, expected) => {
  const before = world([one]);
  await before.begin();
  expect(before.awake()).toEqual(expected);
  const later = world();
  await later.begin();
  later.share(one);
  expect(later.awake()).toEqual(expected);
});

test('what has gone is watched a minute longer, and not if it comes back', async () => {
  const web = share('deployments');
  const { begin, awake, unshare, share: add, leave } = world([web], 1);
  await begin();
  unshare(web);
  await vi.advanceTimersByTimeAsync(45_000);
  add(web);
  await vi.advanceTimersByTimeAsync(300_000);
  expect(awake()).toContain('replicasets.apps');
  unshare(web);
  await vi.advanceTimersByTimeAsync(59_000);
  expect(awake()).toContain('replicasets.apps');
  await vi.advanceTimersByTimeAsync(31_000);
  expect(awake(), 'a namespace of ours is left').toEqual(['pods', 'events']);
  leave();
  await vi.advanceTimersByTimeAsync(90_000);
  expect(awake()).toEqual([]);
});

test('it is over at once where there is nothing, and nothing is left to do', async () => {
  const { begin, state, tended } = world();
  state.isIdle = true;
  await begin();
  await vi.advanceTimersByTimeAsync(0);
  expect(state.isOver).toBe(true);
  expect(tended.every(({ informer }) => !informer.isAwake)).toBe(true);
});

test.each<[string, (at: ReturnType<typeof world>) => void, (at: ReturnType<typeof world>) => void]>([
  ['a queue has something', (at) => (at.state.isIdle = false), (at) => (at.state.isIdle = true)],
  ['a kind is watched', (at) => (at.physical.isAtRest = false), (at) => (at.physical.isAtRest = true)],
  ['a namespace is there', (at) => (at.state.homes = 1), (at) => at.leave()],
  ['something is shown', ({ tended }) => shows(tended, true), ({ tended }) => shows(tended, false)],
])('it is not over while %s', async (_, with_, without) => {
  const at = world();
  at.state.isIdle = true;
  with_(at);
  await at.begin();
  await vi.advanceTimersByTimeAsync(300_000);
  expect(at.state.isOver).toBe(false);
  without(at);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(at.state.isOver).toBe(true);
});

test('it is over when the last share has gone for a minute, and not before', async () => {
  const web = share('deployments');
  const { begin, state, unshare, leave } = world([web], 1);
  state.isIdle = true;
  await begin();
  unshare(web);
  leave();
  await vi.advanceTimersByTimeAsync(59_000);
  expect(state.isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(61_000);
  expect(state.isOver).toBe(true);
});

test('what has woken it waits for no list of what was not there', async () => {
  const { begin, tended, awake } = world([share('deployments')]);
  await begin(true);
  expect(tended[0]?.log).toEqual(['rest', 'wake']);
  expect(awake()).toEqual(['pods', 'events', 'replicasets.apps']);
});

test('what comes with a namespace that has woken it is looked for half a minute later', async () => {
  const { begin, physical } = world([], 1);
  await begin(true);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(physical.search).toHaveBeenCalledTimes(1);
});

test('a clock that is set back makes nothing late', async () => {
  const web = share('deployments');
  const { begin, awake, unshare, leave, physical } = world([web], 1);
  await begin();
  unshare(web);
  await vi.advanceTimersByTimeAsync(30_000);
  vi.setSystemTime(Date.now() - 3_600_000);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(awake()).toEqual(['pods', 'events']);
  await vi.advanceTimersByTimeAsync(510_000);
  expect(physical.search).toHaveBeenCalledTimes(1);
  leave();
  await vi.advanceTimersByTimeAsync(90_000);
  expect(awake()).toEqual([]);
});

test('what is shown is watched though nothing makes it any more', async () => {
  const { begin, tended, awake } = world([], 1);
  const jobs = tended.find(({ resource }) => resource === 'jobs.batch') as Fake;
  jobs.mayBeShown = true;
  await begin();
  expect(awake()).toEqual(['pods', 'events', 'jobs.batch']);
  await vi.advanceTimersByTimeAsync(300_000);
  expect(awake()).toContain('jobs.batch');
  jobs.mayBeShown = false;
  await vi.advanceTimersByTimeAsync(90_000);
  expect(awake()).toEqual(['pods', 'events']);
});

test('a namespace of ours that nobody here has made is looked into, and every ten minutes where there is one', async () => {
  const { begin, home, awake, physical } = world();
  await begin();
  home();
  await vi.advanceTimersByTimeAsync(0);
  expect(awake()).toEqual(['pods', 'events']);
  expect(physical.search).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(physical.search, 'what comes with it may come later').toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(1_260_000);
  expect(physical.search).toHaveBeenCalledTimes(4);
});

test('what a share has woken is not put to rest by what was found to be shown of it: nothing', async () => {
  const web = share('deployments');
  let read = () => {};
  const { begin, tended, awake, share: add } = world([], 1);
  const sets = tended.findIndex(({ resource }) => resource === 'replicasets.apps');
  tended[sets] = new Fake('replicasets.apps', new Promise((resolve) => (read = resolve)));
  await begin();
  add(web);
  read();
  await vi.advanceTimersByTimeAsync(0);
  expect(awake()).toContain('replicasets.apps');
});
