import { mkdir, mkdtemp, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writePrivate } from '../../../server/private-file.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atoll-private-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('a file is its owner’s alone, and whole', async () => {
  const file = join(folder, 'a');
  for (const text of ['one', 'two']) {
    await writePrivate(file, text);
    expect(await readFile(file, 'utf8')).toBe(text);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  }
  expect(await readdir(folder)).toEqual(['a']);
});

test('who has the file open that stood in its way reads nothing of it', async () => {
  const theirs = await open(join(folder, 'a.new'), 'w+', 0o644);
  try {
    await writePrivate(join(folder, 'a'), 'secret');
    expect((await theirs.stat()).size).toBe(0);
    expect((await stat(join(folder, 'a'))).mode & 0o777).toBe(0o600);
  } finally {
    await theirs.close();
  }
  expect(await readdir(folder)).toEqual(['a']);
});

test('nothing secret is left where it could not be written', async () => {
  await mkdir(join(folder, 'a'));
  await expect(writePrivate(join(folder, 'a'), 'secret')).rejects.toThrow('a');
  expect(await readdir(folder)).toEqual(['a']);
});
