import { spawn } from 'node:child_process';
import net from 'node:net';
import { kubectl as binary } from '../kubernetes/kubernetes.ts';

export interface Forward {
  /** Sends the text over a connection of its own; resolves with what comes back first. */
  exchange(text: string): Promise<string>;
  stop(): void;
}

/** `kubectl port-forward` to a free local port; resolves when kubectl says that it listens. */
export async function portForward(kubeconfig: string, target: string, port: number): Promise<Forward> {
  const args = ['--kubeconfig', kubeconfig, 'port-forward', target, `:${port}`];
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  const local = await new Promise<number>((resolve, reject) => {
    const listen = (text: string) => {
      said += text;
      const found = /127\.0\.0\.1:(\d+) ->/.exec(said)?.[1];
      if (found) resolve(Number(found));
    };
    child.stdout.setEncoding('utf8').on('data', listen);
    child.stderr.setEncoding('utf8').on('data', listen);
    child.once('exit', (code) => reject(new Error(`kubectl port-forward ended with ${code}: ${said}`)));
  });
  return {
    exchange: (text) =>
      new Promise((resolve, reject) => {
        const socket = net.connect(local, '127.0.0.1', () => socket.write(text));
        socket.setTimeout(120_000, () => socket.destroy(new Error(`no answer; kubectl said ${said}`)));
        socket.on('error', reject);
        socket.on('close', () => reject(new Error(`closed without an answer; kubectl said ${said}`)));
        socket.once('data', (chunk) => {
          resolve(chunk.toString());
          socket.destroy();
        });
      }),
    stop: () => void child.kill(),
  };
}
