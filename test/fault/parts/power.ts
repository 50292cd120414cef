import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { anyChange, buildDisk } from '../disk/disk.ts';
import type { FaultPart, Run, RunResult } from '../part.ts';
import { beginShadow, CUTS, cutPower } from '../power-cut.ts';
import { STEPS } from '../steps.ts';
import { Trial } from '../trial.ts';

let library: string;

/** The power goes: what was not synced may be gone, and names whose folder was not synced. */
export const power: FaultPart = {
  name: 'power',
  about: 'power cuts under load: what was not synced is gone, torn, zeros or nonsense; 1 to 4 cuts a run',
  runs: 200,
  weight: 3,
  parallel: 2,
  bugs: [
    { name: 'no-fsync', about: 'writes do not wait for the disk', seed: 1, within: 10 },
    { name: 'no-name-sync', about: 'the name of a new log is not made durable', seed: 29, within: 100 },
    { name: 'ack-before-fsync', about: 'a write is answered before it is durable', seed: 1, within: 20 },
    { name: 'watch-before-durable', about: 'a watch is told before it is durable', seed: 1, within: 40 },
  ],
  async prepare({ directory }) {
    library = await buildDisk(directory);
    return async () => {};
  },
  async run(run: Run): Promise<RunResult> {
    const trial = new Trial(run, library);
    const cuts = trial.random.between(1, 3);
    for (let i = 0; i < cuts; i++) {
      await liveUntilCut(trial);
      if (trial.random.chance(0.3)) await liveUntilCut(trial, 40);
      if (!(await trial.look())) break;
    }
    return trial.finish();
  },
};

/** `early`: the power goes within that many changes, so while the store opens. */
async function liveUntilCut(trial: Trial, early?: number): Promise<void> {
  const { random, run } = trial;
  const shadow = join(run.directory, 'shadow');
  const target = join(run.directory, 'after');
  const steps = join(run.directory, 'steps');
  await beginShadow(trial.data, shadow);
  const faults = { shadow, steps, syncUs: random.pick([100, 500, 2000]) };
  // Large enough, now and then, for several logs in one life: a new log has a new name.
  const large = early === undefined && random.chance(0.4);
  const sync = run.bug !== 'no-fsync';
  const life = trial.life({ sync, ...(large && { valueBytes: 200_000, ms: random.between(100, 400) }) });
  if (large && random.chance(0.6)) {
    const step = { step: 'new-log', nth: random.between(1, 2) } as const;
    await trial.live({ ...life, ms: 600, ...step }, { ...faults, syncUs: 5000 });
    trial.count('cut@new-log');
  } else if (early !== undefined || random.chance(0.6)) {
    await trial.live(life, { ...faults, kill: anyChange(random, early ?? 800) });
    await trial.countSteps(steps);
  } else {
    const step = random.chance(0.5) ? random.pick(STEPS) : undefined;
    await trial.live({ ...life, step, nth: random.between(1, 40), close: random.chance(0.3) }, faults);
    trial.count(`cut@${step ?? 'some moment'}`);
  }
  const cut = large ? 'nothing unsynced' : random.pick(CUTS);
  const lost = await cutPower({ shadow, target }, cut, random);
  trial.count('bytes lost', lost.bytes);
  trial.count('changes of names lost', lost.names);
  await rm(trial.data, { recursive: true, force: true });
  await rename(target, trial.data);
}
