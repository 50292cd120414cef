import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { UsageError } from './errors.ts';

/** Throws UsageError where no backup can be written to `file`, which is checked before it has that name. */
export function refuseBackup(file: string): void {
  if (file === '-')
    throw new UsageError('a backup goes to a file, where it is checked, and not to stdout: name one');
  if (existsSync(file)) throw new UsageError(`${file} exists: a backup never overwrites`);
  refuseFolder(file);
}

/** Throws UsageError where there is no folder for `file`, or it is one. */
export function refuseFolder(file: string): void {
  if (file.endsWith('/') || statSync(file, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`${file} is a folder: name a file`);
  const folder = dirname(file);
  if (!existsSync(folder)) throw new UsageError(`${file} cannot be written: there is no folder ${folder}`);
}

const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Throws UsageError where it cannot be read, or is not what `flag` names: of what it is instead nothing is told. */
export function certificatesIn(flag: string, file: string): Buffer {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw new UsageError(`${flag} ${file} cannot be read: ${(error as Error).message}`);
  }
  const found = bytes.toString('latin1').match(certificate);
  // A key beside them is nobody else's.
  if (found) return Buffer.from(`${found.join('\n')}\n`);
  throw new UsageError(`${flag} ${file}: there is no certificate in it`);
}
