import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { FaultPart, Run, RunResult } from './part.ts';

export interface Budget {
  /** When to begin no further run, in `performance.now()` milliseconds. */
  readonly until: number;
  readonly runs: number;
}

export interface PartSummary {
  part: string;
  bug: string | undefined;
  wanted: number;
  runs: number;
  faults: number;
  ops: number;
  seconds: number;
  counts: Record<string, number>;
  failures: { seed: number | undefined; text: string }[];
}

export interface RunnerOptions {
  readonly directory: string;
  readonly firstSeed: number;
  readonly bug?: string;
  readonly signal: AbortSignal;
  readonly stopAtFailure?: boolean;
  /** The command that runs a seed again; default: the fault suite's. */
  again?(seed: number): string;
  say(line: string): void;
}

const PROGRESS_MS = 5000;
/** Of one run: the others follow from the first, most often. */
const MOST_TOLD = 3;

/**
 * Runs one part until its budget is used, but once at least: on a slow machine what was before it, or its own preparation, may
 * have taken all of its time. The folders of failed runs stay.
 */
export async function runPart(part: FaultPart, budget: Budget, options: RunnerOptions): Promise<PartSummary> {
  const { firstSeed, bug, signal, say } = options;
  const begin = performance.now();
  const directory = join(options.directory, bug === undefined ? part.name : `${part.name}-${bug}`);
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  const summary: PartSummary = {
    part: part.name,
    bug,
    wanted: budget.runs,
    runs: 0,
    faults: 0,
    ops: 0,
    seconds: 0,
    counts: {},
    failures: [],
  };
  const fail = (seed: number | undefined, text: string): void => {
    summary.failures.push({ seed, text });
    if (bug === undefined) say(failureLine(part, seed, text, options.again));
  };
  let finish: (() => Promise<void>) | undefined;
  try {
    finish = await part.prepare({ directory, signal, bug });
    let started = 0;
    let told = begin;
    const worker = async (): Promise<void> => {
      const isDue = () => started === 0 || performance.now() < budget.until;
      while (started < budget.runs && isDue() && !signal.aborted) {
        if (options.stopAtFailure && summary.failures.length > 0) return;
        const seed = firstSeed + started++;
        const place = join(directory, `run-${seed}`);
        await rm(place, { recursive: true, force: true });
        await mkdir(place, { recursive: true });
        const result = await oneRun(part, { seed, directory: place, until: budget.until }, options);
        add(summary, result);
        for (const text of result.failures.slice(0, MOST_TOLD)) fail(seed, text);
        if (result.failures.length === 0) await rm(place, { recursive: true, force: true });
        if (performance.now() - told > PROGRESS_MS) {
          told = performance.now();
          say(progressLine(summary, told - begin));
        }
      }
    };
    await Promise.all(Array.from({ length: part.parallel }, worker));
  } catch (error) {
    fail(undefined, error instanceof Error ? error.message : String(error));
  } finally {
    await finish?.();
  }
  summary.seconds = (performance.now() - begin) / 1000;
  if (summary.runs === 0 && summary.failures.length === 0)
    fail(undefined, 'not one run fitted into the time');
  return summary;
}

async function oneRun(
  part: FaultPart,
  run: Omit<Run, 'signal' | 'bug'>,
  { bug, signal }: RunnerOptions,
): Promise<RunResult> {
  try {
    return await part.run({ ...run, signal, bug });
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { ops: 0, faults: 0, failures: [text] };
  }
}

function add(summary: PartSummary, { ops, faults, counts = {} }: RunResult): void {
  summary.runs++;
  summary.ops += ops;
  summary.faults += faults;
  for (const [name, count] of Object.entries(counts)) {
    summary.counts[name] = (summary.counts[name] ?? 0) + count;
  }
}

function failureLine(
  part: FaultPart,
  seed: number | undefined,
  text: string,
  again = (failed: number) => `node dist/test/fault/main.js --only ${part.name} --seed ${failed}`,
): string {
  if (seed === undefined) return `${part.name}: FAILED: ${text}`;
  return `${part.name}: FAILED with seed ${seed}: ${text}\n  again: ${again(seed)}`;
}

function progressLine({ part, runs, wanted, faults, ops, failures }: PartSummary, ms: number): string {
  return `${part}: ${runs} of ${wanted} runs, ${faults} faults, ${ops} operations, ${failures.length} failures, ${Math.round(ms / 1000)} s`;
}
