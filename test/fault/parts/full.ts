import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildDisk, EIO, ENOSPC } from '../disk/disk.ts';
import type { FaultPart, Run, RunResult } from '../part.ts';
import { Trial } from '../trial.ts';

let library: string;

/** The disk gets full in the middle of a write, has room again, and the process is killed later. */
export const full: FaultPart = {
  name: 'full',
  about: 'the disk fills up, is freed, work goes on by itself, then SIGKILL; or one write or sync fails',
  runs: 320,
  weight: 4,
  parallel: 2,
  bugs: [{ name: 'no-reopen', about: 'goes on in a log with a torn record', seed: 1, within: 20 }],
  async prepare({ directory }) {
    library = await buildDisk(directory);
    return async () => {};
  },
  async run(run: Run): Promise<RunResult> {
    const trial = new Trial(run, library);
    const lives = trial.random.between(1, 2);
    for (let i = 0; i < lives; i++) {
      await fillAndDie(trial);
      if (!(await trial.look())) break;
    }
    return trial.finish();
  },
};

async function fillAndDie(trial: Trial): Promise<void> {
  const { random, run } = trial;
  const quota = join(run.directory, 'quota');
  const steps = join(run.directory, 'steps');
  await writeFile(quota, Buffer.alloc(8, 0xff));
  const life = trial.life({ ms: random.between(20, 80), writers: random.pick([8, 64]) });
  const faults = { syncUs: random.pick([100, 500]), steps };
  if (random.chance(0.75)) {
    const fills = Array.from({ length: random.between(1, 2) }, () => random.between(0, 30_000));
    await trial.live({ ...life, quota: { file: quota, fills } }, { ...faults, quota });
    trial.count('fills', fills.length);
    return;
  }
  // A disk that fails once: where a write went wrong is then in the middle of what is written on.
  const kind = random.pick(['write', 'sync'] as const);
  const errno = random.pick([ENOSPC, EIO]);
  // After it opened: a store that cannot be opened has nothing to go on with.
  const nth = random.between(kind === 'write' ? 60 : 20, kind === 'write' ? 140 : 60);
  await trial.live({ ...life, ms: 400, historyEvents: 100_000 }, { ...faults, fail: { kind, nth, errno } });
  await trial.countSteps(steps);
}
