import { markReady } from './directory.ts';
import { translate } from './errors.ts';
import { layout } from './files.ts';
import { inspect } from './inspect.ts';
import { type Losses, lossesOf } from './losses.ts';
import { takeOwnership } from './owner.ts';
import { swapDatabase, undoSwap, writeDatabase } from './rebuild.ts';
import { salvage } from './salvage.ts';
import { verifyLevel } from './verify.ts';
import { readWatermark, replaceWatermark } from './watermark.ts';

export interface RepairReport {
  /** What was wrong; empty when there was nothing to repair, and nothing was changed. */
  readonly problems: readonly string[];
  /** What is not there any more. Something newer, which is there, may have replaced it. */
  readonly losses: Losses;
  /** How many entries the store has now. */
  readonly entries: number;
  readonly revision: number;
  /** Where the damaged database was put aside. */
  readonly kept?: string;
}

/** Far beyond whatever was acknowledged after the last revision that is left, so that none is given twice. */
const BUMP = 1_000_000;

/**
 * Saves what is readable of a damaged store that nobody has open. Of each key the newest readable version
 * stays, and the report says what is lost. History is gone: watchers list again. The damaged database is kept.
 */
export async function repairLevel(directory: string): Promise<RepairReport> {
  const { problems, revision, ok, records } = await verifyLevel(directory);
  if (ok) return { problems, losses: { revisions: [] }, entries: records, revision };
  const { database, owner, watermark } = layout(directory);
  const release = await takeOwnership(owner).catch((error: unknown) => {
    throw translate(error, directory);
  });
  try {
    const fresh = `${database}.repaired`;
    await undoSwap(database, fresh);
    const found = await salvage(database);
    const { durable } = await inspect(database);
    const noted = await readWatermark(watermark);
    const acknowledged = Math.max(noted?.revision ?? 0, durable, found.base?.newest ?? 0);
    const bumped = Math.max(found.newest, acknowledged) + BUMP;
    await writeDatabase(fresh, found.entries, bumped);
    const kept = await swapDatabase(database, fresh);
    await replaceWatermark(watermark, bumped);
    await markReady(directory);
    const losses = lossesOf(found, acknowledged, noted?.isEnd ?? false);
    return {
      problems,
      losses,
      entries: found.entries.length,
      revision: bumped,
      ...(kept !== undefined && { kept }),
    };
  } catch (error) {
    throw translate(error, directory);
  } finally {
    await release();
  }
}
