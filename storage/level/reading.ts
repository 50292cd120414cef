import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { translate } from './errors.ts';
import { errorCode, layout } from './files.ts';
import { currentManifest, LOG, TABLE } from './inspect.ts';
import { refuseOwned, takeOwnership } from './owner.ts';

const unwritable = new Set(['EROFS', 'EACCES', 'EPERM']);

/** Where the database of a store can be opened until `release`. */
export interface Reading {
  database: string;
  release(): Promise<void>;
}

/**
 * For who changes no data. LevelDB writes whenever it opens a database: where nothing can be written it gets a folder of
 * links to the files that it only reads; what a crash left half made it would write anew, under the same names. Fails with `unavailable` while another process has the store open.
 */
export async function takeForReading(directory: string): Promise<Reading> {
  const { database, owner } = layout(directory);
  try {
    return { database, release: await takeOwnership(owner) };
  } catch (error) {
    if (!unwritable.has(errorCode(error) ?? '')) throw translate(error, directory);
  }
  try {
    await refuseOwned(owner);
    return await linked(resolve(database));
  } catch (error) {
    throw translate(error, directory);
  }
}

async function linked(database: string): Promise<Reading> {
  const folder = await mkdtemp(join(tmpdir(), 'atoll-reading-'));
  const release = () => rm(folder, { recursive: true, force: true });
  try {
    const manifest = await currentManifest(database);
    const isRead = (name: string) =>
      manifest === undefined
        ? name !== 'LOCK'
        : ['CURRENT', manifest.name].includes(name) ||
          LOG.test(name) ||
          (TABLE.test(name) && manifest.tables.has(Number.parseInt(name, 10)));
    for (const name of (await readdir(database)).filter(isRead)) {
      await symlink(join(database, name), join(folder, name));
    }
  } catch (error) {
    await release();
    throw error;
  }
  return { database: folder, release };
}
