import { afterEach, expect, test, vi } from 'vitest';
import { locatorAnnotation } from '../../../cluster/names.ts';
import { StatusError } from '../../../kube/status.ts';
import { deployment, find, resources, statefulSet, until } from '../../world/objects.ts';
import { active, configMap, leaving, namespace } from '../../world/upstream.ts';
import { Sides } from './sides.ts';

const { deployments, events, jobs, pods, replicasets } = resources;
const sides = Sides.forEach();
const web = deployment('web', 1);
const once = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'c:1' }] } };

/** As its user sees it. */
const seen = (resource: (typeof resources)[keyof typeof resources], name: string) =>
  find(sides.upstream.admin, resource, name, namespace);
const untilSeen = (resource: (typeof resources)[keyof typeof resources], name: string) =>
  until(`${name} is seen`, () => seen(resource, name));

/** As `run` leaves it: what it was before may be seen, too. */
const untilRuns = () =>
  until('it runs', async () => {
    const pod = await seen(pods, 'web-1');
    return (pod?.status as { phase?: string } | undefined)?.phase === 'Running' ? pod : undefined;
  });

/** What its controllers and a kubelet make of the Deployment: a ReplicaSet and a pod that runs. */
async function run(holds = true): Promise<void> {
  const { physical, upstream } = sides;
  const of = await sides.untilThere(deployments, 'web');
  const set = await physical.child('ReplicaSet', 'web-5d', { of, holds });
  await physical.child('Pod', 'web-1', { of: set, holds, node: 'n1' });
  const at = { namespace: upstream.home, name: 'web-1', subresource: 'status' };
  await physical.client.patch(pods, at, 'merge', { status: { phase: 'Running' } });
}

afterEach(() => void vi.useRealTimers());

const stranger = () => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'stranger', namespace: sides.upstream.home },
  spec: { containers: [{ name: 'c', image: 'c:1' }] },
});

test('pods and ReplicaSets are reflected under their workload, followed, and withdrawn', async () => {
  const { upstream, physical } = sides;
  const ref = await upstream.place(web, { east: active });
  sides.start();
  await run();
  const [pod, set] = [await untilRuns(), await seen(replicasets, 'web-5d')];
  expect(set?.metadata).toMatchObject({
    annotations: { 'atoll.dev/physical-cluster': 'east' },
    ownerReferences: [{ kind: 'Deployment', name: 'web', uid: ref.uid, controller: true }],
  });
  expect(pod?.metadata).toMatchObject({
    annotations: { 'atoll.dev/physical-cluster': 'east' },
    ownerReferences: [{ kind: 'ReplicaSet', name: 'web-5d', uid: set?.metadata.uid, controller: true }],
  });
  expect(pod?.spec).toMatchObject({ nodeName: 'n1' });
  await physical.end(upstream.home, 'web-1');
  await until('withdrawn', async () => !(await seen(pods, 'web-1')));
  await physical.client.delete(replicasets, { namespace: upstream.home, name: 'web-5d' });
  await until('withdrawn', async () => !(await seen(replicasets, 'web-5d')));
});

test('what happens to them is told as Events, under the uid that they have here', async () => {
  const { upstream, physical } = sides;
  await upstream.place(web, { east: active });
  sides.start();
  await run();
  const pod = await untilSeen(pods, 'web-1');
  for (const [name, about] of [
    ['foreign', 'stranger'],
    ['told', 'web-1'],
  ] as const) {
    const object = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace: upstream.home },
      involvedObject: { apiVersion: 'v1', kind: 'Pod', name: about, namespace: upstream.home, uid: 'there' },
      reason: 'Scheduled',
      message: `Successfully assigned ${upstream.home}/${about} to n1`,
      lastTimestamp: new Date().toISOString().replace(/\.\d+/, ''),
      count: 2,
    };
    await physical.client.create(events, object);
  }
  expect(await untilSeen(events, 'told')).toMatchObject({
    metadata: { namespace, annotations: { 'atoll.dev/physical-cluster': 'east' } },
    involvedObject: { kind: 'Pod', name: 'web-1', namespace, uid: pod.metadata.uid },
    message: 'Successfully assigned shop/web-1 to n1',
    count: 2,
  });
  expect(await seen(events, 'foreign')).toBeUndefined();
  await physical.client.delete(events, { namespace: upstream.home, name: 'told' });
  await until('withdrawn', async () => !(await seen(events, 'told')));
});

