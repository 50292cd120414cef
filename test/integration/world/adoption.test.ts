import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import {
  deployment,
  find,
  isReady,
  move,
  readyPods,
  resources,
  settled,
  template,
  until,
} from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const { deployments, namespaces, pods, replicasets } = resources;

let world: World;
beforeAll(async () => {
  world = await startWorld({ clusters: ['east'] });
});
afterAll(() => world.stop());

const here = (name: string, namespace = 'default') => find(world.admin, pods, name, namespace);
const controllerOf = (pod: KubeObject | undefined) =>
  pod?.metadata.ownerReferences?.find(({ controller }) => controller === true);
const there = async (app: string) => {
  const labelSelector = `app=${app}`;
  return (await world.physical('east').client.list(pods, { labelSelector })).items;
};

const revision = 'deployment.kubernetes.io/revision';

async function replicaSet(
  name: string,
  namespace = 'default',
  said: Record<string, string> = {},
): Promise<KubeObject> {
  const { metadata, spec } = deployment(name, 1, 'east');
  const annotations = { ...metadata.annotations, ...said };
  const set = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { ...metadata, namespace, annotations, labels: { app: name } },
    spec,
  };
  return await world.admin.create(replicasets, set, { namespace });
}

/** A pod that the set's controller has let go, as it does when its labels match no more. */
async function release(name: string, app: string): Promise<void> {
  const { client } = world.physical('east');
  const [pod] = (await there(app)).filter(({ metadata }) => metadata.name === name);
  const { namespace } = pod?.metadata ?? {};
  await client.patch(pods, { namespace, name }, 'merge', { metadata: { ownerReferences: null } });
}

test("a Pod that a ReplicaSet adopts where both run is shown as its own, and runs on; let go, it is nobody's", async () => {
  await world.admin.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'orphan',
      namespace: 'default',
      labels: { app: 'taken' },
      annotations: { 'atoll.dev/clusters': 'east' },
    },
    spec: { containers: [{ name: 'c', image: 'c:1' }] },
  });
  await until('it runs', async () => (await readyPods(world.physical('east'), 'taken')).length === 1);
  const set = await replicaSet('taken');
  const owner = await until('it was adopted', async () => controllerOf(await here('orphan')));
  expect(owner).toMatchObject({ kind: 'ReplicaSet', name: 'taken', uid: set.metadata.uid });
  // The namespace was decided anew since: it is where it was.
  await settled(world.admin, 'taken.replicasets.apps');
  expect((await there('taken')).map(({ metadata }) => metadata.name)).toEqual(['orphan']);

  const labels = { app: 'let-go' };
  await world.admin.patch(pods, { namespace: 'default', name: 'orphan' }, 'merge', { metadata: { labels } });
  await until('it is labelled there', async () => (await there('let-go')).length === 1);
  await release('orphan', 'let-go');
  await until('it says so', async () => controllerOf(await here('orphan')) === undefined);
  expect(await readyPods(world.physical('east'), 'let-go')).toEqual(['orphan']);
});

test("a ReplicaSet that a Deployment adopts where both run is that one's here too, and has the replicas that it is given", async () => {
  const set = await replicaSet('old', 'default', { [revision]: '3546343826724305832' });
  const physical = world.physical('east');
  await until('it runs', async () => (await readyPods(physical, 'old')).length === 1);
  const { spec, ...web } = deployment('web', 2, 'east');
  const metadata = { ...web.metadata, name: 'web' };
  const { uid } = await world.admin
    .create(
      deployments,
      {
        ...web,
        metadata,
        spec: {
          ...(spec as object),
          selector: { matchLabels: { app: 'old' } },
          template: template('old', 'new:2'),
        },
      },
      { namespace: 'default' },
    )
    .then((made) => made.metadata);
  const shown = () => find(world.admin, replicasets, 'old', 'default');
  const owner = await until('it was adopted', async () => controllerOf(await shown()));
  expect(owner).toMatchObject({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid });
  await until('it is left without replicas', async () => {
    const { spec, status } = (await shown()) ?? {};
    return (spec as { replicas?: number }).replicas === 0 && !(status as { replicas?: number }).replicas;
  });
  await until('the new ones are there', async () => (await readyPods(physical, 'old')).length === 2);
  await settled(world.admin, 'old.replicasets.apps');
  const numberOf = (object: KubeObject | undefined) => object?.metadata.annotations?.[revision];
  const made = (await world.admin.list(replicasets, { namespace: 'default' })).items.filter(
    ({ metadata: { name, ownerReferences } }) => name !== 'old' && ownerReferences?.[0]?.uid === uid,
  );
  expect(numberOf(await find(world.admin, deployments, 'web', 'default'))).toBe('3546343826724305833');
  expect(made.map(numberOf)).toEqual(['3546343826724305833']);
  const [oldThere] = (await physical.client.list(replicasets)).items.filter((s) => s.metadata.name === 'old');
  expect(oldThere?.spec).toMatchObject({ replicas: 0 });

  // As its Deployment's controller does with those that its revisionHistoryLimit does not keep.
  const { namespace } = oldThere?.metadata ?? {};
  await physical.client.delete(replicasets, { namespace, name: 'old' });
  await until('it is gone here too', async () => (await shown())?.metadata.uid !== set.metadata.uid);
  expect((await physical.client.list(replicasets)).items.map((s) => s.metadata.name)).not.toContain('old');
});

