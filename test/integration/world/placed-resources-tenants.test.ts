import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { explain } from '../../../cli/explain/explain.ts';
import { parseNamed } from '../../../cli/explain/kinds.ts';
import type { PhysicalCluster, Placement } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { listAt, textAt } from '../../../kube/untyped.ts';
import { copyWorld } from '../../../scheduler/copy.ts';
import { planOf } from '../../../scheduler/plan.ts';
import { countsOf } from '../../../server/plan-counts.ts';
import { cloneSetDefinition, clonesets, custom, definition, runOperators } from '../../world/custom.ts';
import { deployment, find, readyPods, resources, settled, template, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const placedresources = { group: 'atoll.dev', version: 'v1alpha1', resource: 'placedresources' } as const;
const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const web = 'web.clonesets.fleet.example.com';

let world: World;
const life = new AbortController();
beforeAll(async () => {
  world = await startWorld();
  for (const name of ['east', 'west']) {
    const { client } = world.physical(name);
    await client.create(resources.customresourcedefinitions, cloneSetDefinition);
    runOperators(client, life.signal).catch(() => {});
  }
  await refused();
  await world.admin.create(placedresources, {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'PlacedResource',
    metadata: { name: 'clonesets.fleet.example.com' },
    spec: {
      group: 'fleet.example.com',
      version: 'v1alpha1',
      resource: 'clonesets',
      specReplicasPath: '.spec.replicas',
    },
  });
  for (const name of ['east', 'west'])
    await until(`${name} says what it serves`, async () => {
      const found = await find<PhysicalCluster>(world.admin, resources.physicalclusters, name, '');
      return found?.status?.serves?.includes('clonesets.fleet.example.com/v1alpha1');
    });
});
afterAll(async () => {
  life.abort(new Error('the test ends'));
  await world.stop();
});

const cloneSet = (name: string, replicas: number, version = 'v1alpha1', clusters?: string): KubeObject => ({
  ...custom('CloneSet', name, { replicas, note: 'here', template: template(name) }, clusters),
  apiVersion: `fleet.example.com/${version}`,
});

/** A tenant whose definition, of a version of its own, is never served: another of its has that kind. It was the first. */
async function refused(): Promise<void> {
  const first = definition({ resource: 'others', kind: 'CloneSet' });
  const cluster = await workspace('refused');
  await world.admin.create(resources.customresourcedefinitions, first, { cluster });
  const second = definition({ resource: 'clonesets', kind: 'CloneSet' }, open, ['v0']);
  await world.admin.create(resources.customresourcedefinitions, second, { cluster });
  await until('its names are refused', async () => {
    const name = 'clonesets.fleet.example.com';
    const found = await world.admin.get(resources.customresourcedefinitions, { cluster, name });
    return listAt(found, 'status', 'conditions').some(
      (one) => textAt(one, 'type') === 'NamesAccepted' && textAt(one, 'status') === 'False',
    );
  });
}

/** Its id. */
async function workspace(name: string): Promise<string> {
  const object = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name } };
  await world.admin.create(resources.workspaces, object);
  const ready = await until(`${name} is ready`, async () => {
    const found = await world.admin.get<KubeObject<{ cluster?: string }>>(resources.workspaces, { name });
    return (found.status as { phase?: string } | undefined)?.phase === 'Ready' ? found : undefined;
  });
  return ready.spec?.cluster ?? '';
}

/** Its id. */
async function tenant(name: string, crd: KubeObject): Promise<string> {
  const cluster = await workspace(name);
  await world.admin.create(resources.customresourcedefinitions, crd, { cluster });
  await until(`${name} serves it`, () =>
    world.admin.list(clonesets, { cluster }).then(
      () => true,
      () =>
        world.admin.list({ ...clonesets, version: 'v9' }, { cluster }).then(
          () => true,
          () => false,
        ),
    ),
  );
  return cluster;
}

