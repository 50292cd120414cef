import { setTimeout } from 'node:timers/promises';
import type { Logger } from '../../kube/log.ts';
import { type Lease, type Store, StoreError } from '../../storage/store.ts';
import { fencedStore } from '../fenced.ts';
import { internalPrefix } from '../registry/keys.ts';
import { moveToIds } from './ids.ts';
import { moveSlicesOut } from './slices.ts';

/**
 * How objects are laid out in a store. 1, which says nothing of itself: keys hold logical clusters' paths, and the
 * server's own lie below /internal.atoll.dev/. 2: ids, and /!internal/. 3: what clusters say of a Placement are objects of
 * their own.
 */
const current = 3;
const formatKey = `${internalPrefix}format`;
const leaseName = 'migration';
const leaseMs = 15_000;

/**
 * Carries a store that an earlier version wrote forward, before anybody reads it. May be killed at any moment and done
 * again; of several servers that start on one store one does it, and the others wait. Servers of the earlier version
 * must have stopped. Fails with `unavailable` for a store of a later version.
 */
export async function carryForward(store: Store, logger: Logger): Promise<void> {
  while ((await formatOf(store)) < current) {
    const lease = await store.acquire(leaseName, leaseMs);
    if (lease === undefined) {
      await setTimeout(200);
      continue;
    }
    const alive = setInterval(() => void lease.keepAlive().catch(() => false), leaseMs / 3);
    try {
      // Another server may have come first.
      const format = await formatOf(store);
      if (format < current) await carry(store, lease, format, logger);
    } finally {
      clearInterval(alive);
      await lease.release();
    }
  }
}

async function carry(store: Store, lease: Lease, from: number, logger: Logger): Promise<void> {
  const held = fencedStore(store, lease);
  const { length: some } = (await held.list({ start: '', end: '\x7f' }, { limit: 1 })).entries;
  if (some > 0) {
    logger.info({ from, format: current }, 'the store is carried forward to a new format');
    const { moved, changed } = from < 2 ? await moveToIds(held) : { moved: 0, changed: 0 };
    const slices = await moveSlicesOut(held);
    logger.info({ format: current, moved, changed, slices }, 'the store was carried forward');
  }
  const said = Buffer.from(JSON.stringify({ format: current }));
  const before = await held.get(formatKey);
  await (before ? held.update(formatKey, said, before.revision) : held.create(formatKey, said));
}

async function formatOf(store: Store): Promise<number> {
  const entry = await store.get(formatKey);
  if (entry === undefined) return 1;
  const { format } = JSON.parse(Buffer.from(entry.value).toString()) as { format: number };
  if (format <= current) return format;
  throw new StoreError(
    'unavailable',
    `the objects in the store have format ${format}, a later version's; this one reads up to ${current}, and has changed nothing`,
  );
}
