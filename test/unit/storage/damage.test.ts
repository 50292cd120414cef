import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  access,
  constants,
  copyFile,
  cp,
  lstat,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { backup, restore } from '../../../storage/backup.ts';
import { openLevel } from '../../../storage/level/level.ts';
import { repairLevel } from '../../../storage/level/repair.ts';
import { verifyLevel } from '../../../storage/level/verify.ts';
import { openStore } from '../../../storage/open.ts';
import { StoreError } from '../../../storage/store.ts';
import { bytes, fails, text } from '../../contract/store.ts';
import { eventually } from '../../eventually.ts';

const ALL = { start: '', end: '\x7f' };
let root: string;
let data: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'store-damage-'));
  data = join(root, 'data');
  const store = await openLevel(data, { sync: false });
  for (let i = 0; i < 200; i++) await store.create(`/k/${i}`, bytes(`value ${i}`));
  for (let i = 0; i < 50; i++) await store.update(`/k/${i}`, bytes(`newer ${i}`), i + 1);
  await store.compact(220);
  await store.close();
});
afterEach(() => rm(root, { recursive: true }));

/** A child ends once its parent has become a program that never waits for it. Fields: of its stat, from the state on. */
async function zombie() {
  const isSleep = '[ "$(cut -d" " -f2 /proc/$PPID/stat)" = "(sleep)" ]';
  const parent = spawn('sh', ['-c', `sh -c 'until ${isSleep}; do :; done' & echo $!; exec sleep 600`]);
  const [line] = await once(parent.stdout, 'data');
  const pid = Number(line);
  return await eventually(async () => {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    expect(fields[0]).toBe('Z');
    return { parent, pid, fields };
  });
}

async function file(pattern: RegExp): Promise<string> {
  const names = await readdir(join(data, 'db'));
  return join(data, 'db', names.find((name) => pattern.test(name)) ?? 'none');
}

describe('a damaged store', () => {
  it('is refused, naming the repair, and repaired, when CURRENT is gone', async () => {
    await rm(await file(/^CURRENT$/));
    const error = await fails(openLevel(data), 'corrupt');
    expect(error.message).toContain(`atoll store repair --data-dir ${data}`);
    expect((await verifyLevel(data)).ok).toBe(false);
    const report = await repairLevel(data);
    expect(report).toMatchObject({ entries: 200 });
    await access(report.kept ?? 'none');
    const store = await openLevel(data, { sync: false });
    expect((await store.list(ALL)).entries).toHaveLength(200);
    expect(text(await store.get('/k/7'))).toBe('newer 7');
    expect(store.revision).toBeGreaterThan(1_000_000);
    await fails(store.watch(ALL, { after: 250, sink: () => {} }), 'compacted');
    expect((await store.create('/new', bytes(''))).revision).toBe(report.revision + 1);
    await store.close();
    expect((await verifyLevel(data)).ok).toBe(true);
  });

  it('is found again by a repair that comes after one was stopped between two names', async () => {
    await rm(await file(/^CURRENT$/));
    await repairLevel(data);
    await rename(join(data, 'db'), join(data, 'db.repaired'));
    expect(await repairLevel(data)).toMatchObject({ entries: 200 });
    expect(await contents(data)).toHaveLength(200);
  });

  it('is refused when the MANIFEST is damaged or the marker is gone', async () => {
    await writeFile(await file(/^MANIFEST/), 'nonsense');
    await fails(openLevel(data), 'corrupt');
    await repairLevel(data);
    await rm(join(data, 'STORE'));
    await fails(openLevel(data), 'corrupt');
    await repairLevel(data);
    const store = await openLevel(data);
    expect((await store.list(ALL)).entries).toHaveLength(200);
    await store.close();
  });

  it('is refused when the log with acknowledged writes is gone or short', async () => {
    const log = await file(/\.log$/);
    await copyFile(log, join(root, 'log'));
    await truncate(log, (await readFile(log)).length - 2000);
    expect((await fails(openLevel(data), 'corrupt')).message).toContain('acknowledged');
  });

  it('never serves a flipped bit', async () => {
    // Two opens move the records from the log into a table.
    for (let i = 0; i < 2; i++) await (await openLevel(data)).close();
    const expected = await contents(data);
    let refused = 0;
    for (const pattern of [/\.ldb$/, /\.log$/]) {
      const whole = await readFile(await file(pattern));
      for (let i = 0; i < 25 && whole.length > 0; i++) {
        const copy = join(root, `flip-${i}`);
        await cp(data, copy, { recursive: true });
        const at = Math.floor((whole.length * (i + 0.5)) / 25);
        const flipped = Buffer.from(whole);
        flipped[at] = (flipped[at] ?? 0) ^ (1 << (i % 8));
        await writeFile(join(copy, 'db', (await file(pattern)).split('/').at(-1) ?? ''), flipped);
        const found = await contents(copy).catch((error: unknown) => error);
        if (found instanceof Error) refused++;
        else expect(found).toEqual(expected);
        await rm(copy, { recursive: true });
      }
    }
    expect(refused).toBeGreaterThan(20);
  });

  it('that is only half created is created again', async () => {
    const fresh = join(root, 'fresh');
    await (await openLevel(fresh)).close();
    await writeFile(join(fresh, 'STORE'), '{"format":1,"state":"creating"}');
    const store = await openLevel(fresh);
    expect(store.revision).toBe(0);
    await store.close();
    await writeFile(join(fresh, 'STORE'), '{"format":2,"state":"ready"}');
    await fails(openLevel(fresh), 'unavailable');
  });
});

