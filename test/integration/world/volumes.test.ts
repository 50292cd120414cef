import { afterEach, beforeEach, expect, test } from 'vitest';
import { drain } from '../../../cli/drain.ts';
import { reflectedFrom } from '../../../cluster/reflected.ts';
import type { PhysicalCluster, Placement } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { textAt } from '../../../kube/untyped.ts';
import type { Behaviour } from '../../../sim/pods/behaviour.ts';
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

const { deployments, events, namespaces, persistentvolumeclaims, physicalclusters, placements, pods } =
  resources;
const { statefulsets } = resources;
const inDefault = { namespace: 'default' };
const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const master = { name: 'admin', groups: ['system:masters'] };
const recreate = { 'atoll.dev/volumes': 'recreate' };

let world: World;
/** How pods behave that are made from now on, on all clusters. */
let behaviour: Behaviour;
beforeEach(async () => {
  behaviour = { name: 'server', scheduledAfterMs: [20, 60], readyAfterMs: [50, 150], stopsAfterMs: [20, 60] };
  world = await startWorld({ behaviours: [behaviour] });
});
afterEach(() => world.stop());

async function runSet(replicas: number, annotations: Record<string, string> = {}): Promise<void> {
  const set = statefulSet('db', replicas);
  const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec: claimSpec }];
  const metadata = { ...set.metadata, annotations };
  const made = { ...set, metadata, spec: { ...(set.spec as object), volumeClaimTemplates } };
  await world.admin.create(statefulsets, made, inDefault);
  await settled(world.admin, 'db.statefulsets.apps');
}

const annotate = (annotations: Record<string, string | null>) =>
  world.admin.patch(statefulsets, { ...inDefault, name: 'db' }, 'merge', { metadata: { annotations } });
const specOf = async (name = 'db.statefulsets.apps') =>
  (await find<Placement>(world.admin, placements, name))?.spec;
const ready = (cluster: string, app = 'db') => readyPods(world.physical(cluster), app);
const drains = (cluster: string) =>
  drain(world.admin, cluster, { timeoutSeconds: 50, output: 'json', patienceMs: 500 });

/** By name, the uid of each claim that a cluster has. */
async function claimsOn(cluster: string): Promise<Record<string, string>> {
  const { items } = await world.physical(cluster).client.list(persistentvolumeclaims);
  return Object.fromEntries(items.map(({ metadata: { name = '', uid = '' } }) => [name, uid]));
}
const names = async (cluster: string) => Object.keys(await claimsOn(cluster)).sort();

async function told(reason: string): Promise<string[]> {
  const { items } = await world.admin.list<KubeObject & { reason?: string; message?: string }>(
    events,
    inDefault,
  );
  return items.flatMap((event) => (event.reason === reason ? [event.message ?? ''] : []));
}

/** Pods that come from now on never become ready. */
function breakPods(): void {
  behaviour.fails = { as: 'Waiting', reason: 'ImagePullBackOff', message: 'no such image' };
}
async function mendPods(cluster: string): Promise<void> {
  delete behaviour.fails;
  const { client } = world.physical(cluster);
  for (const { metadata } of (await client.list(pods)).items)
    await client.delete(pods, { namespace: metadata.namespace, name: metadata.name ?? '' });
}

/** One replica, on its way from east to west, where its pod does not become ready: nothing of it runs. */
async function betweenTwo(): Promise<void> {
  await runSet(1, { ...recreate, 'atoll.dev/clusters': 'east' });
  await until('its claim is there', async () => (await names('east')).length === 1);
  breakPods();
  await move(world.admin, statefulsets, 'db', 'west');
  await until('it has left east', async () => Object.keys((await specOf())?.shares ?? {}).join() === 'west');
  await until(
    'a pod waits on west',
    async () => (await world.physical('west').client.list(pods)).items.length > 0,
  );
}

