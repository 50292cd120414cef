import { describe, expect, it } from 'vitest';
import type { ClusterSlice, Placement, Share } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { foldStatus } from '../../../splitter/fold/index.ts';
import { type HandoverInput, handover } from '../../../splitter/handover.ts';
import { mannerOf, withWithdrawn } from '../../../splitter/traffic.ts';
import { restored } from '../../../splitter/withdraw.ts';

const at = (seconds: number) => new Date(seconds * 1000).toISOString();
const workload = (kind = 'Deployment', replicas = 2, more: object = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name: 'web', generation: 3 },
  spec: { replicas, ...more },
});
const running = (replicas: number, available = replicas): ClusterSlice => ({
  present: true,
  observedGeneration: 3,
  share: { replicas },
  status: { replicas, updatedReplicas: available, availableReplicas: available },
});
const active = (replicas: number): Share => ({ phase: 'Active', replicas });
const withdrawing = (replicas: number, since: number, from: 'Active' | 'Joining' = 'Active'): Share => ({
  phase: 'Withdrawing',
  replicas,
  withdrawing: { since: at(since), from, closedSince: at(since) },
});

/** It is to leave, and its cluster is silent. */
const unheard = (replicas: number): Share => ({
  phase: 'Withdrawing',
  replicas,
  withdrawing: { from: 'Active' },
});
const silentEast: Partial<HandoverInput> = {
  heardAt: (c) => (c === 'west' ? Number.POSITIVE_INFINITY : undefined),
};

/** West is where it is to be, and counted on; the clock stands at 100 s. */
function step(previous: Record<string, Share>, more: Partial<HandoverInput> = {}) {
  const slices = Object.fromEntries(
    Object.entries(previous).map(([c, share]) => [c, running(share.replicas ?? 0)]),
  );
  return handover({
    root: workload(),
    gone: false,
    clusters: ['west'],
    slices,
    isKnown: () => true,
    heardAt: () => Number.POSITIVE_INFINITY,
    now: 100_000,
    settleMs: 2000,
    drainMs: 5000,
    ...more,
    previous: restored(previous),
  });
}

