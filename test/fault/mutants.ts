import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** A fault as somebody might write it: this text of a compiled file instead of that. */
interface Mutant {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** By the name of the bug. A bug that is not here is put in otherwise. */
export const MUTANTS: Readonly<Record<string, readonly Mutant[]>> = {
  /** Neither LevelDB's checksums nor ours are looked at. */
  'skip-crc': [
    {
      file: 'storage/level/disk.js',
      from: 'isNew ? NOTHING :',
      to: 'true ? NOTHING :',
    },
    {
      file: 'storage/level/record.js',
      from: 'crc32(bytes.subarray(0, end)) !== bytes.readUInt32BE(end)',
      to: 'false',
    },
  ],
  /** Nobody remembers what was acknowledged. */
  'skip-watermark': [
    {
      file: 'storage/level/watermark.js',
      from: 'const text = await readIfThere(path);',
      to: 'const text = undefined;',
    },
  ],
  /** History is taken as it is found, also when the log shows that there was more. */
  'skip-gaps': [
    { file: 'storage/level/inspect.js', from: 'before > newest', to: 'false' },
    { file: 'storage/level/inspect.js', from: 'durable = Math.max(durable, before)', to: 'durable = 0' },
    { file: 'storage/level/scan.js', from: 'record.revision !== newest + 1', to: 'false' },
    { file: 'storage/level/load.js', from: '(previous?.revision ?? 0) !== record.previous', to: 'false' },
  ],
  /** A database is made where there is none, as LevelDB does by default. */
  'skip-marker': [
    {
      file: 'storage/level/directory.js',
      from: "if (state === 'ready')",
      to: "if (state === 'ready' && (await readdir(database).catch(() => [])).includes('CURRENT'))",
    },
    {
      file: 'storage/level/directory.js',
      from: 'await rm(database, { recursive: true, force: true });',
      to: 'await rm(database, { recursive: true, force: true }); await rm(watermark, { force: true });',
    },
  ],
  /** A repair tells that nothing is lost. */
  'silent-repair': [
    {
      file: 'storage/level/repair.js',
      from: 'lossesOf(found, acknowledged, noted?.isEnd ?? false)',
      to: '{ revisions: [] }',
    },
  ],
  /** A repair takes what it found for all that there was, also after a crash. */
  'claims-end': [{ file: 'storage/level/repair.js', from: 'noted?.isEnd ?? false', to: 'true' }],
  /** A repair goes on with revisions that were given already. */
  'repair-reuses': [
    { file: 'storage/level/repair.js', from: 'const BUMP = 1_000_000', to: 'const BUMP = 0' },
  ],
  /** What history forgets stays in memory. */
  'keeps-forgotten': [
    { file: 'storage/event-log.js', from: 'this.#chunks.splice(0, first.chunk)', to: '[]' },
    { file: 'storage/event-log.js', from: 'this.#chunks[0]?.splice(0, first.at).length ?? 0', to: '0' },
  ],
};

const HOOKS = resolve(import.meta.dirname, 'mutate.js');
const ROOT = resolve(import.meta.dirname, '../..');

/** Arguments of node that put the bug's mutants into whatever it loads. */
export function mutantArguments(bug: string | undefined): string[] {
  return bug !== undefined && bug in MUTANTS ? ['--import', HOOKS] : [];
}

/** Whether each mutant has a place in today's code: one without says nothing about the suite. */
export async function misplaced(bug: string): Promise<string[]> {
  const wrong: string[] = [];
  for (const { file, from } of MUTANTS[bug] ?? []) {
    const source = await readFile(join(ROOT, file), 'utf8');
    if (source.split(from).length !== 2) wrong.push(`${file} does not have exactly one "${from}"`);
  }
  return wrong;
}

/** Runs a script of this folder with a bug in it; its output is the answer. */
export async function runMutated(
  script: string,
  bug: string,
  argument: string,
): Promise<{ code: number | null; signal: NodeJS.Signals | null; output: string; errors: string }> {
  const args = [...mutantArguments(bug), join(import.meta.dirname, script), argument];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, FAULT_BUG: bug },
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (text) => {
    output += text;
  });
  child.stderr.on('data', (text) => {
    errors += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, output, errors }));
  });
}
