import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { settings } from '../../../server/setting-table.ts';
import { type Atoll, startAtoll } from '../../atoll/atoll.ts';
import { until } from '../../world/objects.ts';

const unit = resolve(import.meta.dirname, '../../../deploy/atoll.service');

let directory = '';
let atoll: Atoll | undefined;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-systemd-'));
});
afterEach(async () => {
  await atoll?.dispose();
  await rm(directory, { recursive: true, force: true });
});

test('systemd is told that the server serves, and that it stops', async () => {
  const told = join(directory, 'told');
  const program = join(directory, 'systemd-notify');
  await writeFile(program, `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >> ${told}\n`);
  await chmod(program, 0o755);
  const env = { PATH: `${directory}:${process.env['PATH']}`, NOTIFY_SOCKET: '/run/socket' };
  atoll = await startAtoll({ env });
  const lines = () => readFile(told, 'utf8').catch(() => '');
  await until('it is told', async () => (await lines()) === '/run/socket READY=1\n');
  expect(await atoll.terminate()).toBe(0);
  expect(await lines()).toBe('/run/socket READY=1\n/run/socket STOPPING=1\n');
});

test('the unit file has what systemd knows', async () => {
  const text = await readFile(unit, 'utf8');
  const sections = [...text.matchAll(/^\[(\w+)\]$/gm)].map(([, name]) => name);
  expect(sections).toEqual(['Unit', 'Service', 'Install']);
  // Flags would win over what the administrator says in the file.
  expect(text).toMatch(/^ExecStart=.* start$/m);
  const said = /^Environment=(.*)$/m
    .exec(text)?.[1]
    ?.split(' ')
    .map((one) => one.split('=')[0]);
  expect(said).toEqual([settings.listen.variable, settings.dataDir.variable]);
  for (const line of text.split('\n')) expect(line).toMatch(/^$|^#|^\[\w+\]$|^[A-Z]\w+=/);
  if (spawnSync('systemd-analyze', ['--version']).status !== 0) return;
  // The program that it names is elsewhere here.
  const here = join(directory, 'atoll.service');
  await writeFile(here, text.replace('/usr/bin/node', process.execPath));
  expect(execFileSync('systemd-analyze', ['verify', here], { encoding: 'utf8', stdio: 'pipe' })).toBe('');
});
