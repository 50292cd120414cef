import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type PartSummary, runPart } from '../fault/runner.ts';
import { table } from '../fault/summary.ts';
import { moves, runChild } from './part.ts';

const DEFAULT_MINUTES = 3;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    base: { type: 'string', default: '1' },
    runs: { type: 'string' },
    jobs: { type: 'string' },
    minutes: { type: 'string', default: process.env['SIMULATE_MINUTES'] ?? String(DEFAULT_MINUTES) },
    bug: { type: 'string' },
    bugs: { type: 'boolean', default: false },
    log: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  console.log(help());
  process.exit(0);
}
const part = { ...moves, parallel: number('--jobs', values.jobs ?? String(moves.parallel)) };
const minutes = number('--minutes or SIMULATE_MINUTES', values.minutes);
const firstSeed = number('--seed or --base', values.seed ?? values.base);
const chosen = part.bugs.filter(({ name }) => values.bugs || name === values.bug);
if (values.bug !== undefined && chosen.length === 0) stop(`there is no bug ${values.bug}; see --help`);
const abort = new AbortController();
process.once('SIGINT', () => abort.abort());
process.once('SIGTERM', () => abort.abort());
const say = (line: string): void => console.log(line);
const until = performance.now() + minutes * 60_000;
const directory = await mkdtemp(join(tmpdir(), 'atoll-simulate-'));
const options = { directory, signal: abort.signal, say, again: (seed: number) => again(seed) };

if (values.log) console.log(JSON.stringify(await runChild({ seed: firstSeed, log: true }), undefined, 2));
const summaries = chosen.length > 0 ? await withBugs() : [await asItIs()];
console.log(`\n${table(summaries)}`);
await rm(directory, { recursive: true, force: true });
const failed = summaries.some(({ bug, failures }) => (bug === undefined) === failures.length > 0);
process.exitCode = failed || abort.signal.aborted ? 1 : 0;

async function asItIs(): Promise<PartSummary> {
  const runs = values.seed === undefined ? number('--runs', values.runs ?? String(part.runs)) : 1;
  say(`${part.name}: ${part.about}; ${minutes} minutes`);
  return await runPart(part, { runs, until }, { ...options, firstSeed });
}

/** Puts in one bug after the other, and wants each noticed. */
async function withBugs(): Promise<PartSummary[]> {
  const done: PartSummary[] = [];
  for (const { name, about, seed, within } of chosen) {
    const from = values.seed === undefined ? seed : firstSeed;
    const runs = values.seed === undefined ? within : 1;
    const so = { ...options, firstSeed: from, bug: name, stopAtFailure: true };
    const summary = await runPart(part, { runs, until }, so);
    const first = summary.failures[0];
    // One that could not be put in was not noticed.
    if (first?.seed === undefined) summary.failures = [];
    say(
      first?.seed === undefined
        ? `--bug ${name}: NOT NOTICED in ${summary.runs} histories (${about}) ${first?.text ?? ''}`
        : `--bug ${name}: noticed with seed ${first.seed}: ${first.text.split('\n')[0]}`,
    );
    done.push(summary);
  }
  return done;
}

function again(seed: number): string {
  return `node dist/test/simulate/main.js --seed ${seed}`;
}

function number(what: string, text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0) stop(`${what} is not a number: ${text}`);
  return value;
}

function stop(message: string): never {
  console.error(message);
  process.exit(2);
}

function help(): string {
  const list = moves.bugs.map(({ name, about }) => `  --bug ${name}: ${about}`);
  return `Runs the real scheduler, splitter, syncers and views between simulated clusters, in one process and in virtual time,
through histories that a seed makes: ${moves.about}.
At every step the clusters' own pods are looked at: never fewer ready ones than the user asked for, less
maxUnavailable; and in the end everything is where it was asked for, nothing is left over, and the status is true.

usage: node dist/test/simulate/main.js [options]

  --seed N      one history, as a failure printed it
  --base N      the seed of the first history (default 1); the following ones count up
  --runs N      how many histories (default: as many as there is time for)
  --jobs N      how many at once (default 2)
  --minutes M   time for all of them (default SIMULATE_MINUTES, else ${DEFAULT_MINUTES})
  --bug NAME    put a known bug in; a failure is then what is wanted, and its absence fails
  --bugs        every known bug in turn; fails unless each is noticed
  --log         what everybody logs in the history of the first seed, before it

bugs that it notices:
${list.join('\n')}

examples:
  make simulate                                          three minutes
  SIMULATE_MINUTES=60 make simulate                      an hour
  node dist/test/simulate/main.js --base 5000            other histories
  node dist/test/simulate/main.js --seed 123             one again
  node dist/test/simulate/main.js --bugs                 can it still fail?`;
}
