import { openLevel } from '../../storage/level/level.ts';
import type { Losses } from '../../storage/level/losses.ts';
import { type RepairReport, repairLevel } from '../../storage/level/repair.ts';
import { verifyLevel } from '../../storage/level/verify.ts';
import { type Store, StoreError } from '../../storage/store.ts';
import { ALL } from './clients.ts';
import { type Change, describeChange } from './history.ts';
import { changeOf, named } from './journal.ts';
import type { Model } from './model.ts';
import type { RunResult } from './part.ts';

/** After these a file ends early and says nothing of it: as after a crash before the rest was written. */
const ENDS_EARLY = /^(truncation|emptied file|older file|swapped files)/;

/** Opens a damaged store as a server would, repairs it when it is refused, and looks at all that it shows. */
export async function judge(data: string, whole: Model, what: string): Promise<RunResult> {
  const model = { ...whole, forgivesEnd: whole.ended === 'killed' && ENDS_EARLY.test(what) };
  const refusal = await serve(data, model).catch((error: unknown) => error);
  const ops = model.changes.length;
  const result = (count: string, failures: readonly string[]): RunResult => ({
    ops,
    faults: 1,
    counts: { [count]: 1, [`mutation: ${what.split(':')[0]}`]: 1 },
    failures: failures.map((text) => `${what}: ${text}`),
  });
  if (isServed(refusal)) return result(refusal.count, refusal.failures);
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
  const { losses } = report;
  const failures = await compare(data, model, losses);
  const lost = losses.revisions.length > 0 || losses.older !== undefined || losses.after !== undefined;
  return result(lost ? 'repaired with losses' : 'repaired whole', failures);
}

interface Judged extends Model {
  /** Whether acknowledged writes of the last second may be gone without a word. */
  readonly forgivesEnd: boolean;
}

interface Served {
  readonly count: string;
  readonly failures: string[];
}

function isServed(outcome: unknown): outcome is Served {
  return outcome instanceof Object && 'count' in outcome;
}

/** Opened without a word, a store must serve all that was there. */
async function serve(data: string, model: Judged): Promise<Served> {
  const warnings: string[] = [];
  const logger = { info: () => {}, warn: (text: string) => void warnings.push(text) };
  const store = await openLevel(data, { reserveBytes: 0, logger });
  try {
    const told = warnings.some((text) => text.includes(`after revision ${store.revision}.`));
    const isCut = store.revision < model.revision;
    const mayBeCut = model.ended === 'killed' && store.revision >= model.noted && (told || model.forgivesEnd);
    if (!isCut || !mayBeCut) return { count: 'harmless', failures: await look(store, model) };
    // The end of the log is gone as after a crash: then all before it must be there.
    const count = told ? 'served without the end, and told' : 'served without the end, as after a crash';
    return { count, failures: await look(store, cutOff(model, store.revision)) };
  } finally {
    await store.close();
  }
}

function cutOff(model: Model, revision: number): Model {
  const changes = model.changes.slice(0, revision);
  const last = new Map(changes.map((change): [string, Change] => [change.key, change]));
  return { ...model, changes, last, revision };
}

async function look(store: Store, model: Model): Promise<string[]> {
  const failures = differences(await current(store), model).map(({ text }) => `served silently: ${text}`);
  if (store.revision !== model.revision)
    failures.push(`the revision is ${store.revision}, not ${model.revision}`);
  // The newest compaction may be gone: then more history is told than was wanted, and all of it is true.
  if (store.compacted > model.compacted)
    failures.push(`history begins at ${store.compacted}, not ${model.compacted}`);
  const events: Change[] = [];
  const after = store.compacted;
  const stop = await store.watch(ALL, {
    after,
    sink: (batch) => void events.push(...batch.map(changeOf)),
  });
  stop();
  const expected = model.changes.slice(after).map(describeChange);
  if (events.map(describeChange).join() !== expected.join())
    failures.push('served silently: another history');
  return failures;
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
