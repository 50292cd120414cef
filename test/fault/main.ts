import { mkdtemp, readdir, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { FaultPart } from './part.ts';
import { parts } from './parts/index.ts';
import { type PartSummary, runPart } from './runner.ts';
import { table } from './summary.ts';

const DEFAULT_MINUTES = 10;
const MEMORY = '/dev/shm';
const ROOM = 2 ** 31;

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    seed: { type: 'string' },
    base: { type: 'string', default: '1' },
    runs: { type: 'string' },
    minutes: { type: 'string', default: process.env['FAULT_MINUTES'] ?? String(DEFAULT_MINUTES) },
    bug: { type: 'string' },
    bugs: { type: 'boolean', default: false },
    json: { type: 'string' },
    directory: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  console.log(help());
  process.exit(0);
}
const minutes = number('--minutes or FAULT_MINUTES', values.minutes);
const asked = process.env['SOAK_MINUTES'] !== undefined;
const chosen = parts.filter(
  (part) => values.only?.includes(part.name) ?? (part.minutes === undefined || asked),
);
const unknown = values.only?.filter((name) => !parts.some((part) => part.name === name)) ?? [];
if (unknown.length > 0) stop(`there is no part ${unknown.join(', ')}; there are: ${names(parts)}`);
if (values.bug !== undefined && !chosen.some(({ bugs }) => bugs.some(({ name }) => name === values.bug))) {
  stop(`no chosen part knows the bug ${values.bug}; see --help`);
}

const directory = values.directory ?? (await mkdtemp(join(await scratch(), 'atoll-fault-')));
const abort = new AbortController();
process.once('SIGINT', () => abort.abort());
process.once('SIGTERM', () => abort.abort());
const say = (line: string): void => console.log(line);

const summaries = values.bugs ? await runBugs() : await runAll();
console.log(`\n${table(summaries)}`);
if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify({ minutes, summaries })}\n`);
const failed = summaries.some(({ bug, failures }) => (bug === undefined) === failures.length > 0);
if (failed && !values.bugs) console.log(`the folders of failed runs are kept in ${directory}`);
else if (values.directory === undefined) await rm(directory, { recursive: true, force: true });
else for (const name of await readdir(directory)) await rm(join(directory, name), { recursive: true });
process.exitCode = failed || abort.signal.aborted ? 1 : 0;

/** Each part for its share of the time; what one leaves over goes to those after it. */
async function runAll(): Promise<PartSummary[]> {
  const end = performance.now() + minutes * 60_000;
  const done: PartSummary[] = [];
  const todo = chosen.filter(
    ({ bugs }) => values.bug === undefined || bugs.some(({ name }) => name === values.bug),
  );
  let weight = todo.reduce((sum, part) => sum + part.weight, 0);
  for (const part of todo) {
    const left = end - performance.now();
    const runs = values.seed !== undefined ? 1 : wantedRuns(part);
    const own = part.minutes === undefined ? undefined : part.minutes * 60_000;
    const budget = { runs, until: performance.now() + (own ?? (left * part.weight) / weight) };
    weight -= part.weight;
    say(`${part.name}: ${part.about}; up to ${runs} runs`);
    const firstSeed = number('--seed or --base', values.seed ?? values.base);
    const bug = values.bug === undefined ? {} : { bug: values.bug };
    const summary = await runPart(part, budget, { directory, firstSeed, signal: abort.signal, say, ...bug });
    if (values.bug !== undefined) for (const { seed, text } of summary.failures) say(`seed ${seed}: ${text}`);
    done.push(summary);
  }
  return done;
}

/** Puts in every known bug, and wants each noticed. */
async function runBugs(): Promise<PartSummary[]> {
  const done: PartSummary[] = [];
  const until = performance.now() + minutes * 60_000;
  for (const part of chosen) {
    const own = part.minutes === undefined ? undefined : performance.now() + part.minutes * 60_000;
    for (const { name, about, seed, within } of part.bugs) {
      if (values.bug !== undefined && values.bug !== name) continue;
      const options = { directory, firstSeed: seed, bug: name, signal: abort.signal, say };
      const summary = await runPart(
        part,
        { runs: within, until: own ?? until },
        { ...options, stopAtFailure: true },
      );
      const first = summary.failures[0];
      // A part that cannot run at all noticed nothing.
      if (first?.seed === undefined) summary.failures = [];
      say(
        first?.seed === undefined
          ? `${part.name} --bug ${name}: NOT NOTICED in ${summary.runs} runs (${about}) ${first?.text ?? ''}`
          : `${part.name} --bug ${name}: noticed with seed ${first.seed}: ${first.text.split('\n')[0]}`,
      );
      done.push(summary);
    }
  }
  return done;
}

/** In memory where there is room: what a disk does wrong is made up here, and waiting for a real one shows nothing. */
async function scratch(): Promise<string> {
  const free = await statfs(MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return free >= ROOM ? MEMORY : tmpdir();
}

function wantedRuns(part: FaultPart): number {
  if (values.runs !== undefined) return number('--runs', values.runs);
  return part.minutes === undefined
    ? Math.ceil(part.runs * Math.max(1, minutes / DEFAULT_MINUTES))
    : part.runs;
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

function names(list: readonly { name: string }[]): string {
  return list.map(({ name }) => name).join(', ');
}

function help(): string {
  const list = parts.flatMap((part) => [
    `  ${part.name.padEnd(8)} ${part.about}`,
    ...part.bugs.map(({ name, about }) => `           --bug ${name}: ${about}`),
  ]);
  return `Breaks the store on purpose, over and over, and checks what it promised: nothing acknowledged is lost,
histories are linearizable, watches are ordered, gap-free and resumable, damage is never served; and that no
hostile path, header, token or key leads into another logical cluster.

usage: node dist/test/fault/main.js [options]

  --only PART       only this part; may be repeated
  --seed N          one run with this seed, as a failure printed it
  --base N          the seed of the first run (default 1); the following runs count up
  --runs N          how many runs of each part (default: the part's own number)
  --minutes M       time for all parts together (default FAULT_MINUTES, else ${DEFAULT_MINUTES})
  --bug NAME        put a known bug in; failures are then what is wanted, and their absence fails
  --bugs            every known bug in turn; fails unless each is noticed
  --json FILE       write the summary there too
  --directory DIR   where runs happen (default: a temporary folder, in memory where it can be);
                    failed runs are kept

parts and the bugs they can notice:
${list.join('\n')}

examples:
  make fault                                              everything, ten minutes
  FAULT_MINUTES=60 make fault                             for an hour, with more runs
  SOAK_MINUTES=15 make fault                              and the soak, which has minutes of its own
  node dist/test/fault/main.js --only kill --seed 123     one run again
  node dist/test/fault/main.js --bugs                     can the suite still fail?`;
}
