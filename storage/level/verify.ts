import { markerProblem } from './directory.ts';
import { openDatabase } from './disk.ts';
import { translate } from './errors.ts';
import { layout } from './files.ts';
import { inspect } from './inspect.ts';
import { takeForReading } from './reading.ts';
import { readBase, scan } from './scan.ts';
import { readWatermark, watermarkProblem } from './watermark.ts';

export interface VerifyReport {
  readonly ok: boolean;
  /** What is wrong, a sentence each. */
  readonly problems: readonly string[];
  readonly records: number;
  readonly revision: number;
  readonly compacted: number;
}

/** Checks a store that nobody has open, to the last record, and changes no data. Fails with `unavailable`. */
export async function verifyLevel(directory: string): Promise<VerifyReport> {
  const { watermark } = layout(directory);
  const problems: string[] = [];
  let records = 0;
  let revision = 0;
  let compacted = 0;
  let newest = 0;
  const wrong = await markerProblem(directory).catch((error: unknown) => {
    throw translate(error, directory);
  });
  if (wrong !== undefined) problems.push(wrong);
  const { database, release } = await takeForReading(directory);
  try {
    const inspection = await inspect(layout(directory).database);
    problems.push(...inspection.problems);
    // LevelDB may end the whole process over such tables.
    if (inspection.problems.length > 0) return { ok: false, problems, records, revision, compacted };
    const db = await openDatabase(database, false);
    try {
      const base = await readBase(db);
      if (base === undefined) problems.push('the base record is missing or does not match its checksum');
      compacted = base?.compacted ?? 0;
      newest = base?.newest ?? 0;
      revision = compacted;
      await scan(db, base ?? { compacted: 0, count: 0, sum: 0 }, {
        record(record) {
          records++;
          revision = Math.max(revision, record.revision);
        },
        problem: (text) => problems.push(text),
      });
    } finally {
      await db.close();
    }
    const noted = await readWatermark(watermark);
    if (noted === undefined) problems.push(watermarkProblem(watermark));
    const acknowledged = Math.max(noted?.revision ?? 0, inspection.durable, newest);
    if (acknowledged > revision)
      problems.push(`revision ${acknowledged} was acknowledged; the newest is ${revision}`);
  } catch (error) {
    const reason = translate(error, directory);
    if (reason.code === 'unavailable') throw reason;
    problems.push(reason.message);
  } finally {
    await release();
  }
  return { ok: problems.length === 0, problems, records, revision, compacted };
}
