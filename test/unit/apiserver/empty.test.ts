import { expect, test } from 'vitest';
import { emptyObject } from '../../../apiserver/encode/empty.ts';
import { builtinResources } from '../../../kube/schema/builtin.ts';

const selector = null;
const template = { metadata: {}, spec: { containers: null } };

test.each([
  ['', 'secrets', {}],
  ['', 'pods', { spec: { containers: null }, status: {} }],
  ['', 'services', { spec: {}, status: { loadBalancer: {} } }],
  ['apps', 'deployments', { spec: { replicas: 0, selector, template, strategy: {} }, status: {} }],
])('the empty object of %s %s', (group, resource, rest) => {
  const info = builtinResources.find((r) => r.group === group && r.resource === resource);
  if (info === undefined) throw new Error(`no ${resource}`);
  const metadata = { resourceVersion: '7' };
  const { kind, apiVersion, ...object } = emptyObject({ info, schema: { type: 'any' } }, metadata);
  expect(kind).toBe(info.kind);
  expect(apiVersion).toBe(group === '' ? 'v1' : `${group}/v1`);
  expect(object).toEqual({ metadata, ...rest });
});

test('custom resources have nothing but their metadata', () => {
  const [info] = builtinResources;
  if (info === undefined) throw new Error('no resources');
  const object = emptyObject({ info, schema: { type: 'any' }, custom: true }, { resourceVersion: '7' });
  expect(Object.keys(object)).toEqual(['kind', 'apiVersion', 'metadata']);
});
