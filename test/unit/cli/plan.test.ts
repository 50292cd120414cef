import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../cli/errors.ts';
import { manifestsOf, type Planned, planText } from '../../../cli/plan.ts';

const item = (more: Partial<Planned>): Planned => ({
  logicalCluster: 'root',
  namespace: 'shop',
  object: 'deployments.apps/web',
  workload: true,
  outcome: 'moves',
  from: ['east'],
  to: ['west'],
  reasons: { east: 'it is being drained', west: 'it has the most room' },
  ...more,
});

describe('a plan as a table', () => {
  test('says of what moves why it leaves and why it goes there, of what is blocked what speaks against each cluster', () => {
    const blocked = item({
      object: 'statefulsets.apps/db',
      outcome: 'blocked',
      to: ['east'],
      reasons: { west: 'it is cordoned', east: 'it is being drained' },
    });
    expect(planText([item({}), blocked], 'nothing').split('\n')).toEqual([
      'OBJECT                           OUTCOME   FROM   TO     WHY',
      'root/shop/deployments.apps/web   moves     east   west   east: it is being drained; west: it has the most room',
      'root/shop/statefulsets.apps/db   blocked   east   east   east: it is being drained; west: it is cordoned',
      'of 2 workloads: 1 moves, 1 blocked; nothing was changed',
    ]);
  });

  test.each<[string, Partial<Planned>, string]>([
    [
      'of several, each by its name',
      {
        from: ['a', 'b', 'east'],
        to: ['a', 'west'],
        reasons: { a: 'it is there already', b: 'it has a taint', east: 'it is being drained', west: 'y' },
      },
      'b: it has a taint; east: it is being drained; west: y',
    ],
    [
      'gone to nowhere else',
      { from: ['a', 'east'], to: ['a'], reasons: { a: 'x', east: 'y' } },
      'east: y; a: x',
    ],
    [
      'blocked, and what keeps its Namespace from a rebalance',
      {
        outcome: 'blocked',
        from: [],
        reasons: { east: 'too full' },
        kept: 'west has more, but it is nowhere yet',
      },
      'east: too full; its Namespace stays: west has more, but it is nowhere yet',
    ],
    ['asked for elsewhere', { reasons: { west: 'named by its annotation' } }, 'named by its annotation'],
    [
      'to wait for one that does not answer',
      { awaits: ['west, which has not answered since 2030-01-01T00:00:00Z'] },
      'east: it is being drained; west: it has the most room; waiting for west, which has not answered since 2030-01-01T00:00:00Z',
    ],
    ['new', { outcome: 'starts', from: [], reasons: { west: 'x', east: 'it is cordoned' } }, 'x'],
  ])('why: %s', (_what, more, why) => {
    expect(
      planText([item(more)], '')
        .split('\n')[1]
        ?.endsWith(` ${why}`),
    ).toBe(true);
  });

  test.each<[string, Partial<Planned>, string[]]>([
    ['elsewhere', { replicas: { from: { east: 5 }, to: { west: 5 } } }, ['moves', 'east', 'west']],
    [
      'elsewhere too',
      { to: ['east', 'west'], replicas: { from: { east: 5 }, to: { east: 3, west: 2 } } },
      ['spreads', 'east=5', 'east=3,west=2'],
    ],
    [
      'no longer everywhere',
      { from: ['east', 'west'], replicas: { from: { east: 3, west: 2 }, to: { west: 5 } } },
      ['leaves', 'east=3,west=2', 'west=5'],
    ],
    [
      'where it is, in other numbers',
      {
        from: ['east', 'west'],
        to: ['east', 'west'],
        replicas: { from: { east: 3, west: 2 }, to: { east: 2, west: 3 } },
      },
      ['shifts', 'east=3,west=2', 'east=2,west=3'],
    ],
    [
      'where it is, and more of it',
      { outcome: 'stays', to: ['east'], replicas: { from: { east: 3 }, to: { east: 5 } } },
      ['stays', 'east=3', 'east=5'],
    ],
    [
      'nowhere',
      { outcome: 'leaves', to: [], replicas: { from: { east: 3 }, to: {} } },
      ['leaves', 'east', '-'],
    ],
    [
      'of what nobody counts yet there, the name',
      { from: ['east', 'new'], to: ['west'], replicas: { from: { east: 5 }, to: { west: 5 } } },
      ['moves', 'east=5,new', 'west=5'],
    ],
  ])('says in the right word, and how many: %s', (_what, more, cells) => {
    const [, row = '', sum] = planText([item({ ...more, reasons: {} })], '').split('\n');
    expect(row.trim().split(/ {2,}/).slice(1)).toEqual(cells);
    expect(sum).toBe(`of 1 workload: 1 ${cells[0]}; nothing was changed`);
  });

  test('leaves out what goes along, unless that is blocked', () => {
    const claim = { object: 'persistentvolumeclaims/data', workload: false } as const;
    expect(planText([item(claim)], 'nothing is on east')).toBe('nothing is on east; nothing was changed');
    expect(planText([item({ ...claim, outcome: 'blocked' })], '')).toContain('of 0 workloads: none;');
  });
});

describe('manifests', () => {
  test.each([
    ['kind: A\nmetadata: {name: a}\n---\nkind: B\nmetadata: {name: b}\n', ['a', 'b']],
    ['---\nkind: List\nitems:\n- kind: A\n  metadata: {name: a}\n---\n', ['a']],
    ['{"kind":"A","metadata":{"name":"a"}}', ['a']],
  ])('%j', (text, names) => {
    expect(manifestsOf(text, 'f').map(({ metadata }) => metadata.name)).toEqual(names);
  });

  test.each(['', 'kind: A', 'a: [', '- 1', 'kind: A\nmetadata: {generateName: a}'])('%j is none', (text) => {
    expect(() => manifestsOf(text, 'file.yaml')).toThrow(UsageError);
  });
});
