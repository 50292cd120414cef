import { describe, expect, it } from 'vitest';
import type { PlacementPolicy } from '../../../cluster/policy.ts';
import { placed } from '../cluster/objects.ts';
import { all, app, labelled, ofApp, world } from './companies.ts';
import { annotations, type World } from './world.ts';

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