describe('between Active and Leaving', () => {
  it.each<[string, Record<string, Share>, Partial<HandoverInput>, Share['phase'] | undefined]>([
    ['its successor is ready', { east: active(2), west: active(2) }, {}, 'Withdrawing'],
    ['its drain lasts', { east: withdrawing(2, 96), west: active(2) }, {}, 'Withdrawing'],
    ['its drain is over', { east: withdrawing(2, 95), west: active(2) }, {}, 'Leaving'],
    ['without a drain', { east: active(2), west: active(2) }, { drainMs: 0 }, 'Leaving'],
    [
      'it is wanted again',
      { east: withdrawing(2, 95), west: active(2) },
      { clusters: ['east', 'west'], root: workload('Deployment', 4) },
      'Active',
    ],
    [
      'its successor fails meanwhile, although its drain is over',
      { east: withdrawing(2, 90), west: active(2) },
      { slices: { east: running(2), west: running(2, 0) } },
      'Active',
    ],
    [
      'it serves nobody',
      { east: active(2), west: active(2) },
      { slices: { east: running(2, 0), west: running(2) } },
      'Leaving',
    ],
    ['nothing is heard of it', { east: active(2), west: active(2) }, silentEast, 'Withdrawing'],
    ['still nothing is heard of it', { east: unheard(2), west: active(2) }, silentEast, 'Withdrawing'],
    [
      'nothing is heard of it, and there is no drain',
      { east: active(2), west: active(2) },
      { ...silentEast, drainMs: 0 },
      'Withdrawing',
    ],
    [
      'nothing is heard of it, and it never served',
      { east: { phase: 'Joining', replicas: 2 }, west: active(2) },
      { ...silentEast, slices: { west: running(2) } },
      'Leaving',
    ],
    [
      'its cluster has not taken its addresses back, although its drain would be over',
      { east: withdrawing(2, 90), west: active(2) },
      { isOpen: () => true },
      'Withdrawing',
    ],
    [
      'its cluster never takes them back',
      { east: withdrawing(2, 70), west: active(2) },
      { isOpen: () => true, waitMs: 30_000 },
      'Leaving',
    ],
    ['the clock was set back', { east: withdrawing(2, 200), west: active(2) }, {}, 'Withdrawing'],
    [
      'nothing else of it is anywhere: it is deleted',
      { east: active(2), west: active(2) },
      { gone: true },
      'Leaving',
    ],
  ])('%s', (_, previous, more, phase) => {
    expect(step(previous, more).shares['east']?.phase).toBe(phase);
  });

  it('keeps what it has, and says when to look again', () => {
    const { shares, requeueAfterMs } = step({ east: withdrawing(2, 97), west: active(2) });
    expect(shares['east']).toEqual(withdrawing(2, 97));
    expect(requeueAfterMs).toBe(2000);
  });

  it.each<[string, Partial<HandoverInput>, Record<string, Partial<Share>>]>([
    [
      'drained from then on, once its successor was heard of since',
      { heardAt: () => 100_000 },
      { east: { phase: 'Withdrawing', withdrawing: { since: at(100), from: 'Active' } } },
    ],
    [
      'kept until its successor was heard of since',
      { heardAt: () => 99_000 },
      { east: { phase: 'Active' }, west: { heardSince: at(100) } },
    ],
    [
      'kept where its successor has failed meanwhile',
      { heardAt: () => 100_000, slices: { east: running(2), west: running(2, 1) } },
      { east: { phase: 'Active' }, west: { phase: 'Joining' } },
    ],
    [
      'kept where its successor is silent now',
      { heardAt: (c) => (c === 'east' ? 100_000 : undefined) },
      { east: { phase: 'Active' }, west: { phase: 'Joining' } },
    ],
    [
      'what it was, where it is to stay after all',
      { heardAt: () => 100_000, clusters: ['east'], root: workload('Deployment', 2) },
      { east: { phase: 'Active' } },
    ],
  ])('on a cluster that was silent it is, as that is heard of again, %s', (_, more, shares) => {
    const done = step({ east: unheard(2), west: active(2) }, more);
    expect(done.shares).toMatchObject(shares);
    expect(done.shares['east']?.withdrawing?.since).toBe(shares['east']?.withdrawing?.since);
  });

  it('a successor of what is silent is asked nothing meanwhile', () => {
    const done = step({ east: unheard(2), west: { ...active(2), heardSince: at(90) } }, silentEast);
    expect(done.shares).toEqual({ east: unheard(2), west: active(2) });
  });

  it('drains for its whole time once its cluster has taken its addresses back', () => {
    const open = step({ east: withdrawing(2, 90), west: active(2) }, { isOpen: () => true });
    expect(open.shares['east']?.withdrawing).toEqual({ since: at(90), from: 'Active' });
    const { shares, requeueAfterMs } = step(open.shares);
    expect(shares['east']?.withdrawing).toEqual({ since: at(90), from: 'Active', closedSince: at(100) });
    expect(requeueAfterMs).toBe(5000);
  });

  it('wanted again it is counted on only once its addresses lead to it again: until then nobody else shrinks', () => {
    const previous = { east: withdrawing(2, 90), west: active(4) };
    const wanted = { clusters: ['east', 'west'], root: workload('Deployment', 4) };
    const closed = step(previous, { ...wanted, isClosed: (c) => c === 'east' });
    expect(closed.shares).toMatchObject({
      east: { phase: 'Joining', replicas: 2 },
      west: { phase: 'Active', replicas: 4 },
    });
    expect(closed.waitingFor).toEqual(['east']);
    const still = step(closed.shares, { ...wanted, isClosed: (c) => c === 'east', now: 200_000 });
    expect(still.shares).toMatchObject({ east: { phase: 'Joining' }, west: { replicas: 4 } });
    const opened = step(still.shares, { ...wanted, now: 201_000 });
    expect(opened.requeueAfterMs).toBe(2000);
    expect(step(opened.shares, { ...wanted, now: 203_000 }).shares).toMatchObject({
      east: { phase: 'Active', replicas: 2 },
      west: { phase: 'Active', replicas: 2 },
    });
  });

  it('that its addresses lead nobody to it matters to nobody where nothing goes on its strength', () => {
    const closed = { isClosed: () => true };
    expect(step({ west: active(2) }, closed).shares).toEqual({ west: active(2) });
    const grows = { ...closed, root: workload('Deployment', 4) };
    expect(step({ west: active(2) }, grows).shares).toMatchObject({ west: { replicas: 4 } });
  });

  it('wanted again before it had ever settled, it has to settle first', () => {
    const { shares } = step(
      { east: withdrawing(2, 97, 'Joining'), west: active(2) },
      { clusters: ['east', 'west'], root: workload('Deployment', 4) },
    );
    expect(shares['east']).toMatchObject({ phase: 'Joining' });
    expect(shares['east']?.withdrawing).toBeUndefined();
  });

  it('keeps no time that holds no longer', () => {
    const { shares } = step({ east: withdrawing(2, 50), west: active(2) }, { clusters: ['east', 'west'] });
    expect(Object.values(shares).some((share) => share.withdrawing)).toBe(false);
  });

  it.each([
    ['Recreate', workload('Deployment', 2, { strategy: { type: 'Recreate' } })],
    ['a StatefulSet', workload('StatefulSet', 2)],
  ])('%s has no successor beside it: nobody waits', (_, root) => {
    const previous = { east: { ...active(0), ordinalsStart: 0 }, west: { ...active(2), ordinalsStart: 0 } };
    expect(step(previous, { root }).shares['east']?.phase).toBe('Leaving');
  });
});

