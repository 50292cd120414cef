import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { backup, restore } from '../../storage/backup.ts';
import { openLevel } from '../../storage/level/level.ts';
import type { Store } from '../../storage/store.ts';
import { bytes, fails } from './store.ts';

const ALL = { start: '', end: '\x7f' };
/** Beyond all that is written while the backup is taken. */
const BUMP = 1_000_000;
const KEYS = 40;
/** So that all writes stay within the history that a store keeps, also when the disk stands still for seconds. */
const TURNS = 1000;

/** What any store must give away while it goes on, and what comes of it elsewhere. */
export function backups(now: () => Store): void {
  it('hold one revision amid writes, and are restored to later ones without history', async () => {
    const store = now();
    const directory = await mkdtemp(join(tmpdir(), 'store-backup-'));
    try {
      for (let i = 0; i < KEYS; i++) await store.create(`/k/${i}`, bytes(`${i} 0`));
      let stop = false;
      const writing = (async () => {
        for (let turn = 1; turn <= TURNS && !stop; turn++) {
          for (let i = 0; i < KEYS && !stop; i++) {
            const there = await store.get(`/k/${i}`);
            await store.update(`/k/${i}`, bytes(`${i} ${turn}`), there?.revision ?? 0);
            // A store in memory answers at once, and nobody else would ever have a turn.
            await setImmediate();
          }
        }
      })();
      const file = join(directory, 'backup');
      const { saved, entries } = await (async () => {
        const saved = await backup(store, file);
        const { entries } = await store.list(ALL, { revision: saved.revision });
        return { saved, entries };
      })().finally(() => {
        stop = true;
        return writing;
      });
      expect(saved.entries).toBe(KEYS);
      const target = join(directory, 'restored');
      expect(await restore(file, target, { bump: BUMP })).toEqual({
        revision: saved.revision + BUMP,
        entries: KEYS,
      });
      const restored = await openLevel(target, { sync: false });
      expect(restored.revision).toBe(saved.revision + BUMP);
      expect((await restored.list(ALL)).entries.map(plain)).toEqual(entries.map(plain));
      await fails(restored.watch(ALL, { after: saved.revision, sink: () => {} }), 'compacted');
      await fails(restored.watch(ALL, { after: store.revision, sink: () => {} }), 'compacted');
      expect((await restored.create('/k/new', bytes(''))).revision).toBe(saved.revision + BUMP + 1);
      await restored.close();
    } finally {
      await rm(directory, { recursive: true });
    }
  });
}

function plain({
  key,
  value,
  revision,
  created,
}: {
  key: string;
  value: Uint8Array;
  revision: number;
  created: number;
}) {
  return [key, Buffer.from(value).toString(), revision, created];
}
