import { afterEach, beforeEach, expect, test } from 'vitest';
import { orphanOfAnnotation } from '../../../cluster/names.ts';
import type { Placement, PlacementSpec, Share } from '../../../cluster/types.ts';
import type { OwnerReference } from '../../../kube/object.ts';
import { madeBy, orphanOf } from '../../../syncer/orphans.ts';
import { FakePhysical } from './fake-physical.ts';
import {
  active,
  deployment,
  east,
  keys,
  logical,
  namespace,
  placementKey,
  run,
  Upstream,
  until,
} from './world.ts';

const groups: Record<string, string> = { deployments: 'apis/apps/v1', replicasets: 'apis/apps/v1' };
const path = (kind: string, name: string) =>
  `/${groups[kind] ?? 'api/v1'}/namespaces/${east}/${kind}/${name}`;
const podKey = keys.pod(logical, namespace, 'web-1');
const setKey = keys.object({ group: 'apps', resource: 'replicasets', name: 'web-5d' }, logical, namespace);
const [root, ref] = deployment('web');
const leaving: Record<string, Share> = { east: { phase: 'Leaving' } };

let upstream: Upstream;
let physical: FakePhysical;
let running: ReturnType<typeof run>[] = [];
const start = () => {
  const one = run(upstream, physical);
  running.push(one);
  return one;
};

beforeEach(async () => {
  upstream = await Upstream.make('east');
  physical = new FakePhysical();
});
afterEach(async () => {
  await Promise.all(running.map((one) => one.stop()));
  running = [];
});

async function child(kind: string, resource: string, name: string, owner: OwnerReference): Promise<string> {
  const apiVersion = resource === 'pods' ? 'v1' : 'apps/v1';
  const metadata = { name, namespace: east, ownerReferences: [owner] };
  const made = await physical.put(path(resource, name), { kind, apiVersion, metadata });
  return made.metadata.uid ?? '';
}

const controlledBy = (kind: string, name: string, uid = ''): OwnerReference => ({
  ...{ apiVersion: 'apps/v1', kind, name, uid, controller: true },
});

/** The Deployment with its ReplicaSet and pod, there and reflected. */
async function running1(): Promise<void> {
  await upstream.place(root, ref, { east: active });
  start();
  const made = await until('applied', () => physical.get(path('deployments', 'web')));
  const uid = await child(
    ...(['ReplicaSet', 'replicasets', 'web-5d'] as const),
    controlledBy('Deployment', 'web', made.metadata.uid),
  );
  await child('Pod', 'pods', 'web-1', controlledBy('ReplicaSet', 'web-5d', uid));
  await until('reflected', () => upstream.read(podKey));
}

async function spec(change: Partial<PlacementSpec>): Promise<void> {
  const before = await upstream.read<Placement>(placementKey(ref));
  if (!before?.spec) throw new Error('no placement');
  await upstream.write(placementKey(ref), { ...before, spec: { ...before.spec, ...change } });
}

/** As the garbage collector, the scheduler and the splitter do it, one after the other. */
async function orphan(): Promise<void> {
  await spec({ orphaned: ref.uid });
  await upstream.remove(keys.object(ref, logical, namespace));
  await spec({ clusters: [], shares: leaving });
}

const slice = () => upstream.slice(ref);
const ownersOf = async (key: string) => (await upstream.read(key))?.metadata.ownerReferences;

test('what an orphaned workload made stays, is shown without it, and holds the share until it is gone', async () => {
  await running1();
  const [pod, set] = [await upstream.read(podKey), await upstream.read(setKey)];
  await orphan();
  await until('let go', async () => (await slice())?.orphans === true);
  expect(await physical.get(path('deployments', 'web'))).toBeUndefined();
  await until('owned by nobody', async () => (await ownersOf(setKey)) === undefined);
  expect(await upstream.read(setKey)).toMatchObject({ metadata: { uid: set?.metadata.uid } });
  expect(await upstream.read(podKey)).toMatchObject({ metadata: { uid: pod?.metadata.uid } });
  expect(await ownersOf(podKey)).toMatchObject([{ kind: 'ReplicaSet', uid: set?.metadata.uid }]);
  expect((await upstream.read(podKey))?.metadata.annotations).not.toHaveProperty(orphanOfAnnotation);

  // In another life, too: also what the ReplicaSet makes only then.
  await Promise.all(running.splice(0).map((one) => one.stop()));
  const there = await physical.get(path('replicasets', 'web-5d'));
  await child('Pod', 'pods', 'web-2', controlledBy('ReplicaSet', 'web-5d', there?.metadata.uid));
  await start().ready;
  const later = keys.pod(logical, namespace, 'web-2');
  await until('shown', () => upstream.read(later));
  expect(await ownersOf(later)).toMatchObject([{ kind: 'ReplicaSet', uid: set?.metadata.uid }]);
  expect(await slice()).toEqual({ present: true, orphans: true });

  await physical.finish(path('replicasets', 'web-5d'));
  await physical.finish(path('pods', 'web-1'));
  await physical.finish(path('pods', 'web-2'));
  await until('withdrawn', async () => !(await upstream.read(later)) && !(await upstream.read(setKey)));
  await until('gone', async () => (await slice())?.present === false);
});

