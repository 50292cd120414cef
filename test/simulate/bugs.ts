import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KnownBug } from '../fault/part.ts';
import type { History } from './history.ts';

/** A fault as somebody might write it: this text of a compiled file instead of that. */
interface Mutant {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

interface Bug extends KnownBug {
  readonly mutants: readonly Mutant[];
  /** What shows it, where histories that a seed makes do not. */
  readonly history?: History;
}

/** Clusters tell of endpoints, b of its own eight seconds late. */
export const lateEndpoints: History = {
  endpoints: { a: 0, b: 8000 },
  workloads: [{ kind: 'Deployment', name: 'w1', replicas: 4, on: 'a', maxUnavailable: 0, served: true }],
  actions: [
    { at: 1000, do: 'place', workload: 'w1', on: 'b' },
    { at: 60_000, do: 'place', workload: 'w1', on: 'a' },
    { at: 120_000, do: 'place', workload: 'w1', on: 'a,b' },
  ],
};

/** To and fro, with what was written in between. */
const toAndFro: History = {
  workloads: [{ kind: 'StatefulSet', name: 'w1', replicas: 2, on: 'a', maxUnavailable: 0, copies: true }],
  actions: Array.from({ length: 6 }, (_, i): History['actions'] => [
    { at: i * 120_000 + 1000, do: 'place', workload: 'w1', on: i % 2 === 0 ? 'b' : 'a' },
    { at: i * 120_000 + 70_000, do: 'retry' },
  ]).flat(),
};

const copied = "if (status?.phase === 'Copied' && isThere(held, copy))";

export const bugs: readonly Bug[] = [
  {
    name: 'starts-uncopied',
    about: 'what is stopped starts elsewhere while its data is on its way',
    seed: 1,
    within: 10,
    history: toAndFro,
    mutants: [
      { file: 'splitter/copies.js', from: copied, to: "if (status?.phase === 'Copying')" },
      { file: 'splitter/copies.js', from: "return copy.status?.phase !== 'Copied';", to: 'return false;' },
    ],
  },
  {
    name: 'break-before-make',
    about: 'what leaves goes before what joins is there',
    seed: 1,
    within: 20,
    mutants: [
      {
        file: 'splitter/handover-many.js',
        from: 'const keep = underWay\n',
        to: 'const keep = false\n',
      },
    ],
  },
  {
    name: 'counts-at-once',
    about: 'what joins is counted on before its pods are ready',
    seed: 1,
    within: 20,
    mutants: [
      {
        file: 'splitter/settle.js',
        from: 'const isReadyNow = isReady(root, share, slices[cluster], others, countedOf(plan, cluster, share));',
        to: 'const isReadyNow = slices[cluster]?.present === true;',
      },
      {
        file: 'splitter/trust.js',
        from: 'return availableOf(share, slice) >= Math.min(replicas, share.replicas ?? 0);',
        to: 'return true;',
      },
    ],
  },
  {
    name: 'starts-before-gone',
    about: 'an ordinal of a StatefulSet is started elsewhere before its pod has gone',
    seed: 1,
    within: 60,
    mutants: [
      {
        file: 'splitter/stopped.js',
        from: 'if (slice?.present !== true || !slice.pods || !said || slice.pods.since !== share.held?.since)\n        return false;',
        to: 'return true;',
      },
    ],
  },
  {
    name: 'status-of-one',
    about: 'the status is that of one target',
    seed: 1,
    within: 20,
    mutants: [
      {
        file: 'splitter/fold/index.js',
        from: 'parts: withinSurge(root, all), now });',
        to: 'parts: withinSurge(root, all).slice(0, 1), now });',
      },
    ],
  },
  {
    name: 'never-leaves',
    about: 'what leaves is taken for gone while it is there',
    seed: 1,
    within: 20,
    mutants: [
      {
        file: 'syncer/leave.js',
        from: 'if (isToBeTaken(engine, id, object))',
        to: 'if (shareFor(engine, id)) return { gone: true };\n    if (isToBeTaken(engine, id, object))',
      },
    ],
  },
  {
    name: 'stale-slices',
    about: 'what was said of a share of before counts for the one that joins',
    seed: 1,
    within: 60,
    mutants: [
      {
        file: 'splitter/handover.js',
        from: 'if (!Object.hasOwn(previous, cluster))\n            return [cluster];',
        to: '',
      },
      {
        file: 'splitter/write.js',
        from: 'await Promise.all(left.map(',
        to: 'await Promise.all([].map(',
      },
    ],
  },
  {
    name: 'divides-up',
    about: 'each target of a divided workload gets the larger part',
    seed: 1,
    within: 20,
    mutants: [
      {
        file: 'splitter/divide.js',
        from: 'Math.floor((total * weigh(c)) / sum)]',
        to: 'Math.ceil((total * weigh(c)) / sum)]',
      },
    ],
  },
  {
    name: 'believes-numbers',
    about: 'what a cluster says of its pods is taken as it is',
    seed: 1,
    within: 200,
    mutants: [
      {
        file: 'splitter/fold/part.js',
        from: 'return Math.max(0, Math.min(maxInt32, value));',
        to: 'return value;',
      },
      {
        file: 'apiserver/view/bounds.js',
        from: 'return Number.isFinite(value) ? Math.min(Math.max(value, 0), maxInt) : 0;',
        to: 'return value;',
      },
    ],
  },
  {
    name: 'spreads-evenly',
    about: 'the counts of a spread are taken for even ones',
    seed: 1,
    within: 200,
    mutants: [
      {
        file: 'cluster/spread.js',
        from: 'const [x, y] = [of(weights, a) * (2 * of(parts, b) + 1), of(weights, b) * (2 * of(parts, a) + 1)];',
        to: 'const [x, y] = [2 * of(parts, b), 2 * of(parts, a)];',
      },
    ],
  },
  {
    name: 'overflows-never',
    about: 'what overflows takes room that a cluster has not',
    seed: 1,
    within: 200,
    mutants: [
      {
        file: 'scheduler/in-order.js',
        from: 'const n = Math.min(left, next.room);',
        to: 'const n = left;',
      },
    ],
  },
  {
    name: 'stays-withdrawn',
    about: 'a Service that led nobody to a cluster any more never does again',
    seed: 1,
    within: 60,
    mutants: [
      {
        file: 'splitter/traffic.js',
        from: 'const withdrawn = serves && !staying.has(cluster) && (before === true || going.has(cluster));',
        to: 'const withdrawn = serves && (before === true || going.has(cluster));',
      },
    ],
  },
  {
    name: 'never-withdrawn',
    about: 'a Service leads to a cluster until what is behind it there has gone',
    seed: 1,
    within: 20,
    mutants: [
      {
        file: 'splitter/traffic.js',
        from: 'const withdrawn = serves && !staying.has(cluster) && (before === true || going.has(cluster));',
        to: 'const withdrawn = false;',
      },
    ],
  },
  {
    name: 'withdrawn-early',
    about: 'a Service leads nobody to a cluster any more before what is behind it is counted on elsewhere',
    seed: 1,
    within: 60,
    mutants: [
      {
        file: 'splitter/withdraw.js',
        from: "if (share.phase !== 'Leaving' || !before) {",
        to: 'if (scene.plan.goal.has(cluster) || !before) {',
      },
    ],
  },
  {
    name: 'unled',
    about: 'what joins is counted on before its Service there leads to it',
    seed: 7,
    within: 1,
    history: lateEndpoints,
    mutants: [
      {
        file: 'splitter/settle.js',
        from: 'if (unledMs > 0 && input.isUnled?.(cluster)) {',
        to: 'if (false) {',
      },
    ],
  },
  {
    name: 'policy-unread',
    about: 'what a policy excludes or does not name is as good as anything',
    seed: 1,
    within: 60,
    mutants: [
      {
        file: 'scheduler/wishes.js',
        from: 'for (const said of wish.layers) {',
        to: 'for (const said of wish.layers.filter(({ isPolicy }) => !isPolicy)) {',
      },
      { file: 'scheduler/wishes.js', from: 'const [said] = layers;', to: 'return undefined;' },
    ],
  },
];

/** Whether each mutant has a place in today's code, compiled to `root`: one without says nothing about the simulation. */
export async function misplaced(name: string, root: string): Promise<string[]> {
  const wrong: string[] = [];
  for (const { file, from } of bugs.find((bug) => bug.name === name)?.mutants ?? []) {
    const source = await readFile(join(root, file), 'utf8');
    if (source.split(from).length !== 2) wrong.push(`${file} does not have exactly one "${from}"`);
  }
  return wrong;
}