test('a ReplicaSet out of a backup is that of its Deployment’s present template, and of a former one, as it was', async () => {
  const at = { namespace: 'default', name: 'back' };
  const web = deployment('back', 2, 'east');
  const shown = async () =>
    (await world.admin.list(replicasets, { namespace: 'default' })).items.filter(
      (one) => one.metadata.labels?.['app'] === 'back',
    );
  await world.admin.create(deployments, web, { namespace: 'default' });
  const [kept] = await until('its ReplicaSet is shown', async () => {
    const sets = await shown();
    return sets[0]?.spec ? sets : undefined;
  });
  await world.admin.delete(deployments, at);
  await until(
    'all of it is gone',
    async () => (await shown()).length === 0 && (await there('back')).length === 0,
  );
  const { name, namespace, labels } = kept?.metadata ?? {};
  const annotations = { 'atoll.dev/clusters': 'east' };
  const backup = { ...kept, metadata: { name, namespace, labels, annotations }, status: {} } as KubeObject;
  await world.admin.create(replicasets, backup, { namespace: 'default' });
  await until('it runs', async () => (await readyPods(world.physical('east'), 'back')).length === 2);
  const pods = (await there('back')).map(({ metadata }) => metadata.name).sort();
  await world.admin.create(deployments, web, { namespace: 'default' });

  const isOf = (count: number) => async () => {
    const [set] = await shown();
    const { replicas } = (set?.status ?? {}) as { replicas?: number };
    return controllerOf(set)?.name === 'back' && replicas === count;
  };
  await until('it is adopted, and has its pods', isOf(2));
  await settled(world.admin, 'back.deployments.apps');
  await settled(world.admin, `${name}.replicasets.apps`);
  expect((await there('back')).map(({ metadata }) => metadata.name).sort()).toEqual(pods);
  const change = { spec: { template: template('back', 'new:2') } };
  await world.admin.patch(deployments, at, 'merge', change);
  await until('it is left without replicas', async () => {
    const set = (await shown()).find(({ metadata }) => metadata.name === name);
    return (set?.spec as { replicas?: number } | undefined)?.replicas === 0;
  });
  await world.admin.patch(deployments, at, 'merge', {
    spec: { template: (web.spec as { template?: unknown })?.template },
  });
  await until('it has them again', async () => {
    const set = (await shown()).find(({ metadata }) => metadata.name === name);
    return (set?.status as { replicas?: number } | undefined)?.replicas === 2;
  });
  await settled(world.admin, `${name}.replicasets.apps`);
});