test('it goes with its Namespace', async () => {
  await running1();
  await orphan();
  await until('let go', async () => (await slice())?.orphans === true);
  await spec({ orphaned: '' });
  await until('deleted', async () => !(await physical.get(path('replicasets', 'web-5d'))));
  expect((await slice())?.present).toBe(true);
  // There is no garbage collector there.
  await physical.finish(path('pods', 'web-1'));
  await until('gone', async () => (await slice())?.present === false);
});

test('who takes over before the former one is gone there frees what that made, and then is made', async () => {
  await running1();
  await orphan();
  await Promise.all(running.splice(0).map((one) => one.stop()));
  const [set, pod] = [
    await physical.get(path('replicasets', 'web-5d')),
    await physical.get(path('pods', 'web-1')),
  ];
  const anew = { ...root, metadata: { ...root.metadata, uid: 'uid-anew' } };
  await upstream.place(anew, { ...ref, uid: 'uid-anew' }, { east: active });
  await spec({ orphaned: ref.uid });
  start();
  await until('made anew', async () => {
    const there = await physical.get(path('deployments', 'web'));
    return there?.metadata.annotations?.['atoll.dev/locator']?.includes('uid-anew');
  });
  expect((await physical.get(path('replicasets', 'web-5d')))?.metadata.uid).toBe(set?.metadata.uid);
  expect((await physical.get(path('pods', 'web-1')))?.metadata.uid).toBe(pod?.metadata.uid);
});

const dependent = (
  kind: 'replicasets' | 'jobs' | 'pods',
  name: string,
  owner?: string,
  controller = true,
) => {
  const ownerReferences = owner ? [{ apiVersion: 'v1', kind: 'X', name: owner, uid: owner, controller }] : [];
  const group = { replicasets: 'apps', jobs: 'batch', pods: '' }[kind];
  const object = { apiVersion: 'v1', kind: 'X', metadata: { name, uid: name, ownerReferences } };
  return { kind: { group, version: 'v1', resource: kind } as never, object };
};

test.each([
  ['directly', [dependent('pods', 'p', 'web'), dependent('pods', 'q', 'other')], ['p']],
  ['through a ReplicaSet', [dependent('replicasets', 's', 'web'), dependent('pods', 'p', 's')], ['s', 'p']],
  ['through a Job of a CronJob', [dependent('jobs', 'j', 'web'), dependent('pods', 'p', 'j')], ['j', 'p']],
  ['not controlled', [dependent('pods', 'p', 'web', false), dependent('pods', 'q')], []],
])('madeBy: %s', (_, all, expected) => {
  expect(madeBy('web', all).map(({ object }) => object.metadata.name)).toEqual(expected);
});

const mark = (syncer: string) =>
  JSON.stringify({
    syncer,
    cluster: logical,
    namespace,
    resource: 'statefulsets.apps',
    name: 'db',
    uid: 'u',
  });
test.each([
  ['marked', { annotations: { [orphanOfAnnotation]: mark('uid-east') } }, `statefulsets.apps/${east}/db`],
  ['not marked', {}, undefined],
  ['of another life of the cluster', { annotations: { [orphanOfAnnotation]: mark('other') } }, undefined],
  ['forged', { annotations: { [orphanOfAnnotation]: '{"syncer":' } }, undefined],
  [
    'adopted',
    {
      annotations: { [orphanOfAnnotation]: mark('uid-east') },
      ownerReferences: [controlledBy('StatefulSet', 'db', 'anew')],
    },
    undefined,
  ],
])('orphanOf: %s', (_, metadata, expected) => {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'db-0', namespace: east, ...metadata } };
  expect(orphanOf(pod, 'uid-east')).toBe(expected);
});
