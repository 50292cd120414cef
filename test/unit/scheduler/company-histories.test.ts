import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { all, app, labelled, ofApp, regions, world } from './companies.ts';
import type { World } from './world.ts';

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
