import { cp, mkdir, writeFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { openLevel } from '../../storage/level/level.ts';
import type { Store } from '../../storage/store.ts';
import { ALL } from './clients.ts';
import type { Change } from './history.ts';
import { changeOf, encodeValue } from './journal.ts';
import { Random } from './random.ts';

/** A store that nobody has open, and all that is known of it. */
export interface Model {
  /** A killed one does not know exactly what was acknowledged last. */
  readonly ended: 'closed' | 'killed';
  readonly directory: string;
  /** A copy of it from an earlier time. */
  readonly earlier: string;
  /** Revision n is at n - 1. */
  readonly changes: readonly Change[];
  readonly last: ReadonlyMap<string, Change>;
  readonly revision: number;
  readonly compacted: number;
  /** What was acknowledged a second before the end; the newest revision of a closed one. */
  readonly noted: number;
}

/** Several lives of reads and writes, so that logs and tables of several ages hold the records. */
export async function makeModel(parent: string, seed: number, ended: Model['ended']): Promise<Model> {
  const random = new Random(seed);
  const directory = `${parent}/store`;
  const earlier = `${parent}/earlier`;
  const killed = `${parent}/killed`;
  await mkdir(parent, { recursive: true });
  const changes: Change[] = [];
  const last = new Map<string, Change>();
  const lives = random.between(2, 6);
  let end = { revision: 0, compacted: 0, noted: 0 };
  for (let life = 1; life <= lives; life++) {
    const store = await openLevel(directory, { sync: false, reserveBytes: 0 });
    const begun = store.revision;
    const stop = await store.watch(ALL, {
      after: store.revision,
      sink: (events) => {
        for (const event of events) {
          const change = changeOf(event);
          changes.push(change);
          last.set(change.key, change);
        }
      },
    });
    await write(store, random, `${seed}.${life}`, random.between(50, 400));
    while (changes.length < store.revision) await setImmediate();
    if (random.chance(0.6)) await store.compact(random.between(store.compacted, store.revision));
    stop();
    const noted = ended === 'closed' ? store.revision : begun + Math.floor((store.revision - begun) / 2);
    end = { revision: store.revision, compacted: store.compacted, noted };
    // What a killed process leaves: the files as they are, and a note from a while ago.
    if (ended === 'killed' && life === lives) {
      for (const name of ['db', 'STORE'])
        await cp(`${directory}/${name}`, `${killed}/${name}`, { recursive: true });
    }
    await store.close();
    if (life === lives - 1) await cp(directory, earlier, { recursive: true });
  }
  if (ended === 'closed') return { ended, directory, earlier, changes, last, ...end };
  await writeFile(`${killed}/WATERMARK`, `${end.noted}\n`);
  return { ended, directory: killed, earlier, changes, last, ...end };
}

async function write(store: Store, random: Random, name: string, count: number): Promise<void> {
  const bytes = random.pick([50, 300, 2000]);
  for (let i = 0; i < count; i++) {
    const key = `/k/${random.below(150)}`;
    const value = encodeValue(`${name}.${i}`, random.between(30, bytes));
    const entry = await store.get(key);
    if (entry === undefined) await store.create(key, value);
    else if (random.chance(0.2)) await store.delete(key, entry.revision);
    else await store.update(key, value, entry.revision);
  }
}
