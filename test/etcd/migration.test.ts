import { afterAll, beforeAll, expect, test } from 'vitest';
import { carryForward } from '../../apiserver/migration/format.ts';
import { silentLogger } from '../../kube/log.ts';
import { openEtcd } from '../../storage/etcd/open.ts';
import { formerStore, killedAt } from '../world/former.ts';
import { type Etcd, startEtcd } from './etcd.ts';

let etcd: Etcd;
beforeAll(async () => {
  etcd = await startEtcd();
});
afterAll(() => etcd.stop());

test('a store of the version before is carried forward by two servers, after one was killed', async () => {
  const open = () => openEtcd({ endpoints: [etcd.endpoint], prefix: '/former', compaction: false });
  const [one, two] = [await open(), await open()];
  try {
    await formerStore(one);
    await expect(carryForward(killedAt(one, 9), silentLogger)).rejects.toThrow('killed');
    await Promise.all([carryForward(one, silentLogger), carryForward(two, silentLogger)]);
    const { entries } = await two.list({ start: '', end: '\x7f' });
    const keys = entries.map(({ key }) => key);
    expect(keys.filter((key) => key.includes(':') || key.includes('internal.atoll.dev'))).toEqual([]);
    expect(keys).toContain('/!internal/format');
    expect(keys.filter((key) => key.includes('/placements/'))).toHaveLength(2);
  } finally {
    await Promise.all([one.close(), two.close()]);
  }
});
