import { Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { Ledger } from '../../../apiserver/limits/ledger.ts';
import { Tree } from '../../../apiserver/limits/tree.ts';
import { Scraper } from '../../../server/metrics/scraper.ts';
import { Profiles } from '../../../server/profiling/profiles.ts';
import { Child } from '../../../server/serving/child.ts';
import { TakenFiles } from '../../../server/taken-files.ts';
import { openMemory } from '../../../storage/memory/memory.ts';

const { execPath } = process;
afterEach(() => {
  process.execPath = execPath;
});

test('a process that cannot be started is one that has ended', async () => {
  process.execPath = '/nowhere/node';
  const child = new Child({
    settings: {} as never,
    files: new TakenFiles(),
    stuck: () => undefined,
    tls: {} as never,
    socket: new Server(),
    ledger: new Ledger(openMemory(), new Tree(), new AbortController().signal),
    scraper: new Scraper({ families: async () => [] }),
    profiles: new Profiles(),
  });
  child.tell({ order: 'drain' });
  expect(await child.exited).toMatchObject({ code: null, signal: null, err: { code: 'ENOENT' } });
  await child.deaf;
});
