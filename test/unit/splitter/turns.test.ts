import { describe, expect, it } from 'vitest';
import type { ClusterSlice, Share } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { withBudgets } from '../../../splitter/budget.ts';
import type { Shares } from '../../../splitter/plan.ts';
import { type Standing, turnsOf } from '../../../splitter/turns.ts';
import { random } from './random.ts';

const atRest = {
  hasTurn: false,
  waits: true,
  isHalfWay: false,
  isSilent: false,
  isDone: true,
  isBehind: false,
  isRefusing: false,
  isUnheard: false,
};
const behind = { isDone: false, isBehind: true };
const has = { hasTurn: true, waits: false };
const of = (cluster: string, more: Partial<Standing> = {}): Standing => ({ cluster, ...atRest, ...more });

it.each<[string, Standing[], number, string[]]>([
  ['at first somebody has it', [of('a'), of('b')], 1, ['a']],
  ['who has it keeps it', [of('a'), of('b', has)], 1, ['b']],
  ['until it is done', [of('a', behind), of('b', { ...has, ...behind })], 1, ['b']],
  ['done, it gives it up', [of('a', behind), of('b', has)], 1, []],
  ['nobody has it until that was heard', [of('a', behind), of('b', { waits: false })], 1, []],
  ['then it passes', [of('a', behind), of('b')], 1, ['a']],
  ['half way goes on', [of('a', behind), of('b', { ...behind, isHalfWay: true })], 1, ['b']],
  [
    'of two half way one goes on',
    [of('a', { ...behind, isHalfWay: true }), of('b', { ...behind, isHalfWay: true })],
    1,
    ['a'],
  ],
  ['two of three', [of('a', has), of('b', has), of('c', behind)], 2, ['a']],
  ['one passes at a time', [of('a', { waits: false }), of('b', has), of('c', behind)], 2, ['b']],
  ['who is silent keeps none', [of('a', behind), of('b', { ...has, ...behind, isSilent: true })], 1, ['a']],
  ['who is silent gets none', [of('a', { isSilent: true }), of('b')], 1, ['b']],
  [
    'nobody gives it up before it was heard to have it',
    [of('a', behind), of('b', { ...has, isUnheard: true })],
    1,
    ['b'],
  ],
  [
    'nor where there is less for all',
    [of('a', { ...has, ...behind }), of('b', { ...has, ...behind, isUnheard: true })],
    1,
    ['a', 'b'],
  ],
  [
    'who refuses gives it up',
    [of('a', behind), of('b', { ...has, ...behind, isDone: false, isRefusing: true })],
    1,
    [],
  ],
  [
    'who refuses keeps it where nobody else is behind',
    [of('a'), of('b', { ...has, isRefusing: true })],
    1,
    ['b'],
  ],
  ['what all had before', [of('a', has), of('b', { ...has, ...behind })], 1, ['b']],
])('%s', (_what, standings, most, expected) => {
  expect([...turnsOf(standings, most)].sort()).toEqual(expected);
});

it('ordered, the first has it back when all are done', () => {
  expect([...turnsOf([of('a'), of('b', has)], 1, { isOrdered: true })]).toEqual([]);
  expect([...turnsOf([of('a'), of('b')], 1, { isOrdered: true })]).toEqual(['a']);
});

/** Clusters whose controllers roll as Kubernetes' do, with syncers that lag; every pod is of a generation. */
class Rolling {
  root: KubeObject;
  shares: Shares;
  slices: Record<string, ClusterSlice> = {};
  /** What is there: of the share and the generation that were applied last, pods by generation, and those that are not ready. */
  readonly there = new Map<
    string,
    { share: Share; generation: number; pods: { of: number; ready: boolean }[] }
  >();

  constructor(kind: string, sizes: readonly number[], strategy: object) {
    const replicas = sizes.reduce((a, b) => a + b, 0);
    this.root = { apiVersion: 'apps/v1', kind, metadata: { generation: 1 }, spec: { replicas, ...strategy } };
    let start = 0;
    this.shares = Object.fromEntries(
      sizes.map((n, i) => {
        const share: Share = {
          phase: 'Active',
          replicas: n,
          ...(kind === 'StatefulSet' && { ordinalsStart: start }),
        };
        start += n;
        return [`c${i}`, share];
      }),
    );
    for (const [c, share] of Object.entries(this.shares)) {
      const pods = Array.from({ length: share.replicas ?? 0 }, () => ({ of: 1, ready: true }));
      this.there.set(c, { share, generation: 1, pods });
      this.report(c);
    }
    for (let i = 0; i < 8; i++) {
      this.split();
      for (const c of this.names) {
        this.apply(c);
        this.report(c);
      }
    }
  }

