import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Logger } from '../kube/log.ts';
import type { Answer, DistantCluster, Order } from './messages.ts';

/** Nothing of it is kept: what takes longer hangs. */
const stopMs = 5000;
const program = fileURLToPath(new URL('./main.js', import.meta.url));

export interface Simulation {
  clusters: readonly DistantCluster[];
  stop(): Promise<void>;
}

/** Simulated clusters in a process of their own: what they do takes nothing from who uses them but a share of the machine. */
export async function simulateApart(
  clusters: Extract<Order, { order: 'start' }>['clusters'],
  logger: Logger,
): Promise<Simulation> {
  const child = fork(program, [], {
    execArgv: [...process.execArgv, '--v8-pool-size=1'],
    stdio: ['ignore', process.stderr, process.stderr, 'ipc'],
    serialization: 'json',
  });
  logger.info({ pid: child.pid }, 'simulated clusters have a process of their own');
  const ended = new Promise<never>((_resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => reject(new Error(`the simulation ended: ${signal ?? code}`)));
  });
  ended.catch(() => undefined);
  const started = new Promise<readonly DistantCluster[]>((resolve) => {
    child.on('message', (answer: Answer) => {
      if ('clusters' in answer) resolve(answer.clusters);
      else logger.error({ err: answer.error, cluster: answer.cluster }, answer.failed);
    });
  });
  child.send({ order: 'start', clusters } satisfies Order);
  return {
    clusters: await Promise.race([started, ended]),
    stop: async () => {
      if (child.connected) child.send({ order: 'stop' } satisfies Order);
      const late = setTimeout(() => child.kill('SIGKILL'), stopMs);
      await ended.catch(() => undefined);
      clearTimeout(late);
    },
  };
}
