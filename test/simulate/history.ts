import { Random } from '../fault/random.ts';

export const clusterNames = ['a', 'b', 'c'] as const;

/** What users, administrators and misfortune do, and when: milliseconds since the world stood. */
export type Action = { at: number } & (
  | { do: 'place'; workload: string; on: string }
  | { do: 'scale'; workload: string; to: number }
  | { do: 'roll'; workload: string; image: string }
  | { do: 'fail'; workload: string; on: string }
  | { do: 'cordon' | 'drain' | 'open'; on: string }
  | { do: 'die'; who: string; writes: number; happened: boolean }
  | { do: 'cut' | 'stale'; who: string; ms: number }
  | { do: 'slow'; who: string; ms: number; each: number }
  | { do: 'rewatch'; who: string; forget: boolean }
);

export interface Start {
  name: string;
  replicas: number;
  on: string;
  maxUnavailable: number | string;
}

export interface History {
  workloads: Start[];
  actions: Action[];
}

const mostReplicas = 6;

/** Everything that a seed decides beforehand; what wires do on the way is drawn while it runs, of the same seed. */
export function historyOf(seed: number): History {
  const random = new Random(seed);
  const workloads = Array.from(
    { length: random.between(1, 2) },
    (_, i): Start => ({
      name: `w${i + 1}`,
      replicas: random.between(1, mostReplicas),
      on: someClusters(random),
      maxUnavailable: random.pick([0, 0, '25%', 1]),
    }),
  );
  const actions: Action[] = [];
  let at = 0;
  for (let left = random.between(6, 24); left > 0; left--) {
    at += random.chance(0.3) ? random.between(10_000, 60_000) : random.between(0, 6000);
    actions.push({ at, ...actionOf(random, workloads.map(({ name }) => name) as [string, ...string[]]) });
  }
  return { workloads, actions };
}

type Deed = Action extends infer A ? (A extends Action ? Omit<A, 'at'> : never) : never;

function actionOf(random: Random, workloads: [string, ...string[]]): Deed {
  const workload = random.pick(workloads);
  const on = random.pick(clusterNames);
  const who = random.pick(['scheduler', 'splitter', 'splitter', ...clusterNames.map((c) => `syncers/${c}`)]);
  const draw = random.below(100);
  if (draw < 28) return { do: 'place', workload, on: someClusters(random) };
  if (draw < 38) return { do: 'scale', workload, to: random.between(0, mostReplicas) };
  if (draw < 46) return { do: 'roll', workload, image: `app:${random.between(2, 9)}` };
  if (draw < 50) return { do: 'fail', workload, on };
  if (draw < 58) return { do: random.pick(['cordon', 'drain', 'open', 'open']), on };
  if (draw < 78) return { do: 'die', who, writes: random.below(5), happened: random.chance(0.5) };
  if (draw < 84) return { do: 'cut', who, ms: random.between(500, random.pick([5000, 60_000])) };
  if (draw < 91) return { do: 'stale', who, ms: random.between(500, 20_000) };
  if (draw < 95)
    return { do: 'slow', who, ms: random.between(5000, 40_000), each: random.pick([1000, 10_000]) };
  return { do: 'rewatch', who, forget: random.chance(0.5) };
}

function someClusters(random: Random): string {
  const first = random.pick(clusterNames);
  const second = random.pick(clusterNames);
  return [...new Set(random.chance(0.5) ? [first] : [first, second])].sort().join(',');
}
