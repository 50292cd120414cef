import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Level } from 'level';
import { anyChange, buildDisk } from '../disk/disk.ts';
import type { FaultPart, Run, RunResult } from '../part.ts';
import { STEPS } from '../steps.ts';
import { backupOf, Trial } from '../trial.ts';

let library: string;

/** SIGKILL at every step of the store and at every change of its files, while it opens, too. */
export const kill: FaultPart = {
  name: 'kill',
  about: 'SIGKILL under load, at every storage step and at every change of a file; 1 to 4 kills a run',
  runs: 450,
  weight: 4,
  parallel: 2,
  bugs: [
    { name: 'ack-before-fsync', about: 'a write is answered before it is durable', seed: 1, within: 20 },
    { name: 'watch-before-durable', about: 'a watch is told before it is durable', seed: 1, within: 40 },
    { name: 'lose-log-tail', about: 'the last records are gone after the crash', seed: 1, within: 10 },
    { name: 'forget-too-much', about: 'compaction deletes current entries', seed: 1, within: 150 },
    { name: 'watch-gap', about: 'a resumed watch leaves out an event', seed: 1, within: 10 },
    { name: 'watch-twice', about: 'a watch is told an event twice', seed: 1, within: 20 },
    { name: 'watch-filter', about: 'a watch is told of a key beside its range', seed: 1, within: 20 },
    { name: 'wrong-previous', about: 'the previous value is not what was there', seed: 1, within: 10 },
    { name: 'ignored-expectation', about: 'an update ignores the revision it expects', seed: 1, within: 20 },
    { name: 'stale-read', about: 'a read shows an older state', seed: 1, within: 10 },
  ],
  async prepare({ directory }) {
    library = await buildDisk(directory);
    return async () => {};
  },
  async run(run: Run): Promise<RunResult> {
    const trial = new Trial(run, library);
    const kills = trial.random.between(1, 3);
    for (let i = 0; i < kills; i++) {
      await liveAndDie(trial);
      // Now and then it dies again while it comes back, before anybody looked.
      if (trial.random.chance(0.3)) await dieWhileOpening(trial);
      if (run.bug === 'lose-log-tail') await loseTail(trial.data);
      if (!(await trial.look())) break;
    }
    return trial.finish();
  },
};

async function liveAndDie(trial: Trial): Promise<void> {
  const { random, run } = trial;
  const base = trial.life();
  const takesBackup = random.chance(0.15);
  const backup = takesBackup ? backupOf(run, Number(base.life.slice(1))) : undefined;
  const close = random.chance(0.15);
  const way = random.below(10);
  const faults = { syncUs: random.pick([100, 500, 2000]), steps: join(run.directory, 'steps') };
  if (way < 4) {
    const step = random.pick(STEPS);
    const nth = random.between(1, step === 'acknowledged' || step === 'told' ? 1500 : 40);
    const forBackup = step === 'backup-begun' ? backupOf(run, Number(base.life.slice(1))) : backup;
    await trial.live(
      { ...base, step, nth, close: close || step.startsWith('clos'), backup: forBackup },
      faults,
    );
    trial.count(`kill@${step}`);
  } else if (way < 8) {
    await trial.live({ ...base, backup, close }, { ...faults, kill: anyChange(random, 400) });
    await trial.countSteps(faults.steps);
  } else {
    await trial.live({ ...base, backup, close }, faults);
    trial.count('kill@some moment');
  }
}

async function dieWhileOpening(trial: Trial): Promise<void> {
  const steps = join(trial.run.directory, 'steps');
  await trial.live(trial.life(), { kill: anyChange(trial.random, 40), steps });
  await trial.countSteps(steps);
}

/** The bug of a recovery that drops the end of the log, and of a check that does not notice. */
async function loseTail(data: string): Promise<void> {
  const db = new Level<string, Buffer>(join(data, 'db'), { valueEncoding: 'buffer' });
  await db.open({ compression: false });
  for (const key of await db.keys({ gte: 'r', lt: 's', reverse: true, limit: 3 }).all()) await db.del(key);
  await db.close();
  await rm(join(data, 'WATERMARK'), { force: true });
}