test('pods whose workload is placed and owns them without another between are reflected', async () => {
  const { upstream, physical } = sides;
  const ref = await upstream.place(
    { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'once' }, spec: { template: once } },
    { east: active },
  );
  sides.start();
  await physical.child('Pod', 'once-1', { of: await sides.untilThere(jobs, 'once') });
  const reflected = await untilSeen(pods, 'once-1');
  expect(reflected.metadata.ownerReferences).toMatchObject([{ kind: 'Job', name: 'once', uid: ref.uid }]);
});

test('pods that went while no syncer ran are withdrawn at the start', async () => {
  const { upstream, physical } = sides;
  await upstream.place(web, { east: active });
  sides.start();
  await run();
  await untilSeen(pods, 'web-1');
  await sides.stop();
  await physical.end(upstream.home, 'web-1');
  sides.start();
  await until('withdrawn', async () => !(await seen(pods, 'web-1')));
});

test('pods of nobody we know are not reflected, and a share leaves only after its own', async () => {
  const { upstream, physical } = sides;
  const ref = await upstream.place(web, { east: active });
  sides.start();
  // Nothing of it holds the Deployment: it is gone while its pod still runs.
  await run(false);
  await physical.client.create(pods, stranger());
  const { uid = '' } = (await sides.untilThere(deployments, 'web')).metadata;
  const of = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid };
  const { metadata, ...rest } = stranger();
  const guest = { ...rest, metadata: { ...metadata, name: 'guest', ownerReferences: [of] } };
  await physical.client.create(pods, guest);
  await untilSeen(pods, 'web-1');
  const heard = { metadata: { labels: { heard: 'again' } } };
  await physical.client.patch(pods, { namespace: upstream.home, name: 'web-1' }, 'merge', heard);
  await until('heard again', async () => (await seen(pods, 'web-1'))?.metadata.labels?.['heard']);
  const there = await sides.there(pods, 'guest');
  expect([await seen(pods, 'guest'), there?.metadata.annotations]).toEqual([undefined, undefined]);
  await upstream.shares(ref, { east: leaving });
  await until('Deployment gone', async () => !(await sides.there(deployments, 'web')));
  expect(await sides.there(pods, 'web-1')).toBeDefined();
  const { length } = physical.faults.requests;
  for (const replicas of [1, 2, 3]) await upstream.shares(ref, { east: { ...leaving, replicas } });
  // What is told of a Deployment that is gone has been told by the time that something later was.
  const later = await upstream.place(configMap('later'), { east: active });
  await until('later', async () => (await upstream.slice(later))?.present);
  expect((await upstream.slice(ref))?.present).not.toBe(false);
  const asked = physical.faults.requests.slice(length);
  expect(asked.filter((line) => line === `GET ${sides.path(deployments, 'web')}`).length).toBeLessThanOrEqual(
    1,
  );
  await physical.end(upstream.home, 'web-1');
  await until('left', async () => (await upstream.slice(ref))?.present === false);
  expect(await seen(pods, 'stranger')).toBeUndefined();
});

test('what a workload adopts is shown as its own, though it is old and was heard of before the workload', async () => {
  const { upstream, physical } = sides;
  let release: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  physical.faults.intercept = ({ url }) => (/\/deployments\?.*watch=/.test(url) ? held : undefined);
  const ref = await upstream.place(web, { east: active });
  sides.start();
  const of = await sides.untilThere(deployments, 'web');
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
  const set = await physical.child('ReplicaSet', 'web-5d', { of });
  await physical.child('Pod', 'web-1', { of: set });
  vi.useRealTimers();
  // By the time that this is there, both were looked at.
  await upstream.place(
    { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'once' }, spec: { template: once } },
    { east: active },
  );
  await physical.child('Pod', 'once-1', { of: await sides.untilThere(jobs, 'once') });
  await untilSeen(pods, 'once-1');
  expect(await seen(pods, 'web-1')).toBeUndefined();
  release();
  expect((await untilSeen(replicasets, 'web-5d')).metadata.ownerReferences).toMatchObject([{ uid: ref.uid }]);
  expect((await untilSeen(pods, 'web-1')).metadata.ownerReferences).toMatchObject([{ kind: 'ReplicaSet' }]);
});

/** A day later: nothing is young any more. */
function later(): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 86_400_000 });
}

