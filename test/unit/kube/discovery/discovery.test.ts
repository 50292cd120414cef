import { describe, expect, it } from 'vitest';
import { aggregatedDiscovery } from '../../../../kube/discovery/aggregated.ts';
import { compareVersions, groupsOf } from '../../../../kube/discovery/groups.ts';
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from '../../../../kube/discovery/legacy.ts';
import { builtinResources } from '../../../../kube/schema/builtin.ts';
import type { ResourceInfo } from '../../../../kube/schema/resource.ts';

const custom: ResourceInfo = {
  group: 'example.org',
  version: 'v1beta1',
  kind: 'Widget',
  resource: 'widgets',
  singular: 'widget',
  namespaced: false,
  shortNames: [],
  categories: [],
  verbs: ['get'],
  subresources: [],
  storageVersion: 'v1',
};
const all = [
  custom,
  { ...custom, version: 'v1' },
  { ...custom, group: 'a.example.org' },
  ...builtinResources,
];

describe('groups', () => {
  it('puts the core group first, built-in groups in their order, others by name', () => {
    const names = groupsOf(all).map((g) => g.name);
    expect(names.slice(0, 4)).toEqual(['', 'apiregistration.k8s.io', 'apps', 'events.k8s.io']);
    expect(names.slice(-2)).toEqual(['a.example.org', 'example.org']);
  });

  it('orders versions by maturity, then by number, other names last', () => {
    const versions = ['foo10', 'v1alpha1', 'v1', 'v11beta2', 'v10beta3', 'v12alpha1', 'v10', 'foo1', 'v2'];
    expect(versions.sort(compareVersions)).toEqual([
      'v10',
      'v2',
      'v1',
      'v11beta2',
      'v10beta3',
      'v12alpha1',
      'v1alpha1',
      'foo1',
      'foo10',
    ]);
  });
});

describe('legacy discovery', () => {
  it('lists versions and groups', () => {
    expect(apiVersions('h:1')).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
    expect(apiGroup(all, 'autoscaling')).toMatchObject({
      kind: 'APIGroup',
      apiVersion: 'v1',
      name: 'autoscaling',
      versions: [{ groupVersion: 'autoscaling/v2', version: 'v2' }, { version: 'v1' }],
      preferredVersion: { groupVersion: 'autoscaling/v2' },
    });
    expect(apiGroup(all, 'example.org')).toMatchObject({ preferredVersion: { version: 'v1' } });
    expect(apiGroup(all, 'none.org')).toBeUndefined();
    expect(JSON.stringify(apiGroupList(all))).not.toContain('"name":""');
  });

  it('lists resources with their subresources after them', () => {
    const list = apiResourceList(all, { group: 'apps', version: 'v1' });
    const resources = list?.['resources'] as { name: string; group?: string }[];
    const names = resources.map((r) => r.name);
    expect(names.slice(2, 6)).toEqual([
      'daemonsets/status',
      'deployments',
      'deployments/scale',
      'deployments/status',
    ]);
    expect(resources[4]).toEqual({
      name: 'deployments/scale',
      singularName: '',
      namespaced: true,
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
      verbs: ['get', 'patch', 'update'],
    });
    expect(resources[3]).toMatchObject({ shortNames: ['deploy'], storageVersionHash: '8aSe+NMegvE=' });
    expect(apiResourceList(all, { group: 'apps', version: 'v9' })).toBeUndefined();
  });
});

describe('aggregated discovery', () => {
  it('splits core from the named groups and marks foreign kinds', () => {
    const core = aggregatedDiscovery(all, 'v2', true) as {
      items: { metadata: object; versions: object[] }[];
    };
    expect(core.items).toHaveLength(1);
    expect(core.items[0]?.metadata).toEqual({});
    const { resources } = core.items[0]!.versions[0] as {
      resources: { resource: string; subresources?: object[] }[];
    };
    const pods = resources.find((r) => r.resource === 'pods');
    expect(pods).toMatchObject({
      responseKind: { group: '', version: '', kind: 'Pod' },
      scope: 'Namespaced',
      singularResource: 'pod',
      shortNames: ['po'],
    });
    expect(pods?.subresources).toContainEqual({
      subresource: 'eviction',
      responseKind: { group: 'policy', version: 'v1', kind: 'Eviction' },
      verbs: ['create'],
    });
    const named = aggregatedDiscovery(all, 'v2beta1', false) as { apiVersion: string; items: object[] };
    expect(named.apiVersion).toBe('apidiscovery.k8s.io/v2beta1');
    expect(named.items).toHaveLength(groupsOf(all).length - 1);
  });
});
