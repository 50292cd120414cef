import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const programs =
  process.env['KUBERNETES_BIN'] ??
  join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'kubernetes-reference', '1.36.3');

/** A test that fails half way must not leave its etcd behind. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export interface Etcd {
  /** `host:port` of its clients. */
  endpoint: string;
  port: number;
  pid: () => number;
  /** As a power cut would end it, were it not for the page cache. */
  kill(): Promise<void>;
  /** After `kill`: the same data and port again. */
  start(): Promise<void>;
  /** After `kill`: forgets all data. */
  wipe(): Promise<void>;
  /** Kills it and removes its data. */
  stop(): Promise<void>;
}

interface Member {
  name: string;
  port: number;
  peer: number;
}

export interface EtcdFlags {
  args?: string[];
  /** Off unless asked for: a killed process loses nothing without it. */
  fsync?: boolean;
}

/** One etcd on loopback with a fresh data directory. */
export async function startEtcd(flags: EtcdFlags = {}): Promise<Etcd> {
  const [etcd] = await startCluster(1, flags);
  if (etcd === undefined) throw new Error('unreachable');
  return etcd;
}

/** Members that elect a leader among themselves. */
export async function startCluster(size: number, flags: EtcdFlags = {}): Promise<Etcd[]> {
  const members: Member[] = [];
  for (let i = 0; i < size; i++) {
    members.push({ name: `m${i}`, port: await freePort(), peer: await freePort() });
  }
  return Promise.all(members.map((member) => startMember(member, members, flags)));
}

async function startMember(
  { name, port, peer }: Member,
  members: readonly Member[],
  { args = [], fsync = false }: EtcdFlags,
): Promise<Etcd> {
  const binary = join(programs, 'etcd');
  if (!existsSync(binary)) throw new Error(`no etcd in ${programs}: run make etcd first`);
  const dir = await mkdtemp(join(tmpdir(), 'atoll-etcd-'));
  const scheme = args.includes('--cert-file') ? 'https' : 'http';
  const client = `${scheme}://127.0.0.1:${port}`;
  const peerUrl = `http://127.0.0.1:${peer}`;
  const flags = [
    '--data-dir',
    join(dir, 'data'),
    '--name',
    name,
    '--log-level',
    'error',
    '--listen-client-urls',
    client,
    '--advertise-client-urls',
    client,
    '--listen-peer-urls',
    peerUrl,
    '--initial-advertise-peer-urls',
    peerUrl,

    '--initial-cluster',
    members.map((m) => `${m.name}=http://127.0.0.1:${m.peer}`).join(','),
    ...(fsync ? [] : ['--unsafe-no-fsync']),
    ...args,
  ];
  let child: ChildProcess | undefined;
  const kill = async (): Promise<void> => {
    if (child?.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      running.delete(child);
    }
  };
  const start = async (): Promise<void> => {
    const log = await open(join(dir, 'log'), 'a');
    child = spawn(binary, flags, { stdio: ['ignore', log.fd, log.fd] });
    running.add(child);
    await log.close();
    const deadline = Date.now() + 60_000;
    while (!(await listens(port))) {
      if (child.exitCode !== null || Date.now() > deadline) {
        throw new Error(`etcd did not start: ${await readFile(join(dir, 'log'), 'utf8')}`);
      }
      await sleep(20);
    }
  };
  const wipe = (): Promise<void> => rm(join(dir, 'data'), { recursive: true });
  const stop = async (): Promise<void> => {
    await kill();
    await rm(dir, { recursive: true, force: true });
  };
  await start().catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { endpoint: `127.0.0.1:${port}`, port, pid: () => child?.pid ?? 0, kill, start, wipe, stop };
}

/** Below the range that the system hands out for outgoing connections, so that a restart finds it free. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!free) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
  }).then((answer) => {
    socket.destroy();
    return answer === true;
  });
}
