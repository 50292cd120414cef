import { mkdir, open, readdir, readFile, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** What is in a store's directory. Other files there are not ours and stay untouched. */
export function layout(directory: string) {
  return {
    /** LevelDB's own folder. */
    database: join(directory, 'db'),
    /** Says that a store is here and whether its creation finished; see directory.ts. */
    marker: join(directory, 'STORE'),
    /** Which process has the store open; see owner.ts. */
    owner: join(directory, 'OWNER'),
    /** A revision that was certainly acknowledged; see watermark.ts. */
    watermark: join(directory, 'WATERMARK'),
  };
}

/** Replaces a file so that a crash leaves the old or the new one, and the new one is on disk afterwards. */
export async function writeDurable(path: string, text: string): Promise<void> {
  const temporary = `${path}.new`;
  const file = await open(temporary, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  await syncDirectory(dirname(path));
}

/** Makes renames and new names in a directory survive a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

export async function makeDirectory(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first !== undefined) await syncDirectory(dirname(first));
}

/** `undefined` when the file does not exist. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Bytes of what is in a directory and below it; files come and go meanwhile. */
export async function sizeOf(directory: string): Promise<number> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const sizes = entries.map(async (entry) => {
    const path = join(directory, entry.name);
    return entry.isDirectory() ? sizeOf(path) : (await stat(path).catch(() => ({ size: 0 }))).size;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
