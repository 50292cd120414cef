import { readdir, rm } from 'node:fs/promises';
import { StoreError } from '../store.ts';
import { corrupt } from './errors.ts';
import { layout, readIfThere, writeDurable } from './files.ts';

/** The newest layout of a directory that this code reads. */
const FORMAT = 1;

interface Marker {
  format: number;
  /** `creating` until the empty database is on disk; nothing was ever acknowledged before `ready`. */
  state: 'creating' | 'ready';
}

/**
 * Says whether the database must be created. LevelDB, told to create what is missing, deletes all tables when
 * only its CURRENT file is gone: so a database is created only when our own marker, written first, says that
 * there never was one. The caller owns the directory. Fails with `corrupt`.
 */
export async function isNewStore(directory: string): Promise<boolean> {
  const { marker, database } = layout(directory);
  const text = await readIfThere(marker);
  if (text !== undefined) {
    const { format, state } = parseMarker(directory, text);
    if (format > FORMAT) {
      throw new StoreError(
        'corrupt',
        `${directory} has format ${format}; this version reads up to ${FORMAT}`,
      );
    }
    if (state === 'ready') return false;
    await rm(database, { recursive: true, force: true });
    return true;
  }
  const files = await readdir(database).catch(() => []);
  if (files.length > 0) throw corrupt(directory, `it has a database but no file ${marker}`);
  await markCreating(directory);
  return true;
}

/** Before the first file of a database: until it is ready, nothing in the directory is worth keeping. */
export async function markCreating(directory: string): Promise<void> {
  await writeMarker(directory, 'creating');
}

/** Once the empty database is on disk. */
export async function markReady(directory: string): Promise<void> {
  await writeMarker(directory, 'ready');
}

async function writeMarker(directory: string, state: Marker['state']): Promise<void> {
  await writeDurable(
    layout(directory).marker,
    `${JSON.stringify({ format: FORMAT, state } satisfies Marker)}\n`,
  );
}

function parseMarker(directory: string, text: string): Marker {
  try {
    const { format, state } = JSON.parse(text);
    if (Number.isInteger(format) && (state === 'creating' || state === 'ready')) return { format, state };
  } catch {
    // Answered below, as any other nonsense.
  }
  throw corrupt(directory, `the file ${layout(directory).marker} is not readable`);
}