test('a ReplicaSet that was adopted stays where its Deployment is taken away, or moves away from it', async () => {
  await world.simulate('west');
  await world.register('west');
  await until('west is ready', () => isReady(world.admin, 'west'));
  const set = await replicaSet('kept');
  const physical = world.physical('east');
  await until('it runs', async () => (await readyPods(physical, 'kept')).length === 1);
  const owner = deployment('owner', 1, 'east');
  const pod = template('kept', 'new:2');
  const spec = { ...(owner.spec as object), selector: { matchLabels: { app: 'kept' } }, template: pod };
  await world.admin.create(deployments, { ...owner, spec }, { namespace: 'default' });
  const shown = () => find(world.admin, replicasets, 'kept', 'default');
  const onEast = async (resource: typeof deployments, name: string) =>
    (await physical.client.list(resource)).items.find(({ metadata }) => metadata.name === name);
  await until('it was adopted', async () => controllerOf(await shown())?.name === 'owner');
  await settled(world.admin, 'owner.deployments.apps');

  const made = await onEast(deployments, 'owner');
  const { namespace } = made?.metadata ?? {};
  const former = (await onEast(replicasets, 'kept'))?.metadata.uid;
  const isMadeAgain = async () => {
    const now = await onEast(deployments, 'owner');
    return now !== undefined && now.metadata.uid !== made?.metadata.uid;
  };
  // Whatever looks for it there finds it gone, and its Deployment made again already.
  physical.faults.intercept = async ({ url }) => {
    if (url.includes('/replicasets/kept')) await until('the Deployment is made again', isMadeAgain);
  };
  await physical.client.delete(
    deployments,
    { namespace, name: 'owner' },
    { propagationPolicy: 'Foreground' },
  );
  await until('the Deployment is made again', isMadeAgain);
  await until('so is it', async () => {
    const now = await onEast(replicasets, 'kept');
    return now !== undefined && now.metadata.uid !== former;
  });
  physical.faults.intercept = () => {};
  expect((await shown())?.metadata.uid).toBe(set.metadata.uid);

  await move(world.admin, deployments, 'owner', 'west');
  await until('the Deployment has left', async () => (await onEast(deployments, 'owner')) === undefined);
  await settled(world.admin, 'owner.deployments.apps');
  await until('it is there', async () => (await onEast(replicasets, 'kept')) !== undefined);
  expect((await shown())?.metadata.uid).toBe(set.metadata.uid);
});

test('a ReplicaSet whose Deployment is orphaned is nobody’s, and adopted again by one of the same name', async () => {
  const set = await replicaSet('again');
  const { spec, metadata } = deployment('again', 1, 'east');
  const made = { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec };
  const shown = () => find(world.admin, replicasets, 'again', 'default');
  const adoptedBy = async () => {
    const { uid } = (await world.admin.create(deployments, made, { namespace: 'default' })).metadata;
    await until('it is adopted', async () => controllerOf(await shown())?.uid === uid);
  };
  await adoptedBy();
  const where = { namespace: 'default', name: 'again' };
  await world.admin.delete(deployments, where, { propagationPolicy: 'Orphan' });
  await until(
    'it is gone',
    async () => (await find(world.admin, deployments, 'again', 'default')) === undefined,
  );
  await until('it has no owner', async () => controllerOf(await shown()) === undefined);
  await adoptedBy();
  expect((await shown())?.metadata.uid).toBe(set.metadata.uid);
});

test("a pod of a workload that is let go is shown as nobody's, and goes with its namespace", async () => {
  const namespace = 'short';
  await world.admin.create(namespaces, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace },
  });
  await replicaSet('web', namespace);
  const name = await until('its pod is shown', async () => {
    const { items } = await world.admin.list(pods, { namespace });
    return items.find((pod) => controllerOf(pod))?.metadata.name;
  });
  const metadata = { labels: { app: 'aside' } };
  await world.admin.patch(pods, { namespace, name }, 'merge', { metadata });
  await release(name, 'aside');
  await until("it is nobody's", async () => {
    const pod = await here(name, namespace);
    return pod && controllerOf(pod) === undefined;
  });
  await world.admin.delete(namespaces, { name: namespace });
  await until('the namespace is gone', async () => !(await find(world.admin, namespaces, namespace, '')));
  expect(await there('aside')).toEqual([]);
});

test('a pod that somebody takes from its controller is adopted by that again; one of what goes without it is not', async () => {
  const set = { ...deployment('kept', 1, 'east'), kind: 'StatefulSet' };
  await world.admin.create(
    resources.statefulsets,
    { ...set, spec: { ...(set.spec as object), serviceName: 'kept' } },
    { namespace: 'default' },
  );
  const owner = await until('its pod is shown', async () => controllerOf(await here('kept-0')));
  const at = { namespace: 'default', name: 'kept-0' };
  await world.admin.patch(pods, at, 'merge', { metadata: { ownerReferences: null } });
  expect(controllerOf(await here('kept-0'))).toEqual(owner);
  expect(controllerOf((await there('kept'))[0])).toMatchObject({ kind: 'StatefulSet', name: 'kept' });

  await world.admin.delete(
    resources.statefulsets,
    { namespace: 'default', name: 'kept' },
    { propagationPolicy: 'Orphan' },
  );
  await until("it is nobody's", async () => {
    const pod = await here('kept-0');
    return pod !== undefined && controllerOf(pod) === undefined;
  });
  await until('the set is gone', async () => !(await find(world.admin, resources.statefulsets, 'kept')));
  expect(controllerOf(await here('kept-0'))).toBeUndefined();
});
