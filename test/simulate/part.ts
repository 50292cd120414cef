import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { program } from '../atoll/atoll.ts';
import type { FaultPart, Run, RunResult } from '../fault/part.ts';
import { bugs, misplaced } from './bugs.ts';
import type { Order } from './child.ts';
import { type Action, type History, historyOf } from './history.ts';
import type { Outcome } from './run.ts';
import { shrink } from './shrink.ts';

/** Compiled, whoever asks: a test runs sources. */
const compiled = join(program, '../../test/simulate');
/** For one that hangs: a busy machine takes a minute for the longest history. */
const longestMs = 10 * 60_000;
/** Of what an action says: one may name 1,000 clusters. */
const lineMost = 160;

/** Histories of moves, one to a process. */
export const moves: FaultPart = {
  name: 'moves',
  about:
    'moves, policies, spreads, rollouts, scaling, drains and failures, with components that die at any write or lead twice, old caches, and clusters that lie',
  runs: 100_000,
  weight: 1,
  parallel: 2,
  bugs,
  async prepare({ bug }) {
    const wrong = bug === undefined ? [] : await misplaced(bug, join(compiled, '../..'));
    if (wrong.length > 0) throw new Error(wrong.join('; '));
    return async () => {};
  },
  async run(run: Run): Promise<RunResult> {
    const { seed, bug } = run;
    const { history } = bugs.find(({ name }) => name === bug) ?? {};
    const outcome = await runChild({ seed, ...(history && { history }) }, bug, run.signal).catch(
      (error: unknown) => {
        // Whoever stops the command has found nothing.
        if (!run.signal.aborted) throw error;
        return undefined;
      },
    );
    if (!outcome) return { ops: 0, faults: 0, failures: [] };
    const { failures, counts, simulatedMs, steps } = outcome;
    const shown = failures.length > 0 && bug === undefined ? await shrunk(run, outcome) : failures;
    return {
      ops: steps,
      faults: counts['died'] ?? 0,
      failures: shown,
      counts: { ...counts, 'simulated minutes': Math.round(simulatedMs / 60_000) },
    };
  },
};

/** What happens, in a process of its own: a clock that is not real is nobody else's. */
export async function runChild(
  order: Order,
  bug?: string,
  signal?: AbortSignal,
): Promise<Outcome & { digest: string }> {
  const hooks = bug === undefined ? [] : ['--import', join(compiled, 'mutate.js')];
  const program = join(compiled, 'child.js');
  const child = spawn(process.execPath, ['--no-warnings', ...hooks, program, JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, SIMULATE_BUG: bug ?? '' },
    ...(signal && { signal }),
    timeout: longestMs,
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (text) => {
    output += text;
  });
  child.stderr.on('data', (text) => {
    errors += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`seed ${order.seed} ended with ${code}: ${errors.slice(-2000)}`);
  return JSON.parse(output.trim().split('\n').at(-1) ?? '');
}

/** What everybody saw at first, and the least that still fails. */
async function shrunk({ seed, bug, signal }: Run, first: Outcome): Promise<string[]> {
  const { workloads, actions } = historyOf(seed);
  let { failures } = first;
  const least = await shrink(
    actions,
    async (fewer) => {
      const history = { workloads, actions: [...fewer] };
      const outcome = await runChild({ seed, history }, bug, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
        return undefined;
      });
      if (!outcome || outcome.failures.length === 0) return false;
      ({ failures } = outcome);
      return true;
    },
    signal,
  );
  return [...first.failures.slice(0, 2), `${failures[0]}\n${told({ workloads, actions: [...least] })}`];
}

function told({ workloads, actions }: History): string {
  const starts = workloads.map((one) => JSON.stringify(one)).join('\n    ');
  const line = ({ at, ...action }: Action) =>
    `${(at / 1000).toFixed(3).padStart(8)} s ${JSON.stringify(action).slice(0, lineMost)}`;
  return `  the least that fails, with:\n    ${starts}\n${actions.map((a) => `    ${line(a)}`).join('\n')}`;
}
