import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { drain } from '../../../cli/drain.ts';
import { explain } from '../../../cli/explain/explain.ts';
import { parseNamed } from '../../../cli/explain/kinds.ts';
import { reflectedFrom } from '../../../cluster/reflected.ts';
import type { Placement } from '../../../cluster/types.ts';
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

const { deployments, namespaces, persistentvolumeclaims, placements, pods } = resources;
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

async function runSet(
  replicas: number,
  annotations: Record<string, string> = {},
  ofClaims: Record<string, string> = {},
): Promise<void> {
  const set = statefulSet('db', replicas);
  const volumeClaimTemplates = [{ metadata: { name: 'data', annotations: ofClaims }, spec: claimSpec }];
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
  drain(world.admin, cluster, { timeoutSeconds: 180, output: 'json', patienceMs: 500 });

/** By name, the uid of each claim that a cluster has. */
async function claimsOn(cluster: string): Promise<Record<string, string>> {
  const { items } = await world.physical(cluster).client.list(persistentvolumeclaims);
  return Object.fromEntries(items.map(({ metadata: { name = '', uid = '' } }) => [name, uid]));
}
const names = async (cluster: string) => Object.keys(await claimsOn(cluster)).sort();

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

async function explained(named: string): Promise<string> {
  const out: string[] = [];
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => out.push(String(text)) > 0);
  await explain(world.admin, parseNamed([named]), { cluster: 'root', ...inDefault }, 'text');
  write.mockRestore();
  return out.join('');
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

test('a drain that claims hold goes on with recreate; the old claims stay where they are', async () => {
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
  const before = await claimsOn(from);
  expect(Object.keys(before)).toHaveLength(3);
  await annotate(recreate);
  await drains(from);
  await settled(world.admin, 'db.statefulsets.apps');
  expect(await ready(to)).toEqual(['db-0', 'db-1', 'db-2']);
  expect(await names(to)).toEqual(data);
  expect(await claimsOn(from)).toEqual(before);
  const home = (await specOf())?.physicalNamespace;
  expect(await explained('sts/db')).toContain(`kubeconfig of that: kubectl -n ${home} get pvc\n`);
  await until('those that are there are shown', async () => {
    const { items } = await world.admin.list(persistentvolumeclaims, inDefault);
    return items.length === 3 && items.every((claim) => reflectedFrom(claim).join() === to);
  });
});

test('an edit back in the middle finds its data', async () => {
  await betweenTwo();
  const before = await claimsOn('east');
  delete behaviour.fails;
  await move(world.admin, statefulsets, 'db', 'east');
  await until('it is back', async () => (await ready('east')).length === 1);
  await settled(world.admin, 'db.statefulsets.apps');
  expect(await claimsOn('east')).toEqual(before);
});

const filesClaim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'files' },
  spec: claimSpec,
};

function usesFiles(web: KubeObject): KubeObject {
  const made = template('web') as { spec: object };
  const volumes = [{ name: 'files', persistentVolumeClaim: { claimName: 'files' } }];
  return {
    ...web,
    spec: { ...(web.spec as object), template: { ...made, spec: { ...made.spec, volumes } } },
  };
}

test('a claim of its own goes along empty, and the old one when what uses it is in place', async () => {
  await world.admin.create(persistentvolumeclaims, filesClaim, inDefault);
  await world.admin.create(deployments, usesFiles(deployment('web', 1)), inDefault);
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
  const left = `${from}: the data of its claim files is there, given up by deployments.apps/web; it is deleted once`;
  expect(await explained('deployment/web')).toContain(`\nData that is left:\n  ${left}`);
  const told = await explained('pvc/files');
  expect(told).toContain(
    `\nData that is left:\n  ${from}: its data is there, given up by deployments.apps/web; `,
  );
  expect(told).toContain('annotate persistentvolumeclaims/files --overwrite atoll.dev/volumes=hold\n');
  await mendPods(to);
  await until('the old claim is gone', async () => (await names(from)).length === 0);
  await until(
    'nothing more is told of it',
    async () => !(await explained('deployment/web')).includes('Data that is left'),
  );
  expect(await ready(to, 'web')).toHaveLength(1);
  await drains(from);
});

test.each([
  ['', {}],
  ['s template', { 'atoll.dev/volumes': 'hold' }],
])('hold on a claim%s of a set counts before what the set says', async (_of, ofClaims) => {
  await runSet(1, recreate, ofClaims);
  const [from = ''] = (await specOf())?.clusters ?? [];
  await until('its claim is shown', async () => {
    const { items } = await world.admin.list(persistentvolumeclaims, inDefault);
    return items.some((claim) => textAt(claim, 'status', 'phase') === 'Bound');
  });
  if (_of === '')
    await world.admin.patch(persistentvolumeclaims, { ...inDefault, name: 'data-db-0' }, 'merge', {
      metadata: { annotations: { 'atoll.dev/volumes': 'hold' } },
    });
  await expect(drains(from)).rejects.toThrow(`db: its claim data-db-0 holds data on ${from}`);
  expect(await ready(from)).toEqual(['db-0']);
});

test('of what is scaled to nothing before it was ready elsewhere the claim stays', async () => {
  await world.admin.create(persistentvolumeclaims, filesClaim, inDefault);
  await world.admin.create(deployments, usesFiles(deployment('web', 1, 'east')), inDefault);
  await settled(world.admin, 'web.deployments.apps');
  await settled(world.admin, 'files.persistentvolumeclaims');
  breakPods();
  await world.admin.patch(namespaces, { name: 'default' }, 'merge', { metadata: { annotations: recreate } });
  await move(world.admin, deployments, 'web', 'west');
  await world.admin.patch(deployments, { ...inDefault, name: 'web' }, 'merge', { spec: { replicas: 0 } });
  await settled(world.admin, 'web.deployments.apps');
  await until('why its claim stays is said', async () => {
    const { reasons = {} } = (await specOf('files.persistentvolumeclaims')) ?? {};
    return reasons['east'] === 'what uses it is not in place without it yet';
  });
  expect(await names('east')).toEqual(['files']);
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

test.each([
  ['keep', 'must be "hold", "recreate" or "copy"'],
  ['copy', '"copy" takes a copier, and no PhysicalCluster names one (spec.copier)'],
])('atoll.dev/volumes: %s is refused', async (value, message) => {
  const made = statefulSet('db', 1);
  made.metadata.annotations = { 'atoll.dev/volumes': value };
  const refused = `metadata.annotations[atoll.dev/volumes]: Invalid value: "${value}": ${message}`;
  await expect(world.admin.create(statefulsets, made, inDefault)).rejects.toThrow(refused);
  const patch = { metadata: { annotations: made.metadata.annotations } };
  await expect(world.admin.patch(namespaces, { name: 'default' }, 'merge', patch)).rejects.toThrow(refused);
  const volumeClaimTemplates = [{ metadata: { name: 'data', ...patch.metadata }, spec: claimSpec }];
  const set = statefulSet('db', 1);
  set.spec = { ...(set.spec as object), volumeClaimTemplates };
  await expect(world.admin.create(statefulsets, set, inDefault)).rejects.toThrow(
    `spec.volumeClaimTemplates[0].${refused}`,
  );
});
