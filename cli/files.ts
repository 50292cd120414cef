import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { UsageError } from './errors.ts';

/** Throws UsageError where no backup can be written to `file`, which is checked before it has that name. */
export function refuseBackup(file: string): void {
  if (file === '-')
    throw new UsageError('a backup goes to a file, where it is checked, and not to stdout: name one');
  if (existsSync(file)) throw new UsageError(`${file} exists: a backup never overwrites`);
  refuseFolder(file);
}

/** Throws UsageError where there is no folder for `file`. */
export function refuseFolder(file: string): void {
  const folder = dirname(file);
  if (!existsSync(folder)) throw new UsageError(`${file} cannot be written: there is no folder ${folder}`);
}