async function contents(directory: string): Promise<string[]> {
  const store = await openLevel(directory);
  try {
    return (await store.list(ALL)).entries.map((e) => `${e.key} ${e.revision} ${text(e)}`);
  } finally {
    await store.close();
  }
}

describe('ownership', () => {
  it('keeps a second opener out, also when LOCK was removed, but not after a crash', async () => {
    const store = await openLevel(data);
    await fails(openLevel(data), 'unavailable');
    await rm(join(data, 'db', 'LOCK'));
    await fails(openLevel(data), 'unavailable');
    await fails(verifyLevel(data), 'unavailable');
    await store.close();
    await writeFile(join(data, 'OWNER'), `${process.pid} 1 of-an-earlier-process-with-this-id\n`);
    await (await openLevel(data)).close();
    expect(await readdir(data)).not.toContain('OWNER');
  });

  it('is not kept by a process that has ended and that nobody has waited for', async () => {
    const { parent, pid, fields } = await zombie();
    try {
      await writeFile(join(data, 'OWNER'), `${pid} ${fields[19]} its-own\n`);
      await (await openLevel(data)).close();
    } finally {
      parent.kill();
    }
  });

  it('is not kept by the process of another user that has the id of a former owner', async () => {
    const theirs = vi.spyOn(process, 'kill').mockImplementation(() => {
      throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
    });
    try {
      await writeFile(join(data, 'OWNER'), `${process.pid} 1 of-an-earlier-process-with-this-id\n`);
      await (await openLevel(data)).close();
      const store = await openLevel(data);
      await fails(openLevel(data), 'unavailable');
      await store.close();
    } finally {
      theirs.mockRestore();
    }
  });
});

