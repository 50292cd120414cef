import { appendFile, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLogger } from '../../../../kube/log.ts';
import { LogFile } from '../../../../server/audit/log-file.ts';
import { eventually } from '../../../eventually.ts';

let directory: string;
let path: string;
let lost = 0;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-audit-'));
  path = join(directory, 'audit.log');
  lost = 0;
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function opened(rotates: boolean, more: object = {}): Promise<LogFile> {
  const settings = { path, maxBytes: 0, maxAgeDays: 0, maxBackups: 0, compress: false, ...more };
  const dropped = (count: number) => {
    lost += count;
  };
  const file = new LogFile({ settings, rotates, logger: silentLogger, dropped, lookMs: 20 });
  await file.open();
  return file;
}

async function all(): Promise<string[]> {
  const texts = (await readdir(directory)).map(async (name) => {
    const bytes = await readFile(join(directory, name));
    return (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  });
  return (await Promise.all(texts)).flatMap((text) => text.split('\n').slice(0, -1));
}

const backups = async () => (await readdir(directory)).filter((name) => name !== 'audit.log').sort();

test('several write one file while it is put aside: every line is there, whole, once', async () => {
  const writers = [await opened(true, { maxBytes: 1 << 20 }), await opened(false), await opened(false)];
  const expected: string[] = [];
  for (let turn = 0; turn < 20; turn++) {
    for (let i = 0; i < 300; i++) {
      for (const [by, writer] of writers.entries()) {
        const line = `${by}-${turn}-${i}-${'x'.repeat(i)}é`;
        expected.push(line);
        writer.write(line);
      }
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (const writer of writers.reverse()) await writer.close();
  expect((await all()).sort()).toEqual(expected.sort());
  expect((await backups()).length).toBeGreaterThan(0);
  expect(lost).toBe(0);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('no more files than were asked for stay, and none longer; what is quiet is packed', async () => {
  const day = 86_400_000;
  const nameOf = (days: number) =>
    `audit-${new Date(Date.now() - days * day).toISOString().slice(0, -1).replaceAll(':', '-')}.log`;
  const [young, middle, old] = [nameOf(1), nameOf(2), nameOf(40)];
  for (const name of [young, middle, old]) await writeFile(join(directory, name), `${name}\n`);
  await utimes(join(directory, old), 0, 0);
  const file = await opened(true, { maxAgeDays: 30, maxBackups: 2, compress: true });
  await file.close();
  expect(await backups()).toEqual([`${middle}.gz`, `${young}.gz`].sort());
  expect(await all()).toEqual(expect.arrayContaining([young, middle]));
});

test('whoever moves the file away gets a new one, and what was begun and not ended is a line of its own', async () => {
  await writeFile(path, '{"kind":"Ev');
  const file = await opened(true);
  file.write('a');
  await eventually(async () => expect(await all()).toEqual(['{"kind":"Ev', 'a']));
  await rm(path);
  file.write('b');
  await file.close();
  expect(await all()).toEqual(['b']);
});

test('what another process began to write when it was killed is a line of its own', async () => {
  const file = await opened(false);
  file.write('a');
  await eventually(async () => expect(await all()).toEqual(['a']));
  await appendFile(path, '{"kind":"Ev');
  file.write('b');
  await file.close();
  expect(await all()).toEqual(['a', '{"kind":"Ev', 'b']);
});

test('what cannot be written is counted, and does not stop what follows', async () => {
  const file = await opened(true);
  await rm(directory, { recursive: true });
  file.write('a');
  await eventually(() => expect(lost).toBe(1));
  await file.close();
});

test('what nobody takes is bounded', async () => {
  const file = await opened(true);
  const line = 'x'.repeat(1 << 20);
  for (let i = 0; i < 40; i++) file.write(line);
  expect(lost).toBeGreaterThan(20);
  await file.close();
  expect((await all()).length + lost).toBe(40);
});

test('it is put aside where others alone write to it', async () => {
  const first = await opened(true, { maxBytes: 100 });
  const other = await opened(false);
  other.write('x'.repeat(200));
  await eventually(async () => expect(await backups()).toHaveLength(1));
  other.write('after');
  await other.close();
  await first.close();
  expect(await readFile(path, 'utf8')).toBe('after\n');
  expect((await all()).sort()).toEqual(['after', 'x'.repeat(200)]);
});
