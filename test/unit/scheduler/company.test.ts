import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PlacementPolicy, PlacementPolicySpec } from '../../../cluster/policy.ts';
import type { PhysicalCluster } from '../../../cluster/types.ts';
import { layer } from '../../../scheduler/policies.ts';
import { deployment, placed } from '../cluster/objects.ts';
import { annotations, cluster, type Fields, World } from './world.ts';

type Clusters = PlacementPolicySpec['clusters'];

const regions: Record<string, string> = { a: 'us', b: 'eu', c: 'eu' };
const labelled = (name: string, spec: Fields = {}): PhysicalCluster => {
  const made = cluster(name, spec);
  const region = regions[name];
  return { ...made, metadata: { ...made.metadata, labels: { ...(region && { region }) } } };
};
const app = (name: string) => ({ labelSelector: { matchLabels: { app: name } } });
const all = { labelSelector: {} };
const ofApp = (name: string, clusters: Clusters): PlacementPolicy => ({
  apiVersion: 'atoll.dev/v1alpha1',
  kind: 'PlacementPolicy',
  metadata: { name: `of-${name}`, namespace: 'shop' },
  spec: { clusters, ...(name !== '*' && { selector: app(name) }) },
});

/** Each a Deployment with the label app of its name; where it is already, if anywhere. */
function world(where: Record<string, string | undefined>, policies: PlacementPolicy[] = []): World {
  const objects = Object.keys(where).map((name) => deployment(name, { metadata: { labels: { app: name } } }));
  const there = Object.entries(where).flatMap(([name, at]) => (at ? [{ name, names: at.split(',') }] : []));
  const made = new World(...objects.filter(({ object }) => where[object.metadata.name ?? '']));
  made.clusters = ['a', 'b', 'c'].map((name) => labelled(name));
  made.policies = [layer(there.map(({ name, names }) => ofApp(name, { names })))];
  made.decide();
  made.objects.push(...objects.filter(({ object }) => !where[object.metadata.name ?? '']));
  made.policies = [layer(policies)];
  return made;
}

const placesOf = (made: World, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, (made.spec(name)?.clusters ?? []).join()]));

