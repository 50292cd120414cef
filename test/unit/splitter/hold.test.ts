import { describe, expect, it } from 'vitest';
import { groupOf } from '../../../cluster/group.ts';
import type { ClusterSlice, Placement, Share } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { lateAddresses, lateMembers, lateOwner, type Member } from '../../../splitter/group.ts';
import { type HandoverInput, handover } from '../../../splitter/handover.ts';
import { defaultWaitMs, type Late } from '../../../splitter/hold.ts';
import { breaksFirst } from '../../../splitter/plan.ts';
import { Model, settleMs } from './model.ts';

const workload = (kind: string, replicas: number, labels?: Record<string, string>): KubeObject => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name: 'web', generation: 3, ...(labels && { labels }) },
  spec: { replicas },
});
const serving = (replicas: number): ClusterSlice => ({
  present: true,
  observedGeneration: 3,
  share: { replicas },
  status: { replicas, updatedReplicas: replicas, availableReplicas: replicas },
});
const active = (replicas: number): Share => ({ phase: 'Active', replicas });

function step(more: Partial<HandoverInput>) {
  const previous = more.previous ?? { east: active(4), west: active(4) };
  const slices = Object.fromEntries(
    Object.entries(previous).map(([c, { replicas = 0 }]): [string, ClusterSlice] => [c, serving(replicas)]),
  );
  return handover({
    root: workload('Deployment', 4),
    gone: false,
    clusters: ['west'],
    slices,
    isKnown: () => true,
    heardAt: () => Number.POSITIVE_INFINITY,
    now: 100_000,
    settleMs,
    ...more,
    previous,
  });
}

describe('a paused move', () => {
  it('keeps the old copy when the new one is ready, and says that it is paused', () => {
    const {
      shares,
      hold: { held },
    } = step({ paused: true });
    expect(shares).toMatchObject({ east: { phase: 'Active', replicas: 4 }, west: { phase: 'Active' } });
    expect(held).toEqual(['paused']);
  });

  it('scaled down it has nowhere more than the whole, and moves no more than before', () => {
    const { shares } = step({ root: workload('Deployment', 1), paused: true });
    expect(shares).toMatchObject({ east: { phase: 'Active', replicas: 1 }, west: { replicas: 1 } });
  });

  it('keeps a share that would shrink, too', () => {
    const { shares } = step({ paused: true, clusters: ['east', 'west'] });
    expect([shares['east']?.replicas, shares['west']?.replicas]).toEqual([4, 4]);
  });

  it('calls one back that was withdrawn', () => {
    const withdrawing = { since: new Date(99_000).toISOString(), from: 'Active' as const };
    const previous = { east: { ...active(4), withdrawing }, west: active(4) };
    expect(step({ paused: true, previous, drainMs: 5000 }).shares['east']).toEqual(active(4));
  });

  it('makes what it is bound for ready all the same', () => {
    expect(step({ paused: true, previous: { east: active(4) } }).shares).toMatchObject({
      east: active(4),
      west: { phase: 'Joining', replicas: 4 },
    });
  });

  it.each([
    ['scaled down where it is', workload('Deployment', 1), { replicas: 1 }],
    ['scaled up where it is', workload('Deployment', 6), { replicas: 6 }],
  ])('%s, it follows: that is no move', (_, root, expected) => {
    const {
      shares,
      hold: { held },
    } = step({ root, paused: true, clusters: ['east'], previous: { east: active(4) } });
    expect(shares['east']).toMatchObject(expected);
    expect(held).toEqual([]);
  });

  it('leaves what is forgotten: a pause is no reason to leave a copy behind', () => {
    const isForgotten = (cluster: string) => cluster === 'east';
    const { shares, hold } = step({ paused: true, isForgotten });
    expect(shares['east']?.phase).toBe('Leaving');
    expect(hold.held).toEqual([]);
    expect(step({ paused: true, isForgotten, previous: { east: active(4) } }).shares['east']).toEqual(
      active(4),
    );
  });

  it('goes when it is deleted', () => {
    expect(step({ paused: true, gone: true }).shares['east']?.phase).toBe('Leaving');
  });
});

