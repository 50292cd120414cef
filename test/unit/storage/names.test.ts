import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Names } from '../../../storage/level/names.ts';

let folder: string;
let names: Names;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'names-'));
  await writeFile(join(folder, '000003.log'), 'first');
  names = new Names(folder);
});
afterEach(() => rm(folder, { recursive: true }));

const write = (log: string): Promise<void> => appendFile(join(folder, log), 'a batch');

/** Whether the folder was synced after the write that was made last. */
async function synced(): Promise<boolean> {
  const syncing = names.settle();
  await syncing;
  return syncing !== undefined;
}

describe('the folder of the logs is synced', () => {
  it('once for each log, however many writes go there', async () => {
    expect(await synced()).toBe(true);
    for (let i = 0; i < 3; i++) {
      await write('000003.log');
      expect(await synced()).toBe(false);
    }
    await write('000012.log');
    expect(await synced()).toBe(true);
    await write('000012.log');
    expect(await synced()).toBe(false);
  });

  it('not for other names', async () => {
    expect(await synced()).toBe(true);
    await write('000004.ldb');
    await write('000003.log');
    expect(await synced()).toBe(false);
  });

  it('when the log that was written last is gone', async () => {
    expect(await synced()).toBe(true);
    await write('100000.log');
    await rm(join(folder, '000003.log'));
    expect(await synced()).toBe(true);
    await write('100000.log');
    expect(await synced()).toBe(false);
  });

  it('for a new log, though the old one had grown by a write that nobody waited for', async () => {
    expect(await synced()).toBe(true);
    await write('000003.log');
    names.pass();
    await write('000012.log');
    expect(await synced()).toBe(true);
  });

  it('for a new log that a write began that nobody waited for', async () => {
    expect(await synced()).toBe(true);
    await write('000012.log');
    names.pass();
    await write('000012.log');
    expect(await synced()).toBe(true);
  });
});