describe('a ReplicaSet that a Deployment has adopted', () => {
  const root = workload('ReplicaSet');
  const on = (owner: ClusterSlice['owner']): Partial<HandoverInput> => ({
    root,
    slices: { east: { ...running(2), ...(owner && { owner }) }, west: running(2) },
  });
  it.each<[string, Partial<HandoverInput>, Share['phase']]>([
    ['leaves at once, drained with that one', on({ uid: 'd' }), 'Leaving'],
    ['is drained where it was not', on(undefined), 'Withdrawing'],
    ['stays where nothing is heard', { ...on({ uid: 'd' }), ...silentEast }, 'Withdrawing'],
  ])('%s', (_, more, phase) => {
    expect(step({ east: active(2), west: active(2) }, more).shares['east']?.phase).toBe(phase);
  });
});

describe('how long', () => {
  const annotated = (seconds?: string): KubeObject['metadata'] =>
    seconds === undefined ? {} : { annotations: { 'atoll.dev/drain-seconds': seconds } };
  const grace = (seconds: number) => ({
    template: { spec: { terminationGracePeriodSeconds: seconds } },
  });
  it.each<[string, { own?: string; namespace?: string; grace?: number; served: boolean }, number]>([
    ['no Service selects it', { served: false }, 0],
    ['no Service selects it, whatever its Namespace says', { served: false, namespace: '9' }, 0],
    ['it says so itself', { served: false, own: '7' }, 7000],
    ['its Namespace says so', { served: true, namespace: '9' }, 9000],
    ['its own word is the nearer one', { served: true, own: '0', namespace: '9' }, 0],
    ['its pods have less time to end', { served: true, grace: 2 }, 2000],
    ['its pods have more time to end', { served: true, grace: 600 }, 5000],
    ['it does not say how long they have', { served: true }, 5000],
    ['what it says is no number', { served: true, own: 'soon' }, 5000],
  ])('%s', (_, { own, namespace, grace: pods, served }, drainMs) => {
    const root = { ...workload(), spec: pods === undefined ? {} : grace(pods), metadata: annotated(own) };
    const requires = served ? [{ group: '', resource: 'services', name: 'web' }] : [];
    const placement = { spec: { requires } } as unknown as Placement;
    const of = { apiVersion: 'v1', kind: 'Namespace', metadata: annotated(namespace) };
    expect(mannerOf(root, placement, of, 5000)).toEqual({ paused: false, drainMs });
  });
});