test('each logical cluster’s own definition counts for it: its schema, and which versions it serves', async () => {
  const names = { resource: 'clonesets', kind: 'CloneSet' };
  const strict = { type: 'object', properties: { replicas: { type: 'integer' }, template: open } };
  const one = await tenant('one', definition(names, strict));
  const both = await tenant('both', definition(names, open, ['v2', 'v1alpha1']));
  const other = await tenant('other', definition(names, open, ['v9']));
  const where = (cluster: string) => ({ cluster, namespace: 'default' });
  await world.admin.create({ ...clonesets, version: 'v9' }, cloneSet('web', 1, 'v9'), where(other));
  await world.admin.create(clonesets, cloneSet('web', 1), where(one));
  await world.admin.create({ ...clonesets, version: 'v2' }, cloneSet('web', 2, 'v2'), where(both));
  for (const cluster of [one, both]) await settled(world.admin.with({ cluster }), web);
  const there = async () => {
    const all = await Promise.all(
      ['east', 'west'].map((name) => world.physical(name).client.list(clonesets)),
    );
    return all.flatMap(({ items }) => items);
  };
  const made = await there();
  expect(made.map(({ spec }) => spec)).toHaveLength(2);
  const byReplicas = made.map(({ spec }) => spec as { replicas: number; note?: string });
  expect(byReplicas.find(({ replicas }) => replicas === 1)?.note).toBeUndefined();
  expect(byReplicas.find(({ replicas }) => replicas === 2)?.note).toBe('here');
  const { items } = await world.admin.list<Placement>(resources.placements, where(other));
  expect(items).toEqual([]);

  // It serves the version now: what is there already is placed.
  const crd = { name: 'clonesets.fleet.example.com' };
  const { spec } = definition(names, open, ['v9', 'v1alpha1']);
  await world.admin.patch(resources.customresourcedefinitions, { cluster: other, ...crd }, 'merge', { spec });
  await settled(world.admin.with({ cluster: other }), web);

  // Nobody can see its object any more, and it is there: what is made of it goes with the definition, or with the object.
  const uids = async () => (await there()).map(({ metadata }) => metadata.uid).sort();
  const before = await uids();
  const hidden = definition(names, strict).spec as { versions: object[] };
  await world.admin.patch(resources.customresourcedefinitions, { cluster: one, ...crd }, 'merge', {
    spec: { versions: hidden.versions.map((version) => ({ ...version, served: false })) },
  });
  await world.admin.create(resources.deployments, deployment('beside', 1), where(one));
  await settled(world.admin.with({ cluster: one }), 'beside.deployments.apps');
  expect(await uids()).toEqual(before);
  await world.admin.delete(resources.customresourcedefinitions, { cluster: one, ...crd }, {});
  await until('what it made is gone', async () => (await uids()).length === before.length - 1);
});

test('a syncer that begins anew shows the same pods; policies, plans and explain know the kind', async () => {
  await world.admin.create(resources.customresourcedefinitions, cloneSetDefinition);
  await world.admin.create(resources.clusterplacementpolicies, {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'ClusterPlacementPolicy',
    metadata: { name: 'sets' },
    spec: {
      selector: { kinds: [{ group: 'fleet.example.com', kind: 'CloneSet' }], names: ['shown'] },
      clusters: { names: ['west'] },
    },
  });
  const name = 'shown.clonesets.fleet.example.com';
  await world.admin.create(clonesets, cloneSet('shown', 2), { namespace: 'default' });
  const placed = await settled(world.admin, name);
  expect(placed.spec).toMatchObject({ clusters: ['west'], ref: { kind: 'CloneSet' } });
  const uids = async () => {
    const { items } = await world.admin.list(resources.pods, { labelSelector: 'app=shown' });
    return items.map(({ metadata }) => metadata.uid).sort();
  };
  const before = await until('its pods are shown', async () => {
    const shown = await uids();
    return shown.length === 2 ? shown : undefined;
  });
  const seen = new Set<string>();
  // What is made of the cluster anew is told by a new syncer.
  await world.admin.patch(resources.physicalclusters, { name: 'west' }, 'merge', {
    spec: { namespaceLabels: ['team'] },
  });
  await world.admin.patch(clonesets, { namespace: 'default', name: 'shown' }, 'merge', {
    spec: { replicas: 3 },
  });
  await until('the new syncer has made the third', async () => {
    const now = await uids();
    seen.add(String(before.every((uid) => now.includes(uid))));
    return now.length === 3 && (await readyPods(world.physical('west'), 'shown')).length === 3;
  });
  expect([...seen]).toEqual(['true']);

  const out: string[] = [];
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => out.push(String(text)) > 0);
  onTestFinished(() => write.mockRestore());
  const where = { cluster: 'root', namespace: 'default' };
  for (const kind of ['clonesets.fleet.example.com', 'clonesets', 'CloneSet', 'cloneset.fleet.example.com']) {
    out.length = 0;
    await explain(world.admin, parseNamed([kind, 'shown']), where, 'text');
    expect(out.join('')).toContain('clonesets.fleet.example.com/shown');
  }
  const none = explain(world.admin, parseNamed(['cloneset/none']), where, 'text');
  await expect(none).rejects.toThrow('cloneset/none in default is placed nowhere');
  write.mockRestore();

  const controllers = world.as({ name: 'admin', groups: ['system:masters'] }, '*');
  const west = await world.admin.get(resources.physicalclusters, { name: 'west' });
  const drained = { ...west, spec: { ...(west.spec as object), drain: true, unschedulable: true } };
  const changes = [{ resource: resources.physicalclusters, object: drained }];
  const copy = await copyWorld(controllers, changes, new AbortController().signal);
  const items = await planOf(copy, changes, { countsOf });
  const item = items.find(({ object }) => object === 'clonesets.fleet.example.com/shown');
  expect(item).toMatchObject({ from: ['west'], outcome: 'blocked', replicas: { from: { west: 3 } } });
});
