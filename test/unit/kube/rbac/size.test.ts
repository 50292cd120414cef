import { expect, test } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { aggregatedRules, CanonicalRules } from '../../../../kube/rbac/aggregate.ts';
import { compactRules, missingRules } from '../../../../kube/rbac/covers.ts';
import { HeldRules } from '../../../../kube/rbac/held.ts';
import { coversUrl, type PolicyRule } from '../../../../kube/rbac/rule.ts';

const many = 2000;
const each = <T>(make: (i: number) => T, count = many): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const rule = (given: Partial<PolicyRule>): PolicyRule => ({
  verbs: ['get'],
  apiGroups: [],
  resources: [],
  resourceNames: [],
  nonResourceURLs: [],
  ...given,
});
const on = (given: Partial<PolicyRule>) => rule({ apiGroups: [''], resources: ['pods'], ...given });

const everyPod = on({});

/** What is held, what is wanted of it, and whether it is: how many rules are looked at grows with one of them. */
test.each<[string, PolicyRule[], PolicyRule[], number]>([
  ['resources', each((i) => on({ resources: [`r${i}`] })), each((i) => on({ resources: [`r${i}`] })), 0],
  ['groups', each((i) => on({ apiGroups: [`g${i}`] })), each((i) => on({ apiGroups: [`g${i}`] })), 0],
  ['verbs', each((i) => on({ verbs: [`v${i}`] })), each((i) => on({ verbs: [`v${i}`] })), 0],
  ['names', each((i) => on({ resourceNames: [`n${i}`] })), each((i) => on({ resourceNames: [`n${i}`] })), 0],
  [
    'urls',
    each((i) => rule({ nonResourceURLs: [`/u${i}`] })),
    each((i) => rule({ nonResourceURLs: [`/u${i}`] })),
    0,
  ],
  [
    'trees',
    each((i) => rule({ nonResourceURLs: [`/${i + many}/*`] })),
    each((i) => rule({ nonResourceURLs: [`/${i + many}/x`] })),
    0,
  ],
  [
    'what is not held',
    each((i) => on({ resources: [`r${i}`] })),
    each((i) => on({ resources: [`x${i}`] })),
    many,
  ],
  ['one rule, bound often', each(() => everyPod), each((i) => on({ verbs: [`x${i}`] })), many],
  [
    'subresources',
    each((i) => on({ resources: [`*/s${i}`] })),
    each((i) => on({ resources: [`pods/s${i}`] })),
    0,
  ],
  [
    'all',
    [on({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] })],
    each((i) => on({ verbs: [`v${i}`] })),
    0,
  ],
])('%s: as many comparisons as rules', (_, held, wanted, lacking) => {
  expect(missingRules(held, wanted, 4 * many)?.length).toBe(lacking);
});

test('what takes more is left, whatever the rules are', () => {
  const verbs = each((i) => `v${i}`, 100);
  const groups = each((i) => `g${i}`, 100);
  const held = each((i) =>
    on({ verbs, apiGroups: groups, resources: ['a', 'b'], resourceNames: ['x', `n${i}`] }),
  );
  const wanted = each((i) =>
    on({ verbs: ['v1'], apiGroups: ['g1'], resources: ['a'], resourceNames: [`m${i}`, 'y'] }),
  );
  expect(missingRules(held, wanted, 1000)).toHaveLength(2 * many);
  // No list alone tells which of them it is.
  const hard = each((i) => on({ verbs: [`v${i % 50}`], apiGroups: [`g${(i * 7) % 50}`], resources: ['a'] }));
  expect(missingRules(hard, [on({ verbs, apiGroups: groups, resources: ['a'] })], 1000)).toBeUndefined();
});

test('what is missing of one thing is told in one rule', () => {
  const pieces = each((i) => on({ verbs: [`v${i}`] }), 50_000);
  expect(compactRules(pieces)[0]?.verbs).toHaveLength(50_000);
});

test('an aggregated role reads each rule of the others once', () => {
  let reads = 0;
  const counted = (i: number) =>
    Object.defineProperty({ apiGroups: [''], resources: [`r${i % 1500}`] }, 'verbs', {
      enumerable: true,
      get: () => {
        reads++;
        return ['get'];
      },
    });
  const labels = { part: 'yes' };
  const parts = each((i) => ({ metadata: { name: `p${i}`, labels }, rules: [counted(i)] }));
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: labels }] };
  const whole = { metadata: { name: 'whole' }, aggregationRule };
  expect(aggregatedRules(whole as unknown as KubeObject, parts as unknown as KubeObject[])).toHaveLength(
    1500,
  );
  expect(reads).toBe(many);
});

test('of many that aggregate each other each is read once, and counts once', () => {
  let reads = 0;
  const said = {
    apiGroups: [''],
    resources: ['r'],
    get verbs() {
      reads++;
      return ['get'];
    },
  };
  const labels = { part: 'yes' };
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: labels }] };
  const all = each(
    (i) => ({ metadata: { name: `a${i}`, labels }, aggregationRule, rules: [said] }) as unknown as KubeObject,
    100,
  );
  const canonical = new CanonicalRules();
  for (const role of all) expect(aggregatedRules(role, all, canonical)).toHaveLength(1);
  expect(reads).toBe(all.length);
});

test('a long URL is looked at for as long as it is', () => {
  const deep = (i: number) => `/${'a'.repeat(6400)}${'b'.repeat(i)}`;
  const held = new HeldRules(each((i) => rule({ nonResourceURLs: [`${deep(i)}*`] }), 100));
  expect(held.covers(rule({ nonResourceURLs: [`${deep(100)}c`.replace('a', 'x')] }))).toBe(false);
  expect(held.steps).toBeGreaterThan(100 * 100);
});

test('rules are the same in whatever order of fields, with lists absent, null or empty', () => {
  const labels = { part: 'yes' };
  const rules = [
    { verbs: ['get'], apiGroups: [''], resources: ['pods'] },
    { resources: ['pods'], apiGroups: [''], verbs: ['get'], resourceNames: [] },
    { resources: ['pods'], apiGroups: [''], verbs: ['get'], nonResourceURLs: null },
    { resources: ['pods'], apiGroups: [''], verbs: ['get'], resourceNames: [''] },
  ];
  const whole = {
    metadata: { name: 'w' },
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: labels }] },
  };
  const part = { metadata: { name: 'p', labels }, rules };
  expect(aggregatedRules(whole as unknown as KubeObject, [part as unknown as KubeObject])).toEqual([
    rules[0],
    rules[3],
  ]);
});

test('the steps are told', () => {
  const held = new HeldRules([on({}), on({ verbs: ['list'] })]);
  expect([held.covers(on({ verbs: ['list'] })), held.steps]).toEqual([true, 1]);
});

test('a URL of stars is one of stars', () => {
  const stars = '*'.repeat(200_000);
  expect([coversUrl(`/a${stars}`, '/a/b'), coversUrl(`/${stars}a*`, '/a/b'), coversUrl(stars, '/a')]).toEqual(
    [true, false, true],
  );
});
