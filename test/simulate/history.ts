import { unreachableTaint } from '../../cluster/names.ts';
import type { PlacementPolicySpec, PolicyClusters } from '../../cluster/policy.ts';
import { Random } from '../fault/random.ts';

export const clusterNames = ['a', 'b', 'c'] as const;
/** Which each is in at first. */
export const regions = { a: 'us', b: 'eu', c: 'us' } as const;

/** What users, administrators and misfortune do, and when: milliseconds since the world stood. */
export type Action = { at: number } & (
  | { do: 'place'; workload: string; on: string }
  | { do: 'scale'; workload: string; to: number }
  | { do: 'roll'; workload: string; image: string }
  | { do: 'delete' | 'create'; workload: string }
  | { do: 'serve' | 'unserve'; workload: string }
  | { do: 'fail'; workload: string; on: string }
  | { do: 'cordon' | 'drain' | 'open'; on: string }
  | { do: 'rebalance'; on: string; is: boolean }
  | { do: 'die'; who: string; writes: number; happened: boolean }
  | { do: 'cut' | 'stale'; who: string; ms: number }
  | { do: 'slow'; who: string; ms: number; each: number }
  | { do: 'rewatch'; who: string; forget: boolean }
  | { do: 'policy'; workload: string; spec: PlacementPolicySpec | null; free: boolean }
  | { do: 'spread'; workload: string; over: string }
  | { do: 'region'; on: string; is: string }
  /** '': nobody says. */
  | { do: 'overflow'; workload: string; is: '' | 'true' | 'false' }
  /** 0: no bound. */
  | { do: 'capacity'; on: string; pods: number }
  | { do: 'lie'; on: string; ms: number }
  | { do: 'stall'; who: string; ms: number }
  /** '': none. */
  | { do: 'taint'; on: string; effect: '' | 'NoSchedule' | 'NoExecute' }
  /** '': their Namespace. */
  | { do: 'pause'; workload: string; is: boolean }
  /** Where the Namespace says that all is; '': nowhere. */
  | { do: 'home'; on: string }
  | { do: 'group'; workload: string; is: boolean }
  /** Somebody scales what is there on a physical cluster. */
  | { do: 'meddle'; workload: string; on: string; to: number }
  /** It is removed, and registered again once it is gone. */
  | { do: 'remove'; on: string }
  /** What was not copied is tried again. */
  | { do: 'retry' }
);

export interface Start {
  kind: 'Deployment' | 'StatefulSet';
  name: string;
  replicas: number;
  on: string;
  /** Of a Deployment. */
  maxUnavailable: number | string;
  /** Whether there is a Service that selects it. */
  served?: boolean;
  /** Of a StatefulSet: it has claims, whose data comes along. */
  copies?: boolean;
}

export interface History {
  /** By cluster, how long after its pods it tells of endpoints; absent: it has none, and pods are led to as soon as they are ready. */
  endpoints?: Partial<Record<(typeof clusterNames)[number], number>>;
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
      kind: random.pick(['Deployment', 'Deployment', 'StatefulSet']),
      name: `w${i + 1}`,
      replicas: random.between(1, mostReplicas),
      on: someClusters(random),
      maxUnavailable: random.pick([0, 0, '25%', 1]),
      served: random.chance(0.6),
    }),
  );
  const names = workloads.map(({ name }) => name) as [string, ...string[]];
  const actions: Action[] = [];
  let at = 0;
  for (let left = random.between(6, 24); left > 0; left--) {
    at += random.chance(0.3) ? random.between(10_000, 60_000) : random.between(0, 6000);
    actions.push({ at, ...deedOf(random, random.pick(names)) });
  }
  if (seed % 5 === 3) return rebalanced({ workloads, actions }, seed);
  if (seed % 20 === 16) return together({ workloads, actions }, seed);
  return seed % 10 === 9 ? copied({ workloads, actions }, seed) : { workloads, actions };
}

/** What copies nothing: what was away comes back where nobody knows what it had; and clusters that lie say what was not. */
const uncopied: readonly Action['do'][] = ['scale', 'delete', 'create', 'lie'];

