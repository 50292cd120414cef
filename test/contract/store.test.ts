import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLevel } from '../../storage/level/level.ts';
import type { LevelOptions } from '../../storage/level/options.ts';
import { openMemory } from '../../storage/memory/memory.ts';
import { behindPipe } from './pipes.ts';
import { type StoreUnderTest, storeContract } from './store.ts';

storeContract('memory', async () => {
  const store = openMemory();
  return { store, dispose: () => store.close() };
});

levelContract('level');
storeContract('memory behind a pipe', async () =>
  behindPipe({ store: openMemory(), dispose: async () => {} }),
);
storeContract('level behind a pipe', async () => behindPipe(await openTemporary({ sync: false })));
levelContract('level, most values on disk', { memoryBudget: 40 });

function levelContract(name: string, more: LevelOptions = {}): void {
  storeContract(name, () => openTemporary({ sync: false, ...more }));
}

async function openTemporary(options: LevelOptions): Promise<StoreUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), 'store-contract-'));
  let store = await openLevel(directory, options);
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await openLevel(directory, options);
      return store;
    },
    dispose: async () => {
      await store.close();
      await rm(directory, { recursive: true });
    },
  };
}
