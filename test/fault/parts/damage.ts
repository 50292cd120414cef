import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openLevel } from '../../../storage/level/level.ts';
import type { Losses } from '../../../storage/level/losses.ts';
import { type RepairReport, repairLevel } from '../../../storage/level/repair.ts';
import { verifyLevel } from '../../../storage/level/verify.ts';
import { type Store, StoreError } from '../../../storage/store.ts';
import { ALL } from '../clients.ts';
import { type Model, makeClosed } from '../closed.ts';
import { DAMAGE_BUGS } from '../damagebugs.ts';
import { type Change, describeChange } from '../history.ts';
import { changeOf, named } from '../journal.ts';
import { MUTATIONS } from '../mutations.ts';
import type { FaultPart, Run, RunResult } from '../part.ts';
import { Random } from '../random.ts';

const VARIANTS = 8;
let models: Model[];

/** A closed store is damaged. It must be refused, or serve exactly what was there; repaired, it tells its losses. */
export const damage: FaultPart = {
  name: 'damage',
  about: 'bit flips, truncation, zeros, missing, swapped and older files: refused, or repaired with a report',
  runs: 1000,
  weight: 1.5,
  parallel: 2,
  bugs: [
    { name: 'skip-crc', about: 'the checksums of records are not looked at', seed: 1, within: 100 },
    { name: 'skip-watermark', about: 'nobody knows what was acknowledged', seed: 1, within: 200 },
    { name: 'skip-marker', about: 'a database is created when there seems to be none', seed: 1, within: 200 },
    { name: 'silent-repair', about: 'the repair does not tell what it lost', seed: 1, within: 100 },
  ],
  async prepare({ directory }) {
    models = [];
    for (let i = 0; i < VARIANTS; i++) models.push(await makeClosed(join(directory, `closed-${i}`), i + 1));
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
      await DAMAGE_BUGS[run.bug ?? '']?.(data);
      return judge(data, model, `${kind}: ${what}`, run.bug);
    }
  },
};

async function judge(data: string, model: Model, what: string, bug: string | undefined): Promise<RunResult> {
  const refusal = await serve(data, model).catch((error: unknown) => error);
  const ops = model.changes.length;
  const result = (count: string, failures: readonly string[]): RunResult => ({
    ...{ ops, faults: 1, counts: { [count]: 1 } },
    failures: failures.map((text) => `${what}: ${text}`),
  });
  if (Array.isArray(refusal)) return result('harmless', refusal);
  if (!(refusal instanceof StoreError) || refusal.code !== 'corrupt') return result('?', [String(refusal)]);
  let report: RepairReport;
  try {
    const { ok } = await verifyLevel(data);
    if (ok) return result('refused', [`refused, but verify finds nothing: ${refusal.message}`]);
    report = await repairLevel(data);
  } catch (error) {
    if (error instanceof StoreError) return result('refused, beyond repair', []);
    return result('?', [`the repair failed: ${String(error)}`]);
  }
  const losses = bug === 'silent-repair' ? { revisions: [] } : report.losses;
  const failures = await compare(data, model, losses);
  const lost = losses.revisions.length > 0 || losses.older !== undefined || losses.after !== undefined;
  return result(lost ? 'repaired with losses' : 'repaired whole', failures);
}

/** Opened without a word, a store must serve all that was there. */
async function serve(data: string, model: Model): Promise<string[]> {
  const store = await openLevel(data, { reserveBytes: 0 });
  try {
    const failures = differences(await current(store), model).map(({ text }) => `served silently: ${text}`);
    if (store.revision !== model.revision)
      failures.push(`the revision is ${store.revision}, not ${model.revision}`);
    // The newest compaction may be gone: then more history is told than was wanted, and all of it is true.
    if (store.compacted > model.compacted)
      failures.push(`history begins at ${store.compacted}, not ${model.compacted}`);
    const events: Change[] = [];
    const after = store.compacted;
    const sink = {
      after,
      sink: (batch: readonly Parameters<typeof changeOf>[0][]) => events.push(...batch.map(changeOf)),
    };
    (await store.watch(ALL, sink))();
    const expected = model.changes.slice(after).map(describeChange);
    if (events.map(describeChange).join() !== expected.join())
      failures.push('served silently: another history');
    return failures;
  } finally {
    await store.close();
  }
}

interface Shown {
  readonly revision: number;
  readonly value: string;
}

async function current(store: Store): Promise<Map<string, Shown>> {
  const { entries } = await store.list(ALL);
  return new Map(entries.map((entry) => [entry.key, named(entry)]));
}

/** Keys that do not show what they last were, with the revision that should show. */
function differences(shown: ReadonlyMap<string, Shown>, model: Model): { revision: number; text: string }[] {
  const found: { revision: number; text: string }[] = [];
  for (const [key, last] of model.last) {
    const there = shown.get(key);
    const expected = last.type === 'put' ? `${last.revision} ${last.value}` : undefined;
    const actual = there && `${there.revision} ${there.value}`;
    if (actual !== expected) {
      found.push({
        revision: last.revision,
        text: `${key} is ${actual ?? 'absent'}, not ${expected ?? 'absent'}`,
      });
    }
  }
  for (const key of shown.keys()) {
    if (!model.last.has(key)) found.push({ revision: 0, text: `${key} was never written` });
  }
  return found;
}

/** What a repaired store shows is authentic, and what it does not show any more is in the report. */
async function compare(data: string, model: Model, losses: Losses): Promise<string[]> {
  const failures: string[] = [];
  const store = await openLevel(data, { reserveBytes: 0 });
  try {
    const shown = await current(store);
    for (const [key, { revision, value }] of shown) {
      const change = model.changes[revision - 1];
      if (change?.key !== key || change.value !== value || change.type !== 'put') {
        failures.push(`repaired, ${key} shows ${revision} ${value}, which was never so`);
      }
    }
    for (const { revision, text } of differences(shown, model)) {
      const named = losses.revisions.some(([first, last]) => first <= revision && revision <= last);
      const older = losses.older !== undefined && revision <= losses.older.compacted;
      const end = losses.after !== undefined && revision > losses.after;
      if (!named && !older && !end) failures.push(`repaired, and the report does not tell: ${text}`);
    }
    if (store.revision <= model.revision)
      failures.push(`repaired, it would give revision ${store.revision + 1} again`);
    await store.create('/new', Buffer.from('new'));
  } finally {
    await store.close();
  }
  const { problems } = await verifyLevel(data);
  return [...failures, ...problems.map((text) => `after the repair: ${text}`)];
}