test('a drain that claims hold goes on with recreate; the old claims go when the set is in place', async () => {
  await runSet(3);
  const [from = ''] = (await specOf())?.clusters ?? [];
  const to = from === 'east' ? 'west' : 'east';
  const data = ['data-db-0', 'data-db-1', 'data-db-2'];
  await until('its claims hold it', async () => {
    const { items } = await world.admin.list(persistentvolumeclaims, inDefault);
    return items.filter((claim) => textAt(claim, 'status', 'phase') === 'Bound').length === 3;
  });
  await expect(drains(from)).rejects.toThrow(
    `db: its claim data-db-0 holds data on ${from}, which cannot be moved; ` +
      'annotate the workload with atoll.dev/volumes: recreate to have it move without the data',
  );
  const planned = await world.transport(master)({
    method: 'PATCH',
    url: '/apis/apps/v1/namespaces/default/statefulsets/db?dryRun=All',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: Buffer.from(JSON.stringify({ metadata: { annotations: recreate } })),
  });
  expect([planned.headers['warning']].flat().join()).toContain(
    `plan: default/statefulsets.apps/db moves from ${from} to ${to}: ${from}: it is being drained; ` +
      'its claim data-db-0 is made anew, without the data',
  );
  let isEarly = false;
  world.physical(from).faults.intercept = async ({ method, url }) => {
    if (method === 'DELETE' && url.includes('/persistentvolumeclaims/'))
      isEarly ||= (await ready(to)).length < 3 || (await ready(from)).length > 0;
  };
  await annotate(recreate);
  await drains(from);
  await settled(world.admin, 'db.statefulsets.apps');
  expect(await ready(to)).toEqual(['db-0', 'db-1', 'db-2']);
  await until('the old claims are gone', async () => (await names(from)).length === 0);
  expect(isEarly).toBe(false);
  expect(await names(to)).toEqual(data);
  await until('those that are there are shown', async () => {
    const { items } = await world.admin.list(persistentvolumeclaims, inDefault);
    return items.length === 3 && items.every((claim) => reflectedFrom(claim).join() === to);
  });
  expect(await told('ClaimsGivenUp')).toEqual([
    expect.stringContaining(`its claims on ${from} stay there until`),
  ]);
  await world.admin.delete(physicalclusters, { name: from });
  await until(
    'the cluster leaves empty',
    async () => !(await find<PhysicalCluster>(world.admin, physicalclusters, from, '')),
  );
});

test('as long as its successor is not ready nothing is deleted, also by controllers that start anew', async () => {
  await betweenTwo();
  const before = await claimsOn('east');
  await world.restartControllers();
  // Its syncer asks each two seconds.
  const asked = () =>
    world.physical('east').upstream.requests.filter((line) => line.includes('/claims?uid=')).length;
  const first = asked();
  await until('it was asked twice more', () => asked() >= first + 2);
  expect(await claimsOn('east')).toEqual(before);
  await mendPods('west');
  await until('the old claim is gone', async () => (await names('east')).length === 0);
  expect(await ready('west')).toEqual(['db-0']);
});

test('who says hold in the middle keeps what is there', async () => {
  await betweenTwo();
  const before = await claimsOn('east');
  await annotate({ 'atoll.dev/volumes': 'hold' });
  await until('it is told', async () => (await told('ClaimsKept')).length > 0);
  await mendPods('west');
  await settled(world.admin, 'db.statefulsets.apps');
  await annotate(recreate);
  await settled(world.admin, 'db.statefulsets.apps');
  expect((await specOf())?.givenUp).toBeUndefined();
  // It goes back to its data.
  await annotate({ 'atoll.dev/clusters': 'east', 'atoll.dev/volumes': 'hold' });
  await until('it is back', async () => (await ready('east')).length === 1);
  expect(await claimsOn('east')).toEqual(before);
});

test('an edit back in the middle finds its data', async () => {
  await betweenTwo();
  const before = await claimsOn('east');
  delete behaviour.fails;
  await move(world.admin, statefulsets, 'db', 'east');
  await until('it is back', async () => (await ready('east')).length === 1);
  await settled(world.admin, 'db.statefulsets.apps');
  expect(await claimsOn('east')).toEqual(before);
  await until('what was made on west goes', async () => (await names('west')).length === 0);
});

test('a cluster that was silent is asked when it is heard of again', async () => {
  await betweenTwo();
  world.physical('east').faults.silence();
  await mendPods('west');
  await settled(world.admin, 'db.statefulsets.apps');
  world.physical('east').faults.heal();
  await until('the old claim is gone', async () => (await names('east')).length === 0);
  expect(await ready('west')).toEqual(['db-0']);
});

test('data that was left before anybody gave it up is kept, and so is that of a set that is deleted', async () => {
  await runSet(1, { 'atoll.dev/clusters': 'east' });
  await move(world.admin, statefulsets, 'db', 'west');
  await until('it has moved', async () => (await ready('west')).length === 1);
  await settled(world.admin, 'db.statefulsets.apps');
  await annotate(recreate);
  await move(world.admin, statefulsets, 'db', 'west');
  breakPods();
  await world.simulate('north');
  await world.register('north');
  await move(world.admin, statefulsets, 'db', 'north');
  await until('it has left west', async () => Object.keys((await specOf())?.shares ?? {}).join() === 'north');
  expect(Object.keys((await specOf())?.givenUp ?? {})).toEqual(['west']);
  await world.admin.delete(statefulsets, { ...inDefault, name: 'db' });
  await until('gone', async () => (await specOf()) === undefined);
  expect(await names('east')).toEqual(['data-db-0']);
  expect(await names('west')).toEqual(['data-db-0']);
});

