import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { Level } from 'level';

/**
 * Checks that were left out, put in from outside: what a check would have noticed is hidden before the store
 * opens. Whatever else is wrong stays as it is.
 */
export const DAMAGE_BUGS: Readonly<Record<string, (data: string) => Promise<void>>> = {
  /** Gives every damaged record a checksum that fits. */
  'skip-crc': (data) =>
    edit(data, async (db) => {
      for await (const [key, bytes] of db.iterator({ gte: 'r', lt: 's' })) {
        const end = bytes.length - 4;
        if (end < 21 || crc32(bytes.subarray(0, end)) === bytes.readUInt32BE(end)) continue;
        bytes.writeUInt32BE(crc32(bytes.subarray(0, end)), end);
        await db.put(key, bytes);
      }
    }),
  'skip-watermark': (data) => rm(join(data, 'WATERMARK'), { force: true }),
  /** LevelDB's own default: make what is missing. */
  'skip-marker': async (data) => {
    const db = new Level<string, Buffer>(join(data, 'db'), { valueEncoding: 'buffer' });
    await db.open({ createIfMissing: true }).catch(() => {});
    if (db.status === 'open' && (await db.keys({ limit: 1 }).all()).length === 0) {
      const text = JSON.stringify({ compacted: 0, count: 0, sum: 0 });
      await db.put('m:base', Buffer.from(`${text}\n${crc32(text)}`));
      await rm(join(data, 'WATERMARK'), { force: true });
      await writeFile(join(data, 'STORE'), '{"format":1,"state":"ready"}\n');
    }
    await db.close();
  },
};

async function edit(data: string, change: (db: Level<string, Buffer>) => Promise<void>): Promise<void> {
  const db = new Level<string, Buffer>(join(data, 'db'), { valueEncoding: 'buffer' });
  try {
    await db.open({ createIfMissing: false });
    await change(db);
  } catch {
    // What LevelDB refuses by itself is refused.
  } finally {
    await db.close();
  }
}
