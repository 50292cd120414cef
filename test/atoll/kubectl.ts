import { execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import { kubectl as binary } from '../kubernetes/kubernetes.ts';
import { program } from './atoll.ts';

const run = promisify(execFile);

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Real kubectl as a child process; a failure is an answer, not an exception. */
export function kubectl(kubeconfig: string, ...args: string[]): Promise<Ran> {
  return command(binary, ['--kubeconfig', kubeconfig, ...args], {});
}

/** The `atoll` program against the server of that kubeconfig. */
export function atoll(kubeconfig: string, ...args: string[]): Promise<Ran> {
  return command(process.execPath, [program, '--atoll-kubeconfig', kubeconfig, ...args], {});
}

async function command(file: string, args: string[], env: NodeJS.ProcessEnv): Promise<Ran> {
  try {
    const options = { timeout: 240_000, maxBuffer: 64 << 20, env: { ...process.env, ...env } };
    const { stdout, stderr } = await run(file, args, options);
    return { code: 0, stdout, stderr };
  } catch (error) {
    const failed = error as { code?: number; stdout?: string; stderr?: string; message: string };
    return {
      code: Number(failed.code ?? 1),
      stdout: failed.stdout ?? '',
      stderr: failed.stderr || failed.message,
    };
  }
}

/** Runs kubectl and fails loudly when kubectl does. */
export async function must(kubeconfig: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await kubectl(kubeconfig, ...args);
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${stderr}`);
  return stdout;
}

export async function mustJson<T>(kubeconfig: string, ...args: string[]): Promise<T> {
  return JSON.parse(await must(kubeconfig, ...args, '-o', 'json')) as T;
}

/** A machine that is this many times slower than ours fails no test. */
const PATIENCE = 4;
/** Nor does one that stands still for half a minute, whatever is waited for. */
const leastSeconds = 60;

/**
 * Waits until `attempt` neither throws nor answers undefined or false; fails with its last word. `seconds`: how long
 * that may take on a machine like ours.
 */
export async function until<T>(
  what: string,
  seconds: number,
  attempt: () => Promise<T | undefined | false>,
): Promise<T> {
  const most = Math.max(leastSeconds, PATIENCE * seconds);
  const deadline = performance.now() + most * 1000;
  let last: unknown = 'nothing yet';
  for (;;) {
    try {
      const answer = await attempt();
      if (answer !== undefined && answer !== false) return answer;
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadline) throw new Error(`${what}: not within ${most} s`, { cause: last });
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

interface Printing {
  /** What it has printed so far. */
  text(): string;
  /** All that it printed, when it has ended by itself with 0. */
  ended: Promise<string>;
  /** Resolves when it is gone. */
  stop(): Promise<void>;
}

/** kubectl that goes on while a test does: a test waits for what is printed, never for kubectl to have begun. */
export function printing(kubeconfig: string, ...args: string[]): Printing {
  const child = spawn(binary, ['--kubeconfig', kubeconfig, ...args], { timeout: 240_000 });
  let [printed, failed] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    failed += text;
  });
  const ended = new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(printed);
      else reject(new Error(`kubectl ${args.join(' ')} ended with ${code}: ${failed}`));
    });
  });
  // Who stops waiting because another assertion failed has not left it unheard.
  ended.catch(() => {});
  const stop = async () => {
    child.kill('SIGKILL');
    await ended.catch(() => {});
  };
  return { text: () => printed, ended, stop };
}

export interface ReadySamples {
  /** The lowest ready count that was printed for each Deployment. */
  lowest: Map<string, number>;
  rows: number;
  stop(): Promise<void>;
}

/**
 * Reads what `kubectl get deploy -w` prints; a restart of the server is bridged by starting kubectl again. Resolves when it
 * has printed what is there: what happens after that is not missed.
 */
export async function sampleReady(kubeconfig: string, namespace: string): Promise<ReadySamples> {
  const samples: ReadySamples = { lowest: new Map(), rows: 0, stop: async () => {} };
  let stopped = false;
  let child: ReturnType<typeof spawn> | undefined;
  const loop = async () => {
    while (!stopped) {
      child = spawn(
        binary,
        ['--kubeconfig', kubeconfig, 'get', 'deploy', '-w', '--no-headers', '-n', namespace],
        {
          stdio: ['ignore', 'pipe', 'ignore'],
        },
      );
      let rest = '';
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) record(samples, line);
      });
      await new Promise((resolve) => child?.once('exit', resolve));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const finished = loop();
  samples.stop = async () => {
    stopped = true;
    child?.kill('SIGKILL');
    await finished;
  };
  await until('kubectl watches', 30, async () => samples.rows > 0);
  return samples;
}

function record(samples: ReadySamples, line: string): void {
  const match = /^(\S+)\s+(\d+)\/(\d+)\s/.exec(line);
  if (!match?.[1]) return;
  samples.rows++;
  const ready = Number(match[2]);
  samples.lowest.set(match[1], Math.min(ready, samples.lowest.get(match[1]) ?? Number.POSITIVE_INFINITY));
}