test('a claim of its own goes along empty, and the old one when what uses it is in place', async () => {
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'files' },
    spec: claimSpec,
  };
  await world.admin.create(persistentvolumeclaims, claim, inDefault);
  const web = deployment('web', 1);
  const made = template('web') as { spec: object };
  const volumes = [{ name: 'files', persistentVolumeClaim: { claimName: 'files' } }];
  const spec = { ...(web.spec as object), template: { ...made, spec: { ...made.spec, volumes } } };
  await world.admin.create(deployments, { ...web, spec }, inDefault);
  const placed = await settled(world.admin, 'web.deployments.apps');
  const [from = ''] = placed.spec?.clusters ?? [];
  const to = from === 'east' ? 'west' : 'east';
  await settled(world.admin, 'files.persistentvolumeclaims');
  await expect(drains(from)).rejects.toThrow(`web: its claim files holds data on ${from}`);
  breakPods();
  await world.admin.patch(namespaces, { name: 'default' }, 'merge', { metadata: { annotations: recreate } });
  const isGone = async () => Object.keys((await specOf('web.deployments.apps'))?.shares ?? {}).join() === to;
  await until('the pod has left', async () => (await isGone()) && (await names(to)).length === 1);
  await until('why its claim stays is said', async () => {
    const { reasons = {}, shares = {} } = (await specOf('files.persistentvolumeclaims')) ?? {};
    return (
      reasons[from] === 'what uses it is not in place without it yet' && shares[from]?.phase === 'Active'
    );
  });
  expect(await names(from)).toEqual(['files']);
  await mendPods(to);
  await until('the old claim is gone', async () => (await names(from)).length === 0);
  expect(await ready(to, 'web')).toHaveLength(1);
  await drains(from);
});

test('a claim that its user made under the name of one of the set’s goes along as its own', async () => {
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data-db-0' },
    spec: claimSpec,
  };
  await world.admin.create(persistentvolumeclaims, claim, inDefault);
  await betweenTwo();
  const placement = 'data-db-0.persistentvolumeclaims';
  await until('it is there too', async () => (await names('west')).length === 1);
  await until(
    'it stays for its data',
    async () => (await specOf(placement))?.clusters.join() === 'east,west',
  );
  expect(await names('east')).toEqual(['data-db-0']);
  await mendPods('west');
  await until('the old one is gone', async () => (await names('east')).length === 0);
  expect(await ready('west')).toEqual(['db-0']);
  expect(
    (await find(world.admin, persistentvolumeclaims, 'data-db-0'))?.metadata.deletionTimestamp,
  ).toBeUndefined();
  expect(await names('west')).toEqual(['data-db-0']);
});

test('of another set of ours whose claims have such names none is removed', async () => {
  await betweenTwo();
  const [left] = (await world.physical('east').client.list(persistentvolumeclaims)).items;
  const mark = left?.metadata.annotations?.['atoll.dev/claim-of'] ?? '';
  const { client } = world.physical('east');
  const { namespace } = left?.metadata ?? {};
  const foreign = (name: string, annotations: Record<string, string>) =>
    client.create(
      persistentvolumeclaims,
      { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name, annotations }, spec: claimSpec },
      { namespace },
    );
  const other = { ...JSON.parse(mark), uid: 'another' };
  await foreign('data-db-1', { 'atoll.dev/claim-of': JSON.stringify(other) });
  await foreign('data-db-2', {
    'atoll.dev/claim-of': JSON.stringify({ ...JSON.parse(mark), syncer: 'former' }),
  });
  await foreign('data-db-3', {});
  await mendPods('west');
  await until('its own is gone', async () => !(await names('east')).includes('data-db-0'));
  expect(await names('east')).toEqual(['data-db-1', 'data-db-2', 'data-db-3']);
});

test.each([
  ['keep', 'must be "hold" or "recreate"'],
  ['copy', 'must be "hold" or "recreate"; "copy" takes a copier, and none is configured'],
])('atoll.dev/volumes: %s is refused', async (value, message) => {
  const made = statefulSet('db', 1);
  made.metadata.annotations = { 'atoll.dev/volumes': value };
  const refused = `metadata.annotations[atoll.dev/volumes]: Invalid value: "${value}": ${message}`;
  await expect(world.admin.create(statefulsets, made, inDefault)).rejects.toThrow(refused);
  const patch = { metadata: { annotations: made.metadata.annotations } };
  await expect(world.admin.patch(namespaces, { name: 'default' }, 'merge', patch)).rejects.toThrow(refused);
});
