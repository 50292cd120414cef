import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '../../../client/client.ts';
import { transportFromKubeconfigFile } from '../../../client/kubeconfig.ts';
import { type Atoll, startAtoll } from '../../atoll/atoll.ts';
import { misplaced, mutantArguments } from '../mutants.ts';
import type { FaultPart, Run, RunResult } from '../part.ts';
import { SoakLoad, WATCHERS } from '../soak/load.ts';
import type { Held } from '../soak/probe.ts';
import { slope } from '../soak/slope.ts';

const PROBE = resolve(import.meta.dirname, '../soak/probe.js');
const MINUTES = 15;
/** The history that a server keeps, and of a shorter soak the share after which it must be full. */
const HISTORY_MS = 5 * 60_000;
const HISTORY_SHARE = 1 / 6;
/** The history is as long as it gets after this many times its age: it is forgotten in steps. */
const FULL = 1.5;
const SAMPLES = 40;
/** Those who watch hold theirs. */
const SOCKETS = 16 + WATCHERS;
const ANSWER_MS = 20_000;
/** MiB of heap and buffers that a minute may add once the history is full; and a short soak altogether. */
const FLAT = 1;
const WAVES = 8;
/** Flat proves nothing then. */
const UNLOADED = 'the machine is too busy: less than half of the operations of the load were done';

/** Hours of a steady load in little: what a server holds must not grow once its history is full. */
export const soak: FaultPart = {
  name: 'soak',
  about: `250 mixed operations a second; memory must be flat once the history is full; SOAK_MINUTES, else ${MINUTES}`,
  runs: 1,
  weight: 0,
  minutes: Number(process.env['SOAK_MINUTES'] ?? MINUTES),
  parallel: 1,
  bugs: [{ name: 'keeps-forgotten', about: 'forgotten events stay in memory', seed: 1, within: 1 }],
  async prepare({ bug }) {
    const wrong = bug === undefined ? [] : await misplaced(bug);
    if (wrong.length > 0) throw new Error(wrong.join('; '));
    return async () => {};
  },
  async run(run: Run): Promise<RunResult> {
    const history = Math.min(HISTORY_MS, (run.until - performance.now()) * HISTORY_SHARE);
    const server = await startAtoll({
      nodeArgs: ['--expose-gc', ...mutantArguments(run.bug), '--import', PROBE],
      env: { SOAK_HISTORY_MS: String(history), FAULT_BUG: run.bug },
    });
    try {
      return await underLoad(server, run, history * FULL);
    } finally {
      await server.dispose();
    }
  },
};

/** For the run's time or, on a machine that took long to come here, until the history has been full for as long. */
async function underLoad(server: Atoll, run: Run, untilFull: number): Promise<RunResult> {
  const transport = await transportFromKubeconfigFile(server.kubeconfig, { maxSockets: SOCKETS });
  const load = new SoakLoad(new Client(transport), run.seed);
  await load.fill();
  const full = performance.now() + untilFull;
  const step = Math.max(run.until - full, untilFull) / SAMPLES;
  const stop = new AbortController();
  const running = load.run(AbortSignal.any([run.signal, stop.signal]));
  try {
    await sleep(full - performance.now(), undefined, { signal: run.signal });
    const samples: { minute: number; held: Held }[] = [];
    for (let i = 1; i <= SAMPLES; i++) {
      await sleep(full + i * step - performance.now(), undefined, { signal: run.signal });
      samples.push({ minute: performance.now() / 60_000, held: await heldBy(server) });
    }
    return judge(samples, load);
  } finally {
    stop.abort();
    await running;
    transport.close();
  }
}

function judge(samples: readonly { minute: number; held: Held }[], load: SoakLoad): RunResult {
  const mib = (bytes: number): number => bytes / (1 << 20);
  const points = samples.map(({ minute, held }) => ({ x: minute, y: mib(held.heap + held.buffers) }));
  const growth = slope(points);
  const last = samples.at(-1)?.held ?? { heap: 0, buffers: 0, rss: 0 };
  const minutes = (samples.at(-1)?.minute ?? 0) - (samples[0]?.minute ?? 0);
  const slow = load.skipped > load.operations;
  const flat = growth <= Math.max(FLAT, WAVES / minutes);
  const told = `memory grows by ${growth.toFixed(2)} MiB a minute once the history is full`;
  return {
    ops: load.operations,
    faults: 0,
    failures: [...(flat ? [] : [told]), ...(slow ? [UNLOADED] : []), ...load.failures.slice(0, 3)],
    counts: {
      'operations left out': load.skipped,
      'KiB a minute of growth': Math.round(growth * 1024),
      'MiB of heap at the end': Math.round(mib(last.heap)),
      'MiB of buffers at the end': Math.round(mib(last.buffers)),
      'MiB of RSS at the end': Math.round(mib(last.rss)),
    },
  };
}

async function heldBy(server: Atoll): Promise<Held> {
  const before = answers(server).length;
  process.kill(server.pid, 'SIGUSR2');
  for (const deadline = performance.now() + ANSWER_MS; performance.now() < deadline; await sleep(20)) {
    const answer = answers(server)[before];
    if (answer !== undefined) return JSON.parse(answer[1] ?? '') as Held;
  }
  throw new Error(`the server does not say what it holds\n${server.log().slice(-2000)}`);
}

function answers(server: Atoll): RegExpMatchArray[] {
  return [...server.log().matchAll(/^\{"held":(.*)\}$/gm)];
}
