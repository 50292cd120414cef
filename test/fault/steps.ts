import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Disk } from '../../storage/level/disk.ts';
import { encodeEvent, recordKey } from '../../storage/level/record.ts';
import type { Store, StoreEvent } from '../../storage/store.ts';

/** Where a process can be killed, beside the Nth change of a file that disk.c counts. */
export const STEPS = [
  'commit-before',
  'commit-begun',
  'commit-after',
  'new-log',
  'acknowledged',
  'told',
  'forget-before',
  'forget-begun',
  'forget-after',
  'backup-begun',
  'opened',
  'loaded',
  'closing',
  'closed',
] as const;
export type Step = (typeof STEPS)[number];

/** Kills this process when it comes to a step for the nth time. */
export class Steps {
  readonly step: Step | undefined;
  #left: number;

  constructor(step: Step | undefined, nth: number) {
    this.step = step;
    this.#left = nth;
  }

  reach(step: Step): void {
    if (step === this.step && --this.#left <= 0) process.kill(process.pid, 'SIGKILL');
  }
}

export function instrument(disk: Disk, steps: Steps): void {
  const { commit, forget } = disk;
  const logs = new Set<string>();
  if (steps.step === 'new-log') beganLog(disk, logs);
  disk.commit = async (events) => {
    steps.reach('commit-before');
    const written = commit.call(disk, events);
    steps.reach('commit-begun');
    await written;
    steps.reach('commit-after');
    // Answered from a log that LevelDB began a moment ago.
    if (steps.step === 'new-log' && beganLog(disk, logs)) setImmediate(() => steps.reach('new-log'));
  };
  disk.forget = async (...args) => {
    steps.reach('forget-before');
    const written = forget.apply(disk, args);
    steps.reach('forget-begun');
    const next = await written;
    steps.reach('forget-after');
    return next;
  };
}

function beganLog(disk: Disk, known: Set<string>): boolean {
  const before = known.size;
  for (const name of readdirSync(join(disk.directory, 'db'))) if (name.endsWith('.log')) known.add(name);
  return known.size > before;
}

/** Faults of the code under test, put in from outside. Each breaks one promise. */
export const DISK_BUGS: Readonly<Record<string, (disk: Disk) => void>> = {
  /** Answers while the batch is still on its way. */
  'ack-before-fsync': (disk) => {
    const { commit } = disk;
    let last = Promise.resolve();
    disk.commit = async (events) => {
      last = last
        .then(() => new Promise((resolve) => setTimeout(resolve, 3)))
        .then(() => commit.call(disk, events));
      last.catch(() => {});
    };
  },
  /** Trusts LevelDB to make the name of a new log durable. */
  'no-name-sync': (disk) => {
    disk.commit = async (events) => {
      const batch = disk.database.batch();
      for (const event of events) batch.put(recordKey(event.entry.revision), encodeEvent(event));
      await batch.write({ sync: true });
    };
  },
  /** Goes on in the log with the torn end, as LevelDB itself does. */
  'no-reopen': (disk) => {
    disk.reopen = async () => {};
  },
  /** Forgets entries that are still current. */
  'forget-too-much': (disk) => {
    const { forget } = disk;
    disk.forget = async (base, events, newest) => {
      const last = events.findLast(({ type }) => type === 'put');
      const next = await forget.call(disk, base, events, newest);
      if (last !== undefined) await disk.database.del(`r${String(last.entry.revision).padStart(16, '0')}`);
      return next;
    };
  },
};

type Watch = Store['watch'];

export const STORE_BUGS: Readonly<Record<string, (store: Store, disk: Disk) => void>> = {
  /** Tells watchers of a batch before it is durable. */
  'watch-before-durable': (store, disk) => {
    const { commit } = disk;
    const watch: Watch = store.watch.bind(store);
    const sinks = new Set<(events: readonly StoreEvent[]) => void>();
    let early = 0;
    disk.commit = async (events) => {
      early = events.at(-1)?.entry.revision ?? early;
      for (const sink of sinks) sink(events);
      await commit.call(disk, events);
    };
    store.watch = async (range, options) => {
      const inRange = (event: StoreEvent): boolean =>
        event.entry.key >= range.start && event.entry.key < range.end;
      const ahead = (events: readonly StoreEvent[]): void => {
        const mine = events.filter(inRange);
        if (mine.length > 0) options.sink(mine);
      };
      const late = (events: readonly StoreEvent[]): void => {
        const rest = events.filter((event) => event.entry.revision > early);
        if (rest.length > 0) options.sink(rest);
      };
      const joined = early;
      const stop = await watch(range, {
        ...options,
        sink: (events) => (sinks.has(ahead) ? late(events) : options.sink(events)),
      });
      if (joined === early) sinks.add(ahead);
      return () => {
        sinks.delete(ahead);
        stop();
      };
    };
  },
  /** A watch that resumes leaves out the first event. */
  'watch-gap': (store) => {
    const watch: Watch = store.watch.bind(store);
    store.watch = (range, options) => {
      let skipped = options.after === 0;
      const sink = (events: readonly StoreEvent[]): void => {
        const rest = skipped ? events : events.slice(1);
        skipped = true;
        if (rest.length > 0) options.sink(rest);
      };
      return watch(range, { ...options, sink });
    };
  },
  /** A watch is told some event twice. */
  'watch-twice': (store) => {
    const watch: Watch = store.watch.bind(store);
    let count = 0;
    store.watch = (range, options) =>
      watch(range, {
        ...options,
        sink: (events) => {
          options.sink(events);
          if (++count % 20 === 0) options.sink(events);
        },
      });
  },
  /** The filter lets a neighbour through. */
  'watch-filter': (store) => {
    const watch: Watch = store.watch.bind(store);
    store.watch = (range, options) => watch({ start: range.start, end: `${range.end}1` }, options);
  },
  /** The value before is that of the event itself. */
  'wrong-previous': (store) => {
    const watch: Watch = store.watch.bind(store);
    const wrong = (event: StoreEvent): StoreEvent =>
      event.previous === undefined
        ? event
        : { ...event, previous: { ...event.previous, value: event.entry.value } };
    store.watch = (range, options) =>
      watch(range, { ...options, sink: (events) => options.sink(events.map(wrong)) });
  },
  /** An update does not look at the revision that it expects. */
  'ignored-expectation': (store) => {
    const update: Store['update'] = store.update.bind(store);
    store.update = async (key, value, expected, ...rest) =>
      update(key, value, (await store.get(key))?.revision ?? expected, ...rest);
  },
  /** Reads come from a copy that is refreshed now and then. */
  'stale-read': (store) => {
    const get: Store['get'] = store.get.bind(store);
    store.get = (key) => get(key, { revision: Math.max(store.compacted, store.revision - 20) });
  },
};
