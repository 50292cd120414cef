import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSpread, podsOn, replicasPerValue, topologyOf } from '../../../cluster/spread.ts';
import { cluster } from '../scheduler/world.ts';

const counts = (of: Record<string, number>) => new Map(Object.entries(of));
const region = 'region';

describe('an annotation', () => {
  it.each<[string, unknown]>([
    ['region', { topologyKey: 'region' }],
    ['region us=3,eu=2', { topologyKey: 'region', replicas: { us: 3, eu: 2 } }],
    ['  zone  a=1, b=2 ', { topologyKey: 'zone', replicas: { a: 1, b: 2 } }],
    ['example.com/room r1=1', { topologyKey: 'example.com/room', replicas: { r1: 1 } }],
    ['cluster east=3,west=1', { topologyKey: 'cluster', replicas: { east: 3, west: 1 } }],
  ])('says %s', (text, read) => expect(parseSpread(text)).toEqual(read));

  it.each<[string, string]>([
    ['', 'must be a label key of physical clusters'],
    ['us=3,eu=2', 'must be a label key of physical clusters'],
    ['a$b', 'name part must consist of'],
    ['region us', 'must be a label key of physical clusters'],
    ['region us=', 'must be a label key of physical clusters'],
    ['region us=-1', 'must be a label key of physical clusters'],
    ['region us=1.5', 'must be a label key of physical clusters'],
    ['region us=3,', 'must be a label key of physical clusters'],
    ['region us=0', 'us: must be between 1 and 1000000, inclusive'],
    ['region us=1000001', 'us: must be between 1 and 1000000, inclusive'],
    ['region us=1,us=2', 'us is there twice'],
    ['region __proto__=1', 'a valid label must be an empty string or consist of'],
    [
      `region ${Array.from({ length: 101 }, (_, i) => `r${i}=1`).join(',')}`,
      'must not have more than 100 values',
    ],
  ])('cannot say %s', (text, why) => expect(parseSpread(text)).toContain(why));
});

it.each<[string, Record<string, string>, string | undefined]>([
  ['region', { region: 'eu' }, 'eu'],
  ['region', { 'topology.kubernetes.io/region': 'us', region: 'eu' }, 'us'],
  ['zone', { 'topology.kubernetes.io/zone': 'a' }, 'a'],
  ['topology.kubernetes.io/zone', { zone: 'a' }, undefined],
  ['provider', { provider: 'x' }, 'x'],
  ['provider', { 'topology.kubernetes.io/provider': 'x' }, undefined],
  ['cluster', { cluster: 'x' }, 'east'],
  ['constructor', {}, undefined],
])('%s of a cluster labelled %o', (key, labels, value) => {
  const made = cluster('east');
  expect(topologyOf(key, { ...made, metadata: { ...made.metadata, labels } })).toBe(value);
});

describe('exact counts', () => {
  const replicas = { us: 3, eu: 2 };
  it.each<[number, string[], Record<string, number>]>([
    [5, ['us', 'eu'], { eu: 2, us: 3 }],
    [10, ['us', 'eu'], { eu: 4, us: 6 }],
    [6, ['us', 'eu'], { eu: 2, us: 4 }],
    [1, ['us', 'eu'], { eu: 0, us: 1 }],
    [0, ['us', 'eu'], { eu: 0, us: 0 }],
    [5, ['us'], { us: 5 }],
    [5, [], {}],
  ])('%d replicas over %o', (total, values, expected) => {
    const parts = replicasPerValue(total, { topologyKey: region, replicas }, values);
    expect(Object.fromEntries(parts)).toEqual(expected);
  });

  it.each<[string, number, Record<string, number>]>([
    ['as many', 12, { a: 4, b: 5, c: 3 }],
    ['the last has fewer', 10, { a: 4, b: 5, c: 1 }],
    ['one of it stays where the others would be all but full', 9, { a: 4, b: 4, c: 1 }],
    ['all of the last, and of the one before', 7, { a: 4, b: 3, c: 0 }],
    ['one of the second stays', 4, { a: 3, b: 1, c: 0 }],
    ['the first alone', 3, { a: 3, b: 0, c: 0 }],
    ['none', 0, { a: 0, b: 0, c: 0 }],
    ['more, to where there is room', 14, { a: 4, b: 5, c: 5 }],
    ['more than there is room for, to the first', 24, { a: 10, b: 5, c: 9 }],
  ])('that are filled in an order: %s', (_what, total, expected) => {
    const replicas = { c: 3, b: 5, a: 4 };
    const spread = { topologyKey: 'cluster', replicas, order: ['a', 'b', 'c'], most: { a: 4, b: 5, c: 9 } };
    expect(Object.fromEntries(replicasPerValue(total, spread, ['a', 'b', 'c']))).toEqual(expected);
  });

  const weights = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.integer({ min: 1, max: 50 }), {
    minKeys: 1,
  });
  it('add up, are exact, and grow without taking anything from a value', () => {
    fc.assert(
      fc.property(weights, fc.nat(400), (asked, total) => {
        const spread = { topologyKey: region, replicas: asked };
        const values = Object.keys(asked);
        const sum = Object.values(asked).reduce((s, n) => s + n, 0);
        expect(Object.fromEntries(replicasPerValue(sum, spread, values))).toEqual(asked);
        const now = replicasPerValue(total, spread, values);
        const more = replicasPerValue(total + 1, spread, values, now);
        expect([...now.values()].reduce((s, n) => s + n, 0)).toBe(total);
        expect([...more.values()].reduce((s, n) => s + n, 0)).toBe(total + 1);
        for (const value of values) expect(more.get(value)).toBeGreaterThanOrEqual(now.get(value) ?? 0);
        expect(replicasPerValue(total, spread, values, now)).toEqual(now);
      }),
    );
  });

  it('of as many as there can be is divided at once', () => {
    const most = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`r${i}`, 1_000_000 - i]));
    const parts = replicasPerValue(1_000_000_000, { topologyKey: region, replicas: most }, Object.keys(most));
    expect([...parts.values()].reduce((s, n) => s + n, 0)).toBe(1_000_000_000);
  });
});