describe('who waits for others', () => {
  const late = (patient: boolean) => ({ awaited: () => [{ who: 'Deployment db', patient }] });
  const since = (seconds: number) => new Date(seconds * 1000).toISOString();
  const waiting = (seconds: number): Record<string, Share> => ({
    east: { ...active(4), awaitedSince: since(seconds) },
    west: active(4),
  });

  it('stays, remembers since when, and says until when', () => {
    const { shares, hold, requeueAfterMs } = step({ ...late(false) });
    expect(shares['east']).toEqual({ ...active(4), awaitedSince: since(100) });
    expect(hold).toEqual({ held: ['Deployment db'], without: [], until: 100_000 + defaultWaitMs });
    expect(requeueAfterMs).toBe(15_000);
  });

  it.each<[string, Partial<HandoverInput>, number, Share['phase']]>([
    ['not yet', late(false), 699, 'Active'],
    ['the time is over', late(false), 700, 'Leaving'],
    ['sooner, where the user says so', { ...late(false), waitMs: 60_000 }, 160, 'Leaving'],
    ['at once, where the user says so', { ...late(true), waitMs: 0 }, 100, 'Leaving'],
    ['never, for what nobody can promise', late(true), 86_500, 'Active'],
    [
      'a silent copy serves none of them',
      { ...late(true), heardAt: (c) => (c === 'west' ? 1e9 : undefined) },
      100,
      'Withdrawing',
    ],
  ])('goes without them: %s', (_, more, seconds, phase) => {
    const { shares, hold } = step({ ...more, previous: waiting(100), now: seconds * 1000 });
    expect(shares['east']?.phase).toBe(phase);
    expect(hold.without).toEqual(phase === 'Leaving' ? ['Deployment db'] : []);
  });

  it('called back, it begins to wait anew', () => {
    expect(
      step({ previous: waiting(1), clusters: ['east', 'west'], root: workload('Deployment', 8) }).shares[
        'east'
      ],
    ).toEqual(active(4));
  });

  it('drained without them, it waits for nobody on the way', () => {
    const gone = step({ ...late(false), previous: waiting(100), now: 700_000, drainMs: 5000 });
    expect(gone.shares['east']).toMatchObject({ phase: 'Withdrawing' });
    expect(gone.shares['east']).not.toHaveProperty('awaitedSince');
  });
});

