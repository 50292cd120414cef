import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openLevel } from '../../../storage/level/level.ts';
import { repairLevel } from '../../../storage/level/repair.ts';
import { verifyLevel } from '../../../storage/level/verify.ts';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-unwritable-'));
  const store = await openLevel(directory, { sync: false });
  for (let i = 0; i < 100; i++) await store.create(`/${i}`, Buffer.alloc(1000, i));
  await store.close();
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function contents(): Promise<Map<string, string>> {
  const all = (await readdir(directory, { withFileTypes: true, recursive: true })).filter((e) => e.isFile());
  const read = async (path: string) => [path, await readFile(path, 'hex')] as const;
  return new Map(await Promise.all(all.map((entry) => read(join(entry.parentPath, entry.name)))));
}

const pad = (number: string) => number.padStart(6, '0');

/** As somebody who may read the directory and write nothing in it: root may always. */
async function asReader<T>(work: () => Promise<T>): Promise<T> {
  for (const name of ['', 'db']) await chmod(join(directory, name), 0o555);
  for (const path of (await contents()).keys()) await chmod(path, 0o444);
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    return await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
    for (const name of ['', 'db']) await chmod(join(directory, name), 0o755);
  }
}

describe('a store that cannot be written', () => {
  test('is verified, and nothing of it is changed', async () => {
    const before = await contents();
    expect(await asReader(() => verifyLevel(directory))).toEqual({
      ok: true,
      problems: [],
      records: 100,
      revision: 100,
      compacted: expect.any(Number),
    });
    expect(await contents()).toEqual(before);
    // It was read, and not only counted.
    const [log = ''] = (await readdir(join(directory, 'db'))).filter((name) => name.endsWith('.log'));
    const bytes = await readFile(join(directory, 'db', log));
    bytes.fill(0, bytes.length >> 1);
    await chmod(join(directory, 'db', log), 0o644);
    await writeFile(join(directory, 'db', log), bytes);
    expect(await asReader(() => verifyLevel(directory))).toMatchObject({ ok: false });
  });

  test('is verified, too, with what a crash left half made under the next names', async () => {
    for (let number = 3; number < 20; number++) {
      for (const name of [`${number}.ldb`, `MANIFEST-${number}`].map((n) => n.replace(/\d+/, pad)))
        await writeFile(join(directory, 'db', name), 'half', { flag: 'wx' }).catch(() => {});
    }
    const before = await contents();
    expect(await asReader(() => verifyLevel(directory))).toMatchObject({ ok: true, records: 100 });
    expect(await contents()).toEqual(before);
  });

  test('is not opened, in words', async () => {
    await expect(asReader(() => openLevel(directory))).rejects.toThrow(
      /^the store in .* is not for this user to read and write: EACCES: permission denied, open/,
    );
  });
});

describe('a store of a later format', () => {
  test.each([
    ['opened', openLevel],
    ['verified', verifyLevel],
    ['repaired', repairLevel],
  ])('is not %s, and nothing of it is changed', async (_, use) => {
    await writeFile(join(directory, 'STORE'), '{"format":2,"state":"ready"}\n');
    const before = await contents();
    await expect(use(directory)).rejects.toThrow(
      `the store in ${directory} has format 2, a later version's; this one reads up to 1, and has changed nothing`,
    );
    expect(await contents()).toEqual(before);
  });
});
