import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The compiled program, as a user runs it. */
export const program: string = join(repository(), 'dist', 'cli', 'main.js');
/** As it is installed: the same in one piece. `make build` makes it. */
export const bundled: string = join(repository(), 'dist', 'bundle', 'main.js');

export interface Atoll {
  /** As clients know it. */
  url: string;
  /** Where it listens. */
  listening: string;
  kubeconfig: string;
  dataDir: string;
  pid: number;
  /** What it has written to stderr so far. */
  log(): string;
  /** SIGKILL, in the middle of whatever it does. */
  kill(): Promise<void>;
  /** SIGTERM, or another signal that ends it; resolves with the exit code. */
  terminate(signal?: NodeJS.Signals): Promise<number | null>;
  /** Starts again on the same data and address, with `args` in place of those that it had. */
  restart(args?: readonly string[]): Promise<void>;
  /** Ends it and removes its data. */
  dispose(): Promise<void>;
}

export interface AtollOptions {
  command?: 'start' | 'demo';
  settleSeconds?: number;
  args?: readonly string[];
  /** Default: `program`. */
  program?: string;
  /** Of node itself, before the program. */
  nodeArgs?: readonly string[];
  env?: NodeJS.ProcessEnv;
}

/** Runs `atoll start` on a free port and a fresh data directory; resolves when it says that it is ready. */
export async function startAtoll(options: AtollOptions = {}): Promise<Atoll> {
  const dataDir = await mkdtemp(join(tmpdir(), 'atoll-data-'));
  let listen = '127.0.0.1:0';
  let current = await run(dataDir, listen, options);
  const listening = listeningAt(current.log.join('')) ?? current.url;
  listen = new URL(listening).host;
  const end = async (signal: NodeJS.Signals) => {
    const { child } = current;
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    child.kill(signal);
    return ended;
  };
  return {
    url: current.url,
    listening,
    kubeconfig: join(dataDir, 'admin.kubeconfig'),
    dataDir,
    get pid() {
      return current.child.pid ?? 0;
    },
    log: () => current.log.join(''),
    kill: async () => void (await end('SIGKILL')),
    terminate: (signal = 'SIGTERM') => end(signal),
    restart: async (args = options.args ?? []) => {
      await end('SIGKILL');
      current = await run(dataDir, listen, { ...options, args });
    },
    dispose: async () => {
      await end('SIGKILL');
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** As its log says; undefined at a level that does not. */
function listeningAt(log: string): string | undefined {
  const [line] = /^.*"msg":"serving".*$/m.exec(log) ?? [];
  const { address, port } = JSON.parse(line ?? '{}') as { address?: string; port?: number };
  return address === undefined ? undefined : `https://${address}:${port}`;
}

interface Running {
  child: ChildProcess;
  url: string;
  log: string[];
}

function run(dataDir: string, listen: string, options: AtollOptions): Promise<Running> {
  const { command = 'start', settleSeconds = 1, args = [], nodeArgs = [] } = options;
  const flags = [
    '--data-dir',
    dataDir,
    '--listen',
    listen,
    '--settle-seconds',
    String(settleSeconds),
    ...args,
  ];
  const child = spawn(process.execPath, [...nodeArgs, options.program ?? program, command, ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...options.env },
  });
  const log: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => log.push(text));
  return new Promise((resolve, reject) => {
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      const ready = /^Atoll is ready at (\S+)/m.exec(printed);
      if (ready?.[1]) resolve({ child, url: ready[1], log });
    });
    child.once('error', reject);
    child.once('exit', (code) =>
      reject(new Error(`atoll ${command} ended with ${code}\n${printed}\n${log.join('')}`)),
    );
  });
}

function repository(): string {
  const here = fileURLToPath(import.meta.url);
  return here.slice(0, here.lastIndexOf(`${join('test', 'atoll')}`)).replace(/dist[\\/]$/, '');
}