describe('what moves together', () => {
  const part = { 'app.kubernetes.io/part-of': 'shop' };
  const namespace = (annotations?: Record<string, string>): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'shop', ...(annotations && { annotations }) },
  });
  const annotated = (annotations: Record<string, string>) => {
    const root = workload('Deployment', 1, part);
    return { ...root, metadata: { ...root.metadata, annotations } };
  };
  const users = { 'atoll.dev/clusters': 'west', 'atoll.dev/placed-by': 'ann' };
  const schedulers = { 'atoll.dev/clusters': 'west', 'atoll.dev/placed-by': 'system:atoll:scheduler' };
  it.each<[string, KubeObject, KubeObject, string | undefined]>([
    ['what is part of one app', workload('Deployment', 1, part), namespace(), 'app/shop'],
    ['what is part of none moves alone', workload('Deployment', 1), namespace(), undefined],
    ['all of a Namespace that says where', workload('Deployment', 1), namespace(users), 'namespace'],
    ['but what says so itself', annotated(users), namespace(users), 'app/shop'],
    ['the word of the scheduler is no word', annotated(schedulers), namespace(users), 'namespace'],
    ['nor that on the Namespace', workload('Deployment', 1), namespace(schedulers), undefined],
    ['a Job runs to its end where it is', workload('Job', 1, part), namespace(users), undefined],
    ['a Service goes where workloads are', workload('Service', 1, part), namespace(users), undefined],
  ])('%s', (_, root, of, expected) => {
    expect(groupOf(root, of)).toBe(expected);
  });

  const placement = (clusters: string[], shares: Record<string, Share>, blocked = false): Placement =>
    ({
      spec: { clusters, shares, blocked },
      status: { clusters: Object.fromEntries(Object.keys(shares).map((c) => [c, serving(2)])) },
    }) as unknown as Placement;
  const member = (of: Placement, kind = 'Deployment', name = 'db', paused = false): Member => {
    const root = { ...workload(kind, 2), metadata: { name } };
    return { root, placement: of, once: breaksFirst(root, {}), paused };
  };
  const namesOf = (late: readonly Late[]) => late.map(({ who }) => who);
  const self = member(placement(['west'], { east: active(2), west: active(2) }), 'Deployment', 'web');
  const joining: Share = { phase: 'Joining', replicas: 2 };
  it.each<[string, Member, string[]]>([
    ['one that is there', member(placement(['west'], { east: active(2), west: active(2) })), []],
    ['one that joins', member(placement(['west'], { east: active(2), west: joining })), ['Deployment db']],
    ['one that fits nowhere', member(placement(['east'], { east: active(2) }, true)), ['Deployment db']],
    ['one that has not begun', member(placement(['west'], { east: active(2) })), ['Deployment db']],
    ['one that has begun to leave', member(placement(['west'], { east: { phase: 'Leaving' } })), []],
    ['one that stays', member(placement(['east'], { east: active(2) })), []],
    [
      'one that joins and leaves another',
      member(placement(['west'], { north: active(2), west: joining })),
      [],
    ],
    [
      'a StatefulSet, until all of it has moved',
      member(placement(['west'], { east: active(1), west: active(1) }), 'StatefulSet'),
      ['StatefulSet db'],
    ],
    [
      'nobody who stays where it was, as what all were bound for is drained',
      member(placement(['west'], { east: active(2), west: active(2) }, true)),
      [],
    ],
  ])('waits for %s', (_, other, expected) => {
    expect(namesOf(lateMembers('east', self, [other]))).toEqual(expected);
  });

  it('does not wait for what serves nobody where it is', () => {
    const of = placement(['west'], { east: active(2) });
    const dead = { ...of, status: { clusters: { east: serving(0) } } };
    expect(lateMembers('east', self, [member(dead)])).toEqual([]);
  });

  it('waits for what is paused as long as that takes, and for others no longer than it is told', () => {
    const of = placement(['west'], { east: active(2) });
    const late = lateMembers('east', self, [member(of), member(of, 'Deployment', 'db', true)]);
    expect(late.map(({ patient }) => patient)).toEqual([false, true]);
  });

  it('of those that break before they are made none waits for another', () => {
    const one = member(placement(['west'], { east: active(2) }), 'StatefulSet', 'a');
    const other = member(placement(['west'], { east: active(2) }), 'StatefulSet', 'b');
    expect([lateMembers('east', one, [other]), lateMembers('east', other, [one])]).toEqual([[], []]);
  });

  it.each<[string, Record<string, object[]>, string[]]>([
    ['an address that the old copy has', { east: [{ ip: '1' }] }, ['Service web (no address on west)']],
    ['none that nobody has', {}, []],
    ['none that is there', { east: [{ ip: '1' }], west: [{ ip: '2' }] }, []],
    ['none that only the new one has', { west: [{ ip: '2' }] }, []],
  ])('waits for %s', (_, addresses, expected) => {
    const clusters = Object.fromEntries(
      Object.entries(addresses).map(([c, ingress]) => [c, { status: { loadBalancer: { ingress } } }]),
    );
    const service = { spec: { ref: { kind: 'Service', name: 'web' } }, status: { clusters } };
    expect(namesOf(lateAddresses('east', ['west'], [service as unknown as Placement]))).toEqual(expected);
  });
});

/** Workloads that move together, each split in turn; `blocked` ones fit nowhere. */
class Group {
  readonly models: Model[];
  readonly blocked = new Set<Model>();

  constructor(...kinds: string[]) {
    this.models = kinds.map((kind) => {
      const model = new Model(kind, 2);
      model.clusters = ['a'];
      model.quiesce(['a', 'b', 'c']);
      return model;
    });
  }

  member(model: Model): Member {
    const spec = { clusters: model.clusters, shares: model.shares, blocked: this.blocked.has(model) };
    const root = { ...model.root, metadata: { name: String(this.models.indexOf(model)) } };
    const placement = { spec, status: { clusters: model.slices } } as unknown as Placement;
    return { root, placement, once: breaksFirst(model.root, {}), paused: model.paused };
  }

