import { describe, expect, it } from 'vitest';
import { leftOnce } from '../../../cluster/orphans.ts';
import type { PlacementSpec, Share } from '../../../cluster/types.ts';

const since = '2026-01-01T00:00:00Z';
const active = (replicas: number): Share => ({ phase: 'Active', replicas });
const joining = (replicas: number): Share => ({ phase: 'Joining', replicas });
const withdrawing = (by: object): Share => ({
  phase: 'Withdrawing',
  replicas: 3,
  withdrawing: { from: 'Active', ...by },
});
const spec = (resource: string, shares: Record<string, Share>): PlacementSpec => ({
  ref: { group: 'apps', version: 'v1', resource, kind: '', name: 'web', uid: 'u' },
  clusters: ['b', 'c'],
  shares,
});
const surplusOf = (shares: Record<string, Share>) =>
  Object.entries(shares).flatMap(([cluster, { surplus }]) => (surplus ? [cluster] : []));

describe('the pods of what is orphaned', () => {
  it.each<[string, Record<string, Share>, string[]]>([
    ['on its way', { a: active(3), b: joining(3) }, ['b']],
    ['that is there, too', { a: active(3), b: active(3) }, ['b']],
    ['that is withdrawn', { a: withdrawing({ since }), b: active(3) }, ['b']],
    ['that has begun to leave', { a: { phase: 'Leaving', replicas: 3 }, b: active(3) }, ['a']],
    ['half of it', { a: active(2), b: { ...joining(3), settled: { replicas: 1 } }, c: joining(1) }, ['c']],
    ['that has stopped where it was', { a: active(0), b: joining(3) }, []],
    ['that is silent where it was, and has gone', { a: withdrawing({}), b: active(3) }, ['a']],
    ['that was never there', { a: joining(3), b: active(3) }, ['a']],
    ['that goes nowhere', { b: active(2), c: joining(1) }, []],
  ])('are left once: of what moves, %s', (_what, shares, surplus) => {
    const left = leftOnce(spec('deployments', shares));
    expect(surplusOf(left)).toEqual(surplus);
    expect(leftOnce(spec('deployments', left)), 'asked again').toEqual(left);
  });

  it.each<[string, Record<string, Share>, Record<string, number>, string[]]>([
    ['where they were made first', { a: joining(2), b: joining(2) }, { a: 2, b: 2 }, ['b']],
    ['where all of them are', { a: joining(2), b: joining(2) }, { a: 1, b: 2 }, ['a']],
    ['wherever some are', { a: joining(2), b: joining(2) }, { a: 1, b: 1 }, []],
    [
      'where no more are than it has',
      { a: active(2), b: { ...joining(3), settled: { replicas: 1 } } },
      { a: 2, b: 3 },
      ['a'],
    ],
    ['where they are ready', { a: joining(2), b: active(2) }, { a: 2, b: 2 }, ['a']],
  ])('are left once, though it moves on before it is there: %s', (_what, shares, made, surplus) => {
    const slices = Object.fromEntries(
      Object.entries(made).map(([c, replicas]) => [c, { present: true, status: { replicas } }]),
    );
    expect(surplusOf(leftOnce(spec('replicasets', shares), { slices }))).toEqual(surplus);
  });

  it.each<[string, Record<string, Share>, Record<string, [made: number, ready: number]>, string[]]>([
    ['three, where all run', { b: active(3), c: joining(1) }, { b: [3, 3], c: [0, 0] }, ['c']],
    [
      'three, where some are to be gone elsewhere',
      { b: active(2), c: active(1) },
      { b: [2, 2], c: [1, 1] },
      [],
    ],
    [
      'three that are ready, rather than three that are not',
      { a: active(4), b: joining(3) },
      { a: [4, 4], b: [3, 1] },
      ['b'],
    ],
    ['the fewest of those that are', { a: active(4), b: joining(3) }, { a: [4, 4], b: [3, 3] }, ['a']],
    [
      'as many as are ready on two clusters, though on one as many were made',
      { a: active(2), b: { ...joining(3), settled: { replicas: 1 } } },
      { a: [2, 2], b: [3, 1] },
      [],
    ],
  ])('are left once, of three replicas: %s', (_what, shares, there, surplus) => {
    const slices = Object.fromEntries(
      Object.entries(there).map(([c, [replicas, readyReplicas]]) => [
        c,
        { present: true, status: { replicas, readyReplicas } },
      ]),
    );
    expect(surplusOf(leftOnce(spec('deployments', shares), { slices, total: 3 }))).toEqual(surplus);
  });

  it.each<[string, Record<string, Share>, Record<string, number>, Record<string, number>]>([
    [
      'what is not ready goes first',
      { a: active(2), b: { ...joining(4), settled: { replicas: 2 } } },
      { a: 2, b: 2 },
      { a: 2, b: 2 },
    ],
    [
      'then what is ready where it was bound for',
      { a: active(2), b: { ...joining(4), settled: { replicas: 2 } } },
      { a: 2, b: 3 },
      { a: 2, b: 2 },
    ],
    ['of more than it has on one cluster', { a: active(6), b: joining(4) }, { a: 6, b: 0 }, { a: 4 }],
    [
      'but for what an autoscaler scales',
      { a: { ...active(2), scaled: 1 }, b: { ...joining(4), scaled: 1, settled: { replicas: 2 } } },
      { a: 2, b: 2 },
      { a: 2, b: 4 },
    ],
  ])('are no more than it has, four: %s', (_what, shares, ready, replicas) => {
    const slices = Object.fromEntries(
      Object.entries(ready).map(([c, readyReplicas]) => [
        c,
        { present: true, status: { replicas: shares[c]?.replicas ?? 0, readyReplicas } },
      ]),
    );
    const left = leftOnce(spec('deployments', shares), { slices, total: 4 });
    const kept = Object.entries(left).filter(([, { surplus }]) => !surplus);
    expect(Object.fromEntries(kept.map(([c, share]) => [c, share.replicas]))).toEqual(replicas);
    expect(leftOnce(spec('deployments', left), { slices, total: 4 }), 'asked again').toEqual(left);
  });

  it('are left where they come to be as well, where nothing is heard of where they were', () => {
    const shares = { a: active(3), b: joining(3) };
    expect(leftOnce(spec('deployments', shares), { silent: new Set(['a']) })).toEqual(shares);
    expect(surplusOf(leftOnce(spec('deployments', shares), { silent: new Set(['b']) }))).toEqual(['b']);
  });

  it('are left wherever they are, where each is another one', () => {
    const shares = { a: active(2), b: joining(1) };
    expect(leftOnce(spec('statefulsets', shares))).toEqual(shares);
  });
});
