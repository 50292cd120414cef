import { chmod, rename, rm, writeFile } from 'node:fs/promises';

/** Whole or not at all, and never readable by others. Where it fails nothing is left of it. */
export async function writePrivate(file: string, text: string): Promise<void> {
  const next = `${file}.new`;
  try {
    await writeFile(next, text, { mode: 0o600 });
    await chmod(next, 0o600);
    await rename(next, file);
  } catch (error) {
    await rm(next, { force: true }).catch(() => {});
    throw error;
  }
}
