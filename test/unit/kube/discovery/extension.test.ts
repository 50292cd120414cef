import { expect, test } from 'vitest';
import { aggregatedDiscovery } from '../../../../kube/discovery/aggregated.ts';
import { mostResources, type OtherVersion, otherResources } from '../../../../kube/discovery/extension.ts';
import { groupsOf } from '../../../../kube/discovery/groups.ts';
import { builtinResources } from '../../../../kube/schema/builtin.ts';

const defined = (group: string, version: string) => ({ ...builtinResources[0], group, version }) as never;
const other = (
  group: string,
  version: string,
  groupPriority: number,
  versionPriority: number,
): OtherVersion => ({
  group,
  version,
  groupPriority,
  versionPriority,
});

test('groups of other servers come after what is built in, by their priorities among those of definitions', () => {
  const here = [...builtinResources, defined('m.example.com', 'v1'), defined('m.example.com', 'v2')];
  const groups = groupsOf(here, [
    other('a.example.com', 'v1', 100, 10),
    other('z.example.com', 'v1alpha1', 2000, 20),
    other('z.example.com', 'v1', 500, 10),
    other('m.example.com', 'v1beta1', 10, 200),
    other('m.example.com', 'v3', 10, 1),
  ]);
  const builtin = groupsOf(builtinResources);
  expect(groups.slice(0, builtin.length)).toEqual(builtin);
  expect(groups.slice(builtin.length)).toEqual([
    { name: 'z.example.com', versions: ['v1alpha1', 'v1'] },
    { name: 'm.example.com', versions: ['v1beta1', 'v2', 'v1', 'v3'] },
    { name: 'a.example.com', versions: ['v1'] },
  ]);
});

test('of what a server says it serves only what can be read is taken', () => {
  const gv = { group: 'g', version: 'v1' };
  expect(otherResources(undefined, gv)).toEqual([]);
  expect(otherResources({ resources: 'none' }, gv)).toEqual([]);
  const resources = [
    { name: 'as', namespaced: true, kind: 'A', verbs: ['get', 5], categories: 'all', singularName: 5 },
    { name: 'as/scale', group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get'] },
    { name: 'lost/status', kind: 'Lost' },
    { name: 5 },
    { name: { toString: null } },
    { name: '../../api/v1/secrets' },
    { name: 'as?watch=1' },
    { name: '..' },
    { name: '' },
    null,
  ];
  expect(otherResources({ resources }, gv)).toEqual([
    {
      resource: 'as',
      responseKind: { group: 'g', version: 'v1', kind: 'A' },
      scope: 'Namespaced',
      singularResource: '',
      verbs: ['get'],
      subresources: [
        {
          subresource: 'scale',
          responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
          verbs: ['get'],
        },
      ],
    },
  ]);
});

test.each([
  ['resources', (i: number) => `as${i}`, (all: object[]) => all.length],
  [
    'subresources',
    (i: number) => (i === 0 ? 'as' : `as/${i}`),
    ([one]: object[]) => 1 + (one as { subresources: unknown[] }).subresources.length,
  ],
])('of %s so many are taken, of more none', (_what, name, count) => {
  const gv = { group: 'g', version: 'v1' };
  const list = (length: number) => ({ resources: Array.from({ length }, (_, i) => ({ name: name(i) })) });
  expect(count(otherResources(list(mostResources), gv) ?? [])).toBe(mostResources);
  expect(otherResources(list(mostResources + 1), gv)).toBeUndefined();
});

test('what is served by many is put in order without looking at each for each', () => {
  let looks = 0;
  const many = (length: number) =>
    Array.from({ length }, (_, i) => ({
      ...other('', 'v1', i % 7, 10),
      get group() {
        looks++;
        return `g${(i * 7919) % length}.example.com`;
      },
    }));
  const others = many(2000);
  expect(groupsOf(builtinResources, others)).toHaveLength(groupsOf(builtinResources).length + 2000);
  expect((aggregatedDiscovery([], 'v2', false, others)['items'] as unknown[]).length).toBe(2000);
  expect(looks).toBeLessThan(20 * 2000);
});
