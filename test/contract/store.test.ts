import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Plugin } from '../../apiserver/encryption/kms/plugin.ts';
import { Rules } from '../../apiserver/encryption/rules.ts';
import { encryptedStore } from '../../apiserver/encryption/store.ts';
import { EncryptionMetrics } from '../../server/metrics/encryption.ts';
import { openLevel } from '../../storage/level/level.ts';
import type { LevelOptions } from '../../storage/level/options.ts';
import { openMemory } from '../../storage/memory/memory.ts';
import type { Store } from '../../storage/store.ts';
import { KmsPlugin } from '../kms/plugin.ts';
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

storeContract('memory, all values encrypted by a KMS plugin, others by each process', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'store-kms-'));
  const kms = new KmsPlugin(join(directory, 'kms.sock'));
  await kms.start();
  const configuration = { apiVersion: 'v2', name: 'a', endpoint: `unix://${kms.socket}`, timeout: '10s' };
  const [reader, writer] = [1, 2].map(() => new Plugin(configuration, new EncryptionMetrics()));
  if (reader === undefined || writer === undefined) throw new Error('there are two');
  await Promise.all([reader.check(), writer.check()]);
  const stored = openMemory();
  const through = (plugin: Plugin) => {
    const providers = [{ kms: configuration }];
    const rules = new Rules({ resources: [{ resources: ['*.*'], providers }] }, () => plugin);
    return encryptedStore(stored, () => rules);
  };
  const [reading, writing] = [through(reader), through(writer)];
  // Nothing that is read was written by the same process.
  const store: Store = Object.create(reading, {
    create: { value: writing.create },
    update: { value: writing.update },
  });
  return {
    store,
    dispose: async () => {
      await store.close();
      kms.stop();
      await Promise.all([reader.close(), writer.close()]);
      await rm(directory, { recursive: true });
    },
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
