import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Random } from '../random.ts';

/** At the `nth` change of a kind, or `more` changes later. */
export interface Kill {
  readonly kind: Kind | 'any';
  readonly nth: number;
  readonly more: number;
  readonly when: 'before' | 'after' | 'torn';
}

export type Kind =
  | 'write'
  | 'sync'
  | 'syncdir'
  | 'create'
  | 'truncate'
  | 'rename'
  | 'unlink'
  | 'link'
  | 'mkdir';

/** What the faulty disk does to a process; see disk.c. */
export interface DiskFaults {
  readonly directory: string;
  readonly kill?: Kill;
  readonly fail?: { readonly kind: Kind; readonly nth: number; readonly errno: number };
  readonly quota?: string;
  readonly shadow?: string;
  readonly syncUs?: number;
  /** Gets a line that says what was killed or failed. */
  readonly steps?: string;
}

export const ENOSPC = 28;
export const EIO = 5;

/** A kill at some change of a file, within so many. */
export function anyChange(random: Random, most: number): Kill {
  const when = random.pick(['before', 'after', 'torn'] as const);
  if (random.chance(0.5)) return { kind: 'any', nth: random.between(1, most), more: 0, when };
  // The rare kinds are where names change; many a fault shows only a little later.
  const kind = random.pick(['create', 'create', 'rename', 'unlink', 'sync', 'syncdir'] as const);
  const nth = random.between(1, Math.min(most, kind === 'sync' ? 200 : 25));
  return { kind, nth, more: random.chance(0.5) ? 0 : random.between(1, 30), when };
}

const run = promisify(execFile);
const SOURCE = resolve(import.meta.dirname, '../../../../test/fault/disk/disk.c');

/** Compiles the disk into `directory`. Throws when this machine cannot: nothing was tested then. */
export async function buildDisk(directory: string): Promise<string> {
  if (process.platform !== 'linux') throw new Error('the faulty disk needs Linux (LD_PRELOAD, glibc)');
  const target = join(directory, 'disk.so');
  const compiler = process.env['CC'] ?? 'cc';
  try {
    await run(compiler, ['-O2', '-shared', '-fPIC', '-o', target, SOURCE, '-ldl', '-lpthread']);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `the faulty disk needs a C compiler for glibc (on Debian: apt install gcc libc6-dev): ${why}`,
      {
        cause,
      },
    );
  }
  return target;
}

/** The environment that puts the disk under a process. */
export function diskEnvironment(library: string, faults: DiskFaults): Record<string, string> {
  const { directory, kill, fail, quota, shadow, syncUs, steps } = faults;
  return {
    LD_PRELOAD: library,
    // Through io_uring writes would pass by.
    UV_USE_IO_URING: '0',
    FAULT_DIR: directory,
    ...(kill && { FAULT_KILL: `${kill.kind} ${kill.nth} ${kill.more} ${kill.when}` }),
    ...(fail && { FAULT_FAIL: `${fail.kind} ${fail.nth} ${fail.errno}` }),
    ...(quota !== undefined && { FAULT_QUOTA: quota }),
    ...(shadow !== undefined && { FAULT_SHADOW: shadow }),
    ...(syncUs !== undefined && { FAULT_SYNC_US: String(syncUs) }),
    ...(steps !== undefined && { FAULT_STEPS: steps }),
  };
}
