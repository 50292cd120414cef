import { describe, expect, it } from 'vitest';
import type { ClusterSlice, Share } from '../../../cluster/types.ts';
import { byClaim, type VolumeCopy, type VolumeCopyStatus } from '../../../cluster/volume-copy.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { copyVerdict } from '../../../splitter/copy-words.ts';
import { type HandoverInput, handover } from '../../../splitter/handover.ts';

const now = 1_000_000;
const at = (ms: number) => new Date(ms).toISOString();
const trip = at(now - 5000);

const set = (replicas: number): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'db', generation: 1 },
  spec: { replicas, volumeClaimTemplates: [{ metadata: { name: 'data' } }] },
});
const web = (replicas: number): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', generation: 1 },
  spec: { replicas },
});
const range = (start: number, replicas: number, more: Partial<Share> = {}): Share => ({
  phase: 'Active',
  replicas,
  ordinalsStart: start,
  ...more,
});
/** Where it runs again since a copy of this trip failed. */
const cameBack = { cameBack: trip };
const held = (start: number, replicas: number) => ({ ordinalsStart: start, replicas, since: trip });

/** As a cluster says it whose pods are what its share is told; with a word of what it holds. */
function slice({ replicas = 0, ordinalsStart, held: holds }: Share, claims?: string[]): ClusterSlice {
  const ordinals = ordinalsStart === undefined ? {} : { ordinalsStart };
  return {
    present: true,
    observedGeneration: 1,
    share: { replicas, ...ordinals },
    status: { replicas, availableReplicas: replicas, updatedReplicas: replicas },
    ...(holds && { pods: { since: holds.since, count: replicas } }),
    ...(claims && { claims }),
  };
}

const workload = { group: 'apps', resource: 'statefulsets', name: 'db', uid: 'u' };
const copyOf = (
  claim: string,
  status: VolumeCopyStatus,
  spec: Partial<VolumeCopy['spec']> = {},
): VolumeCopy => ({
  apiVersion: 'atoll.dev/v1alpha1',
  kind: 'VolumeCopy',
  metadata: { name: claim, creationTimestamp: at(now - 4000) },
  spec: {
    claim,
    physicalNamespace: 'default',
    from: 'a',
    to: 'b',
    copier: 'c',
    workload,
    trip,
    ...spec,
  },
  status,
});

const given = {
  root: set(3),
  gone: false,
  clusters: ['b'],
  isKnown: () => true,
  heardAt: () => Number.POSITIVE_INFINITY,
  now,
  settleMs: 0,
};

interface Case extends Partial<HandoverInput> {
  found?: VolumeCopy[];
  claims?: string[];
  copier?: string | undefined;
}

function step({ found = [], claims, copier = 'c', ...input }: Case) {
  const previous = input.previous ?? {};
  const slices = Object.fromEntries(
    Object.entries(previous).map(([c, share]) => [c, slice(share, c === 'b' ? claims : undefined)]),
  );
  return handover({
    ...given,
    slices,
    ...input,
    previous,
    copying: {
      copies: { claims: [input.root?.kind === 'Deployment' ? 'files' : 'data-db-*'] },
      found: byClaim(found),
      copierBetween: () => copier || undefined,
    },
  });
}

const halfway = {
  a: range(0, 2, { held: held(0, 3) }),
  b: range(3, 0, { goal: { ordinalsStart: 0, replicas: 3 } }),
};
const numbers = (shares: Record<string, Share>) =>
  Object.fromEntries(
    Object.entries(shares).map(([c, { ordinalsStart, replicas, held: holds, phase }]) => [
      c,
      `${phase === 'Leaving' ? 'Leaving ' : ''}${ordinalsStart ?? ''}+${replicas}${holds ? ` of ${holds.ordinalsStart ?? ''}+${holds.replicas}` : ''}`,
    ]),
  );

