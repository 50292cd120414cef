import { rename, rm, writeFile } from 'node:fs/promises';

/** Whole or not at all, and never readable by others, who may have a file of that name open. Where it fails nothing is left of it. */
export async function writePrivate(file: string, text: string): Promise<void> {
  const next = `${file}.new`;
  try {
    await rm(next, { force: true });
    await writeFile(next, text, { mode: 0o600, flag: 'wx' });
    await rename(next, file);
  } catch (error) {
    await rm(next, { force: true }).catch(() => {});
    throw error;
  }
}
