import { Leases } from '../leases.ts';
import { Retention } from '../retention.ts';
import type { Store } from '../store.ts';
import { WatchHub } from '../watch-hub.ts';
import { type Disk, openDisk } from './disk.ts';
import { translate } from './errors.ts';
import { layout } from './files.ts';
import { LevelStore } from './level-store.ts';
import { load } from './load.ts';
import type { LevelOptions } from './options.ts';
import { Reserve } from './reserve.ts';
import { readToken } from './token.ts';
import { requireWatermark, Watermark } from './watermark.ts';
import { Writer } from './writer.ts';

const DEFAULT_RESERVE = 128 << 20;

/**
 * Opens the store in a directory, making it when there is none. Reads and watches are served from memory, except
 * for what a budget keeps out of it. One process at a time. Fails with `corrupt` when anything is damaged or
 * missing, `unavailable` when another process has it, `full`.
 */
export async function openLevel(directory: string, options: LevelOptions = {}): Promise<Store> {
  return startLevel(await openDisk(directory, options.sync ?? true), options);
}

/** The second half of openLevel: reads and checks everything. Closes the disk when it fails. */
export async function startLevel(disk: Disk, options: LevelOptions = {}): Promise<Store> {
  const { directory } = disk;
  try {
    const watermarkPath = layout(directory).watermark;
    const { durable, torn } = disk.inspection;
    const noted = await requireWatermark(watermarkPath, directory);
    const atLeast = Math.max(noted.revision, durable);
    const { versions, base } = await load(disk, atLeast, options.memoryBudget ?? Infinity);
    for (const text of torn) options.logger?.warn(tornEnd(text, versions.revision));
    // Reading everything mapped every table into memory; whatever is in memory by now need not be there twice.
    if (versions.revision > 0) await disk.reopen();
    const hub = new WatchHub(versions);
    const watermark = new Watermark(watermarkPath);
    if (noted.isEnd) await watermark.begin(versions.revision);
    const retention = new Retention({
      ...(options.historyAgeMs !== undefined && { ageMs: options.historyAgeMs }),
      ...(options.historyEvents !== undefined && { events: options.historyEvents }),
      ...(options.historyBytes !== undefined && { bytes: options.historyBytes }),
    });
    const writer = new Writer({ disk, versions, hub, base, retention, watermark, logger: options.logger });
    const { reserveBytes: bytes = DEFAULT_RESERVE, freeBytes: free, logger } = options;
    const reserve = new Reserve({ directory, bytes, free, logger });
    // Whoever opens a store on a nearly full disk is told so before anybody writes.
    await reserve.look(performance.now());
    const leases = new Leases(await readToken(disk.database, directory));
    writer.aging.wake();
    return new LevelStore({ disk, versions, hub, writer, watermark, reserve, leases });
  } catch (error) {
    await disk.close();
    throw translate(error, directory);
  }
}

function tornEnd(what: string, revision: number): string {
  return `${what} could not be read; the store goes on after revision ${revision}. Writes that were under way when the process was killed look like this, and so does damage to the end of a log`;
}
