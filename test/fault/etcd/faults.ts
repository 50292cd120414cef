import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../../../storage/store.ts';
import type { Etcd } from '../../etcd/etcd.ts';
import type { FaultyProxy } from '../../etcd/proxy.ts';
import type { Random } from '../random.ts';

export interface Scene {
  readonly random: Random;
  readonly members: readonly Etcd[];
  /** Of each server, one in front of each member. */
  readonly proxies: readonly (readonly FaultyProxy[])[];
  readonly stores: readonly Store[];
  readonly observer: Store;
}

/** Something that happens to two servers and their etcd, and is over when `strike` resolves. */
export interface Fault {
  readonly name: string;
  strike(scene: Scene): Promise<void>;
}

export const faults: readonly Fault[] = [
  {
    name: 'member killed',
    async strike({ random, members }) {
      const member = one(random, members);
      await member.kill();
      await sleep(random.between(100, 2000));
      await member.start();
    },
  },
  {
    // Whoever leads is among them: each is stopped for longer than an election takes.
    name: 'leader moved',
    async strike({ random, members }) {
      for (const member of random.chance(0.5) ? members : [one(random, members)]) {
        process.kill(member.pid(), 'SIGSTOP');
        await sleep(random.between(1200, 2500));
        process.kill(member.pid(), 'SIGCONT');
        await sleep(300);
      }
    },
  },
  {
    name: 'partition',
    async strike({ random, proxies }) {
      const server = one(random, proxies);
      const cut = random.chance(0.5) ? server : [one(random, server)];
      for (const proxy of cut) proxy.hole();
      await sleep(random.between(200, 6000));
      for (const proxy of cut) {
        // With the connections that it hid, or without.
        if (random.chance(0.5)) proxy.cut();
        proxy.resume();
      }
    },
  },
  {
    name: 'answers lost',
    async strike({ random, proxies }) {
      for (let i = random.between(1, 5); i > 0; i--) {
        const server = one(random, proxies);
        for (const proxy of server) proxy.swallowAnswers();
        await sleep(random.between(10, 200));
        for (const proxy of server) proxy.cut();
        await sleep(200);
      }
    },
  },
  {
    name: '500 ms latency',
    async strike({ random, proxies }) {
      const server = one(random, proxies);
      for (const proxy of server) proxy.delay(500);
      await sleep(random.between(2000, 4000));
      for (const proxy of server) proxy.delay(0);
      await sleep(600);
    },
  },
  {
    // What a server has not yet been told is forgotten while it hears nothing.
    name: 'compaction under a slow watcher',
    async strike({ random, proxies, stores, observer }) {
      const at = random.below(stores.length);
      const server = proxies[at] ?? [];
      for (const proxy of server) proxy.hole();
      await sleep(random.between(100, 1000));
      const { revision } = await observer.list({ start: '/', end: '/0' });
      await observer.compact(revision);
      for (const proxy of server) {
        proxy.cut();
        proxy.resume();
      }
      await sleep(300);
    },
  },
  {
    name: 'clock jumps',
    async strike({ random }) {
      const real = Date.now;
      try {
        for (let i = 0; i < 4; i++) {
          const jump = random.between(-36_000_000, 36_000_000);
          Date.now = () => real() + jump;
          await sleep(300);
        }
      } finally {
        Date.now = real;
      }
    },
  },
];

function one<T>(random: Random, list: readonly T[]): T {
  const [first, ...rest] = list;
  if (first === undefined) throw new Error('nothing to choose from');
  return random.pick([first, ...rest]);
}
