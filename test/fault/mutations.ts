import { cp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Random } from './random.ts';

/** What disks, file systems and people do to files. Each answers what it did, or undefined when it cannot. */
type Mutation = (place: Place, random: Random) => Promise<string | undefined>;

interface Place {
  readonly directory: string;
  /** The same store at an earlier time. */
  readonly earlier: string;
}

const SECTOR = 512;

export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  'bit flip': change((bytes, random) => {
    const count = random.pick([1, 1, 1, 3]);
    for (let i = 0; i < count; i++) {
      const at = random.below(bytes.length);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
    }
    return bytes;
  }),
  truncation: change((bytes, random) => bytes.subarray(0, random.below(bytes.length))),
  'zeroed tail': change((bytes, random) => bytes.fill(0, random.below(bytes.length))),
  'zeroed sector': change((bytes, random) => {
    const at = random.below(Math.ceil(bytes.length / SECTOR)) * SECTOR;
    return bytes.fill(0, at, Math.min(bytes.length, at + SECTOR));
  }),
  'nonsense sector': change((bytes, random) => {
    const at = random.below(Math.ceil(bytes.length / SECTOR)) * SECTOR;
    for (let i = at; i < Math.min(bytes.length, at + SECTOR); i++) bytes[i] = random.bits() & 255;
    return bytes;
  }),
  'misplaced sector': change((bytes, random) => {
    const sectors = Math.ceil(bytes.length / SECTOR);
    const from = random.below(sectors) * SECTOR;
    return bytes.fill(Buffer.from(bytes.subarray(from, from + SECTOR)), random.below(sectors) * SECTOR);
  }),
  'nonsense appended': change((bytes, random) =>
    Buffer.concat([
      bytes,
      Buffer.from(Array.from({ length: random.between(1, 3000) }, () => random.bits() & 255)),
    ]),
  ),
  'missing file': async (place, random) => {
    const file = await anyFile(place.directory, random);
    await rm(file);
    return `removed ${relative(place.directory, file)}`;
  },
  'missing folder': async ({ directory }) => {
    await rm(join(directory, 'db'), { recursive: true });
    return 'removed db';
  },
  'missing marker and folder': async ({ directory }) => {
    await rm(join(directory, 'db'), { recursive: true });
    await rm(join(directory, 'STORE'));
    return 'removed db and STORE';
  },
  'swapped files': async (place, random) => {
    const one = await anyFile(place.directory, random);
    const other = await anyFile(place.directory, random);
    if (one === other) return undefined;
    const [a, b] = [await readFile(one), await readFile(other)];
    if (a.equals(b)) return undefined;
    await writeFile(one, b);
    await writeFile(other, a);
    return `swapped ${relative(place.directory, one)} and ${relative(place.directory, other)}`;
  },
  'older file': async ({ directory, earlier }, random) => {
    const file = await anyFile(directory, random);
    const name = relative(directory, file);
    const old = await readFile(join(earlier, name)).catch(() => undefined);
    if (old === undefined || old.equals(await readFile(file))) return undefined;
    await writeFile(file, old);
    return `put back an older ${name}`;
  },
  'older database': async ({ directory, earlier }) => {
    await rm(join(directory, 'db'), { recursive: true });
    await cp(join(earlier, 'db'), join(directory, 'db'), { recursive: true });
    return 'put back an older db';
  },
  'emptied file': async (place, random) => {
    const file = await anyFile(place.directory, random);
    await truncate(file, 0);
    return `emptied ${relative(place.directory, file)}`;
  },
};

/** A change of one file's bytes; larger files are hit more often. */
function change(edit: (bytes: Buffer, random: Random) => Buffer): Mutation {
  return async ({ directory }, random) => {
    const file = await anyFile(directory, random);
    const before = await readFile(file);
    if (before.length === 0) return undefined;
    const after = edit(Buffer.from(before), random);
    if (after.equals(before)) return undefined;
    await writeFile(file, after);
    return `changed ${relative(directory, file)} (${before.length} bytes)`;
  };
}

/** Half of the time one that holds records. LevelDB's own text log is never read. */
async function anyFile(directory: string, random: Random): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && !/^(LOG|LOG\.old|LOCK)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const records = files.filter((file) => /\.(ldb|log)$/.test(file));
  const from = records.length > 0 && random.chance(0.6) ? records : files;
  const file = from[random.below(from.length)];
  if (file === undefined) throw new Error(`there is no file in ${directory}`);
  return file;
}