describe('beside and apart', () => {
  type Where = Record<string, string | undefined>;
  it.each<[string, Where, PlacementPolicy[], Record<string, string>]>([
    [
      'comes where it is',
      { db: 'b', web: undefined },
      [ofApp('web', { affinity: [app('db')] })],
      { db: 'b', web: 'b' },
    ],
    [
      'leaves for it',
      { db: 'b', web: 'a' },
      [ofApp('web', { affinity: [app('db')] })],
      { db: 'b', web: 'b' },
    ],
    ['is nowhere without it', { web: undefined }, [ofApp('web', { affinity: [app('db')] })], { web: '' }],
    ['stays though it is nowhere', { web: 'a' }, [ofApp('web', { affinity: [app('db')] })], { web: 'a' }],
    [
      'comes after it, whatever they are called',
      { z: undefined, a: undefined },
      [ofApp('a', { affinity: [app('z')] }), ofApp('z', { names: ['c'] })],
      { a: 'c', z: 'c' },
    ],
    [
      'along a chain',
      { a: 'a', b: 'b', c: 'c' },
      [ofApp('a', { affinity: [app('b')] }), ofApp('b', { affinity: [app('c')] })],
      { a: 'c', b: 'c', c: 'c' },
    ],
    [
      'two that ask for each other are together, where one is',
      { a: undefined, b: 'c' },
      [ofApp('a', { affinity: [app('b')] }), ofApp('b', { affinity: [app('a')] })],
      { a: 'c', b: 'c' },
    ],
    [
      'all together, where one of them leads',
      { a: 'b', b: 'a,c', c: undefined },
      [ofApp('*', { affinity: [all] })],
      { a: 'b', b: 'b', c: 'b' },
    ],
    [
      'a ring of three, one after the other',
      { a: 'a', b: 'b', c: 'c' },
      [
        ofApp('a', { affinity: [app('b')] }),
        ofApp('b', { affinity: [app('c')] }),
        ofApp('c', { affinity: [app('a')] }),
      ],
      { a: 'a', b: 'a', c: 'a' },
    ],
    [
      'whoever is on more clusters does not lead for that, and all comes to rest',
      { u: undefined, v: undefined, w: undefined },
      [
        ofApp('w', { count: 2, affinity: [all] }),
        ofApp('v', { affinity: [app('w')] }),
        ofApp('u', { antiAffinity: [app('v')] }),
      ],
      { u: 'a', v: 'b', w: 'a,b' },
    ],
    [
      'in a region is enough',
      { db: 'b', web: 'c', x: 'a' },
      [ofApp('*', { affinity: [{ ...app('db'), topologyKey: 'region' }] })],
      { db: 'b', web: 'c', x: 'b' },
    ],
    [
      'keeps away',
      { db: 'a', web: undefined },
      [ofApp('web', { antiAffinity: [app('db')] })],
      { db: 'a', web: 'b' },
    ],
    [
      'goes away',
      { db: 'a', web: 'a' },
      [ofApp('web', { antiAffinity: [app('db')] })],
      { db: 'a', web: 'b' },
    ],
    [
      'keeps others away',
      { a: undefined, web: 'a' },
      [ofApp('web', { antiAffinity: [app('a')] })],
      { a: 'b', web: 'a' },
    ],
    [
      'each apart from all others, as far as there are clusters',
      { u: 'a', v: 'a', w: 'a', x: 'a' },
      [ofApp('*', { antiAffinity: [all] })],
      { u: 'b', v: 'c', w: 'a', x: 'a' },
    ],
    [
      'apart by region',
      { db: 'b', web: 'c' },
      [ofApp('web', { antiAffinity: [{ ...app('db'), topologyKey: 'region' }] })],
      { db: 'b', web: 'a' },
    ],
    [
      'of those that a policy names only where it is',
      { db: 'b', web: undefined },
      [ofApp('web', { names: ['a', 'b'], affinity: [app('db')] })],
      { db: 'b', web: 'b' },
    ],
    [
      'apart from itself is nothing',
      { web: undefined },
      [ofApp('web', { count: 2, antiAffinity: [app('web')] })],
      { web: 'a,b' },
    ],
  ])('%s', (_what, where, policies, expected) => {
    const made = world(where, policies);
    expect(placesOf(made.settle(), Object.keys(where))).toEqual(expected);
  });

  it('follows, though what it follows is drained', () => {
    const both = [ofApp('a', { affinity: [app('b')] }), ofApp('b', { affinity: [app('a')] })];
    const made = world({ a: 'a', b: 'a' }, both);
    made.clusters = [labelled('a', { drain: true }), labelled('b'), labelled('c')];
    expect(placesOf(made.settle(), ['a', 'b'])).toEqual({ a: 'b', b: 'b' });
  });

  it('an annotation that names clusters counts instead of the policy', () => {
    const made = world({ db: 'b', web: 'a' }, [ofApp('web', { affinity: [app('db')] })]);
    made.objects = made.objects.map((o) =>
      o.object.metadata.name === 'web'
        ? { ...o, object: { ...o.object, metadata: { ...o.object.metadata, ...annotations('c', 'dev') } } }
        : o,
    );
    expect(placesOf(made.decide(), ['web'])).toEqual({ web: 'c' });
  });

  const annotate = (made: World, name: string, clusters: string) => {
    made.objects = made.objects.map((o) =>
      o.object.metadata.name === name
        ? {
            ...o,
            object: { ...o.object, metadata: { ...o.object.metadata, ...annotations(clusters, 'dev') } },
          }
        : o,
    );
  };

  it('who names the cluster itself comes, whatever another is to be apart from', () => {
    const made = world({ db: 'a', web: undefined }, [
      ofApp('db', { antiAffinity: [app('web')], names: ['a'] }),
    ]);
    annotate(made, 'web', 'a');
    expect(placesOf(made.settle(), ['web', 'db'])).toEqual({ web: 'a', db: 'a' });
  });

  it('nobody leaves a silent cluster for company, since what runs there cannot be stopped', () => {
    const made = world({ db: 'a', web: 'a' }, [
      ofApp('web', { affinity: [app('db')] }),
      ofApp('db', { names: ['b'] }),
    ]);
    made.clusters = [labelled('a', { ready: false }), labelled('b'), labelled('c')];
    const [silent] = made.clusters;
    for (const condition of silent?.status?.conditions ?? []) condition.status = 'Unknown';
    expect(placesOf(made.settle(), ['db', 'web'])).toEqual({ db: 'b', web: 'a' });
  });

  it('what has ended is no company', () => {
    const made = world({ web: undefined }, [ofApp('web', { antiAffinity: [app('batch')], names: ['a'] })]);
    const status = { conditions: [{ type: 'Complete', status: 'True' }] };
    const metadata = { labels: { app: 'batch' }, ...annotations('a', 'dev') };
    made.objects.push(placed('Job', 'batch', { metadata, status }));
    expect(placesOf(made.settle(), ['web'])).toEqual({ web: 'a' });
  });

  it.each<[string, Record<string, string | undefined>, PlacementPolicy[], string, object]>([
    [
      'beside what is elsewhere',
      { db: 'b', web: undefined },
      [ofApp('web', { affinity: [app('db')] })],
      'web',
      { a: 'PolicyOf wants it beside app=db, which is not there', b: 'chosen within PlacementPolicy of-web' },
    ],
    [
      'beside what is nowhere',
      { web: undefined },
      [ofApp('web', { affinity: [app('db')] })],
      'web',
      { a: 'PolicyOf wants it beside app=db, which is on no cluster' },
    ],
    [
      'apart',
      { db: 'a', web: undefined },
      [ofApp('web', { antiAffinity: [{ ...app('db'), topologyKey: 'region' }] })],
      'web',
      { a: 'PolicyOf keeps it apart from app=db, which is in its region' },
    ],
    [
      'whom another keeps away',
      { db: undefined, web: 'a' },
      [ofApp('web', { antiAffinity: [app('db')] })],
      'db',
      { a: 'PolicyOf keeps what is there apart from app=db' },
    ],
  ])('says why: %s', (_what, where, policies, name, reasons) => {
    const told = Object.fromEntries(
      Object.entries(reasons).map(([c, why]) => [
        c,
        String(why).replace('PolicyOf', 'PlacementPolicy of-web'),
      ]),
    );
    const { reasons: given = {} } = world(where, policies).settle().spec(name) ?? {};
    expect(given).toMatchObject(told);
  });

  it('what asks for company is looked at whenever a cluster changes', () => {
    const made = world({ db: 'b', web: undefined }, [ofApp('web', { affinity: [app('db')] })]).decide();
    expect(made.last?.open).toBe(true);
  });

  it('more different ones than are looked at are told, and move nothing', () => {
    const names = Array.from({ length: 11 }, (_, n) => `w${n}`);
    const policies = names.map((name) =>
      ofApp(name, { antiAffinity: Array.from({ length: 10 }, (_, n) => app(`${name}-${n}`)) }),
    );
    const where = Object.fromEntries(names.map((name) => [name, 'a']));
    const made = world({ ...where, z: undefined }, [...policies, ofApp('z', { affinity: [app('w1')] })]);
    made.settle();
    expect(placesOf(made, [...names, 'z'])).toEqual({ ...where, z: '' });
    const told = names.map((name) => made.spec(name)?.reasons?.['a'] ?? '');
    const cut = 'the policies of its Namespace speak of more than 100 different kinds of company';
    expect(told.filter((why) => why.startsWith(cut))).toHaveLength(1);
  });
});