describe('a StatefulSet whose data comes along', () => {
  it('asks for a copy of what has stopped, and starts it nowhere before', () => {
    const { shares, copied } = step({ previous: halfway });
    expect(numbers(shares)).toEqual({ a: '0+2 of 0+3', b: '3+0' });
    expect(copied.wants).toEqual([{ claim: 'data-db-2', from: 'a', to: 'b', trip, state: 'missing' }]);
    expect(shares['b']?.claims).toEqual(['data-db-2']);
  });

  it('asks for none while its pods are not gone', () => {
    const gone = slice(halfway.a);
    const slices = { a: { ...gone, pods: { since: trip, count: 3 } }, b: slice(halfway.b) };
    expect(step({ previous: halfway, slices }).copied.wants).toEqual([]);
  });

  it.each<[string, VolumeCopy, string[] | undefined, string]>([
    ['copied, and there', copyOf('data-db-2', { phase: 'Copied' }), ['data-db-2'], '2+1'],
    ['copied, as is said, and not there', copyOf('data-db-2', { phase: 'Copied' }), [], '3+0'],
    ['copied, and its cluster has yet to say so', copyOf('data-db-2', { phase: 'Copied' }), undefined, '3+0'],
    ['on its way', copyOf('data-db-2', { phase: 'Copying' }), ['data-db-2'], '3+0'],
    ['of another trip', copyOf('data-db-2', { phase: 'Copied' }, { trip: at(0) }), ['data-db-2'], '3+0'],
    ['to elsewhere', copyOf('data-db-2', { phase: 'Copied' }, { to: 'c' }), ['data-db-2'], '3+0'],
    ['from elsewhere', copyOf('data-db-2', { phase: 'Copied' }, { from: 'c' }), ['data-db-2'], '3+0'],
    ['of another claim', copyOf('data-db-1', { phase: 'Copied' }), ['data-db-1'], '3+0'],
  ])('its next ordinal starts when its claim is copied: %s', (_what, copy, claims, b) => {
    expect(numbers(step({ previous: halfway, found: [copy], claims: claims as string[] }).shares)['b']).toBe(
      b,
    );
  });

  it('has a copy of another trip taken back before it asks for its own', () => {
    const old = copyOf('data-db-2', { phase: 'Copied' }, { trip: at(0), from: 'b', to: 'a' });
    const { copied } = step({ previous: halfway, found: [old] });
    expect([copied.remove, copied.wants.map(({ state }) => state)]).toEqual([[old], ['ended']]);
  });

  it.each([true, false])('has one of another workload taken back once nobody waits for it: %s', (isLeft) => {
    const other = copyOf('data-db-2', { phase: 'Copied' }, { workload: { ...workload, uid: 'other' } });
    const copying = {
      copies: { claims: ['data-db-*'] },
      found: new Map(),
      others: byClaim([other]),
      isLeft: () => isLeft,
      copierBetween: () => 'c',
    };
    const slices = Object.fromEntries(Object.entries(halfway).map(([c, share]) => [c, slice(share)]));
    const { copied, shares } = handover({ ...given, slices, previous: halfway, copying });
    expect(copied.wants.map(({ state }) => state)).toEqual(['ended']);
    expect(copied.remove).toEqual(isLeft ? [other] : []);
    expect(numbers(shares)['b']).toBe('3+0');
  });

  it('holds what was taken no longer, and keeps the copy as a record', () => {
    const found = [copyOf('data-db-2', { phase: 'Copied' })];
    const previous = { ...halfway, b: range(2, 1, { goal: { ordinalsStart: 0, replicas: 3 } }) };
    const { shares, copied } = step({ previous, found, claims: ['data-db-2'] });
    // It holds the next one already.
    expect(numbers(shares)).toEqual({ a: '0+1 of 0+2', b: '2+1' });
    expect(copied.remove).toEqual([]);
  });

  it('is there, with nothing to run, until its last ordinal is copied; then it leaves', () => {
    const b = range(1, 2, { goal: { ordinalsStart: 0, replicas: 3 } });
    const stopped = step({ previous: { a: range(0, 1), b } }).shares;
    expect(numbers(stopped)).toEqual({ a: '0+0 of 0+1', b: '1+2' });
    const found = [copyOf('data-db-0', { phase: 'Copied' })];
    const a = range(0, 0, { held: held(0, 1) });
    const taken = step({ previous: { a, b }, found, claims: ['data-db-0'] }).shares;
    expect(numbers(taken)).toEqual({ a: '0+0 of 0+1', b: '0+3' });
    const left = step({ previous: { a, b: range(0, 3) }, found, claims: ['data-db-0'] }).shares;
    expect(numbers(left)).toEqual({ a: 'Leaving 0+0', b: '0+3' });
  });

  it.each<[string, VolumeCopy | undefined, string | undefined]>([
    ['it failed', copyOf('data-db-2', { phase: 'Failed', message: 'no' }), 'c'],
    [
      'nobody takes it up',
      { ...copyOf('data-db-2', {}), metadata: { creationTimestamp: at(now - 61_000) } },
      'c',
    ],
    [
      'its copier says nothing any more',
      {
        ...copyOf('data-db-2', { phase: 'Copying', lastProgressTime: at(now - 601_000) }),
        metadata: { creationTimestamp: at(now - 900_000) },
      },
      'c',
    ],
    ['there is no copier any more', undefined, ''],
  ])('starts again where it was when %s, and stays there', (_what, copy, copier) => {
    const found = copy ? [copy] : [];
    const back = step({ previous: halfway, found, copier });
    expect(numbers(back.shares)).toEqual({ a: '0+3', b: '3+0' });
    const { shares, copied } = step({ previous: back.shares, found, copier });
    expect(numbers(shares)).toEqual({ a: '0+3', b: '3+0' });
    expect([copied.failures.length, copied.remove]).toEqual([1, []]);
  });

  it('says what has it tried again', () => {
    const previous = { ...halfway, a: range(0, 3, cameBack) };
    const said = (found: VolumeCopy[], copier: string) =>
      copyVerdict(step({ previous, found, copier }).copied)?.message;
    expect(said([copyOf('data-db-2', { phase: 'Failed', message: 'no' })], 'c')).toBe(
      'its claim data-db-2 was not copied from a to b: no; it stays on a; to have it tried again, delete volumecopies/data-db-2',
    );
    const none =
      'its claim data-db-2 was not copied from a to b: no copier is between the two (spec.copier of the PhysicalClusters); it stays on a until there is one';
    expect(said([], '')).toBe(none);
    expect(said([copyOf('data-db-2', { phase: 'Copied' }, { from: 'b', to: 'a' })], '')).toBe(none);
  });

  it('tries again when the failed copy was deleted', () => {
    const previous = { ...halfway, a: range(0, 3, cameBack) };
    expect(numbers(step({ previous }).shares)).toEqual({ a: '0+2 of 0+3', b: '3+0' });
  });

  it.each<VolumeCopyStatus>([{ phase: 'Copied' }, { phase: 'Failed' }])(
    'is not kept by what was said of a former stop, whoever left that: $phase',
    (status) => {
      const old = copyOf('data-db-2', status, { trip: at(0) });
      old.metadata.creationTimestamp = at(now - 3_600_000);
      const { shares, copied } = step({ previous: { ...halfway, a: range(0, 3) }, found: [old], claims: [] });
      expect(numbers(shares)).toEqual({ a: '0+2 of 0+3', b: '3+0' });
      expect(copied.failures).toEqual([]);
    },
  );

  it('is kept by one that is said to be copied, and whose claim never comes', () => {
    const lie = copyOf('data-db-2', { phase: 'Copied' });
    lie.metadata.creationTimestamp = at(now - 3_600_000);
    const back = step({ previous: halfway, found: [lie], claims: [] });
    expect(numbers(back.shares)['a']).toBe('0+3');
    const { shares, copied } = step({ previous: back.shares, found: [lie], claims: [] });
    expect([numbers(shares)['a'], copied.failures.length, copied.remove]).toEqual(['0+3', 1, []]);
  });

  it('takes the copy back when it is to stay after all', () => {
    const found = [copyOf('data-db-2', { phase: 'Copying' })];
    const { shares, copied } = step({ previous: halfway, found, clusters: ['a'] });
    expect(numbers(shares)['a']).toBe('0+3');
    expect(copied.remove).toEqual(found);
  });

  it('copies to where it is to be now, when that is elsewhere', () => {
    const found = [copyOf('data-db-2', { phase: 'Copied' })];
    const previous = { ...halfway, c: range(3, 0) };
    const { shares, copied } = step({ previous, found, claims: ['data-db-2'], clusters: ['c'] });
    expect(numbers(shares)).toMatchObject({ a: '0+2 of 0+3', c: '3+0' });
    expect([copied.remove, copied.wants.map(({ to, state }) => [to, state])]).toEqual([
      found,
      [['c', 'ended']],
    ]);
  });

  it('waits for a copier to let go though the data need not come along any more', () => {
    const found = [copyOf('data-db-2', { phase: 'Copying' })];
    const input = { previous: halfway, found };
    const copying = { copies: undefined, found: byClaim(found), copierBetween: () => 'c' };
    const slices = { a: slice(halfway.a), b: slice(halfway.b) };
    const decide = (none: boolean) =>
      handover({
        root: set(3),
        gone: false,
        clusters: ['b'],
        slices,
        isKnown: () => true,
        heardAt: () => Number.POSITIVE_INFINITY,
        now,
        settleMs: 0,
        previous: input.previous,
        copying: none ? { ...copying, found: new Map() } : copying,
      });
    expect(numbers(decide(false).shares)['b']).toBe('3+0');
    expect(decide(false).copied.remove).toEqual(found);
    expect(numbers(decide(true).shares)['b']).toBe('2+1');
  });
});

