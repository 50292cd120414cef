import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLevel } from '../../storage/level/level.ts';
import { openMemory } from '../../storage/memory/memory.ts';
import { storeContract } from './store.ts';

storeContract('memory', async () => {
  const store = openMemory();
  return { store, dispose: () => store.close() };
});

storeContract('level', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'store-contract-'));
  let store = await openLevel(directory, { sync: false });
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await openLevel(directory, { sync: false });
      return store;
    },
    dispose: async () => {
      await store.close();
      await rm(directory, { recursive: true });
    },
  };
});
