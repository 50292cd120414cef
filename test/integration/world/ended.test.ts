import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Placement } from '../../../cluster/types.ts';
import { textAt } from '../../../kube/untyped.ts';
import type { Behaviour } from '../../../sim/pods/behaviour.ts';
import { deployment, find, readyPods, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const namespace = 'default';
const { jobs, pods } = resources;
const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'c:1' }] } };

let world: World;
beforeAll(async () => {
  world = await startWorld({ behaviours: [slow] });
});
afterAll(() => world.stop());

test('a Job that has ended stays with its pods when its Namespace moves, and goes when its cluster is drained', async () => {
  const moveTo = (clusters: string) =>
    world.admin.patch(resources.namespaces, { name: namespace }, 'merge', {
      metadata: { annotations: { 'atoll.dev/clusters': clusters } },
    });
  await moveTo('east');
  await world.admin.create(resources.deployments, deployment('web', 1), { namespace });
  const spec = { template };
  await world.admin.create(
    jobs,
    { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'once', namespace }, spec },
    { namespace },
  );
  const podOf = async () => {
    const { items } = await world.admin.list(pods, { namespace, labelSelector: 'job-name=once' });
    return items.map(({ metadata, status }) => `${metadata.name} ${textAt(status, 'phase')}`);
  };
  await until('it has completed', async () => {
    const job = await find(world.admin, jobs, 'once', namespace);
    return textAt(job, 'status', 'completionTime') !== undefined;
  });
  const before = await podOf();
  expect(before).toEqual([expect.stringMatching(/ Succeeded$/)]);
  await moveTo('west');
  await until('all else has moved', async () => {
    const [west, east] = [
      await readyPods(world.physical('west'), 'web'),
      await readyPods(world.physical('east'), 'web'),
    ];
    return west.length === 1 && east.length === 0;
  });
  expect(await podOf()).toEqual(before);
  await world.admin.patch(resources.physicalclusters, { name: 'east' }, 'merge', {
    spec: { drain: true, unschedulable: true },
  });
  await until('it goes, and is not made again', async () => (await podOf()).length === 0);
  expect(await find(world.admin, jobs, 'once', namespace)).toMatchObject({ status: { succeeded: 1 } });
});

/** Counted on where it runs before it ends. */
const slow: Behaviour = {
  name: 'slow',
  match: { owner: 'Job', labels: { runs: 'a-while' } },
  scheduledAfterMs: [20, 60],
  readyAfterMs: [100, 300],
  succeedsAfterMs: [3000, 3000],
  stopsAfterMs: [20, 60],
};
const labels = { runs: 'a-while' };

async function inside(name: string, clusters?: string): Promise<{ namespace: string }> {
  const annotations = clusters === undefined ? {} : { 'atoll.dev/clusters': clusters };
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, annotations } };
  await world.admin.create(resources.namespaces, object);
  return { namespace: name };
}

async function run(at: { namespace: string }): Promise<void> {
  const spec = { template: { ...template, metadata: { labels } } };
  const metadata = { name: 'once', ...at };
  await world.admin.create(jobs, { apiVersion: 'batch/v1', kind: 'Job', metadata, spec }, at);
  await settled(world.admin, 'once.jobs.batch', at.namespace);
}

const completed = ({ namespace }: { namespace: string }) =>
  until('it has completed', async () => {
    const job = await find(world.admin, jobs, 'once', namespace);
    return textAt(job, 'status', 'completionTime') !== undefined;
  });

const drain = (name: string, is: boolean) =>
  world.admin.patch(resources.physicalclusters, { name }, 'merge', {
    spec: { drain: is, unschedulable: is },
  });

test('a Job that has ended leaves its room to the workloads of other Namespaces', async () => {
  const taken = (await readyPods(world.physical('west'), 'web')).length;
  const capacity = (most: string | null) =>
    world.admin.patch(resources.physicalclusters, { name: 'west' }, 'merge', {
      spec: { capacity: { pods: most } },
    });
  await capacity(String(taken + 1));
  const ran = await inside('ran', 'west');
  await run(ran);
  await completed(ran);
  const after = await inside('after', 'west');
  const next = deployment('next', 1);
  const object = { ...next, metadata: { ...next.metadata, ...after } };
  await world.admin.create(resources.deployments, object, after);
  await until('the next has its room', async () => {
    return (await readyPods(world.physical('west'), 'next')).length === 1;
  });
  await capacity(null);
});