describe('evenly', () => {
  it.each<[string, number, number | undefined, Record<string, number>, Record<string, number>]>([
    ['anew', 5, undefined, { eu: 0, us: 0 }, { eu: 3, us: 2 }],
    ['the odd one stays', 5, undefined, { eu: 2, us: 3 }, { eu: 2, us: 3 }],
    ['a newcomer gets what it must', 6, 1, { eu: 0, us: 6 }, { eu: 3, us: 3 }],
    ['and no more than it must', 6, 2, { eu: 0, us: 6 }, { eu: 2, us: 4 }],
    ['nothing moves that need not', 6, 4, { eu: 1, us: 5 }, { eu: 1, us: 5 }],
    ['one more goes where least is', 7, 4, { eu: 1, us: 5 }, { eu: 2, us: 5 }],
    ['one less leaves where most is', 5, 4, { eu: 1, us: 5 }, { eu: 1, us: 4 }],
    ['to none', 0, 3, { eu: 1, us: 5 }, { eu: 0, us: 0 }],
  ])('%s', (_what, total, maxSkew, current, expected) => {
    const spread = { topologyKey: region, ...(maxSkew !== undefined && { maxSkew }) };
    const parts = replicasPerValue(total, spread, Object.keys(current), counts(current));
    expect(Object.fromEntries(parts)).toEqual(expected);
  });

  it('adds up, keeps within the skew, moves nothing without need, and stays', () => {
    const values = ['a', 'b', 'c', 'd'];
    fc.assert(
      fc.property(
        fc.nat(60),
        fc.integer({ min: 1, max: 6 }),
        fc.array(fc.nat(30), { maxLength: 4 }),
        (total, maxSkew, had) => {
          const current = new Map(values.map((v, i) => [v, had[i] ?? 0]));
          const spread = { topologyKey: region, maxSkew };
          const parts = replicasPerValue(total, spread, values, current);
          const sizes = [...parts.values()];
          expect(sizes.reduce((s, n) => s + n, 0)).toBe(total);
          expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(maxSkew);
          expect(replicasPerValue(total, spread, values, parts)).toEqual(parts);
          const there = [...current.values()];
          const isWithin = Math.max(...there) - Math.min(...there) <= maxSkew;
          if (isWithin && there.reduce((s, n) => s + n, 0) === total) expect(parts).toEqual(current);
        },
      ),
    );
  });
});

it('what each cluster has to take is enough for all', () => {
  const values = { a: 'us', b: 'us', c: 'eu' };
  const spread = { topologyKey: region, replicas: { us: 3, eu: 2 }, values };
  expect(Object.fromEntries(podsOn(5, ['a', 'b', 'c'], spread))).toEqual({ a: 2, b: 2, c: 2 });
  expect(Object.fromEntries(podsOn(5, ['a', 'c'], spread))).toEqual({ a: 3, c: 2 });
  expect(Object.fromEntries(podsOn(5, ['a', 'c'], undefined))).toEqual({ a: 3, c: 3 });
});
