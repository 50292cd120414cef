import { afterEach, beforeEach, expect, test } from 'vitest';
import { drain } from '../../../cli/drain.ts';
import { removeCluster } from '../../../cli/remove.ts';
import type { Placement } from '../../../cluster/types.ts';
import type { VolumeCopy } from '../../../cluster/volume-copy.ts';
import { contentsOf, readBy } from '../../../sim/volumes/contents.ts';
import type { CopyFault } from '../../../sim/volumes/copier.ts';
import { startCopier } from '../../world/copier.ts';
import {
  deployment,
  find,
  move,
  readyPods,
  resources,
  settled,
  statefulSet,
  template,
  until,
} from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const { persistentvolumeclaims, placements, pods, statefulsets, volumecopies, deployments } = resources;
const inDefault = { namespace: 'default' };
const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const copy = { 'atoll.dev/volumes': 'copy' };

let world: World;
let fault: CopyFault | undefined;
let copier: { stop(): void };

beforeEach(async () => {
  fault = undefined;
  const behaviour = {
    name: 'server',
    scheduledAfterMs: [20, 60],
    readyAfterMs: [50, 150],
    stopsAfterMs: [20, 60],
  } as const;
  world = await startWorld({ behaviours: [behaviour] });
  copier = await startCopier(world, ['east', 'west'], { faultOf: () => fault, halfMs: () => 5 });
});
afterEach(async () => {
  copier.stop();
  await world.stop();
});

async function runSet(replicas: number, annotations: Record<string, string>): Promise<void> {
  const set = statefulSet('db', replicas);
  const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec: claimSpec }];
  const metadata = { ...set.metadata, annotations };
  await world.admin.create(
    statefulsets,
    { ...set, metadata, spec: { ...(set.spec as object), volumeClaimTemplates } },
    inDefault,
  );
  await settled(world.admin, 'db.statefulsets.apps');
}

const placed = (name = 'db.statefulsets.apps') => find<Placement>(world.admin, placements, name);
const saidOf = async () =>
  (await placed())?.status?.conditions?.find(({ type }) => type === 'Settled')?.message ?? '';
const ready = (cluster: string, app = 'db') => readyPods(world.physical(cluster), app);

/** By claim, what is on its volume there; by pod, what it found when it started. */
async function contentsOn(cluster: string): Promise<Record<string, number>> {
  const { items } = await world.physical(cluster).client.list(persistentvolumeclaims);
  return Object.fromEntries(items.map((claim) => [claim.metadata.name, contentsOf(claim)]));
}
async function readOn(cluster: string): Promise<Record<string, number>> {
  const { items } = await world.physical(cluster).client.list(pods);
  return Object.fromEntries(items.flatMap((pod) => [...readBy(pod)]));
}

test('a drain takes the data along, ordinal by ordinal, and back again', async () => {
  await runSet(3, { ...copy });
  const [from = ''] = (await placed())?.spec?.clusters ?? [];
  const to = from === 'east' ? 'west' : 'east';
  await drain(world.admin, from, { timeoutSeconds: 180, output: 'json', patienceMs: 500 });
  await settled(world.admin, 'db.statefulsets.apps');
  expect(await ready(to)).toEqual(['db-0', 'db-1', 'db-2']);
  expect(await readOn(to)).toEqual({ 'data-db-0': 1, 'data-db-1': 1, 'data-db-2': 1 });
  expect(await contentsOn(to)).toEqual({ 'data-db-0': 2, 'data-db-1': 2, 'data-db-2': 2 });
  expect(await contentsOn(from)).toEqual({ 'data-db-0': 1, 'data-db-1': 1, 'data-db-2': 1 });
  await world.admin.patch(resources.physicalclusters, { name: from }, 'merge', {
    spec: { drain: false, unschedulable: false },
  });
  await move(world.admin, statefulsets, 'db', from);
  await until('it is back', async () => (await ready(from)).length === 3);
  await settled(world.admin, 'db.statefulsets.apps');
  expect(await readOn(from)).toEqual({ 'data-db-0': 2, 'data-db-1': 2, 'data-db-2': 2 });
});

