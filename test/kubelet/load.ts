import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { Random } from '../fault/random.ts';
import { loopbackOf } from './address.ts';
import type { KubeProxy } from './kube-proxy.ts';

/** Requests to one Service, so and so many a second, whatever becomes of them. */
export interface Load {
  readonly sent: number;
  /** When and why each that was not answered with 200 failed. None is tried again. */
  readonly failed: readonly string[];
  /** Answers by cluster, since this was last asked. */
  take(): Map<string, number>;
  /** Resolves when each is answered or has failed. */
  stop(): Promise<void>;
}

export interface LoadOptions {
  service: string;
  perSecond: number;
  /** Connections are used again, as long as the other end lets them. */
  keepAlive: boolean;
  seed: number;
}

export function startLoad(proxy: KubeProxy, { service, perSecond, keepAlive, seed }: LoadOptions): Load {
  const random = new Random(seed);
  const agent = new Agent({ keepAlive, maxFreeSockets: 4 });
  agent.createConnection = () => {
    const all = proxy.endpoints(service);
    const chosen = all[random.below(all.length)];
    if (!chosen) throw new Error('no endpoint');
    return connect(chosen.port, loopbackOf(chosen.ip));
  };
  const failed: string[] = [];
  const pending = new Set<Promise<void>>();
  let answers = new Map<string, number>();
  let sent = 0;

  const ask = async () => {
    const began = new Date().toISOString();
    try {
      const cluster = await exchange(agent);
      answers.set(cluster, (answers.get(cluster) ?? 0) + 1);
    } catch (error) {
      failed.push(`${began} to ${new Date().toISOString()} ${service}: ${String(error)}`);
    }
  };

  const from = performance.now();
  const due = setInterval(() => {
    for (; sent < ((performance.now() - from) * perSecond) / 1000; sent++) {
      const one: Promise<void> = ask().finally(() => pending.delete(one));
      pending.add(one);
    }
  }, 1000 / perSecond);
  return {
    failed,
    get sent() {
      return sent;
    },
    take: () => {
      const taken = answers;
      answers = new Map();
      return taken;
    },
    stop: async () => {
      clearInterval(due);
      await Promise.all(pending);
      agent.destroy();
    },
  };
}

/** Which cluster answered. */
function exchange(agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    // By this name the agent keeps its connections: all of them lead to the Service.
    const asked = get({ agent, host: 'service', timeout: 10_000 }, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      answer.on('error', reject);
      answer.on('end', () => {
        if (answer.statusCode !== 200) return reject(new Error(`${answer.statusCode} ${body}`));
        resolve((JSON.parse(body) as { cluster: string }).cluster);
      });
    });
    asked.on('timeout', () => asked.destroy(new Error('no answer in 10 s')));
    asked.on('error', (error: NodeJS.ErrnoException) => {
      // A kept connection that was closed at the other end as this was sent: nobody was asked. RFC 9112, 9.3.1.
      if (asked.reusedSocket && error.code === 'ECONNRESET') exchange(agent).then(resolve, reject);
      else reject(error);
    });
  });
}
