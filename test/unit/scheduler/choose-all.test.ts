import { expect, test } from 'vitest';
import type { PhysicalCluster } from '../../../cluster/types.ts';
import { chooseAll } from '../../../scheduler/choose.ts';
import type { Situation } from '../../../scheduler/judge.ts';
import { layer } from '../../../scheduler/policies.ts';
import { wishOf } from '../../../scheduler/wishes.ts';
import { deployment } from '../cluster/objects.ts';
import { cluster, type Fields } from './world.ts';

const policy = {
  apiVersion: 'atoll.dev/v1alpha1',
  kind: 'ClusterPlacementPolicy',
  metadata: { name: 'wide' },
  spec: { clusters: { labelSelector: { matchLabels: { pool: 'wide' } } } },
};

function labelled(name: string, pool: string, fields?: Fields): PhysicalCluster {
  const made = cluster(name, fields);
  return { ...made, metadata: { ...made.metadata, labels: { pool } } };
}

function chosen(clusters: readonly PhysicalCluster[], given: Partial<Situation> = {}) {
  const { object } = deployment('web');
  const [said] = layer([policy]);
  const wish = wishOf(object, undefined, said ? [said.said] : []);
  if (!wish) throw new Error('the policy says nothing');
  const situation: Situation = {
    clusters: new Map(clusters.map((one) => [one.metadata.name ?? '', one])),
    notTaken: new Map(),
    used: new Map(),
    current: [],
    claims: new Map(),
    uncopied: undefined,
    now: 0,
    pods: 1,
    divided: undefined,
    need: () => new Map(),
    ...given,
  };
  return chooseAll(wish, situation);
}

const some = () => [labelled('a', 'no'), labelled('b', 'wide'), labelled('c', 'no'), labelled('d', 'wide')];
const by = 'by ClusterPlacementPolicy wide of root';

test.each<[string, Partial<Situation>, string[], Record<string, string | RegExp>, boolean]>([
  ['wherever a policy wants it', {}, ['b', 'd'], { b: by, d: by, a: /wide/, c: /wide/ }, false],
  [
    'nor where it is, if that is another',
    { current: ['c'] },
    ['b', 'd'],
    { b: by, d: by, a: /wide/, c: /wide/ },
    false,
  ],
  [
    'but with its data there, too',
    { current: ['c'], claims: new Map([['c', 'data']]) },
    ['b', 'c', 'd'],
    { b: by, d: by, a: /wide/, c: /claim data holds data on c/ },
    true,
  ],
  [
    'nor where no cluster is any more',
    { current: ['x'], claims: new Map([['x', 'data']]) },
    ['b', 'd'],
    { b: by, d: by, a: /wide/, c: /wide/ },
    false,
  ],
  [
    'nor where something else keeps it away',
    { company: (name) => (name === 'b' ? 'its company' : undefined) },
    ['d'],
    { d: by, a: /wide/, b: 'its company', c: /wide/ },
    false,
  ],
])('it is %s', (_, given, clusters, reasons, blocked) => {
  const choice = chosen(some(), given);
  expect(choice.clusters).toEqual(clusters);
  expect(choice.blocked).toBe(blocked);
  // In this order they are read.
  expect(Object.keys(choice.reasons)).toEqual(Object.keys(reasons));
  for (const [name, why] of Object.entries(reasons)) expect(choice.reasons[name]).toMatch(why);
});

test('where none is wanted that takes it, it stays where it is', () => {
  const clusters = [labelled('a', 'no'), labelled('b', 'wide', { ready: false }), labelled('c', 'no')];
  const choice = chosen(clusters, { current: ['a'] });
  expect(choice.clusters).toEqual(['a']);
  expect(choice.blocked).toBe(true);
  expect(Object.keys(choice.reasons)).toEqual(['a', 'b', 'c']);
  expect(choice.reasons['a']).toContain('it stays');
});

/** Of a thousand. */
test('fifty reasons are given, and a cluster that is not wanted is looked at once for all workloads', () => {
  let looks = 0;
  class Counted<V> extends Map<string, V> {
    override get(name: string): V | undefined {
      looks++;
      return super.get(name);
    }
  }
  const names = Array.from({ length: 1000 }, (_, i) => `c-${String(i).padStart(4, '0')}`);
  const clusters = new Counted(
    names.map((name, i) => [name, labelled(name, i % 100 === 0 ? 'wide' : 'no')] as const),
  );
  const first = chosen([], { clusters });
  expect(first.clusters).toHaveLength(10);
  expect(Object.keys(first.reasons)).toHaveLength(50);
  looks = 0;
  expect(chosen([], { clusters })).toEqual(first);
  expect(looks).toBeLessThan(100);
});
