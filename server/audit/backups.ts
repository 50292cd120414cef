import { createReadStream, createWriteStream } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { AuditSettings } from './settings.ts';

type LogSettings = NonNullable<AuditSettings['log']>;

const day = 86_400_000;
/** So long after its name has gone nobody writes to a file any more. */
const quietMs = 10_000;

export interface Backup {
  name: string;
  at: number;
}

/** Files that were put aside, the newest first. */
export function backupsAmong(names: readonly string[], path: string): Backup[] {
  const extension = extname(path);
  const before = `${basename(path, extension)}-`;
  return names
    .flatMap((name) => {
      const plain = name.endsWith('.gz') ? name.slice(0, -3) : name;
      if (!plain.startsWith(before) || !plain.endsWith(extension)) return [];
      const text = plain.slice(before.length, plain.length - extension.length);
      const at = Date.parse(`${text.replace(/T(\d\d)-(\d\d)-/, 'T$1:$2:')}Z`);
      return /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(at) ? [{ name, at }] : [];
    })
    .sort((a, b) => b.at - a.at);
}

/** Which of them go, and which are packed. */
export function tidied(
  backups: readonly Backup[],
  { maxAgeDays, maxBackups, compress }: Pick<LogSettings, 'maxAgeDays' | 'maxBackups' | 'compress'>,
  now: number,
): { gone: string[]; packed: string[] } {
  const isOver = ({ at }: Backup, index: number) =>
    (maxBackups > 0 && index >= maxBackups) || (maxAgeDays > 0 && now - at > maxAgeDays * day);
  const stay = backups.filter((one, index) => !isOver(one, index));
  const packed = stay.filter(({ name, at }) => compress && !name.endsWith('.gz') && now - at > quietMs);
  return {
    gone: backups.filter((one) => !stay.includes(one)).map(({ name }) => name),
    packed: packed.map(({ name }) => name),
  };
}

export async function tidy(settings: LogSettings, now: number): Promise<void> {
  const directory = dirname(settings.path);
  const { gone, packed } = tidied(backupsAmong(await readdir(directory), settings.path), settings, now);
  for (const name of gone) await rm(join(directory, name), { force: true });
  for (const name of packed) await pack(join(directory, name));
}

/** Whole or not at all. */
async function pack(file: string): Promise<void> {
  const next = `${file}.packing`;
  await pipeline(createReadStream(file), createGzip(), createWriteStream(next, { mode: 0o600 }));
  await rename(next, `${file}.gz`);
  await rm(file, { force: true });
}
