import fc from 'fast-check';
import { expect, test } from 'vitest';
import { objectKey, type ResourceRef } from '../../../client/url.ts';
import { refKey } from '../../../cluster/closure.ts';
import type { PhysicalCluster, Placement, Share } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { consider } from '../../../scheduler/controller.ts';
import { worldOf } from '../../../scheduler/copy.ts';
import { type PlannedItem, planOf } from '../../../scheduler/plan.ts';
import type { NamespaceDecision } from '../../../scheduler/types.ts';
import { takeStock } from '../../../scheduler/world.ts';
import { deployment } from '../cluster/objects.ts';
import { cluster } from './world.ts';

const names = ['a', 'b', 'c'];
const physical = { group: 'atoll.dev', version: 'v1alpha1', resource: 'physicalclusters' };

/** All objects by resource, as a store has them, to which decisions are applied as the API server would. */
class Stored {
  readonly lists = new Map<string, KubeObject[]>();

  list(resource: string): KubeObject[] {
    return this.lists.get(resource) ?? [];
  }

  put(resource: string, object: KubeObject): void {
    const rest = this.list(resource).filter((one) => objectKey(one) !== objectKey(object));
    this.lists.set(resource, [...rest, object]);
  }

  of = ({ resource }: ResourceRef) => this.list(resource);

  apply(decision: NamespaceDecision, key: string): boolean {
    const gone = new Set<KubeObject>(decision.remove);
    this.lists.set(
      'placements',
      this.list('placements').filter((one) => !gone.has(one)),
    );
    for (const placement of decision.create) {
      const annotations = { 'kcp.io/cluster': key.split('/')[0] ?? '' };
      this.put('placements', { ...placement, metadata: { ...placement.metadata, annotations } });
    }
    for (const { wanted } of decision.update) this.put('placements', wanted);
    for (const { placed, clusters } of decision.annotate) {
      const { metadata } = placed.object;
      const { 'kcp.io/cluster': logical = '' } = metadata.annotations ?? {};
      const note = clusters !== undefined && {
        'atoll.dev/clusters': clusters,
        'atoll.dev/placed-by': 'system:atoll:scheduler',
      };
      const annotations = { 'kcp.io/cluster': logical, ...note };
      this.put(placed.kind.resource, { ...placed.object, metadata: { ...metadata, annotations } });
    }
    const { create, update, remove, annotate } = decision;
    return [create, update, remove, annotate].some((list) => list.length > 0);
  }

  /** As the scheduler does it, Namespace by Namespace, until nothing is left to do. */
  decide(): void {
    for (let round = 0, changed = true; changed; round++) {
      if (round > 10) throw new Error('it never ends');
      changed = false;
      const world = worldOf(this.of);
      takeStock(world);
      const keys = this.list('namespaces').map(objectKey).sort();
      for (const key of keys) changed = this.apply(consider(key, world), key) || changed;
    }
  }

  /** As the splitter does once all has settled. */
  settle(): void {
    for (const one of this.list('placements') as Placement[]) {
      const { clusters = [] } = one.spec ?? {};
      const shares = Object.fromEntries(
        clusters.map((c): [string, Share] => [c, { phase: 'Active', replicas: 1 }]),
      );
      if (one.spec) this.put('placements', { ...one, spec: { ...one.spec, shares } } as KubeObject);
    }
  }

  where(): Map<string, string> {
    return new Map(
      (this.list('placements') as Placement[]).flatMap((one): [string, string][] =>
        one.spec
          ? [
              [
                `${objectKey(one).split('/').slice(0, 2).join('/')}/${refKey(one.spec.ref)}`,
                one.spec.clusters.join(),
              ],
            ]
          : [],
      ),
    );
  }
}

const wish = fc.option(fc.subarray(names, { minLength: 1 }), { nil: undefined });
const app = fc.record({
  logical: fc.constantFrom('root', 'one'),
  namespace: fc.constantFrom('shop', 'desk'),
  name: fc.constantFrom('x', 'y', 'z'),
  replicas: fc.integer({ min: 1, max: 3 }),
  wish,
});
const place = fc.record({
  unschedulable: fc.boolean(),
  drain: fc.constantFrom(false, false, false, true),
  ready: fc.constantFrom(true, true, false),
  // Nothing fits, or all: where room is short it is a matter of who is asked first, and of what leaves meanwhile.
  capacity: fc.option(fc.record({ pods: fc.constantFrom('0', '100') }), { nil: undefined }),
});
type App = typeof app extends fc.Arbitrary<infer T> ? T : never;

