import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { OwnedError } from '../store.ts';
import { errorCode, readIfThere } from './files.ts';

/**
 * Takes a store's directory for this process: an OWNER file beside LevelDB's LOCK, because LevelDB lets a
 * second process in when LOCK was removed. The file names a process by id and start time, so a crash leaves
 * nothing to clean up. Answers the function that gives the directory back. Fails with `unavailable`.
 */
export async function takeOwnership(path: string): Promise<() => Promise<void>> {
  const mine = `${process.pid} ${(await statusOf(process.pid)).start} ${randomUUID()}\n`;
  const temporary = `${path}.${randomUUID()}`;
  await writeFile(temporary, mine, { mode: 0o600 });
  try {
    while (!(await tryLink(temporary, path))) await removeStale(path);
  } finally {
    await rm(temporary, { force: true });
  }
  return async () => {
    if ((await readIfThere(path)) === mine) await rm(path, { force: true });
  };
}

/** What the file says, if there is one. Fails with `unavailable` while the process that it names lives. */
export async function refuseOwned(path: string): Promise<string | undefined> {
  const theirs = await readIfThere(path);
  if (theirs === undefined) return undefined;
  const [pid = '', started = ''] = theirs.split(' ');
  if (await isAlive(Number(pid), started)) {
    throw new OwnedError(pid, path);
  }
  return theirs;
}

/** Removes the file of a process that is gone; throws when its process lives. */
async function removeStale(path: string): Promise<void> {
  const theirs = await refuseOwned(path);
  if (theirs === undefined) return;
  // By renaming, of two processes that saw the same dead owner only one removes it.
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  if ((await readFile(aside, 'utf8')) !== theirs) await tryLink(aside, path);
  await rm(aside, { force: true });
}

async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

async function isAlive(pid: number, started: string): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Another user's lives, too; whether it is the one that is named only its start tells.
    if (errorCode(error) !== 'EPERM') return false;
  }
  const { isOver, start } = await statusOf(pid);
  return start === started && !isOver;
}

/**
 * Its start, in the kernel's ticks, tells a process from a later one with the same id. One that has ended, and all of its
 * threads, is over though nobody has waited for it: it has given back all that it had.
 */
async function statusOf(pid: number): Promise<{ isOver: boolean; start: string }> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state = '', threads = 0] = [fields[0], Number(fields[17])];
  return { isOver: ['Z', 'X'].includes(state) && threads <= 1, start: fields[19] ?? '-' };
}
