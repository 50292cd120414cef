import { setImmediate as nextTurn } from 'node:timers/promises';
import { Comparison } from '../comparison.ts';
import type { CheckReport } from '../store.ts';
import type { Connection } from './connection.ts';
import type { Feed } from './feed.ts';
import { ALL, type Keys } from './keys.ts';
import { readRange } from './read.ts';

const PAGE = 500;

/** See Store.check. Reads everything from etcd, page by page; what is wrong makes the cache start over. */
export async function checkEtcd(connection: Connection, keys: Keys, feed: Feed): Promise<CheckReport> {
  const { cache } = feed;
  const comparison = new Comparison(cache.versions, cache.hub);
  try {
    await comparison.start();
    let after: string | undefined;
    for (let more = true; more; await nextTurn()) {
      const at = { revision: comparison.revision, limit: PAGE, ...(after !== undefined && { after }) };
      const page = await readRange(connection, keys, ALL, at);
      for (const entry of page.entries) comparison.see(entry);
      after = page.entries[page.entries.length - 1]?.key;
      more = page.more;
    }
    const wrong = await comparison.finish();
    const [first] = wrong.keys();
    // Whatever made it wrong may have made more wrong than its current entries.
    if (first !== undefined && cache === feed.cache) await feed.restart(`${first} was wrong in the cache`);
  } finally {
    comparison.stop();
  }
  return comparison.report();
}