describe('backup', () => {
  it('restores entries at their revisions, with the store further on', async () => {
    const path = join(root, 'backup');
    const source = await openLevel(data);
    expect(await backup(source, path)).toEqual({ revision: 250, entries: 200 });
    const before = await source.list(ALL);
    await source.close();
    const target = join(root, 'restored');
    await restore(path, target, { bump: 1000 });
    const store = await openLevel(target, { sync: false });
    expect([store.revision, store.compacted]).toEqual([1250, 1250]);
    const show = (list: typeof before) => list.entries.map((e) => [e.key, text(e), e.revision, e.created]);
    expect(show(await store.list(ALL))).toEqual(show(before));
    await fails(store.watch(ALL, { after: 250, sink: () => {} }), 'compacted');
    const events: string[] = [];
    await store.watch(ALL, { after: 1250, sink: (batch) => events.push(...batch.map((e) => e.entry.key)) });
    await store.update('/k/1', bytes('again'), before.entries.find((e) => e.key === '/k/1')?.revision ?? 0);
    await store.close();
    expect(events).toEqual(['/k/1']);
    await fails(restore(path, target), 'exists');
    expect((await verifyLevel(target)).ok).toBe(true);
  });

  it('whose restore breaks off is nobody’s store, and is restored once more', async () => {
    const path = join(root, 'backup');
    const source = await openLevel(data);
    await backup(source, path);
    await source.close();
    const target = join(root, 'restored');
    const more = {
      get '/full'(): Uint8Array {
        throw new Error('ENOSPC: no space left on device, write');
      },
    };
    expect((await fails(restore(path, target, { more }), 'full')).message).toContain(target);
    for (const using of [openLevel, verifyLevel, repairLevel]) {
      const { message } = await fails(using(target), 'unavailable');
      expect(message).toBe(
        `a backup was being restored to ${target}, and that did not end: restore it there once more`,
      );
    }
    await restore(path, target);
    expect(await contents(target)).toHaveLength(200);
    await fails(restore(path, target), 'exists');
  });

  it('is not restored over what is left of a store, of which a repair finds more', async () => {
    const path = join(root, 'backup');
    const source = await openLevel(data);
    await backup(source, path);
    await source.create('/newer', new Uint8Array([1]));
    await source.close();
    await rm(join(data, 'STORE'));
    await fails(restore(path, data), 'corrupt');
    expect(await repairLevel(data)).toMatchObject({ entries: 201 });
  });

  it('that breaks off leaves no file', async () => {
    const source = await openLevel(data);
    const list = source.list.bind(source);
    source.list = async (range, options) => {
      if (options?.after !== undefined) throw new StoreError('unavailable', 'gone');
      return { ...(await list(range, options)), more: true };
    };
    await fails(backup(source, join(root, 'backup')), 'unavailable');
    expect((await readdir(root)).filter((name) => name.startsWith('backup'))).toEqual([]);
    await source.close();
  });

  it('is for its owner alone, and nowhere else, whatever is there under its first name', async () => {
    const path = join(root, 'backup');
    const source = await openLevel(data);
    for (const leave of [
      () => writeFile(`${path}.partial`, 'left', { mode: 0o644 }),
      () => symlink(join(root, 'elsewhere'), `${path}.partial`),
    ]) {
      await leave();
      await backup(source, path);
      const { mode } = await lstat(path);
      expect([mode & constants.S_IFMT, mode & 0o777]).toEqual([constants.S_IFREG, 0o600]);
      await rm(path);
    }
    await source.close();
    expect(await readdir(root)).not.toContain('elsewhere');
  });

  it('that is cut or changed is refused', async () => {
    const path = join(root, 'backup');
    const source = await openLevel(data);
    await backup(source, path);
    await source.close();
    const whole = await readFile(path);
    for (const [i, at] of [3, 40, 5000, whole.length - 3].entries()) {
      const flipped = Buffer.from(whole);
      flipped[at] = (flipped[at] ?? 0) ^ 1;
      await writeFile(path, flipped);
      await fails(restore(path, join(root, `r${i}`)), 'corrupt');
      await writeFile(path, whole.subarray(0, at));
      await fails(restore(path, join(root, `r${i}`)), 'corrupt');
    }
  });
});

describe('openStore', () => {
  it('takes memory:, level: and paths, and no other scheme', async () => {
    await (await openStore('memory:')).close();
    await (await openStore(`level:${data}`)).close();
    const store = await openStore(data);
    expect(store.revision).toBe(250);
    await store.close();
    await fails(openStore('mysql://localhost'), 'unavailable');
  });
});