test('a copy that fails leaves it where it was, until it is deleted', async () => {
  await runSet(2, { ...copy, 'atoll.dev/clusters': 'east' });
  fault = 'fail';
  await move(world.admin, statefulsets, 'db', 'west');
  await until('it is said', async () => (await saidOf()).includes('was not copied'));
  expect(await saidOf()).toBe(
    'its claim data-db-1 was not copied from east to west: the simulated network broke; it stays on east; ' +
      'to have it tried again, delete volumecopies/data-db-1',
  );
  await until('it runs where it was', async () => (await ready('east')).length === 2);
  expect(await ready('west')).toEqual([]);
  fault = undefined;
  await world.admin.delete(volumecopies, { ...inDefault, name: 'data-db-1' });
  await until('it has moved', async () => (await ready('west')).length === 2);
  await settled(world.admin, 'db.statefulsets.apps');
  expect(await readOn('west')).toEqual({ 'data-db-0': 1, 'data-db-1': 2 });
});

test('an edit back while it is copied finds the data, and the next trip copies anew', async () => {
  await runSet(1, { ...copy, 'atoll.dev/clusters': 'east' });
  fault = 'crash';
  await move(world.admin, statefulsets, 'db', 'west');
  await until('it is copied', async () => (await saidOf()).includes('is copied from east to west'));
  await move(world.admin, statefulsets, 'db', 'east');
  await until('it is back', async () => (await ready('east')).length === 1);
  await settled(world.admin, 'db.statefulsets.apps');
  expect(await readOn('east')).toEqual({ 'data-db-0': 1 });
  await until('nothing is asked for', async () => {
    const { items } = await world.admin.list<VolumeCopy>(volumecopies, inDefault);
    return items.length === 0;
  });
  fault = undefined;
  await move(world.admin, statefulsets, 'db', 'west');
  await until('it has moved', async () => (await ready('west')).length === 1);
  expect(await readOn('west')).toEqual({ 'data-db-0': 2 });
});

test('who says that it was copied, where there is no claim, starts nothing', async () => {
  await runSet(1, { ...copy, 'atoll.dev/clusters': 'east' });
  fault = 'lie';
  await move(world.admin, statefulsets, 'db', 'west');
  await until('it is said to be copied', async () => {
    const found = await find<VolumeCopy>(world.admin, volumecopies, 'data-db-0');
    return found?.status?.phase === 'Copied';
  });
  await until('it is waited for', async () => (await saidOf()).includes('is copied from east to west'));
  expect(await world.physical('west').client.list(pods)).toMatchObject({ items: [] });
  await move(world.admin, statefulsets, 'db', 'east');
  await until('it is back', async () => (await ready('east')).length === 1);
});

test('forgotten while it is silent, it starts without what was not copied, when the copier has let go', async () => {
  await runSet(2, { ...copy, 'atoll.dev/clusters': 'east' });
  fault = 'crash';
  await move(world.admin, statefulsets, 'db', 'west');
  await until('it is copied', async () => (await saidOf()).includes('is copied from east to west'));
  const at = { ...inDefault, name: 'data-db-1' };
  const hold = (finalizers: string[]) =>
    world.admin.patch(volumecopies, at, 'merge', { metadata: { finalizers } });
  await hold(['copier.example/writes']);
  world.physical('east').faults.silence();
  await removeCluster(world.admin, 'east', { forget: true, waitSeconds: 180 });
  await until('the other one runs', async () => (await ready('west')).join() === 'db-0');
  const { metadata } = await world.admin.get<VolumeCopy>(volumecopies, at);
  expect(metadata.deletionTimestamp).toBeDefined();
  await hold([]);
  await until('all run', async () => (await ready('west')).length === 2);
  expect(await readOn('west')).toEqual({ 'data-db-0': 0, 'data-db-1': 0 });
});