  get names(): string[] {
    return [...this.there.keys()];
  }
  get generation(): number {
    return this.root.metadata.generation ?? 0;
  }
  edit(): void {
    this.root = { ...this.root, metadata: { generation: this.generation + 1 } };
  }
  split(): void {
    this.shares = withBudgets(this.root, this.shares, { clusters: this.names, slices: this.slices });
  }
  apply(c: string): void {
    const share = this.shares[c];
    const here = this.there.get(c);
    if (share && here) this.there.set(c, { ...here, share, generation: this.generation });
  }
  report(c: string): void {
    const here = this.there.get(c);
    if (!here) return;
    const { share, generation, pods } = here;
    this.slices[c] = {
      present: true,
      observedGeneration: generation,
      share: { replicas: share.replicas ?? 0, ...(share.paused && { paused: true }) },
      status: {
        replicas: pods.length,
        updatedReplicas: pods.filter((p) => p.of === generation).length,
        availableReplicas: pods.filter((p) => p.ready).length,
      },
    };
  }
  /** One step of a cluster's controller, or of a pod of its; false: there is none to take. */
  step(c: string, isSet: boolean): boolean {
    const here = this.there.get(c);
    if (!here) return false;
    const { share, generation, pods } = here;
    const { replicas = 0, maxSurge = 0, maxUnavailable = isSet ? 1 : 0, paused } = share;
    const old = pods.findIndex((p) => p.of !== generation);
    const unready = pods.find((p) => !p.ready);
    if (!paused && (old >= 0 || pods.length < replicas)) {
      if (pods.length < replicas + Number(maxSurge)) {
        pods.push({ of: generation, ready: false });
        return true;
      }
      const ready = pods.filter((p) => p.ready).length;
      const loses = pods[old]?.ready ? 1 : 0;
      if (old >= 0 && ready - loses >= replicas - Number(maxUnavailable)) {
        pods.splice(old, 1);
        return true;
      }
    }
    if (pods.length < replicas) pods.push({ of: generation, ready: false });
    else if (unready) unready.ready = true;
    else return false;
    return true;
  }
}

const surging = (maxSurge: number, maxUnavailable: number) => ({
  strategy: { rollingUpdate: { maxSurge, maxUnavailable } },
});

describe.each<[string, string, number[], object, number, number]>([
  ['surge 1 over two', 'Deployment', [2, 2], surging(1, 0), 1, 0],
  ['surge 1 over three', 'Deployment', [3, 2, 1], surging(1, 0), 1, 0],
  ['unavailable 1 over three', 'Deployment', [2, 2, 2], surging(0, 1), 0, 1],
  ['1 and 1 over two', 'Deployment', [2, 2], surging(1, 1), 1, 1],
  ['1 and 1 over four', 'Deployment', [1, 2, 1, 3], surging(1, 1), 1, 1],
  ['a set over two', 'StatefulSet', [2, 2], {}, 0, 1],
  ['a set over three', 'StatefulSet', [2, 1, 3], {}, 0, 1],
])('%s', (_what, kind, sizes, strategy, surge, missing) => {
  it('is never more on its way than one cluster, and always ends', () => {
    for (let seed = 1; seed <= 25; seed++) {
      const next = random(seed);
      const world = new Rolling(kind, sizes, strategy);
      const total = sizes.reduce((a, b) => a + b, 0);
      const isSet = kind === 'StatefulSet';
      const check = () => {
        const pods = world.names.flatMap((c) => world.there.get(c)?.pods ?? []);
        expect(pods.length).toBeLessThanOrEqual(total + surge);
        expect(pods.filter((p) => p.ready).length).toBeGreaterThanOrEqual(total - missing);
      };
      const act = (c: string) => {
        const what = next();
        if (what < 0.25) world.split();
        else if (what < 0.5) world.apply(c);
        else if (what < 0.7) world.report(c);
        else world.step(c, isSet);
        check();
      };
      for (let edits = 0; edits < 3; edits++) {
        world.edit();
        for (let i = 0; i < 400 * next(); i++)
          act(world.names[Math.floor(next() * world.names.length)] ?? '');
      }
      for (let i = 0; i < 40; i++) {
        for (const c of world.names) {
          world.split();
          world.apply(c);
          while (world.step(c, isSet)) check();
          world.report(c);
        }
      }
      for (const c of world.names)
        expect(world.there.get(c)?.pods.every((p) => p.ready && p.of === world.generation)).toBe(true);
    }
  });
});
