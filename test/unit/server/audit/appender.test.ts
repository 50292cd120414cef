import { appendFile, mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Appender } from '../../../../server/audit/appender.ts';

vi.mock(import('node:fs/promises'), async (original) => {
  const real = await original();
  return { ...real, open: vi.fn(real.open) };
});

let directory: string;
let path: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-audit-'));
  path = join(directory, 'audit.log');
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function append(file: Appender, text: string): Promise<void> {
  await file.append(Buffer.from(text), await file.size());
}

test('what nobody else wrote to is not looked at before each write', async () => {
  const file = new Appender(path);
  await file.open();
  await append(file, 'first\n');
  vi.mocked(open).mockClear();
  for (let i = 0; i < 10; i++) await append(file, `${i}\n`);
  expect(open).not.toHaveBeenCalled();
  await file.close();
});

test('what another began and did not end is seen, whenever it came', async () => {
  const file = new Appender(path);
  await file.open();
  await append(file, 'first\n');
  await append(file, 'second\n');
  await appendFile(path, '{"torn');
  await append(file, 'third\n');
  await appendFile(path, 'whole\n');
  await append(file, 'fourth\n');
  await append(file, 'fifth\n');
  await file.close();
  expect(await readFile(path, 'utf8')).toBe('first\nsecond\n{"torn\nthird\nwhole\nfourth\nfifth\n');
});
