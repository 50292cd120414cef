/** What the store on etcd does per second, from its cache and from etcd itself. `fsync` as first argument: durable. */
import { Connection } from '../../storage/etcd/connection.ts';
import { Keys } from '../../storage/etcd/keys.ts';
import { openEtcd } from '../../storage/etcd/open.ts';
import { readOne, readRange } from '../../storage/etcd/read.ts';
import { prefixRange } from '../../storage/store.ts';
import { startEtcd } from '../etcd/etcd.ts';

const etcd = await startEtcd({ fsync: process.argv[2] === 'fsync' });
const store = await openEtcd({ endpoints: [etcd.endpoint], compaction: false });
const connection = new Connection({ endpoints: [etcd.endpoint] });
const keys = new Keys();
const value = Buffer.alloc(1000, 'x');
const few = prefixRange('/a/');

async function measure(name: string, count: number, width: number, one: (i: number) => Promise<unknown>) {
  const times: number[] = [];
  const began = performance.now();
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const i = next++;
      const start = performance.now();
      await one(i);
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  const seconds = (performance.now() - began) / 1000;
  times.sort((a, b) => a - b);
  const at = (share: number): string => (times[Math.floor(count * share)] ?? 0).toFixed(2);
  const rate = Math.round(count / seconds);
  process.stdout.write(`${name.padEnd(22)} x${width}\t${rate}/s\tp50 ${at(0.5)} ms\tp99 ${at(0.99)} ms\n`);
}

await measure('create (warm-up)', 1000, 1, (i) => store.create(`/warm/${i}`, value));
await measure('create', 2000, 1, (i) => store.create(`/a/${i}`, value));
await measure('create', 8000, 64, (i) => store.create(`/b/${i}`, value));
const { entries } = await store.list(prefixRange('/b/'));
await measure('update', entries.length, 64, async (i) => {
  const entry = entries[i];
  if (entry !== undefined) await store.update(entry.key, value, entry.revision);
});
await measure('get, cache', 2000, 1, (i) => store.get(`/a/${i}`));
await measure('get, cache', 50_000, 64, (i) => store.get(`/b/${i % 8000}`));
await measure('get, etcd', 2000, 1, (i) => readOne(connection, keys, `/a/${i}`));
await measure('get, etcd', 8000, 64, (i) => readOne(connection, keys, `/a/${i % 2000}`));
await measure('list of 2000, cache', 500, 1, () => store.list(few));
await measure('list of 2000, cache', 2000, 64, () => store.list(few));
await measure('list of 2000, etcd', 50, 1, () => readRange(connection, keys, few));
connection.close();
await store.close();
await etcd.stop();
