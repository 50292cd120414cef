import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { translate } from './errors.ts';
import { errorCode, layout } from './files.ts';
import { refuseOwned, takeOwnership } from './owner.ts';

const unwritable = new Set(['EROFS', 'EACCES', 'EPERM']);

/** Where the database of a store can be opened until `release`. */
export interface Reading {
  database: string;
  release(): Promise<void>;
}

/**
 * For who changes no data. LevelDB writes whenever it opens a database: where nothing can be written it gets a folder of
 * links to the files, of which it replaces the links alone. Fails with `unavailable` while another process has the store open.
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
    for (const name of await readdir(database)) {
      if (name !== 'LOCK') await symlink(join(database, name), join(folder, name));
    }
  } catch (error) {
    await release();
    throw error;
  }
  return { database: folder, release };
}