/** A Deployment on east with a claim of its own. */
async function runWeb(replicas: number): Promise<void> {
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'files' },
    spec: { ...claimSpec, accessModes: ['ReadWriteMany'] },
  };
  await world.admin.create(persistentvolumeclaims, claim, inDefault);
  const web = deployment('web', replicas);
  const made = template('web') as { spec: object };
  const volumes = [{ name: 'files', persistentVolumeClaim: { claimName: 'files' } }];
  web.metadata.annotations = { ...copy, 'atoll.dev/clusters': 'east' };
  web.spec = { ...(web.spec as object), template: { ...made, spec: { ...made.spec, volumes } } };
  await world.admin.create(deployments, web, inDefault);
  await settled(world.admin, 'web.deployments.apps');
  await settled(world.admin, 'files.persistentvolumeclaims');
}

test('what is scaled up as it moves starts nothing without its data', async () => {
  await runWeb(1);
  const metadata = { annotations: { 'atoll.dev/clusters': 'west' } };
  const body = { metadata, spec: { replicas: 3 } };
  await world.admin.patch(deployments, { ...inDefault, name: 'web' }, 'merge', body);
  await until('it has moved', async () => (await ready('west', 'web')).length === 3);
  const { items } = await world.physical('west').client.list(pods);
  expect(Math.min(...items.flatMap((pod) => [...readBy(pod).values()]))).toBeGreaterThanOrEqual(1);
});

test('what came to where nothing ran goes when it is edited back, and is copied anew', async () => {
  await runWeb(1);
  fault = 'crash';
  await move(world.admin, deployments, 'web', 'west');
  const claimOn = async (cluster: string) => Object.keys(await contentsOn(cluster));
  await until('it is being copied, and its claim is there', async () => {
    const found = await find<VolumeCopy>(world.admin, volumecopies, 'files');
    return found?.status?.phase === 'Copying' && (await claimOn('west')).length === 1;
  });
  await move(world.admin, deployments, 'web', 'east');
  await until('it is back', async () => (await ready('east', 'web')).length === 1);
  await until('what came is gone', async () => (await claimOn('west')).length === 0);
  fault = undefined;
  await move(world.admin, deployments, 'web', 'west');
  await until('it has moved', async () => (await ready('west', 'web')).length === 1);
  expect(Math.max(...Object.values(await readOn('west')))).toBe(2);
});

test('data that was left without a copy is not overwritten by going back', async () => {
  await runWeb(1);
  const say = (annotations: Record<string, string>) =>
    world.admin.patch(deployments, { ...inDefault, name: 'web' }, 'merge', { metadata: { annotations } });
  const pause = { 'atoll.dev/paused': 'true' };
  await say({ 'atoll.dev/volumes': 'recreate', 'atoll.dev/clusters': 'west', ...pause });
  await until('it is ready there', async () => (await ready('west', 'web')).length === 1);
  await say({ 'atoll.dev/volumes': 'copy', 'atoll.dev/paused': 'false' });
  await until('it has moved', async () => (await ready('east', 'web')).length === 0);
  await settled(world.admin, 'web.deployments.apps');
  const before = await contentsOn('east');
  await move(world.admin, deployments, 'web', 'east');
  await until('it is said', async () => {
    const why = (await placed('web.deployments.apps'))?.spec?.reasons?.['east'] ?? '';
    return why.includes('has other data on each of east, west');
  });
  expect([before, await contentsOn('east')]).toEqual([{ files: 1 }, { files: 1 }]);
  expect(await ready('west', 'web')).toHaveLength(1);
});

test('a set that has none, scaled up as it moves, has its data', async () => {
  await runSet(2, { ...copy, 'atoll.dev/clusters': 'east' });
  const at = { ...inDefault, name: 'db' };
  await world.admin.patch(statefulsets, at, 'merge', { spec: { replicas: 0 } });
  await until('none runs', async () => (await ready('east')).length === 0);
  await settled(world.admin, 'db.statefulsets.apps');
  const metadata = { annotations: { 'atoll.dev/clusters': 'west' } };
  await world.admin.patch(statefulsets, at, 'merge', { metadata, spec: { replicas: 2 } });
  await until('it has moved', async () => (await ready('west')).length === 2);
  const read = await readOn('west');
  expect(Math.min(...Object.values(read))).toBeGreaterThanOrEqual(1);
});