describe('in any Namespace', () => {
  const apps = ['u', 'v', 'w', 'x'];
  type Asked = { of: string; topologyKey: string };
  const asked = fc.record({
    of: fc.constantFrom(...apps, '*'),
    topologyKey: fc.constantFrom('cluster', 'region'),
  });
  const said = fc.record({
    affinity: fc.array(asked, { maxLength: 2 }),
    antiAffinity: fc.array(asked, { maxLength: 1 }),
  });
  const four = <T>(of: fc.Arbitrary<T>) => fc.array(of, { minLength: 4, maxLength: 4 });
  const terms = (list: Asked[]) =>
    list.map(({ of, topologyKey }) => ({ ...(of === '*' ? all : app(of)), topologyKey }));
  const isStuck = (made: World, name: string) => {
    const { clusters = [], reasons = {} } = made.spec(name) ?? {};
    return clusters.length === 0 || clusters.some((c) => reasons[c]?.includes('it stays'));
  };
  const those = ({ of }: Asked) => apps.filter((name) => of === '*' || name === of);
  const found = (made: World, one: Asked, c: string) => {
    const isNear = (o: string) => (one.topologyKey === 'cluster' ? o === c : regions[o] === regions[c]);
    return those(one).filter((name) => made.spec(name)?.clusters.some(isNear));
  };
  /** Those that ask for each other go after one of them, which may be where not all can follow. */
  const isInRing = (says: readonly { affinity: Asked[] }[], self: number, one: Asked) => {
    const seen = new Set(those(one));
    for (const name of seen)
      for (const next of says[apps.indexOf(name)]?.affinity ?? [])
        for (const other of those(next)) seen.add(other);
    return seen.has(apps[self] ?? '');
  };

  it('what is not stuck has the company that it asks for, and in the end nothing moves', () => {
    const history = fc.record({
      places: four(fc.constantFrom('a', 'b', 'c', 'a,b', '')),
      says: four(said),
      drained: fc.constantFrom('', 'a', 'b'),
      room: fc.constantFrom('1', '2', '9'),
    });
    const holds = ({
      places,
      says,
      drained,
      room,
    }: typeof history extends fc.Arbitrary<infer T> ? T : never) => {
      const where = Object.fromEntries(apps.map((name, n) => [name, places[n] || undefined]));
      const policies = says.map(({ affinity, antiAffinity }, n) =>
        ofApp(apps[n] ?? '', { affinity: terms(affinity), antiAffinity: terms(antiAffinity) }),
      );
      const made = world(where, policies);
      made.clusters = ['a', 'b', 'c'].map((name) =>
        labelled(name, { drain: name === drained, capacity: { pods: room } }),
      );
      made.settle();
      for (const [n, name] of apps.entries()) {
        if (isStuck(made, name)) continue;
        const { affinity = [], antiAffinity = [] } = says[n] ?? {};
        for (const c of made.spec(name)?.clusters ?? []) {
          for (const one of affinity) {
            if (!isInRing(says, n, one)) expect(found(made, one, c)).not.toEqual([]);
          }
          for (const one of antiAffinity)
            expect(found(made, one, c).filter((other) => other !== name)).toEqual([]);
        }
      }
    };
    fc.assert(fc.property(history, holds), { numRuns: 500 });
  });
});