describe('what leads to it', () => {
  const behind = (shares: Record<string, Share['phase']>) =>
    ({
      spec: { shares: Object.fromEntries(Object.entries(shares).map(([c, phase]) => [c, { phase }])) },
    }) as unknown as Placement;
  const withdrawn = (
    all: Placement[],
    before: Record<string, Share> = { east: active(1), west: active(1) },
  ) => Object.entries(withWithdrawn(before, all)).flatMap(([c, share]) => (share.withdrawn ? [c] : []));
  it.each<[string, Placement[], string[]]>([
    ['all of it goes', [behind({ east: 'Withdrawing', west: 'Active' })], ['east']],
    ['all of it is told to go', [behind({ east: 'Leaving', west: 'Active' })], ['east']],
    ['it has not begun', [behind({ east: 'Active', west: 'Active' })], []],
    ['nothing would be left', [behind({ east: 'Leaving', west: 'Leaving' })], []],
    ['some of it stays', [behind({ east: 'Withdrawing', west: 'Active' }), behind({ east: 'Active' })], []],
    ['it is where it is to be, and nowhere else', [behind({ west: 'Active' })], []],
  ])('%s', (_, all, expected) => {
    expect(withdrawn(all)).toEqual(expected);
  });

  it('stays withdrawn when all behind it has gone, until it goes itself', () => {
    const before = { east: { ...active(1), withdrawn: true }, west: active(1) };
    expect(withdrawn([behind({ west: 'Active' })], before)).toEqual(['east']);
    expect(withdrawn([behind({ east: 'Active', west: 'Active' })], before)).toEqual([]);
    expect(withdrawn([], before)).toEqual([]);
  });

  it('its address is told no more, unless it is the last one', () => {
    const service: KubeObject = { apiVersion: 'v1', kind: 'Service', metadata: {}, spec: {} };
    const slice = (ip?: string): ClusterSlice => ({
      present: true,
      status: { loadBalancer: ip === undefined ? {} : { ingress: [{ ip }] } },
    });
    const shares = { east: { ...active(1), withdrawn: true }, west: active(1) };
    const both = { east: slice('1.1.1.1'), west: slice('2.2.2.2') };
    expect(foldStatus(service, shares, both)).toEqual({ loadBalancer: { ingress: [{ ip: '2.2.2.2' }] } });
    const one = { east: slice('1.1.1.1'), west: slice() };
    expect(foldStatus(service, shares, one)).toEqual({ loadBalancer: { ingress: [{ ip: '1.1.1.1' }] } });
  });
});

describe('what is ready, and its Services have yet to lead to', () => {
  const joining = (seconds: number): Share => ({ phase: 'Joining', replicas: 2, readySince: at(seconds) });
  const west = (since: number, more: Partial<HandoverInput> = {}, clusters = ['west']) =>
    step({ east: active(2), west: joining(since) }, { clusters, isUnled: (c) => c === 'west', ...more });

  it('is not counted on, and says so; it is looked at again', () => {
    const { shares, waitingFor, unled, requeueAfterMs } = west(90);
    expect(shares['west']).toMatchObject({ phase: 'Joining', readySince: at(90) });
    expect(shares['east']?.phase).toBe('Active');
    expect([waitingFor, unled]).toEqual([['west'], ['west']]);
    expect(requeueAfterMs).toBe(15_000);
  });

  it('is counted on when they do', () => {
    const { shares, unled } = west(90, { isUnled: () => false });
    expect(shares['west']?.phase).toBe('Active');
    expect(unled).toEqual([]);
  });

  it('for so long as is waited, and no longer', () => {
    expect(west(90, { waitMs: 11_000 }).requeueAfterMs).toBe(1000);
    expect(west(90, { waitMs: 10_000 }).shares['west']?.phase).toBe('Active');
    expect(west(90, { waitMs: 0 }).shares['west']?.phase).toBe('Active');
  });

  it('where nobody goes on its strength it is not asked', () => {
    const alone = step({ west: joining(90) }, { isUnled: () => true });
    expect(alone.shares['west']?.phase).toBe('Active');
  });
});
