import { expect, test } from 'vitest';
import { locatorAnnotation, orphanOfAnnotation } from '../../../cluster/names.ts';
import type { ObjectRef } from '../../../cluster/types.ts';
import { deployment, find, resources, until } from '../../world/objects.ts';
import { active, leaving, namespace } from '../../world/upstream.ts';
import { Sides } from './sides.ts';

const { deployments, pods, replicasets } = resources;
const sides = Sides.forEach();
const web = deployment('web', 1);

/** As its user sees it. */
const seen = (resource: (typeof resources)[keyof typeof resources], name: string) =>
  find(sides.upstream.admin, resource, name, namespace);
const ownersOf = async (resource: typeof pods | typeof replicasets, name: string) =>
  (await seen(resource, name))?.metadata.ownerReferences;

/** The Deployment with its ReplicaSet and pod, there and reflected. */
async function run(): Promise<ObjectRef> {
  const { upstream, physical } = sides;
  const ref = await upstream.place(web, { east: active });
  sides.start();
  const set = await physical.child('ReplicaSet', 'web-5d', {
    of: await sides.untilThere(deployments, 'web'),
  });
  await physical.child('Pod', 'web-1', { of: set, node: 'n1' });
  await until('reflected', () => seen(pods, 'web-1'));
  return ref;
}

/** As the garbage collector, the scheduler and the splitter do it, one after the other. */
async function orphan(ref: ObjectRef): Promise<void> {
  await sides.upstream.orphaned(ref, ref.uid);
  await sides.upstream.remove(ref);
  await sides.upstream.shares(ref, { east: leaving });
}

test('what an orphaned workload made stays, is shown without it, and holds the share until it is gone', async () => {
  const { upstream, physical } = sides;
  const ref = await run();
  const slice = () => upstream.slice(ref);
  const [pod, set] = [await seen(pods, 'web-1'), await seen(replicasets, 'web-5d')];
  await orphan(ref);
  await until('let go', async () => (await slice())?.orphans === true);
  expect(await sides.there(deployments, 'web')).toBeUndefined();
  await until('owned by nobody', async () => (await ownersOf(replicasets, 'web-5d')) === undefined);
  expect((await seen(replicasets, 'web-5d'))?.metadata.uid).toBe(set?.metadata.uid);
  expect((await seen(pods, 'web-1'))?.metadata.uid).toBe(pod?.metadata.uid);
  expect(await ownersOf(pods, 'web-1')).toMatchObject([{ kind: 'ReplicaSet', uid: set?.metadata.uid }]);
  expect((await seen(pods, 'web-1'))?.metadata.annotations).not.toHaveProperty([orphanOfAnnotation]);

  // In another life, too: also what the ReplicaSet makes only then.
  await sides.stop();
  const there = await sides.untilThere(replicasets, 'web-5d');
  await physical.child('Pod', 'web-2', { of: there });
  await sides.start().ready;
  await until('shown', () => seen(pods, 'web-2'));
  expect(await ownersOf(pods, 'web-2')).toMatchObject([{ kind: 'ReplicaSet', uid: set?.metadata.uid }]);
  expect(await slice()).toEqual({ present: true, orphans: true });

  await physical.client.delete(replicasets, { namespace: upstream.home, name: 'web-5d' });
  await physical.end(upstream.home, 'web-1');
  await until('withdrawn', async () => !(await seen(pods, 'web-2')) && !(await seen(replicasets, 'web-5d')));
  await until('gone', async () => (await slice())?.present === false);
});

test('it goes with its Namespace', async () => {
  const { upstream, physical } = sides;
  const ref = await run();
  await orphan(ref);
  await until('let go', async () => (await upstream.slice(ref))?.orphans === true);
  await upstream.orphaned(ref, '');
  await until('deleted', async () => !(await sides.there(replicasets, 'web-5d')));
  // Its pod takes its time.
  expect((await upstream.slice(ref))?.present).toBe(true);
  await physical.end(upstream.home, 'web-1');
  await until('gone', async () => (await upstream.slice(ref))?.present === false);
});

test('who takes over before the former one is gone there frees what that made, and then is made', async () => {
  const { upstream } = sides;
  const former = await run();
  await sides.stop();
  await orphan(former);
  const [set, pod] = [await sides.there(replicasets, 'web-5d'), await sides.there(pods, 'web-1')];
  const ref = await upstream.make(web);
  await upstream.spec(ref, { ...upstream.specOf(ref, { east: active }), orphaned: former.uid });
  sides.start();
  await until('made anew', async () => {
    const there = await sides.there(deployments, 'web');
    return there?.metadata.annotations?.[locatorAnnotation]?.includes(ref.uid);
  });
  expect((await sides.there(replicasets, 'web-5d'))?.metadata.uid).toBe(set?.metadata.uid);
  expect((await sides.there(pods, 'web-1'))?.metadata.uid).toBe(pod?.metadata.uid);
});