describe('a StatefulSet whose pods all use a claim that comes along', () => {
  const whole = (input: Case) => {
    const { previous = {}, found = [], claims, root = set(1) } = input;
    const slices = Object.fromEntries(
      Object.entries(previous).map(([c, share]) => [c, slice(share, c === 'b' ? claims : undefined)]),
    );
    const copying = {
      copies: { claims: ['shared'] },
      found: byClaim(found),
      copierBetween: () => 'c',
    };
    return handover({ ...given, ...input, root, slices, previous, copying });
  };
  const b = range(1, 0, { goal: { ordinalsStart: 0, replicas: 1 } });

  it.each<[string, Share, VolumeCopyStatus | undefined]>([
    ['while it runs', range(0, 1), undefined],
    ['while it is copied', range(0, 0, { held: held(0, 1) }), { phase: 'Copying' }],
    ['while its copy is yet to be asked for', range(0, 0, { held: held(0, 1) }), undefined],
  ])('starts nothing more beside the copier, scaled up %s', (_when, a, status) => {
    const found = status ? [copyOf('shared', status)] : [];
    const { shares } = whole({ root: set(2), previous: { a, b }, found });
    expect(shares['b']?.replicas).toBe(0);
  });

  it('is fresh where its data is yet to come, until it starts there', () => {
    const fresh = whole({ previous: { a: range(0, 1) } }).shares['b'];
    expect(fresh).toMatchObject({ replicas: 0, fresh: true });
    const previous = { a: range(0, 0, { held: held(0, 1) }), b: { ...b, fresh: true } };
    expect(whole({ previous }).shares['b']?.fresh).toBe(true);
    const found = [copyOf('shared', { phase: 'Copied' })];
    const started = whole({ previous, found, claims: ['shared'] }).shares['b'];
    expect(started?.replicas).toBe(1);
    expect(started).not.toHaveProperty('fresh');
  });

  it('starts all of it when that is done', () => {
    const found = [copyOf('shared', { phase: 'Copied' })];
    const previous = { a: range(0, 0, { held: held(0, 1) }), b };
    const { shares } = whole({ root: set(2), previous, found, claims: ['shared'] });
    expect(numbers(shares)).toEqual({ a: '0+0 of 0+1', b: '0+2' });
  });

  it('starts none while a copier has yet to let go of it, were where it came from forgotten', () => {
    const found = [copyOf('shared', { phase: 'Copying' })];
    const { shares } = whole({ previous: { b }, found, isKnown: (c) => c !== 'a' });
    expect(shares['b']?.replicas).toBe(0);
  });

  it('scaled up where its copy failed is so many there, and stops as one when that is tried again', () => {
    const found = [copyOf('shared', { phase: 'Failed' })];
    const failed = whole({ root: set(2), previous: { a: range(0, 1, cameBack), b }, found });
    expect(numbers(failed.shares)).toMatchObject({ a: '0+2', b: '2+0' });
    const again = whole({ root: set(2), previous: { ...failed.shares, a: range(0, 2, cameBack) } });
    expect(numbers(again.shares)).toMatchObject({ a: '0+0 of 0+2', b: '2+0' });
    const asked = whole({ root: set(2), previous: { a: range(0, 0, { held: held(0, 2) }), b } });
    expect(asked.copied.wants.map(({ claim }) => claim)).toEqual(['shared']);
  });
});

