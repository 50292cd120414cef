import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { judge } from '../damaged.ts';
import type { Damaged } from '../damaged-child.ts';
import { type Model, makeModel } from '../model.ts';
import { misplaced, runMutated } from '../mutants.ts';
import { MUTATIONS } from '../mutations.ts';
import type { FaultPart, Run, RunResult } from '../part.ts';
import { Random } from '../random.ts';

const VARIANTS = 9;
let models: Model[];

/** The files of a store are damaged. It must be refused, or serve exactly what was there; repaired, it tells its losses. */
export const damage: FaultPart = {
  name: 'damage',
  about: 'bit flips, truncation, zeros, missing, swapped and older files: refused, or repaired with a report',
  runs: 1000,
  weight: 1.5,
  parallel: 2,
  bugs: [
    { name: 'skip-crc', about: 'checksums are not looked at', seed: 17, within: 100 },
    { name: 'skip-watermark', about: 'nobody knows what was acknowledged', seed: 1, within: 200 },
    { name: 'skip-gaps', about: 'a hole in the history is not noticed', seed: 37, within: 300 },
    { name: 'skip-marker', about: 'a database is created when there seems to be none', seed: 1, within: 200 },
    { name: 'silent-repair', about: 'the repair does not tell what it lost', seed: 1, within: 100 },
    { name: 'claims-end', about: 'the repair forgets that a crash hides the end', seed: 1, within: 100 },
    { name: 'repair-reuses', about: 'a repaired store gives revisions a second time', seed: 1, within: 100 },
  ],
  async prepare({ directory, bug }) {
    const wrong = await misplaced(bug ?? '');
    if (wrong.length > 0) throw new Error(wrong.join('; '));
    models = [];
    for (let i = 0; i < VARIANTS; i++) {
      models.push(await makeModel(join(directory, `model-${i}`), i + 1, i % 3 === 2 ? 'killed' : 'closed'));
    }
    return async () => {};
  },
  async run(run: Run): Promise<RunResult> {
    const random = new Random(run.seed);
    const model = models[random.below(models.length)];
    if (model === undefined) throw new Error('nothing was prepared');
    const data = join(run.directory, 'data');
    const kinds = Object.keys(MUTATIONS);
    for (;;) {
      const kind = kinds[random.below(kinds.length)] ?? '';
      await rm(data, { recursive: true, force: true });
      await cp(model.directory, data, { recursive: true });
      const what = await MUTATIONS[kind]?.({ directory: data, earlier: model.earlier }, random);
      if (what === undefined) continue;
      const told = `${kind}: ${what}`;
      return run.bug === undefined ? judge(data, model, told) : judgeMutated(data, model, told, run.bug);
    }
  },
};

async function judgeMutated(data: string, model: Model, what: string, bug: string): Promise<RunResult> {
  const { last: _, ...rest } = model;
  const damaged: Damaged = { data, what, model: rest };
  const file = `${data}.json`;
  await writeFile(file, JSON.stringify(damaged));
  const { code, signal, output, errors } = await runMutated('damaged-child.js', bug, file);
  if (code === 0) return JSON.parse(output) as RunResult;
  return {
    ops: 0,
    faults: 1,
    failures: [`${what}: the process ended with ${signal ?? code}: ${errors.slice(0, 500)}`],
  };
}
