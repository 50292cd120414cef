import { expect, it } from 'vitest';
import { Cache } from '../../../client/cache.ts';
import type { Informer } from '../../../client/informer.ts';
import type { ResourceRef } from '../../../client/url.ts';
import type { ObjectRef, Placement } from '../../../cluster/types.ts';
import { RuledKinds } from '../../../controller/ruled.ts';
import type { KubeObject } from '../../../kube/object.ts';

const group = 'fleet.example.com';
const sets = { group, resource: 'sets' };
const name = 'sets.fleet.example.com';
const at = (cluster: string) => ({ 'kcp.io/cluster': cluster });

/** One that is told all that it hears, and is in step once it was told a list. */
class Told {
  readonly cache = new Cache<KubeObject>((error) => {
    throw error;
  });
  readonly #synced: Promise<void>;
  #listed: () => void = () => {};
  readonly informer: Informer;
  #isSynced = false;

  constructor(resource: ResourceRef) {
    const { cache } = this;
    this.#synced = new Promise((listed) => {
      this.#listed = listed;
    });
    const isSynced = () => this.#isSynced;
    this.informer = {
      resource,
      synced: this.#synced,
      get hasSynced() {
        return isSynced();
      },
      stopped: Promise.resolve(),
      size: 0,
      get: (key) => cache.get(key),
      list: () => [...cache.values()],
      values: () => cache.values(),
      keys: () => cache.keys(),
      addIndex: (index, of) => cache.addIndex(index, of),
      byIndex: (index, value) => cache.byIndex(index, value),
      hasIndexed: (index, value) => cache.hasIndexed(index, value),
      on: (handlers) => cache.on(handlers),
    };
  }

  async list(...objects: KubeObject[]): Promise<void> {
    this.cache.replace(objects);
    this.#isSynced = true;
    this.#listed();
    await this.#synced;
  }
}

async function observed(...definitions: KubeObject[]) {
  const all = new Map<string, Told>();
  const told = (resource: ResourceRef) => {
    const key = `${resource.version} ${resource.resource}`;
    const found = all.get(key) ?? new Told(resource);
    all.set(key, found);
    return found;
  };
  const informers = {
    for: <T extends KubeObject>(of: ResourceRef) => told(of).informer as unknown as Informer<T>,
  };
  const placements = told({ group: 'atoll.dev', version: 'v1alpha1', resource: 'placements' });
  const ruled = new RuledKinds(informers, placements.informer as unknown as Informer<Placement>);
  const rules = told({ group: 'atoll.dev', version: 'v1alpha1', resource: 'placedresources' });
  const crds = told({ group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' });
  await crds.list(...definitions);
  await rules.list(rule('v1'));
  return { ruled, rules: rules.cache, crds: crds.cache, at: (version: string) => all.get(`${version} sets`) };
}

const rule = (version: string): KubeObject => ({
  apiVersion: 'atoll.dev/v1alpha1',
  kind: 'PlacedResource',
  metadata: { name, annotations: at('root') },
  spec: { ...sets, version },
});

/** Versions, with a `-` before those that are not served. */
const crd = (cluster: string, versions: string[], accepted = true): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name, annotations: at(cluster) },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'sets', kind: 'Set' },
    versions: versions.map((version) => ({
      name: version.replace('-', ''),
      served: !version.startsWith('-'),
    })),
  },
  status: { conditions: [{ type: 'NamesAccepted', status: accepted ? 'True' : 'False' }] },
});

const set: KubeObject = {
  apiVersion: `${group}/v1`,
  kind: 'Set',
  metadata: { name: 'web', namespace: 'shop', uid: 'u', annotations: at('one') },
};
const placed: ObjectRef = { ...sets, version: 'v1', kind: 'Set', name: 'web', uid: 'u', rule: {} };

it('is listed in a version that somebody serves: what was refused serves nothing, and the rule’s own comes first', async () => {
  const { at: in_ } = await observed(crd('bad', ['v0'], false), crd('two', ['v2']), crd('one', ['v1']));
  expect([in_('v0'), in_('v2')]).toEqual([undefined, undefined]);
  expect(in_('v1')?.informer.resource).toEqual({ ...sets, version: 'v1' });
});

it('of a definition that was refused nothing is waited for', async () => {
  const { ruled } = await observed(crd('bad', ['v0'], false));
  expect([...ruled.all()]).toEqual([]);
  expect(ruled.isKnown(sets, 'bad')).toBe(true);
});

it('begins anew where nobody serves its version any more, and goes by what it knew until that is listed', async () => {
  const { ruled, crds, at: in_ } = await observed(crd('one', ['v1']));
  const begun: string[] = [];
  const known: string[] = [];
  ruled.on(({ resource }) => begun.push(resource.version));
  ruled.onKnown(({ resource }) => known.push(resource.version));
  await in_('v1')?.list(set);
  crds.put(crd('one', ['-v1', 'v2']));
  expect(begun).toEqual(['v1', 'v2']);
  expect(ruled.of(sets)).toBe(in_('v1')?.informer);
  expect(ruled.isKnown(sets, 'one')).toBe(true);
  await in_('v2')?.list();
  expect(ruled.of(sets)).toBe(in_('v2')?.informer);
  // Back again: nobody is told of one informer twice.
  crds.put(crd('one', ['v1', 'v2']));
  await Promise.resolve();
  expect(ruled.of(sets)).toBe(in_('v1')?.informer);
  expect(begun).toEqual(['v1', 'v2']);
  expect(known).toEqual(['v1', 'v2', 'v1']);
});

it('a version that a rule names from now on is the one that is listed', async () => {
  const { ruled, rules, at: in_ } = await observed(crd('one', ['v1', 'v2']));
  rules.put(rule('v2'));
  expect(ruled.of(sets)).toBe(in_('v2')?.informer);
});

it('an object is gone for want of a definition only where its own logical cluster has none', async () => {
  const { ruled, crds, at: in_ } = await observed(crd('one', ['-v1']), crd('two', ['-v1']));
  expect([ruled.isKnown(sets, 'one'), ruled.isKnown(sets, 'three')]).toEqual([false, true]);
  crds.put(crd('two', ['v1']));
  expect([ruled.isKnown(sets, 'one'), ruled.isKnown(sets, 'two')]).toEqual([false, false]);
  await in_('v1')?.list(set);
  expect([ruled.isKnown(sets, 'one'), ruled.kindOf(set, sets, placed)?.version]).toEqual([true, 'v1']);
  crds.remove(crd('one', ['-v1']));
  expect([ruled.isKnown(sets, 'one'), ruled.kindOf(set, sets, placed)]).toEqual([true, undefined]);
});
