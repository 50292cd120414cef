import { crc32 } from 'node:zlib';
import { corrupt } from './errors.ts';
import type { Database } from './scan.ts';

/** Where the newest fencing token is in the database; see leases.ts. Absent until one was given. */
export const TOKEN_KEY = 'm:token';

export function encodeToken(token: number): Buffer {
  return Buffer.from(`${token}\n${crc32(String(token))}`);
}

/** 0 when none was ever given. Fails with `corrupt`. */
export async function readToken(db: Database, directory: string): Promise<number> {
  const bytes = await db.get(TOKEN_KEY);
  if (bytes === undefined) return 0;
  const [token = '', checksum] = bytes.toString('latin1').split('\n');
  if (checksum === String(crc32(token))) return Number(token);
  throw corrupt(directory, 'the record of the newest fencing token does not match its checksum');
}