describe('what is on its way from a cluster that is forgotten', () => {
  const isKnown = (cluster: string) => cluster !== 'a';

  it('starts without what was not copied, but nothing in a claim that a copier has yet to let go of', () => {
    const found = [copyOf('data-db-2', { phase: 'Copying' })];
    const { shares, copied } = step({ previous: halfway, found, isKnown });
    expect(numbers(shares)).toEqual({ b: '0+2' });
    expect(copied.remove).toEqual(found);
    const previous = { b: range(0, 2) };
    expect(numbers(step({ previous, found, isKnown }).shares)).toEqual({ b: '0+2' });
    expect(numbers(step({ previous, isKnown }).shares)).toEqual({ b: '0+3' });
  });

  it('starts what was copied', () => {
    const found = [copyOf('data-db-2', { phase: 'Copied' })];
    const { shares } = step({ previous: halfway, found, claims: ['data-db-2'], isKnown });
    expect(numbers(shares)).toEqual({ b: '0+3' });
  });

  it('starts no pod of a Deployment while its claim is written to', () => {
    const previous = {
      a: { phase: 'Active' as const, replicas: 0, held: { replicas: 2, since: trip } },
      b: { phase: 'Active' as const, replicas: 0 },
    };
    const found = [copyOf('files', { phase: 'Copying' })];
    const { shares, copied } = step({ root: web(2), previous, found, isKnown });
    expect(numbers(shares)).toEqual({ b: '+0' });
    expect(copied.remove).toEqual(found);
    expect(numbers(step({ root: web(2), previous, isKnown }).shares)).toEqual({ b: '+2' });
  });
});