test('what a set of its name was copied for is not in the way of one that took over what that left', async () => {
  await runSet(1, { ...copy, 'atoll.dev/clusters': 'east' });
  await move(world.admin, statefulsets, 'db', 'west');
  await until('it has moved', async () => (await ready('west')).length === 1);
  await settled(world.admin, 'db.statefulsets.apps');
  await world.admin.delete(statefulsets, { ...inDefault, name: 'db' }, { propagationPolicy: 'Orphan' });
  await until('it is gone', async () => (await find(world.admin, statefulsets, 'db')) === undefined);
  await runSet(1, { ...copy, 'atoll.dev/clusters': 'west' });
  await until('it runs', async () => (await ready('west')).length === 1);
  await move(world.admin, statefulsets, 'db', 'east');
  await until('it has moved back', async () => (await ready('east')).length === 1);
  expect((await readOn('east'))['data-db-0']).toBeGreaterThanOrEqual(2);
});

test('goes when there is a copier again', async () => {
  await runSet(1, { ...copy, 'atoll.dev/clusters': 'east' });
  fault = 'fail';
  await move(world.admin, statefulsets, 'db', 'west');
  await until('it is said', async () => (await saidOf()).includes('was not copied'));
  fault = undefined;
  const says = (copier: string | null) =>
    world.admin.patch(resources.physicalclusters, { name: 'west' }, 'merge', { spec: { copier } });
  await says(null);
  await world.admin.delete(volumecopies, { ...inDefault, name: 'data-db-0' });
  await until('nobody copies', async () => (await saidOf()).includes('no copier is between'));
  await until('it runs', async () => (await ready('east')).length === 1);
  await says('sim');
  await until('it has moved', async () => (await ready('west')).length === 1);
});

test('a claim of its own is copied while nothing runs, and leaves when it is in use elsewhere', async () => {
  await runWeb(2);
  const before = await contentsOn('east');
  await move(world.admin, deployments, 'web', 'west');
  await until('it has moved', async () => (await ready('west', 'web')).length === 2);
  await settled(world.admin, 'web.deployments.apps');
  expect(Math.min(...Object.values(await readOn('west')))).toBeGreaterThanOrEqual(before['files'] ?? 0);
  await until('the old one is gone', async () => Object.keys(await contentsOn('east')).length === 0);
});

test('nobody else asks for a copy, or changes what is asked for; who copies writes its status', async () => {
  const spec = {
    claim: 'data-db-0',
    physicalNamespace: 'kube-system',
    from: 'east',
    to: 'west',
    copier: 'sim',
    trip: 'any',
    workload: { group: 'apps', resource: 'statefulsets', name: 'db', uid: 'u' },
  };
  const forged = {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'VolumeCopy',
    metadata: { name: 'data-db-0' },
    spec,
  };
  const refused = 'they are made by the system';
  await expect(world.admin.create(volumecopies, forged, inDefault)).rejects.toThrow(refused);
  const at = { ...inDefault, name: 'data-db-0' };
  await expect(world.admin.patch(volumecopies, at, 'apply', forged, { fieldManager: 'me' })).rejects.toThrow(
    refused,
  );
  fault = 'crash';
  await runSet(1, { ...copy, 'atoll.dev/clusters': 'east' });
  await move(world.admin, statefulsets, 'db', 'west');
  await until(
    'it is asked for',
    async () => (await find(world.admin, volumecopies, 'data-db-0')) !== undefined,
  );
  await expect(world.admin.patch(volumecopies, at, 'merge', { spec: { from: 'west' } })).rejects.toThrow(
    'field is immutable',
  );
  await world.admin.patch(volumecopies, { ...at, subresource: 'status' }, 'merge', {
    status: { phase: 'Failed', message: 'by hand' },
  });
  await until('it is believed', async () => (await saidOf()).includes('by hand; it stays on east'));
});
