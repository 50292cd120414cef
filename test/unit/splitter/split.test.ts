import { describe, expect, it } from 'vitest';
import type { Placement, PlacementSpec, Share } from '../../../cluster/types.ts';
import { split } from '../../../splitter/split.ts';
import { deployment, placed } from '../cluster/objects.ts';

const web = deployment('web', { replicas: 2 });
const record = (
  of: typeof web,
  spec: Partial<PlacementSpec>,
  status: Placement['status'] = {},
): Placement => {
  const { group, version, resource, kind } = of.kind;
  const { name = '', uid = '' } = of.object.metadata;
  return {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'Placement',
    metadata: { name: 'p' },
    spec: { ref: { group, version, resource, kind, name, uid }, clusters: ['a'], ...spec },
    status,
  };
};
const outcome = (placement: Placement, root: typeof web | undefined) =>
  split({ placement, root: root?.object, isKnown: () => true, heardAt: () => 0, now: 0, settleMs: 2000 });
const verdicts = (of: ReturnType<typeof outcome>) =>
  of.conditions.map((c) => `${c.type}=${c.status} ${c.reason}`);
const held = { a: { phase: 'Active', replicas: 2 } } as const;

describe('split', () => {
  it('shares a new workload out and says what it waits for', () => {
    const done = outcome(record(web, {}), web);
    expect(done.shares).toEqual({ a: { phase: 'Joining', replicas: 2 } });
    expect(verdicts(done)).toEqual(['Placed=True Placed', 'Settled=False Joining']);
    expect(done.rootStatus).toBeUndefined();
  });

  it('waits for the scheduler when the object is gone, lest what it uses leave first', () => {
    const kept = outcome(record(web, { shares: held }), undefined);
    expect(kept.shares).toEqual(held);
    const released = outcome(record(web, { clusters: [], shares: held }), undefined);
    expect(released.shares).toEqual({ a: { phase: 'Leaving', replicas: 2 } });
    expect(verdicts(released)).toEqual(['Placed=False Deleted', 'Settled=False Leaving']);
  });

  it('freezes what is being orphaned wherever it is, and says of a tombstone what it is', () => {
    const metadata = {
      uid: 'Deployment-web',
      deletionTimestamp: '2026-01-01T00:00:00Z',
      finalizers: ['orphan'],
    };
    const going = deployment('web', { replicas: 2, metadata });
    expect(outcome(record(web, { clusters: [], shares: held }), going).shares).toEqual(held);
    const tombstone = record(web, { clusters: [], shares: held, orphaned: 'Deployment-web' });
    const done = outcome(tombstone, undefined);
    expect(done.shares).toEqual({ a: { phase: 'Leaving', replicas: 2 } });
    expect(verdicts(done)).toEqual(['Placed=False Orphaned', 'Settled=False Leaving']);
  });

  it('counts on what was taken over only when the new object has come to it', () => {
    const taken = { a: { phase: 'Joining', replicas: 2 } } as const;
    const spec = { shares: taken, orphaned: 'former' };
    const left = outcome(record(web, spec, { clusters: { a: { present: true, orphans: true } } }), web);
    expect(left.shares).toEqual(taken);
    expect(verdicts(left)).toEqual(['Placed=True Placed', 'Settled=False Joining']);
  });

  it('takes an object of another uid for gone', () => {
    const other = deployment('web', { metadata: { uid: 'other' } });
    const done = outcome(record(web, { clusters: [], shares: held }), other);
    expect(done.shares).toEqual({ a: { phase: 'Leaving', replicas: 2 } });
  });

  it('lets go of what merely went along, but not of a workload that fits nowhere', () => {
    const map = placed('ConfigMap', 'conf');
    const active = { a: { phase: 'Active' } } as const;
    expect(outcome(record(map, { clusters: [], shares: active }), map).shares).toEqual({
      a: { phase: 'Leaving' },
    });
    const stuck = outcome(record(web, { clusters: [], shares: held, reasons: { b: 'it is cordoned' } }), web);
    expect(stuck.shares).toEqual(held);
    expect(stuck.conditions[0]).toMatchObject({
      status: 'False',
      reason: 'NoClusterFits',
      message: 'b: it is cordoned',
    });
  });

  it('says when a named cluster is refused, and when a syncer cannot apply', () => {
    const refused = record(web, {
      wanted: ['a', 'x'],
      reasons: { x: 'there is no physical cluster of this name' },
    });
    expect(verdicts(outcome(refused, web))[0]).toBe('Placed=False ClusterRefused');
    const slices = { a: { present: false, error: { reason: 'Forbidden', message: 'no' } } };
    const failed = outcome(record(web, { shares: held }, { clusters: slices }), web);
    expect(failed.conditions[1]).toMatchObject({ reason: 'ApplyFailed', message: 'a: Forbidden: no' });
  });

  it('says how much has room nowhere, whether or not some of it runs', () => {
    const noRoom = { pods: 2, of: 5 };
    const runs = record(web, { noRoom: { ...noRoom, on: ['a'] }, blocked: true, shares: held });
    expect(outcome(runs, web).conditions[0]).toMatchObject({
      type: 'Placed',
      status: 'False',
      reason: 'NoRoom',
      message: expect.stringMatching(
        /^placed on a; 2 of its 5 pods have room nowhere and are on a all the same; /,
      ),
    });
    const reasons = { b: 'it has room for 3', c: 'it is cordoned' };
    const shut = { ...noRoom, refused: ['c'] };
    const partly = record(web, { noRoom: { ...shut, on: ['a'] }, reasons, blocked: true, shares: held });
    expect(outcome(partly, web).conditions[0]?.message).toMatch(/by itself then; c: it is cordoned$/);
    const nowhere = record(web, { clusters: [], noRoom: shut, blocked: true, reasons });
    expect(verdicts(outcome(nowhere, web))).toEqual(['Placed=False NoRoom', 'Settled=False NoRoom']);
    expect(outcome(nowhere, web).conditions[0]?.message).toMatch(
      /^2 of its 5 pods .* by itself then; b: it has room for 3; c: it is cordoned$/,
    );
  });

  it('says how many of its pods no cluster takes, and what speaks against each', () => {
    const reasons = {
      a: 'it takes 5 pods, 2 more than there is room for anywhere; it is cordoned',
      b: 'full',
    };
    const short = record(web, { unplaced: { pods: 2, of: 5 }, blocked: true, reasons, shares: held });
    expect(outcome(short, web).conditions[0]).toMatchObject({
      type: 'Placed',
      status: 'False',
      reason: 'Blocked',
      message: `placed on a; 2 of its 5 pods have room nowhere; a: ${reasons.a}; b: full`,
    });
  });

  it('says of what is ready, and not led to, that it is that which is waited for', () => {
    const ready = { phase: 'Joining' as const, replicas: 5, readySince: new Date(0).toISOString() };
    const there = (replicas: number) => ({
      present: true,
      observedGeneration: 3,
      share: { replicas },
      status: { replicas, updatedReplicas: replicas, availableReplicas: replicas },
    });
    const placement = record(
      web,
      { clusters: ['b'], shares: { a: { phase: 'Active', replicas: 5 }, b: ready } },
      { clusters: { a: there(5), b: there(5) } },
    );
    const { conditions } = split({
      placement,
      root: web.object,
      isKnown: () => true,
      heardAt: () => Number.POSITIVE_INFINITY,
      now: 60_000,
      settleMs: 0,
      isUnled: () => true,
    });
    expect(conditions[1]?.message).toBe(
      'waiting for b (it is ready there, and its Services have yet to lead to all of it); until then it stays on a',
    );
  });

  it('says what is on clusters of which nothing is heard, and what waits for them, of workloads', () => {
    const words = 'cluster b has not answered since 2030-01-01T00:00:00Z';
    const silenceOf = (c: string) => (c === 'b' ? { since: '2030-01-01T00:00:00Z', words } : undefined);
    const of = (root: typeof web, b: Share) =>
      split({
        placement: record(root, { clusters: ['b'], shares: { ...held, b } }),
        root: root.object,
        isKnown: () => true,
        heardAt: (c) => (c === 'b' ? undefined : 0),
        now: 5000,
        settleMs: 2000,
        silenceOf,
      }).conditions;
    const [, settled, heard] = of(web, { phase: 'Joining', replicas: 2 });
    expect(settled?.message).toBe(
      'waiting for b, which has not answered since 2030-01-01T00:00:00Z; until then it stays on a',
    );
    const isSo = { type: 'ClustersHeard', status: 'False', reason: 'ClusterSilent', message: words };
    expect(heard).toEqual({ ...isSo, lastTransitionTime: '1970-01-01T00:00:05.000Z' });
    expect(of(placed('ConfigMap', 'conf'), { phase: 'Joining' })).toHaveLength(2);
  });

  it('keeps the time of a condition that does not change', () => {
    const first = outcome(record(web, {}), web).conditions;
    const again = split({
      placement: record(web, {}, { conditions: first }),
      root: web.object,
      isKnown: () => true,
      heardAt: () => 0,
      now: 5000,
      settleMs: 2000,
    });
    expect(again.conditions).toEqual(first);
  });
});
