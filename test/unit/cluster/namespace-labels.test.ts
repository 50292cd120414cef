import { expect, test } from 'vitest';
import { carriedLabels, keyThere, labelsThere, markOf } from '../../../cluster/namespace-labels.ts';

const security = 'pod-security.kubernetes.io';

test('no more than so many are carried, always the same, those of pod security before all', () => {
  const labels = Object.fromEntries(
    Array.from({ length: 1000 }, (_, i) => [`l${i}`, 'x'] as const).reverse(),
  );
  const carried = carriedLabels({ ...labels, [`${security}/enforce`]: 'restricted' });
  expect(Object.keys(carried)).toHaveLength(64);
  expect(Object.keys(carried)).toEqual([`${security}/enforce`, ...Object.keys(labels).sort().slice(0, 63)]);
});

test('a logical cluster’s mark is its id; of root, which every Atoll has, its own on each physical cluster', () => {
  const of = (cluster: string, syncer: string) => markOf({ cluster, syncer, namespace: 'shop', uid: 'u' });
  expect(of('k3q', 'a')).toBe('k3q');
  expect(of('root', 'a')).toMatch(/^root-[0-9a-f]{8}$/);
  expect(of('root', 'a')).not.toBe(of('root', 'b'));
});

test('what a Namespace is called is carried by its locator', () => {
  expect(carriedLabels({ 'kubernetes.io/metadata.name': 'shop' })).toEqual({});
});

test.each([
  ['app', 'labels.atoll.dev/app'],
  ['policy.corp/exempt', 'policy.corp.labels.atoll.dev/exempt'],
  ['atoll.dev/managed-by', 'atoll.dev.labels.atoll.dev/managed-by'],
  ['labels.atoll.dev/app', 'labels.atoll.dev.labels.atoll.dev/app'],
  ['kubernetes.io/metadata.name', 'atoll.dev/namespace'],
  [
    `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}/x`,
    /^[0-9a-f]{16}\.labels\.atoll\.dev\/x$/,
  ],
])('%s is %s there', (key, there) => {
  if (typeof there === 'string') expect(keyThere(key)).toBe(there);
  else expect(keyThere(key)).toMatch(there);
});

const asWritten = (labels: Record<string, string>, patterns?: string[]) =>
  Object.fromEntries(
    Object.entries(labelsThere(labels, patterns)).filter(([key]) => !key.includes('labels.atoll.dev/')),
  );

test.each([
  ['a label of the user’s own', 'app', 'web', false],
  ['one that a policy of the administrator may exempt by', 'policy.corp/exempt', 'true', false],
  ['a run level of OpenShift', 'openshift.io/run-level', '0', false],
  ['a right to devices', 'resource.kubernetes.io/admin-access', 'true', false],
  ['a lower level than the cluster’s', `${security}/enforce`, 'baseline', false],
  ['none at all', `${security}/enforce`, 'privileged', false],
  ['the highest', `${security}/enforce`, 'restricted', true],
  ['an old version of it', `${security}/enforce-version`, 'v1.19', false],
  ['what only warns', `${security}/warn`, 'baseline', true],
  ['and of which version', `${security}/warn-version`, 'v1.30', true],
  ['what is only noted', `${security}/audit`, 'restricted', true],
  ['and of which version', `${security}/audit-version`, 'latest', true],
  ['a silence', `${security}/warn`, 'privileged', false],
  ['what the cluster would refuse', `${security}/warn`, 'bogus', false],
  ['what the cluster would refuse', `${security}/warn-version`, 'v1.x', false],
  ['what is not known', `${security}/other`, 'restricted', false],
])('as it is written goes %s: %s=%s: %s', (_, key, value, goes) => {
  expect(asWritten({ [key]: value })).toEqual(goes ? { [key]: value } : {});
  expect(labelsThere({ [key]: value })).toMatchObject({ [keyThere(key)]: value });
});

test.each([
  ['a key', ['app'], { app: 'a', apps: 'a', 'x/app': 'a' }, { app: 'a' }],
  [
    'a prefix',
    ['corp.example/*'],
    { app: 'a', 'corp.example/x': 'a', 'sub.corp.example/x': 'a' },
    { 'corp.example/x': 'a' },
  ],
  ['all', ['*'], { app: 'a', 'corp.example/x': 'a' }, { app: 'a', 'corp.example/x': 'a' }],
  [
    'all but what means something to a cluster itself',
    ['*'],
    { [`${security}/enforce`]: 'baseline', 'openshift.io/run-level': '0', 'x.k8s.io/y': 'z' },
    {},
  ],
  [
    'which has to be named',
    [`${security}/*`],
    { [`${security}/enforce`]: 'baseline' },
    { [`${security}/enforce`]: 'baseline' },
  ],
  [
    'never ours',
    ['*', 'atoll.dev/*', 'atoll.dev/managed-by', 'kubernetes.io/*'],
    { 'atoll.dev/managed-by': 'x', 'atoll.dev/logical-cluster': 'x', 'kubernetes.io/metadata.name': 'x' },
    {},
  ],
])('the administrator lets in %s', (_, patterns, labels, there) => {
  const { 'atoll.dev/namespace': _name, ...found } = asWritten(labels as Record<string, string>, patterns);
  expect(found).toEqual(there);
});
