import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Answer, type Api, startApi } from './api.ts';

let api: Api;
beforeEach(() => {
  api = startApi();
});
afterEach(() => api.close());

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

interface Asked {
  plural: string;
  kind: string;
  singular?: string;
  listKind?: string;
  shortNames?: string[];
}

async function define(names: Asked, prefix = '', group = 'example.com'): Promise<void> {
  const made = await api.call('POST', `${prefix}${crds}`, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${names.plural}.${group}`,
      annotations: { 'api-approved.kubernetes.io': 'https://example.com/a-test' },
    },
    spec: {
      group,
      scope: 'Namespaced',
      names,
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
      ],
    },
  });
  expect(made.status).toBe(201);
}

async function conditions(plural: string, prefix = '', group = 'example.com'): Promise<string[][]> {
  const { body } = await api.call('GET', `${prefix}${crds}/${plural}.${group}`);
  return body.status.conditions.map((c: Answer) => [c.type, c.status, c.reason, c.message]);
}

const isServed = async (plural: string, prefix = '') =>
  (await api.call('GET', `${prefix}/apis/example.com/v1/namespaces/default/${plural}`)).status === 200;

async function remove(plural: string): Promise<void> {
  const path = `${crds}/${plural}.example.com`;
  await api.call('DELETE', path);
  const { body } = await api.call('GET', path);
  body.metadata.finalizers = [];
  await api.call('PUT', path, body);
}

const free = [
  ['NamesAccepted', 'True', 'NoConflicts', 'no conflicts found'],
  ['Established', 'True', 'InitialNamesAccepted', 'the initial names have been accepted'],
];

const first = { plural: 'ones', kind: 'One', singular: 'one', listKind: 'OneList', shortNames: ['o', 'x'] };

const clashes: [string, Partial<Asked>, string, string][] = [
  ['kind', { kind: 'One', listKind: 'L' }, 'KindConflict', '"One" is already in use'],
  ['listKind', { listKind: 'OneList' }, 'ListKindConflict', '"OneList" is already in use'],
  ['singular', { singular: 'one' }, 'SingularConflict', '"one" is already in use'],
  ['shortNames', { shortNames: ['x', 'y'] }, 'ShortNamesConflict', '"x" is already in use'],
  [
    'several shortNames',
    { shortNames: ['x', 'o'] },
    'ShortNamesConflict',
    '["x" is already in use, "o" is already in use]',
  ],
  ['shortNames and plural', { shortNames: ['ones'] }, 'ShortNamesConflict', '"ones" is already in use'],
];

test.each(clashes)(
  'a %s that another has is not served until it is free',
  async (_, names, reason, message) => {
    await define(first);
    await define({ plural: 'twos', kind: 'Two', ...names });
    expect(await conditions('ones')).toEqual(free);
    expect(await conditions('twos')).toEqual([
      ['NamesAccepted', 'False', reason, message],
      ['Established', 'False', 'NotAccepted', 'not all names are accepted'],
    ]);
    expect([await isServed('ones'), await isServed('twos')]).toEqual([true, false]);
    const { body } = await api.call('GET', '/apis/example.com/v1');
    expect(body.resources.map((r: Answer) => r.name)).toEqual(['ones']);
    await remove('ones');
    expect(await conditions('twos')).toEqual(free);
    expect([await isServed('ones'), await isServed('twos')]).toEqual([false, true]);
  },
);

test('names clash within a group of one logical cluster', async () => {
  await api.addCluster('root:other');
  await define(first);
  await define({ ...first, plural: 'ones' }, '/clusters/root:other');
  await define({ ...first, plural: 'ones' }, '', 'other.example.com');
  expect(await conditions('ones', '/clusters/root:other')).toEqual(free);
  expect(await conditions('ones', '', 'other.example.com')).toEqual(free);
  expect(await isServed('ones', '/clusters/root:other')).toBe(true);
});

test('an established definition keeps being served by the names that it had', async () => {
  await define(first);
  await define({ plural: 'twos', kind: 'Two', shortNames: ['t'] });
  await api.call('PATCH', `${crds}/twos.example.com`, { spec: { names: { shortNames: ['x'] } } });
  expect((await conditions('twos')).map(([type, status]) => [type, status])).toEqual([
    ['NamesAccepted', 'False'],
    ['Established', 'True'],
  ]);
  const { body } = await api.call('GET', '/apis/example.com/v1');
  expect(body.resources.map((r: Answer) => r.shortNames)).toEqual([['o', 'x'], ['t']]);
  await api.call('PATCH', `${crds}/ones.example.com`, { spec: { names: { shortNames: ['o'] } } });
  expect(await conditions('twos')).toEqual(free);
});

test('names of built-in kinds of the group are taken', async () => {
  await define({ plural: 'widgets', kind: 'NetworkPolicy' }, '', 'networking.k8s.io');
  expect((await conditions('widgets', '', 'networking.k8s.io'))[0]).toEqual([
    'NamesAccepted',
    'False',
    'ListKindConflict',
    '"NetworkPolicyList" is already in use',
  ]);
});

test('what a user says of its status is put right', async () => {
  await define(first);
  const status = `${crds}/ones.example.com/status`;
  const acceptedNames = { plural: 'evils', kind: 'Evil' };
  const said = await api.call('PATCH', status, { status: { acceptedNames, conditions: [] } });
  expect(said.status).toBe(200);
  expect(await conditions('ones')).toEqual(free);
  const { body } = await api.call('GET', `${crds}/ones.example.com`);
  expect(body.status.acceptedNames).toEqual(first);
  expect([await isServed('ones'), await isServed('evils')]).toEqual([true, false]);
  await api.call('PATCH', status, { status: { conditions: null } });
  expect(await conditions('ones')).toEqual(free);
});

test('a name that is none is not said to be accepted', async () => {
  await define(first);
  const acceptedNames = { plural: 'a/b', kind: 'e v' };
  const { body } = await api.call('PATCH', `${crds}/ones.example.com/status`, { status: { acceptedNames } });
  expect(body.code).toBe(422);
  expect(body.details.causes.map((cause: Answer) => cause.field)).toEqual([
    'status.acceptedNames.plural',
    'status.acceptedNames.kind',
  ]);
});