describe('a Deployment whose data comes along', () => {
  const root = web(2);
  const count = (replicas: number, more: Partial<Share> = {}): Share => ({
    phase: 'Active',
    replicas,
    ...more,
  });
  const holding = (replicas: number) => ({ held: { replicas, since: trip } });

  it('stops first, whatever its strategy, and starts when all is copied', () => {
    const first = step({ root, previous: { a: count(2), b: count(0) } });
    expect(numbers(first.shares)).toEqual({ a: '+0 of +2', b: '+0' });
    const previous = { a: count(0, holding(2)), b: count(0) };
    const asked = step({ root, previous });
    expect(asked.copied.wants).toMatchObject([{ claim: 'files', state: 'missing' }]);
    expect(numbers(asked.shares)).toEqual({ a: '+0 of +2', b: '+0' });
    const found = [copyOf('files', { phase: 'Copied' })];
    const done = step({ root, previous, found, claims: ['files'] });
    expect(numbers(done.shares)).toEqual({ a: '+0 of +2', b: '+2' });
    const left = step({ root, previous: { a: count(0, holding(2)), b: count(2) }, found, claims: ['files'] });
    expect(numbers(left.shares)).toEqual({ a: 'Leaving +0', b: '+2' });
  });

  it('starts again where it was when the copy failed', () => {
    const found = [copyOf('files', { phase: 'Failed' })];
    const back = step({ root, previous: { a: count(0, holding(2)), b: count(0) }, found });
    expect(numbers(back.shares)).toEqual({ a: '+2', b: '+0' });
    const stays = step({ root, previous: { a: count(2, cameBack), b: count(0) }, found });
    expect(numbers(stays.shares)).toEqual({ a: '+2', b: '+0' });
  });

  it.each<[string, number, Record<string, Share>, VolumeCopyStatus | undefined]>([
    ['as it begins to move', 3, { a: count(1) }, undefined],
    ['while its target joins', 3, { a: count(1), b: count(0, { phase: 'Joining' }) }, undefined],
    ['from none', 1, { a: count(0) }, undefined],
    ['when its copy failed', 2, { a: count(1, cameBack), b: count(0) }, { phase: 'Failed' }],
    ['while it is copied', 4, { a: count(0, holding(2)), b: count(0) }, { phase: 'Copying' }],
  ])('starts none without its data, scaled up %s', (_when, replicas, previous, status) => {
    const found = status ? [copyOf('files', status)] : [];
    expect(step({ root: web(replicas), previous, found }).shares['b']?.replicas).toBe(0);
  });

  it.each<[string, number, Share]>([
    ['while it is copied', 2, count(0, holding(2))],
    ['with nothing to run', 0, count(0, holding(0))],
    ['before it has stopped', 2, count(2)],
    ['before it has stopped, with nothing to run', 0, count(0)],
  ])('turned back %s, it has nothing brought over its data', (_when, replicas, a) => {
    const joins = step({ root: web(replicas), previous: { a } }).shares['b'];
    expect(joins).toMatchObject({ replicas: 0, fresh: true });
    const b = { ...count(0), fresh: true };
    const back = step({ root: web(replicas), previous: { a, b }, clusters: ['a'] });
    expect(numbers(back.shares)).toEqual({ a: `+${replicas}`, b: 'Leaving +0' });
    expect(back.copied.wants).toEqual([]);
  });

  it('is not fresh any more where its data has come, though nothing of it runs', () => {
    const found = [copyOf('files', { phase: 'Copied' })];
    const previous = { a: count(0, holding(0)), b: { ...count(0), fresh: true } };
    const there = (input: Case) => step({ root: web(0), previous, ...input }).shares['b'];
    expect(there({})?.fresh).toBe(true);
    expect(there({ found, claims: ['files'] })?.fresh).toBeUndefined();
    expect(there({ found, claims: ['files'], root: web(2) })?.fresh).toBeUndefined();
  });

  it('scaled up where its copy failed is so many there', () => {
    const found = [copyOf('files', { phase: 'Failed' })];
    const previous = { a: count(2, cameBack), b: count(0) };
    expect(numbers(step({ root: web(4), previous, found }).shares)).toEqual({ a: '+4', b: '+0' });
    expect(numbers(step({ root: web(1), previous, found }).shares)).toEqual({ a: '+1 of +2', b: '+0' });
  });

  it('is never more than it is to be, scaled up where several keep what cannot be copied', () => {
    const previous = { a: count(1), b: count(0), c: count(1) };
    const { shares } = step({ root: web(3), previous, copier: '' });
    expect(numbers(shares)).toEqual({ a: '+2', b: '+0', c: '+1' });
  });

  it('leaves where nothing of it runs any more, and overwrites nothing of what runs where it is to be', () => {
    const { shares, copied } = step({ root, previous: { a: count(0), b: count(2) }, claims: ['files'] });
    expect(numbers(shares)).toEqual({ a: 'Leaving +0', b: '+2' });
    expect(copied.wants).toEqual([]);
  });

  it('is copied though it has no replicas', () => {
    const none = web(0);
    const asked = step({ root: none, previous: { a: count(0), b: count(0) } });
    expect(numbers(asked.shares)).toEqual({ a: '+0 of +0', b: '+0' });
    const found = [copyOf('files', { phase: 'Copied' })];
    const previous = { a: count(0, holding(0)), b: count(0) };
    expect(numbers(step({ root: none, previous }).shares)).toEqual({ a: '+0 of +0', b: '+0' });
    const scaled = step({ root: web(2), previous });
    expect(numbers(scaled.shares)).toEqual({ a: '+0 of +0', b: '+0' });
    const left = step({ root: none, previous, found, claims: ['files'] });
    expect(numbers(left.shares)).toEqual({ a: 'Leaving +0', b: '+0' });
  });
});