  /** Everybody does what they can, in turn. */
  run(rounds = 60): void {
    for (const model of this.models) {
      model.awaited = (cluster) =>
        lateMembers(
          cluster,
          this.member(model),
          this.models.filter((other) => other !== model).map((other) => this.member(other)),
        );
    }
    for (let i = 0; i < rounds; i++) {
      for (const model of this.models) {
        model.split();
        for (const c of ['a', 'b', 'c']) {
          model.beat(c);
          model.end(c);
          model.apply(c);
          for (let pod = 0; pod < 4; pod++) model.progress(c);
          model.report(c);
        }
        expect(model.ready).toBeGreaterThanOrEqual(model.root.kind === 'StatefulSet' ? 1 : 2);
        model.now += settleMs;
      }
    }
  }

  place(...clusters: string[]): void {
    for (const model of this.models) if (!this.blocked.has(model)) model.clusters = clusters;
  }

  get where(): string[] {
    return this.models.map((model) => Object.keys(model.shares).sort().join(','));
  }
}

describe('a group always ends where it is to be', () => {
  it.each<[string, string[], number]>([
    ['Deployments', ['Deployment', 'Deployment', 'Deployment'], 0],
    ['with a drain', ['Deployment', 'Deployment', 'Deployment'], 3 * settleMs],
    ['with StatefulSets', ['StatefulSet', 'Deployment', 'StatefulSet'], 0],
    ['with StatefulSets and a drain', ['Deployment', 'StatefulSet', 'StatefulSet', 'Deployment'], settleMs],
  ])('%s', (_, kinds, drainMs) => {
    const group = new Group(...kinds);
    for (const model of group.models) model.drainMs = drainMs;
    group.place('b');
    group.run();
    expect(new Set(group.where)).toEqual(new Set(['b']));
    group.place('a', 'c');
    group.run(3);
    group.place('a');
    group.run();
    expect(new Set(group.where)).toEqual(new Set(['a']));
  });

  it('one without room holds all, each of which says so; when it has room all go', () => {
    const group = new Group('Deployment', 'StatefulSet', 'Deployment');
    const [first, , last] = group.models as [Model, Model, Model];
    group.blocked.add(last);
    for (const model of group.models) model.drainMs = settleMs;
    group.place('b');
    group.run();
    expect(group.where).toEqual(['a,b', 'a,b', 'a']);
    expect(first.held).toEqual(['Deployment 2', 'StatefulSet 1']);
    group.blocked.clear();
    group.place('b');
    group.run();
    expect(new Set(group.where)).toEqual(new Set(['b']));
  });

  it('what is on its way to a cluster that takes it no more stays whole where it was, and leaves that at once', () => {
    const group = new Group('Deployment', 'StatefulSet', 'Deployment');
    group.place('b');
    group.run(2);
    expect(group.where).toEqual(['a,b', 'a,b', 'a,b']);
    group.place('a');
    for (const model of group.models) group.blocked.add(model);
    group.run(40);
    expect(group.where).toEqual(['a', 'a', 'a']);
  });

  it('two that change places, one of which waits for the room of the other', () => {
    const group = new Group('Deployment', 'Deployment');
    const [one, other] = group.models as [Model, Model];
    other.clusters = ['b'];
    group.run();
    group.blocked.add(one);
    other.clusters = ['a'];
    group.run();
    expect(group.where).toEqual(['a', 'a']);
    group.blocked.clear();
    one.clusters = ['b'];
    group.run();
    expect(group.where).toEqual(['b', 'a']);
  });

  it('three in a ring of full clusters: who has waited long enough goes alone, and all end where they are to be', () => {
    const group = new Group('Deployment', 'Deployment', 'Deployment');
    const [one, late, back] = group.models as [Model, Model, Model];
    back.clusters = ['b'];
    group.run();
    one.clusters = ['b'];
    group.blocked.add(late).add(back);
    /** As the scheduler: each cluster has room for two, and what waits gets it when it is there. */
    group.run(2);
    const on = (c: string) => group.models.filter((m) => Object.hasOwn(m.shares, c)).length;
    for (let i = 0; i < 400 && group.where.join() !== 'b,b,a'; i++) {
      for (const [model, to] of [
        [late, 'b'],
        [back, 'a'],
      ] as const)
        if (group.blocked.has(model) && on(to) < 2) {
          group.blocked.delete(model);
          model.clusters = [to];
        }
      group.run(1);
    }
    expect(group.where).toEqual(['b', 'b', 'a']);
    expect(one.went).toEqual(['Deployment 1']);
  });

  it('a paused member holds all, and goes on when it is paused no more', () => {
    const group = new Group('Deployment', 'StatefulSet');
    const [first, set] = group.models as [Model, Model];
    set.paused = true;
    group.place('b');
    group.run();
    expect(group.where).toEqual(['a,b', 'a,b']);
    expect(first.held).toEqual(['StatefulSet 1']);
    set.paused = false;
    group.run();
    expect(group.where).toEqual(['b', 'b']);
  });
});

