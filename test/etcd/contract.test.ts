import { afterAll, beforeAll } from 'vitest';
import { openEtcd } from '../../storage/etcd/open.ts';
import { storeContract } from '../contract/store.ts';
import { type Etcd, startEtcd } from './etcd.ts';
import { fromZero } from './from-zero.ts';

let etcd: Etcd;
let count = 0;
beforeAll(async () => {
  etcd = await startEtcd();
});
afterAll(() => etcd.stop());

storeContract(
  'etcd',
  async () => {
    const prefix = `/contract-${count++}`;
    const open = () => openEtcd({ endpoints: [etcd.endpoint], prefix, compaction: false });
    let store = await open();
    const base = store.revision;
    return {
      store: fromZero(store, base),
      reopen: async () => {
        await store.close();
        store = await open();
        return fromZero(store, base);
      },
      dispose: () => store.close(),
    };
  },
  { largest: 1_500_000 },
);
