import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Rules } from '../../apiserver/encryption/rules.ts';
import { encryptedStore } from '../../apiserver/encryption/store.ts';
import { openLevel } from '../../storage/level/level.ts';
import type { LevelOptions } from '../../storage/level/options.ts';
import { openMemory } from '../../storage/memory/memory.ts';
import type { Store } from '../../storage/store.ts';
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

storeContract('memory, all values encrypted', async () => {
  const store = encrypted(openMemory());
  return { store, dispose: () => store.close() };
});
storeContract('level, all values encrypted', async () => {
  const { store, reopen, dispose } = await openTemporary({ sync: false });
  return {
    store: encrypted(store),
    dispose,
    ...(reopen && { reopen: async () => encrypted(await reopen()) }),
  };
});

function encrypted(store: Store): Store {
  const keys = [{ name: 'a', secret: Buffer.alloc(32, 1).toString('base64') }];
  const rules = new Rules({ resources: [{ resources: ['*.*'], providers: [{ aesgcm: { keys } }] }] });
  return encryptedStore(store, () => rules);
}

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
