import { copyFile, link, lstat, mkdir, open, readdir, readFile, rm, truncate } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Random } from './random.ts';

/**
 * What a disk may hold after a power cut, from what disk.c recorded in the shadow folder.
 *
 * - Bytes that were synced are there. Of those written later a part may be there, or zeros, or nonsense.
 * - Changes of names (create, rename, link, remove) happen in order, as journalling file systems keep them; those
 *   before a sync of their folder are there, of the later ones the first few may be. A sync of a file does not
 *   make its name durable: POSIX promises that only for a sync of the folder.
 */
export const CUTS = ['nothing unsynced', 'a part', 'a part, then zeros', 'a part, then nonsense'] as const;
export type Cut = (typeof CUTS)[number];

interface Change {
  readonly what: 'C' | 'R' | 'L' | 'U' | 'M' | 'X';
  readonly inode: string;
  readonly from: string;
  readonly to: string;
}

/** Before a process gets the disk: all that is there now counts as durable. */
export async function beginShadow(data: string, shadow: string): Promise<void> {
  await rm(shadow, { recursive: true, force: true });
  await mkdir(shadow, { recursive: true });
  const lines: string[] = [];
  for (const path of await filesBelow(data)) {
    const { ino, size } = await lstat(path);
    await link(path, join(shadow, String(ino)));
    lines.push(`C ${ino} ${relative(data, path)}\n`, `S ${ino} ${size}\n`);
  }
  const file = await open(join(shadow, 'changes'), 'w', 0o600);
  await file.writeFile([...lines, 'd *\n', 'D *\n'].join(''));
  await file.close();
}

/** Makes `target` what the disk shows after the cut, and answers how many bytes and names were lost. */
export async function cutPower(
  { shadow, target }: { shadow: string; target: string },
  cut: Cut,
  random: Random,
): Promise<{ bytes: number; names: number }> {
  const { changes, durable, synced } = parse(await readFile(join(shadow, 'changes'), 'utf8'));
  const kept = cut === 'nothing unsynced' ? durable : random.between(durable, changes.length);
  const names = apply(changes.slice(0, kept));
  await mkdir(target, { recursive: true });
  let bytes = 0;
  for (const folder of names.folders) await mkdir(join(target, folder), { recursive: true });
  for (const [path, inode] of names.files) {
    const source = join(shadow, inode);
    const { size } = await lstat(source);
    const sure = Math.min(size, synced.get(inode) ?? 0);
    const length = cut === 'nothing unsynced' ? sure : random.between(sure, size);
    bytes += size - length;
    const copy = join(target, path);
    await mkdir(dirname(copy), { recursive: true });
    await copyFile(source, copy);
    await truncate(copy, length);
    if (length < size && length > sure) await spoil(copy, sure, length, cut, random);
  }
  return { bytes, names: changes.length - kept };
}

/** The last of the unsynced bytes never got to the disk, though the length of the file did. */
async function spoil(path: string, sure: number, length: number, cut: Cut, random: Random): Promise<void> {
  if (cut !== 'a part, then zeros' && cut !== 'a part, then nonsense') return;
  const from = random.between(sure, length);
  const bytes = Buffer.alloc(length - from);
  if (cut === 'a part, then nonsense') for (let i = 0; i < bytes.length; i++) bytes[i] = random.bits() & 255;
  const file = await open(path, 'r+');
  await file.write(bytes, 0, bytes.length, from);
  await file.close();
}

function parse(text: string): { changes: Change[]; durable: number; synced: Map<string, number> } {
  const changes: Change[] = [];
  const synced = new Map<string, number>();
  const begun = new Map<string, number[]>();
  let durable = 0;
  for (const line of text.split('\n')) {
    const [what = '', a = '', b = ''] = line.split(' ');
    if (what === 'S') synced.set(a, Math.max(synced.get(a) ?? 0, Number(b)));
    else if (what === 'T') synced.set(a, 0);
    else if (what === 'd') begun.set(a, [...(begun.get(a) ?? []), changes.length]);
    else if (what === 'D') durable = Math.max(durable, begun.get(a)?.shift() ?? 0);
    else if (what === 'C') changes.push({ what, inode: a, from: '', to: b });
    else if (what === 'R' || what === 'L') changes.push({ what, inode: '', from: a, to: b });
    else if (what === 'U' || what === 'M' || what === 'X') changes.push({ what, inode: '', from: a, to: a });
  }
  return { changes, durable, synced };
}

function apply(changes: readonly Change[]): { files: Map<string, string>; folders: Set<string> } {
  const files = new Map<string, string>();
  const folders = new Set<string>();
  for (const { what, inode, from, to } of changes) {
    if (what === 'C') files.set(to, inode);
    else if (what === 'M') folders.add(to);
    else if (what === 'X') folders.delete(to);
    else {
      const moved = files.get(from);
      if (what !== 'L') files.delete(from);
      if (what !== 'U' && moved !== undefined) files.set(to, moved);
    }
  }
  return { files, folders };
}

async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