test('pods whose workload may not be read at a start stay as they are, and are followed when it may be', async () => {
  const { upstream, physical } = sides;
  await upstream.place(web, { east: active });
  sides.start();
  await run();
  const [pod, set] = [await untilRuns(), await untilSeen(replicasets, 'web-5d')];
  await sides.stop();
  later();
  physical.faults.intercept = ({ url }) => {
    if (url.includes('/deployments')) throw new StatusError(403, 'Forbidden', 'deployments is forbidden');
  };
  sides.start();
  const untilLooked = until('all is looked at', async () => {
    const { status } = await upstream.cluster();
    return status?.conditions?.some(({ type, status: is }) => type === 'Readable' && is === 'False');
  });
  await untilLooked;
  await upstream.place({ ...configMap('told') }, { east: active });
  await sides.untilThere(resources.configmaps, 'told');
  expect([await seen(pods, 'web-1'), await seen(replicasets, 'web-5d')]).toEqual([pod, set]);
  physical.faults.intercept = () => {};
  await physical.client.patch(pods, { namespace: upstream.home, name: 'web-1' }, 'merge', {
    metadata: { labels: { read: 'again' } },
  });
  const again = await until('followed', async () => {
    const now = await seen(pods, 'web-1');
    return now?.metadata.labels?.['read'] === 'again' ? now : undefined;
  });
  expect(again.metadata.uid).toBe(pod.metadata.uid);
});

test('pods of a cluster that is taken over are shown on, before their workload is known for its new name', async () => {
  const { upstream, physical } = sides;
  const ref = await upstream.place(web, { east: active });
  sides.start();
  await run();
  const [pod, set] = [await untilRuns(), await untilSeen(replicasets, 'web-5d')];
  await sides.stop();
  later();
  const there = await sides.untilThere(deployments, 'web');
  const locator = there.metadata.annotations?.[locatorAnnotation] ?? '';
  const mine = (await upstream.cluster()).metadata.uid ?? '';
  const at = { namespace: upstream.home, name: 'web' };
  const annotations = { [locatorAnnotation]: locator.replace(mine, 'former') };
  await physical.client.patch(deployments, at, 'merge', { metadata: { annotations } });
  sides.start(physical.transport, ['former']);
  await until('taken over', async () => {
    const { metadata } = await sides.untilThere(deployments, 'web');
    return metadata.annotations?.[locatorAnnotation] === locator;
  });
  await until('told', async () => (await upstream.slice(ref))?.present);
  expect((await untilSeen(pods, 'web-1')).metadata.uid).toBe(pod.metadata.uid);
  expect((await untilSeen(replicasets, 'web-5d')).metadata.uid).toBe(set.metadata.uid);
});

/** From now on the syncer may not read these. */
function forbid(resource: string): void {
  sides.physical.faults.intercept = ({ url }) => {
    if (url.includes(`/${resource}`)) throw new StatusError(403, 'Forbidden', `${resource} is forbidden`);
  };
}

test('pods of what may not be read hold no workload of a kind that cannot have made them', async () => {
  const { upstream, physical } = sides;
  const ref = await upstream.place(web, { east: active });
  sides.start();
  await sides.untilThere(deployments, 'web');
  await sides.stop();
  const metadata = { name: 'db', namespace: upstream.home };
  const set = await physical.client.create(resources.statefulsets, { ...statefulSet('db', 1), metadata });
  await physical.child('Pod', 'db-0', { of: set });
  forbid('statefulsets');
  await upstream.shares(ref, { east: leaving });
  sides.start();
  await until('it has left', async () => (await upstream.slice(ref))?.present === false);
});

test('pods of a ReplicaSet that may not be read may be those of any Deployment', async () => {
  const { upstream, physical } = sides;
  const ref = await upstream.place(web, { east: active });
  sides.start();
  await run(false);
  await untilSeen(pods, 'web-1');
  await sides.stop();
  forbid('replicasets');
  await upstream.shares(ref, { east: leaving });
  sides.start();
  await until('Deployment gone', async () => !(await sides.there(deployments, 'web')));
  // By the time that this is shown the other was looked at. What leaves is looked at each second.
  await upstream.place(
    { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'once' }, spec: { template: once } },
    { east: active },
  );
  await physical.child('Pod', 'once-1', { of: await sides.untilThere(jobs, 'once') });
  await untilSeen(pods, 'once-1');
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  expect((await upstream.slice(ref))?.present).not.toBe(false);
  await physical.end(upstream.home, 'web-1');
  await until('left', async () => (await upstream.slice(ref))?.present === false);
});
