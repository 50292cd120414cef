import { readAuthority } from '../../server/certificate-files.ts';
import { UsageError } from '../errors.ts';

/** PEM: who signs the certificates of whom `flag` is about. Undefined: whom this machine trusts. Throws UsageError. */
export async function authorityOf(flag: string, file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  return readAuthority(file).catch((error: Error) => {
    throw new UsageError(`${flag} ${file}: ${error.message}`);
  });
}
