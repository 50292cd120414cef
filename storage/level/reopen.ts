import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreError } from '../store.ts';
import type { Versions } from '../versions.ts';
import type { WatchHub } from '../watch-hub.ts';
import type { Base } from './base.ts';
import type { Disk } from './disk.ts';
import { translate } from './errors.ts';
import { catchUp } from './load.ts';
import type { Logger } from './options.ts';

export interface ReopenParts {
  disk: Disk;
  versions: Versions;
  hub: WatchHub;
  logger: Logger | undefined;
}

const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 5000;

/**
 * Opens the database again after a failed write and reads to the last record, until that succeeds. Undefined when the
 * signal came first, or what is stored is damaged. `refuse` is told of each failure.
 */
export async function reopened(
  { disk, versions, hub, logger }: ReopenParts,
  signal: AbortSignal,
  refuse: (reason: StoreError) => void,
): Promise<Base | undefined> {
  for (let wait = FIRST_RETRY_MS; !signal.aborted; wait = Math.min(wait * 2, LAST_RETRY_MS)) {
    try {
      await disk.reopen();
      const { base } = await catchUp(disk, versions, (events) => hub.publish(events));
      return base;
    } catch (error) {
      const reason = translate(error, disk.directory);
      logger?.warn(`the store cannot be opened again yet: ${reason.message}`);
      refuse(reason);
      if (reason.code === 'corrupt') return undefined;
      await sleep(wait, undefined, { signal }).catch(() => {});
    }
  }
  return undefined;
}