/** One in ten is of this: StatefulSets with claims, whose data comes along by a copier that fails. */
function copied({ workloads, actions }: History, seed: number): History {
  const random = new Random(seed, 5);
  const until = actions.at(-1)?.at ?? 0;
  const retries = Array.from({ length: 4 }, (): Action => ({ at: random.between(0, until), do: 'retry' }));
  const others = actions.filter((action) => !uncopied.includes(action.do));
  return {
    workloads: workloads.map((start) => ({ ...start, kind: 'StatefulSet', copies: true })),
    actions: [...others, ...retries].sort((a, b) => a.at - b.at),
  };
}

/** One in twenty is of this: several that move together, by words of their Namespace, while others pause, taint, meddle and remove. */
function together({ actions, ...history }: History, seed: number): History {
  const random = new Random(seed, 7);
  const until = Math.max(60_000, actions.at(-1)?.at ?? 0);
  const workloads = [...history.workloads, ...historyOf(seed + 1).workloads]
    .slice(0, 3)
    .map((start, i): Start => ({ ...start, name: `w${i + 1}`, on: 'a' }));
  const names = workloads.map(({ name }) => name) as [string, ...string[]];
  const shared = names.flatMap((workload): Action[] => [
    { at: 0, do: 'place', workload, on: '' },
    { at: 0, do: 'group', workload, is: random.chance(0.7) },
  ]);
  const more = Array.from(
    { length: random.between(8, 20) },
    (): Action => ({
      at: random.between(1000, until),
      ...someChange(random, random.pick(names)),
    }),
  );
  const others = actions.filter(({ do: what }) => !words.includes(what) || random.chance(0.3));
  const all = [...shared, { at: 0, do: 'home', on: 'a' } as Action, ...others, ...more];
  return { ...history, workloads, actions: all.sort((a, b) => a.at - b.at) };
}

function someChange(random: Random, workload: string): Deed {
  const on = random.pick(clusterNames);
  return random.pick<Deed>([
    { do: 'home', on: random.pick([someClusters(random), someClusters(random), '']) },
    { do: 'home', on: someClusters(random) },
    { do: 'taint', on, effect: random.pick(['', 'NoSchedule', 'NoExecute']) },
    { do: 'pause', workload: random.pick(['', workload]), is: random.chance(0.5) },
    { do: 'group', workload, is: random.chance(0.5) },
    { do: 'meddle', workload, on, to: random.between(0, mostReplicas) },
    { do: 'remove', on },
    { do: random.pick(['delete', 'create']), workload },
  ]);
}

/** What says where. */
const words: readonly Action['do'][] = ['place', 'policy', 'spread', 'overflow', 'region'];

/** One in five is of this: nobody says where anything is, clusters have unequal room, and rebalance. */
function rebalanced({ workloads, actions }: History, seed: number): History {
  const random = new Random(seed, 3);
  const until = actions.at(-1)?.at ?? 0;
  const starts = workloads.map(
    (start): Start => ({ ...start, kind: 'Deployment', on: start.on.slice(0, 1) }),
  );
  const more = [
    ...starts.map(({ name }): Action => ({ at: 0, do: 'place', workload: name, on: '' })),
    ...clusterNames.flatMap((on): Action[] => [
      { at: 0, do: 'capacity', on, pods: random.between(mostReplicas, 4 * mostReplicas) },
      { at: random.between(0, until), do: 'rebalance', on, is: true },
      { at: random.between(until, 2 * until), do: 'rebalance', on, is: random.chance(0.7) },
    ]),
  ];
  const others = actions.filter((action) => !words.includes(action.do));
  return { workloads: starts, actions: [...more, ...others].sort((a, b) => a.at - b.at) };
}

type Deed = Action extends infer A ? (A extends Action ? Omit<A, 'at'> : never) : never;