function objectOf({ logical, namespace, name, replicas, wish: clusters }: App): KubeObject {
  const { object } = deployment(name, { replicas });
  const annotations = {
    'kcp.io/cluster': logical,
    ...(clusters && { 'atoll.dev/clusters': clusters.join(), 'atoll.dev/placed-by': 'ann' }),
  };
  const uid = `${logical}-${namespace}-${name}`;
  return { ...object, metadata: { ...object.metadata, namespace, uid, annotations } };
}

function clusterOf(
  name: string,
  { capacity, ...fields }: typeof place extends fc.Arbitrary<infer T> ? T : never,
) {
  return cluster(name, { ...fields, ...(capacity && { capacity }) }) as PhysicalCluster & KubeObject;
}

test('a plan is what the scheduler then does, in any world', async () => {
  const moved = { count: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(place, place, place),
      fc.array(app, { maxLength: 8 }),
      fc.oneof(fc.tuple(fc.constantFrom(...names), place), app),
      async (places, apps, change) => {
        const stored = new Stored();
        places.forEach((one, i) => void stored.put('physicalclusters', clusterOf(names[i] ?? '', one)));
        for (const logical of ['root', 'one'])
          for (const name of ['shop', 'desk']) {
            const metadata = { name, uid: `${logical}-${name}`, annotations: { 'kcp.io/cluster': logical } };
            stored.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
          }
        for (const one of apps) stored.put('deployments', objectOf(one));
        stored.decide();
        stored.settle();
        stored.decide();
        const before = stored.where();
        const changed = Array.isArray(change)
          ? { resource: physical, object: clusterOf(...change) }
          : { resource: { group: 'apps', version: 'v1', resource: 'deployments' }, object: objectOf(change) };
        stored.put(changed.resource.resource, changed.object);
        const items = await planOf(worldOf(stored.of), [changed]);
        stored.decide();
        const after = stored.where();
        const keyOf = (item: PlannedItem) => {
          const [resource = '', name = ''] = item.object.split('/');
          const [plural = '', ...group] = resource.split('.');
          return `${item.logicalCluster}/${item.namespace}/${refKey({ group: group.join('.'), resource: plural, name })}`;
        };
        const planned = new Map(items.map((item) => [keyOf(item), item.to.join()]));
        for (const [key, to] of after) {
          if (planned.has(key)) expect(planned.get(key)).toBe(to);
          else expect(to, key).toBe(before.get(key));
          if (before.get(key) !== to) moved.count++;
        }
      },
    ),
    { numRuns: 300 },
  );
  // It was about something.
  expect(moved.count).toBeGreaterThan(20);
});

test('what could not be listed stays as it is; what is beside it is decided, whatever becomes of its cluster', async () => {
  const stored = new Stored();
  const annotations = { 'kcp.io/cluster': 'one' };
  const of = { group: 'fleet.example.com', resource: 'sets' };
  const at = { namespace: 'shop', annotations };
  for (const name of ['a', 'b']) stored.put('physicalclusters', cluster(name) as KubeObject);
  stored.put('namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'shop', uid: 'n', annotations },
  });
  const { object } = deployment('web', { replicas: 1 });
  stored.put('deployments', { ...object, metadata: { ...object.metadata, uid: 'w', ...at } });
  const metadata = { name: 'sets.fleet.example.com', annotations };
  const spec = { ...of, scope: 'Namespaced', names: { plural: 'sets', kind: 'Set' } };
  const crd = (served: boolean): KubeObject => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata,
    spec: { ...spec, versions: [{ name: 'v1', served }] },
  });
  const placement = (name: string, uid: string): KubeObject => ({
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'Placement',
    metadata: { name: `sets.${name}`, finalizers: ['atoll.dev/placement'], ...at },
    spec: {
      ref: { ...of, version: 'v1', kind: 'Set', name, uid, rule: {} },
      clusters: ['a'],
      shares: { a: { phase: 'Active' } },
    },
  });
  stored.put('placements', placement('db', 's'));
  const where = () => [...stored.where()].map(([key, to]) => [key.split('/').at(-1), to]).sort();
  const list = (isListed: boolean) => {
    const world = worldOf((resource) =>
      resource.resource === 'sets' && !isListed ? undefined : stored.of(resource),
    );
    takeStock(world);
    stored.apply(consider('one//shop', world), 'one//shop');
    return where();
  };
  // Nobody serves it, but its objects are stored.
  stored.put('customresourcedefinitions', crd(false));
  expect(list(true)).toEqual([
    ['db', 'a'],
    ['web', 'a'],
  ]);
  stored.put('customresourcedefinitions', crd(true));
  expect(list(false)).toEqual([
    ['db', 'a'],
    ['web', 'a'],
  ]);
  expect(list(true)).toEqual([
    ['db', ''],
    ['web', 'a'],
  ]);
});
