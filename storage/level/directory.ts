import { readdir, rm } from 'node:fs/promises';
import { StoreError } from '../store.ts';
import { corrupt } from './errors.ts';
import { layout, readIfThere, writeDurable } from './files.ts';

/** The newest layout of a directory that this code reads. */
const FORMAT = 1;

const states = ['creating', 'restoring', 'ready'] as const;

interface Marker {
  format: number;
  /**
   * `creating` until the empty database is on disk; nothing was ever acknowledged before `ready`. `restoring` until all
   * of a backup is: who expects what was in it must not find an empty store.
   */
  state: (typeof states)[number];
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
    if (format > FORMAT) throw new StoreError('unavailable', newer(directory, format));
    if (state === 'restoring') throw new StoreError('unavailable', brokenOff(directory));
    if (state === 'ready') return false;
    await rm(database, { recursive: true, force: true });
    return true;
  }
  const left = await remains(directory);
  if (left !== undefined) throw corrupt(directory, left);
  await markCreating(directory);
  return true;
}

/** What tells of a store where there is no marker. */
async function remains(directory: string): Promise<string | undefined> {
  const { marker, database, watermark } = layout(directory);
  const files = await readdir(database).catch(() => []);
  if (files.length > 0) return `it has a database but no file ${marker}`;
  if ((await readIfThere(watermark)) === undefined) return undefined;
  return `it has a file ${watermark}, but neither ${marker} nor a database`;
}

/** Fails with `exists` where there is a store, with `corrupt` where there was one. What was never ready, such as what a restore that broke off left, is none. */
export async function refuseStore(directory: string): Promise<void> {
  const text = await readIfThere(layout(directory).marker);
  if (text === undefined) {
    const left = await remains(directory);
    if (left !== undefined) throw corrupt(directory, left);
    return;
  }
  const { state } = parseMarker(directory, text);
  if (state === 'ready') throw new StoreError('exists', `there is a store in ${directory} already`);
}

/**
 * What is wrong with the marker. Fails with `unavailable` for a store of a newer format, and for what a restore that broke
 * off left: those are none to repair.
 */
export async function markerProblem(directory: string): Promise<string | undefined> {
  const { marker } = layout(directory);
  const text = await readIfThere(marker);
  if (text === undefined) return `there is no file ${marker}`;
  try {
    const { format, state } = parseMarker(directory, text);
    if (format > FORMAT) throw new StoreError('unavailable', newer(directory, format));
    if (state === 'restoring') throw new StoreError('unavailable', brokenOff(directory));
    return undefined;
  } catch (error) {
    if (error instanceof StoreError && error.code === 'corrupt') return `the file ${marker} is not readable`;
    throw error;
  }
}

function newer(directory: string, format: number): string {
  return `the store in ${directory} has format ${format}, a later version's; this one reads up to ${FORMAT}, and has changed nothing`;
}

function brokenOff(directory: string): string {
  return `a backup was being restored to ${directory}, and that did not end: restore it there once more`;
}

/** Before the first file of a backup's database. */
export async function markRestoring(directory: string): Promise<void> {
  await writeMarker(directory, 'restoring');
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
    if (Number.isInteger(format) && states.includes(state)) return { format, state };
  } catch {
    // Answered below, as any other nonsense.
  }
  throw corrupt(directory, `the file ${layout(directory).marker} is not readable`);
}