/** Out of a hundred, the first so many are this: what is asked for, then what goes wrong. */
const deeds: readonly [weight: number, (random: Random, workload: string) => Deed][] = [
  [26, (random, workload) => ({ do: 'place', workload, on: someWord(random) })],
  [10, (random, workload) => ({ do: 'scale', workload, to: random.between(0, mostReplicas) })],
  [8, (random, workload) => ({ do: 'roll', workload, image: `app:${random.between(2, 9)}` })],
  [3, (random, workload) => ({ do: random.pick(['delete', 'create']), workload })],
  [4, (random, workload) => ({ do: random.pick(['serve', 'serve', 'unserve']), workload })],
  [4, (random, workload) => ({ do: 'fail', workload, on: random.pick(clusterNames) })],
  [8, (random) => ({ do: random.pick(['cordon', 'drain', 'open', 'open']), on: random.pick(clusterNames) })],
  [
    20,
    (random) => ({ do: 'die', who: anybody(random), writes: random.below(5), happened: random.chance(0.5) }),
  ],
  [
    6,
    (random) => ({
      do: 'cut',
      who: anybody(random),
      ms: random.between(500, random.pick([5000, 60_000, 200_000])),
    }),
  ],
  [7, (random) => ({ do: 'stale', who: anybody(random), ms: random.between(500, 20_000) })],
  [
    4,
    (random) => ({
      do: 'slow',
      who: anybody(random),
      ms: random.between(5000, 40_000),
      each: random.pick([1000, 10_000]),
    }),
  ],
  [4, (random) => ({ do: 'rewatch', who: anybody(random), forget: random.chance(0.5) })],
  [12, (random, workload) => ({ do: 'policy', workload, ...somePolicy(random, workload) })],
  [7, (random, workload) => ({ do: 'spread', workload, over: someSpread(random) })],
  [2, (random) => ({ do: 'region', on: random.pick(clusterNames), is: random.pick(['us', 'eu', '']) })],
  [3, (random) => ({ do: 'lie', on: random.pick(clusterNames), ms: random.between(2000, 60_000) })],
  [6, (random) => ({ do: 'stall', who: anybody(random), ms: random.between(3000, 40_000) })],
  [7, (random, workload) => ({ do: 'overflow', workload, is: random.pick(['', 'true', 'true', 'false']) })],
  [
    7,
    (random) => ({
      do: 'capacity',
      on: random.pick(clusterNames),
      pods: random.between(0, 2 * mostReplicas),
    }),
  ],
];

function deedOf(random: Random, workload: string): Deed {
  let draw = random.below(deeds.reduce((sum, [weight]) => sum + weight, 0));
  for (const [weight, deed] of deeds) {
    if (draw < weight) return deed(random, workload);
    draw -= weight;
  }
  throw new Error('a draw below the sum of all weights is within one of them');
}

function anybody(random: Random): string {
  return random.pick([
    'scheduler',
    'splitter',
    'splitter',
    'splitter/standby',
    ...clusterNames.map((c) => `syncers/${c}`),
  ]);
}

/** `free`: what its annotation says counts no longer. */
function somePolicy(random: Random, workload: string): { spec: PlacementPolicySpec | null; free: boolean } {
  const free = random.chance(0.8);
  if (random.chance(0.2)) return { spec: null, free };
  const names = someClusters(random).split(',');
  const clusters = random.pick<PolicyClusters>([
    { names },
    { names: [...clusterNames], count: random.between(1, 3) },
    { exclude: [random.pick(clusterNames)] },
    { groups: [names, [...clusterNames]] },
    { expression: 'cluster.labels["nowhere"] == "x"' },
    { names: [...clusterNames], overflow: true },
    { groups: [names, [...clusterNames]], overflow: true },
    {
      spread: random.pick([{ topologyKey: 'region' }, { topologyKey: 'region', replicas: { us: 2, eu: 1 } }]),
    },
  ]);
  const seconds = random.pick([0, 20, 60]);
  const lost = {
    key: unreachableTaint,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: seconds,
  } as const;
  const spec = {
    selector: { names: [workload] },
    clusters,
    ...(random.chance(0.5) && { tolerations: [lost] }),
  };
  return { spec, free };
}

function someSpread(random: Random): string {
  const counts = `region us=${random.between(1, 3)},eu=${random.between(1, 3)}`;
  return random.pick(['', 'region', 'cluster', counts, counts, 'region moon=2,us=1', 'nowhere']);
}

/** What an annotation says: most often clusters; now and then nothing, clusters that nobody knows, or far too many. */
function someWord(random: Random): string {
  const draw = random.below(20);
  if (draw === 0) return '';
  if (draw === 1) return `${someClusters(random)},nowhere`;
  if (draw === 2) return Array.from({ length: 1000 }, (_, i) => `nowhere-${i}`).join(',');
  return someClusters(random);
}

function someClusters(random: Random): string {
  const first = random.pick(clusterNames);
  const second = random.pick(clusterNames);
  return [...new Set(random.chance(0.5) ? [first] : [first, second])].sort().join(',');
}
