import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Answer, Asked, Made, Order } from './messages.ts';

export interface Clusters {
  all: readonly Made[];
  /** Of still ones. */
  asked(): Promise<Asked>;
  stop(): void;
}

/** Physical clusters in a process of their own, so that what the server takes can be told from what they take. */
export async function startClusters(order: Order): Promise<Clusters> {
  const program = fileURLToPath(new URL('./main.js', import.meta.url));
  const child = fork(program, [], { stdio: ['ignore', 2, 2, 'ipc'] });
  const all = await new Promise<Made[]>((resolve, reject) => {
    child.once('message', (answer: Answer) => {
      if ('failed' in answer) reject(new Error(answer.failed));
      else resolve(answer.clusters);
    });
    child.once('exit', (code) => reject(new Error(`the clusters ended with ${code}`)));
    child.send(order);
  });
  const asked = () =>
    new Promise<Asked>((resolve) => {
      child.once('message', resolve);
      child.send('asked');
    });
  return { all, asked, stop: () => void child.kill('SIGKILL') };
}