describe('a ReplicaSet that a Deployment has adopted', () => {
  const owner = (shares: Record<string, Share>, more: object = {}) =>
    ({
      spec: { ref: { kind: 'Deployment', name: 'web' }, shares, clusters: ['west'], ...more },
    }) as unknown as Placement;
  const root: KubeObject = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { generation: 3 } };
  const joining = (since?: number): Share => ({
    phase: 'Joining',
    replicas: 4,
    ...(since !== undefined && { readySince: new Date(since).toISOString() }),
  });
  const slices = {
    east: { ...serving(4), owner: { uid: 'web' } },
    west: { ...serving(4), status: { replicas: 0, availableReplicas: 0 }, owner: { uid: 'web' } },
  };

  const toStay = 'Deployment web (it has adopted this, and stays: move that one, and this leaves with it)';
  it.each<[string, Record<string, Share>, string[], object?]>([
    ['its owner is to stay', { east: active(4), west: active(4) }, [toStay], { clusters: ['east', 'west'] }],
    ['its owner cannot leave', { east: active(4) }, [toStay], { clusters: ['east'], blocked: true }],
    [
      'its owner is on its way',
      { east: active(4), west: active(4) },
      ['Deployment web (it has adopted this)'],
    ],
    ['its owner leaves', { east: { phase: 'Leaving' }, west: active(4) }, []],
    ['its owner has gone', { west: active(4) }, []],
  ])('stays on east: %s', (_what, shares, expected, more) => {
    expect(lateOwner('east', owner(shares, more)).map(({ who }) => who)).toEqual(expected);
  });

  it('is counted on where it was left without replicas, and leaves as its owner has left', () => {
    const awaited = (shares: Record<string, Share>) => (cluster: string) => lateOwner(cluster, owner(shares));
    const stays = awaited({ east: active(4) });
    const first = step({
      root,
      slices,
      previous: { east: active(4), west: joining(1) },
      awaited: stays,
    });
    expect(first.shares['west']?.phase).toBe('Active');
    const previous = first.shares;
    const held = step({ root, slices, previous, awaited: stays });
    expect(held.shares).toMatchObject({ east: { phase: 'Active' }, west: { phase: 'Active' } });
    expect(held.waitingFor).toEqual([]);
    expect(held.hold.held).toEqual(['Deployment web (it has adopted this)']);
    // Gone without that one, its pods would only be made anew, whether any are ready elsewhere or not.
    const alone = step({ root, slices, previous, awaited: stays, waitMs: 0 });
    expect(alone.shares).toMatchObject({ east: { phase: 'Active' }, west: { phase: 'Active' } });
    expect(alone.hold).toMatchObject({
      held: ['Deployment web (it has adopted this)'],
      firm: true,
      without: [],
    });
    expect(alone.hold.until).toBeUndefined();
    const left = step({ root, slices, previous, awaited: awaited({ east: { phase: 'Leaving' } }) });
    expect(left.shares).toMatchObject({ east: { phase: 'Leaving' }, west: { phase: 'Active' } });
  });
});
