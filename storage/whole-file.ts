import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncDirectory } from './level/files.ts';

/**
 * Writes a file that has its name only once it is whole and on disk; of one that fails nothing is left. `write` may read it by
 * the name that it has until then.
 */
export async function writeWhole<T>(
  file: string,
  write: (output: FileHandle, partial: string) => Promise<T>,
): Promise<T> {
  const partial = `${file}.partial`;
  // What is there by that name, others may read, or it leads elsewhere.
  await rm(partial, { force: true });
  const output = await open(partial, 'wx', 0o600);
  try {
    let result: T;
    try {
      result = await write(output, partial);
      await output.sync();
    } finally {
      await output.close();
    }
    await rename(partial, file);
    // Not every file system can.
    await syncDirectory(dirname(file)).catch(() => {});
    return result;
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
