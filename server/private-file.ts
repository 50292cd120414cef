import { chmod, rename, writeFile } from 'node:fs/promises';

/** Whole or not at all, and never readable by others. */
export async function writePrivate(file: string, text: string): Promise<void> {
  const next = `${file}.new`;
  await writeFile(next, text, { mode: 0o600 });
  await chmod(next, 0o600);
  await rename(next, file);
}
