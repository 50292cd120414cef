import { expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import { discover } from '../../../client/discovery.ts';
import { pathOf } from '../../../client/url.ts';
import { mostResources } from '../../../kube/discovery/extension.ts';

/** What is discovered where a server of somebody's own answers so for its one version. */
function discovered(list: unknown): ReturnType<typeof discover> {
  const answers: Record<string, unknown> = {
    '/apis': { groups: [{ name: 'g', versions: [{ groupVersion: 'g/v1', version: 'v1' }] }] },
    '/api/v1': { resources: [{ name: 'pods', kind: 'Pod', namespaced: true, verbs: ['list'] }] },
    '/apis/g/v1': list,
  };
  const transport = async ({ url }: { url: string }) => {
    const body = Buffer.from(JSON.stringify(answers[url]));
    return { status: 200, headers: { 'content-type': 'application/json' }, body };
  };
  return discover(new Client(transport));
}

const pods = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true, verbs: ['list'] };

test.each([
  ['number', 5],
  ['object', { toString: 'none' }],
  ['nothing', null],
  ['empty text', ''],
  ['subresource', 'as/status'],
  ['way up', '..'],
  ['query', 'as?watch=true'],
  ['fragment', 'as#'],
  ['encoded way up', '%2e%2e'],
  ['blank', 'a s'],
  ['very long text', 'a'.repeat(1000)],
])('a resource whose name is a %s is none, and the others are there', async (_what, name) => {
  const resources = [{ name, kind: 'A', namespaced: true, verbs: ['list'] }, null, 'as', { name: 'bs' }];
  const bs = { group: 'g', version: 'v1', resource: 'bs', kind: '', namespaced: false, verbs: [] };
  expect(await discovered({ resources })).toEqual({ resources: [pods, bs], failed: [] });
});

test('verbs that are none are left out', async () => {
  const resources = [
    { name: 'as', kind: 'A', namespaced: true, verbs: ['list', 5, null] },
    { name: 'bs', kind: 'B', namespaced: true, verbs: 'list' },
  ];
  const found = (await discovered({ resources })).resources.map(({ resource, verbs }) => [resource, verbs]);
  expect(found).toEqual([
    ['pods', ['list']],
    ['as', ['list']],
    ['bs', []],
  ]);
});

test.each([
  ['a text', { resources: 'as' }],
  ['no object', [1]],
  ['too long', { resources: Array(mostResources + 1).fill({ name: 'as' }) }],
])('a list that is %s says nothing of what its version serves', async (_what, list) => {
  expect(await discovered(list)).toEqual({ resources: [pods], failed: [{ group: 'g', version: 'v1' }] });
});

test('what is in the name of a resource stays in it', () => {
  const resource = { group: 'g', version: 'v1', resource: '../a?b#c' };
  expect(pathOf(resource, { namespace: 'n' })).toBe('/apis/g/v1/namespaces/n/..%2Fa%3Fb%23c');
});

const aggregated = (...items: object[]) => ({ kind: 'APIGroupDiscoveryList', items });
const versionOf = (version: string, freshness: string, ...names: string[]) => ({
  version,
  freshness,
  resources: names.map((resource) => ({
    resource,
    scope: resource === 'nodes' ? 'Cluster' : 'Namespaced',
    responseKind: { group: '', version: '', kind: resource.toUpperCase() },
    verbs: ['list'],
  })),
});

test('what the aggregated documents tell is asked no more; what is stale there, or not in them, is asked one by one', async () => {
  const group = (name: string, ...versions: string[]) => ({
    name,
    versions: versions.map((version) => ({ groupVersion: `${name}/${version}`, version })),
    preferredVersion: { version: versions[0] },
  });
  const documents: Record<string, unknown> = {
    '/api': aggregated({ metadata: {}, versions: [versionOf('v1', 'Current', 'pods', 'nodes', '../up')] }),
    '/apis': aggregated(
      {
        metadata: { name: 'g' },
        versions: [versionOf('v1', 'Current', 'as'), versionOf('v2', 'Current', 'as', 'bs')],
      },
      { metadata: { name: 'h' }, versions: [versionOf('v1', 'Stale', 'cs')] },
    ),
  };
  const plain: Record<string, unknown> = {
    '/apis': { groups: [group('g', 'v2', 'v1'), group('h', 'v1'), group('other', 'v1')] },
    '/apis/h/v1': { resources: [{ name: 'ds', kind: 'D', namespaced: true, verbs: ['list'] }] },
    '/apis/other/v1': { resources: [{ name: 'os', kind: 'O', namespaced: true, verbs: ['list'] }] },
  };
  const asked: string[] = [];
  const client = new Client(async ({ url, headers }) => {
    const isAggregated = headers['accept']?.includes('APIGroupDiscoveryList') === true;
    asked.push(`${isAggregated ? 'aggregated ' : ''}${url}`);
    const body = Buffer.from(JSON.stringify((isAggregated ? documents : plain)[url]));
    return { status: 200, headers: { 'content-type': 'application/json' }, body };
  });
  const { resources, failed } = await discover(client);
  expect(asked.sort()).toEqual([
    '/apis',
    '/apis/h/v1',
    '/apis/other/v1',
    'aggregated /api',
    'aggregated /apis',
  ]);
  expect(failed).toEqual([]);
  const seen = resources.map((of) => [of.group, of.version, of.resource, of.kind, of.namespaced]);
  expect(seen).toEqual([
    ['', 'v1', 'pods', 'PODS', true],
    ['', 'v1', 'nodes', 'NODES', false],
    ['g', 'v2', 'as', 'AS', true],
    ['g', 'v2', 'bs', 'BS', true],
    ['h', 'v1', 'ds', 'D', true],
    ['other', 'v1', 'os', 'O', true],
  ]);
});

test('a version of which the aggregated documents tell too much fails alone', async () => {
  const names = Array.from({ length: mostResources + 1 }, (_, i) => `as${i}`);
  const group = { name: 'g', versions: [{ groupVersion: 'g/v1', version: 'v1' }] };
  const documents: Record<string, unknown> = {
    '/api': aggregated({ metadata: {}, versions: [versionOf('v1', 'Current', 'pods')] }),
    '/apis': aggregated({ metadata: { name: 'g' }, versions: [versionOf('v1', 'Current', ...names)] }),
  };
  const plain = {
    '/apis': { groups: [group] },
    '/apis/g/v1': { resources: names.map((name) => ({ name })) },
  };
  const client = new Client(async ({ url, headers }) => {
    const isAggregated = headers['accept']?.includes('APIGroupDiscoveryList') === true;
    const body = Buffer.from(JSON.stringify((isAggregated ? documents : plain)[url as '/apis']));
    return { status: 200, headers: { 'content-type': 'application/json' }, body };
  });
  const { resources, failed } = await discover(client);
  expect(resources.map(({ resource }) => resource)).toEqual(['pods']);
  expect(failed).toEqual([{ group: 'g', version: 'v1' }]);
});