test('a Job that ended where a drain was taken back goes with the next drain', async () => {
  await drain('east', false);
  await drain('west', true);
  const free = await inside('free');
  await run(free);
  await drain('west', false);
  await drain('east', true);
  await until('it is bound for elsewhere', async () => {
    const placement = await find<Placement>(world.admin, resources.placements, 'once.jobs.batch', 'free');
    return placement?.spec?.clusters.join() === 'west';
  });
  await drain('east', false);
  await completed(free);
  const there = async () => (await world.admin.list(pods, free)).items.length;
  expect(await there()).toBe(1);
  await drain('east', true);
  await until('it goes', async () => (await there()) === 0);
});

test('what an ended Job keeps from going, and whoever comes back waits for, is told by its name', async () => {
  await drain('east', false);
  const at = await inside('shared', 'east');
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  const metadata = { name: 'data', ...at };
  const claims = resources.persistentvolumeclaims;
  await world.admin.create(
    claims,
    { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec: claim },
    at,
  );
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
  const web = deployment('sharing', 1);
  const spec = web.spec as { template: { spec: object } };
  const using = { ...spec, template: { ...spec.template, spec: { ...spec.template.spec, volumes } } };
  const annotations = { 'atoll.dev/volumes': 'recreate' };
  await world.admin.create(
    resources.deployments,
    { ...web, metadata: { ...web.metadata, ...at, annotations }, spec: using },
    at,
  );
  await until('it runs', async () => (await readyPods(world.physical('east'), 'sharing')).length === 1);
  const job = { template: { spec: { ...template.spec, volumes } } };
  const once = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'once', ...at }, spec: job };
  await world.admin.create(jobs, once, at);
  await completed(at);
  const moveTo = (clusters: string) =>
    world.admin.patch(resources.namespaces, { name: at.namespace }, 'merge', {
      metadata: { annotations: { 'atoll.dev/clusters': clusters } },
    });
  const runsOn = (name: string) =>
    until(`it runs on ${name} alone`, async () => {
      const [here, all] = [
        await readyPods(world.physical(name), 'sharing'),
        await world.admin.list(pods, at),
      ];
      const left = all.items.filter(({ metadata: { labels } }) => labels?.['app'] === 'sharing');
      return here.length === 1 && left.length === 1;
    });
  // As the controllers of a cluster have it, which a simulated one lacks: as long as pods that used it are there.
  const east = world.physical('east').client;
  const [there] = (await east.list(claims)).items.filter(({ metadata: { name } }) => name === 'data');
  const { namespace = '' } = there?.metadata ?? {};
  const protect = (finalizers: string[]) =>
    east.patch(claims, { namespace, name: 'data' }, 'merge', { metadata: { finalizers } });
  await protect(['kubernetes.io/pvc-protection']);
  await moveTo('west');
  await runsOn('west');
  await moveTo('east');
  const [pod] = (await world.admin.list(pods, { ...at, labelSelector: 'job-name=once' })).items;
  await until('it is told what is waited for', async () => {
    const placement = await find<Placement>(
      world.admin,
      resources.placements,
      'data.persistentvolumeclaims',
      at.namespace,
    );
    const words = placement?.status?.conditions?.map(({ message }) => message).join() ?? '';
    return words.includes(`pods that have ended keep it until they are deleted: ${pod?.metadata.name}`);
  });
  await world.admin.delete(jobs, { ...at, name: 'once' }, { propagationPolicy: 'Background' });
  await until('its pod is gone', async () => {
    const { items } = await east.list(pods, { namespace });
    return items.every(({ metadata: { name } }) => name !== pod?.metadata.name);
  });
  await protect([]);
  await runsOn('east');
});
