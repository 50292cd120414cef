import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { crc32c } from '../../../storage/level/crc32c.ts';
import { inspect } from '../../../storage/level/inspect.ts';
import { openLevel } from '../../../storage/level/level.ts';
import { describeLosses, lossesOf } from '../../../storage/level/losses.ts';
import { repairLevel } from '../../../storage/level/repair.ts';
import { salvage } from '../../../storage/level/salvage.ts';
import { bytes, fails } from '../../contract/store.ts';

const COUNT = 300;
let root: string;
let data: string;
let database: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'store-salvage-'));
  data = join(root, 'data');
  database = join(data, 'db');
  const store = await openLevel(data, { sync: false });
  for (let i = 0; i < COUNT; i++) await store.create(`/k/${i}`, bytes(`value ${i} ${'x'.repeat(300)}`));
  await store.close();
});
afterEach(() => rm(root, { recursive: true }));

describe('CRC-32C', () => {
  // The test vectors of RFC 3720, appendix B.4.
  it.each([
    ['zeros', Buffer.alloc(32), 0x8a9136aa],
    ['ones', Buffer.alloc(32, 0xff), 0x62a8ab43],
    ['rising', Buffer.from(Array.from({ length: 32 }, (_, i) => i)), 0x46dd794e],
    ['falling', Buffer.from(Array.from({ length: 32 }, (_, i) => 31 - i)), 0x113fdb5c],
    ['an odd length', Buffer.from('123456789'), 0xe3069283],
  ])('of %s', (_name, input, expected) => {
    expect(crc32c(input)).toBe(expected);
  });
});

describe('the files of LevelDB, read without it', () => {
  it('give every record, of logs and of tables', async () => {
    expect((await salvage(database)).revisions.size).toBe(COUNT);
    await (await openLevel(data)).close();
    expect((await readdir(database)).some((name) => name.endsWith('.ldb'))).toBe(true);
    const found = await salvage(database);
    expect(found.entries.map(({ key }) => key)).toEqual(Array.from({ length: COUNT }, (_, i) => `/k/${i}`));
    expect(found).toMatchObject({ newest: COUNT, baseIsWhole: true });
    expect(await inspect(database)).toMatchObject({ problems: [], torn: [] });
  });

  it('show any changed byte of a table, and what is lost is told', async () => {
    await (await openLevel(data)).close();
    const table = join(database, (await readdir(database)).find((name) => name.endsWith('.ldb')) ?? '');
    const whole = await readFile(table);
    for (const at of [0, 1000, whole.length >> 1, whole.length - 60, whole.length - 3]) {
      const flipped = Buffer.from(whole);
      flipped[at] = (flipped[at] ?? 0) ^ 16;
      await writeFile(table, flipped);
      expect((await inspect(database)).problems, `byte ${at}`).toHaveLength(1);
    }
    const flipped = Buffer.from(whole);
    flipped[0] = 0xff;
    await writeFile(table, flipped);
    await fails(openLevel(data), 'corrupt');
    const { losses, entries } = await repairLevel(data);
    const [[first, last] = [0, 0]] = losses.revisions;
    expect(first).toBe(1);
    expect(entries).toBe(COUNT - last);
    const store = await openLevel(data);
    expect((await store.list({ start: '', end: '\x7f' })).entries).toHaveLength(entries);
    await store.close();
  });
});

describe('the log of a process that was killed', () => {
  let log: string;
  let whole: Buffer;

  beforeEach(async () => {
    const store = await openLevel(data, { sync: false });
    for (let i = 0; i < COUNT; i++) await store.create(`/l/${i}`, bytes(`value ${i} ${'x'.repeat(300)}`));
    const copy = join(root, 'killed');
    await cp(data, copy, { recursive: true });
    await store.close();
    await rm(join(copy, 'OWNER'));
    await writeFile(join(copy, 'WATERMARK'), `${COUNT}\n`);
    data = copy;
    database = join(data, 'db');
    log = join(database, (await readdir(database)).find((name) => name.endsWith('.log')) ?? '');
    whole = await readFile(log);
  });

  async function flip(at: number): Promise<void> {
    const flipped = Buffer.from(whole);
    flipped[at] = (flipped[at] ?? 0) ^ 1;
    await writeFile(log, flipped);
  }

  it('that is damaged before its end is refused: what comes later was written after it was durable', async () => {
    for (const at of [100, whole.length >> 1, whole.length - 2000]) {
      await flip(at);
      expect((await fails(openLevel(data), 'corrupt')).message).toContain('was acknowledged');
    }
    const { losses } = await repairLevel(data);
    expect(losses).toMatchObject({ after: 2 * COUNT });
    expect(losses.revisions).toHaveLength(1);
    expect(losses.revisions[0]?.[0]).toBe(losses.revisions[0]?.[1]);
  });

  it('that is damaged at its end is opened as after any crash, and that is told', async () => {
    await flip(whole.length - 10);
    const warnings: string[] = [];
    const store = await openLevel(data, { logger: { info: () => {}, warn: (text) => warnings.push(text) } });
    expect(store.revision).toBe(2 * COUNT - 1);
    expect(warnings).toEqual([expect.stringContaining(`the store goes on after revision ${2 * COUNT - 1}.`)]);
    await store.close();
  });

  it('that is gone is missed', async () => {
    await rm(log);
    expect((await fails(openLevel(data), 'corrupt')).message).toMatch(/the log \d+ is missing/);
  });
});

describe('losses', () => {
  const found = (revisions: number[], baseIsWhole = true) => ({
    entries: [],
    revisions: new Set(revisions),
    newest: Math.max(...revisions),
    base: { compacted: 2, count: 2, sum: 0 },
    baseIsWhole,
  });
  it.each([
    ['nothing', found([1, 2, 3, 4]), 4, []],
    ['a gap', found([1, 2, 3, 6]), 6, ['revisions 4 to 5 are lost']],
    ['the beginning of history', found([1, 2, 4]), 4, ['revision 3 is lost']],
    ['an acknowledged end', found([1, 2, 3]), 5, ['revisions 4 to 5 are lost']],
    [
      'an end of which nobody knows',
      found([1, 2, 3]),
      undefined,
      ['revisions after 3 may be lost: how many there were is not known'],
    ],
    [
      'old entries',
      found([2, 3], false),
      3,
      ['of 2 entries at or before revision 2 there are 1; which are lost is not known'],
    ],
  ])('of %s', (_name, salvaged, acknowledged, expected) => {
    expect(describeLosses(lossesOf(salvaged, acknowledged ?? 0, acknowledged !== undefined))).toEqual(
      expected,
    );
  });
});
