import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { formerUids } from '../../../cli/adopt.ts';
import { addCluster, registerCluster } from '../../../cli/cluster.ts';
import { removeCluster } from '../../../cli/remove.ts';
import { reflectedFrom } from '../../../cluster/reflected.ts';
import type { PhysicalCluster, Placement } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import {
  deployment,
  find,
  isReady,
  move,
  readyPods,
  resources,
  settled,
  statefulSet,
  until,
} from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld({ forgetMs: 10_000 });
});
afterEach(() => world.stop());

const {
  deployments,
  namespaces,
  nodes,
  persistentvolumeclaims,
  physicalclusters,
  placements,
  pods,
  services,
  statefulsets,
} = resources;
const inDefault = { namespace: 'default' };

const ready = async (cluster: string, app: string) => (await readyPods(world.physical(cluster), app)).length;
const web = () => find<Placement>(world.admin, placements, 'web.deployments.apps');
const east = () => find<PhysicalCluster>(world.admin, physicalclusters, 'east', '');
const isGone = async () => (await east()) === undefined;
const ours = async () =>
  (await world.physical('east').client.list(namespaces, { labelSelector: 'atoll.dev/managed-by=atoll' }))
    .items;

async function runWeb(): Promise<void> {
  await world.admin.create(deployments, deployment('web', 4, 'east,west'), inDefault);
  await settled(world.admin, 'web.deployments.apps');
}

async function runDb(): Promise<void> {
  const set = statefulSet('db', 1, 'east');
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec }];
  await world.admin.create(
    statefulsets,
    { ...set, spec: { ...(set.spec as object), volumeClaimTemplates } },
    inDefault,
  );
  await until('its claim is shown', async () => {
    const claim = await find<KubeObject<unknown, { phase?: string }>>(
      world.admin,
      persistentvolumeclaims,
      'data-db-0',
    );
    return claim?.status?.phase === 'Bound';
  });
}

async function silence(): Promise<void> {
  world.physical('east').faults.silence();
  await until('east is not ready', async () => !(await isReady(world.admin, 'east')));
}

async function add(adopt: readonly string[] = []): Promise<void> {
  await registerCluster(world.admin, 'east', world.physical('east').kubeconfig, { adopt });
  await until('east is ready', () => isReady(world.admin, 'east'));
}

const removeEast = () => removeCluster(world.admin, 'east', { forget: true, waitSeconds: 180 });

describe('a PhysicalCluster that is deleted', () => {
  test('is emptied first, without a dip, and can join again', async () => {
    await runWeb();
    await world.admin.delete(physicalclusters, { name: 'east' });
    let least = 4;
    await until('gone', async () => {
      least = Math.min(least, (await ready('east', 'web')) + (await ready('west', 'web')));
      return await isGone();
    });
    expect(least).toBe(4);
    expect(await ours()).toEqual([]);
    await add();
    await until(
      'two each',
      async () => (await ready('east', 'web')) === 2 && (await ready('west', 'web')) === 2,
    );
  });

  test('stays while it holds data, and says so; forgotten, it goes without', async () => {
    await runDb();
    await world.admin.delete(physicalclusters, { name: 'east' });
    const message = await until('it is said', async () => {
      const conditions = (await east())?.status?.conditions;
      const found = conditions?.find(({ type }) => type === 'Empty')?.message;
      return found?.includes('data-db-0') && found;
    });
    expect(message).toContain('atoll cluster remove east --forget');
    await until('its pod runs on', async () => (await ready('east', 'db')) === 1);
    const file = join(await mkdtemp(join(tmpdir(), 'atoll-departure-')), 'east.kubeconfig');
    await writeFile(file, world.physical('east').kubeconfig);
    const again = addCluster(world.admin, 'east', { kubeconfig: file, waitSeconds: 1, output: 'text' });
    await expect(again).rejects.toThrow('east is being removed: join it again when it is gone');
    await rm(dirname(file), { recursive: true });
    await removeEast();
    const { items } = await world.admin.list(persistentvolumeclaims, inDefault);
    expect(items.flatMap(reflectedFrom)).not.toContain('east');
    const there = await world.physical('east').client.list(persistentvolumeclaims);
    expect(there.items.map(({ metadata }) => metadata.name)).toEqual(['data-db-0']);
  });
});

describe('a PhysicalCluster that is forgotten while it answers', () => {
  test('keeps what has no other place, and claims, and takes them over when it joins again', async () => {
    await world.stop();
    // Not taken for silent, however busy the machine.
    world = await startWorld({ silentMs: 30_000 });
    const claim = await runWithClaim('pinned', 'east');
    await world.admin.patch(physicalclusters, { name: 'west' }, 'merge', { spec: { unschedulable: true } });
    await runWithClaim('free');
    await until('free is in east', async () => (await ready('east', 'free')) === 1);
    await world.admin.patch(physicalclusters, { name: 'west' }, 'merge', { spec: { unschedulable: false } });
    const before = await uidsInEast();
    expect(before).toMatchObject({ 'deployments/pinned': expect.any(String), [claim]: expect.any(String) });
    await removeEast();
    await until('free is in west', async () => (await ready('west', 'free')) === 1);
    const { 'deployments/free': moved, ...kept } = before;
    expect(moved).toBeDefined();
    expect(await uidsInEast()).toEqual(kept);
    expect(await ready('east', 'pinned')).toBe(1);
    await add(await formerUids(world.admin, world.physical('east').client));
    await settled(world.admin, 'pinned.deployments.apps');
    expect(await uidsInEast()).toMatchObject({
      'deployments/pinned': kept['deployments/pinned'],
      [claim]: kept[claim],
    });
  });
});

describe('a PhysicalCluster that is removed while something is on its way there', () => {
  const fullNodes = async (name: string) => {
    const { client } = world.physical(name);
    const spec = { taints: [{ key: 'full', effect: 'NoSchedule' }] };
    for (const { metadata } of (await client.list(nodes)).items)
      await client.patch(nodes, { name: metadata.name ?? '' }, 'merge', { spec });
  };
  const there = async (name: string) =>
    (await world.physical(name).client.list(deployments)).items.map(({ metadata }) => metadata.name);

  test.each([
    ['forgotten', removeEast],
    ['deleted', () => world.admin.delete(physicalclusters, { name: 'east' })],
  ])('is joined no more: what is bound for one that is %s stays where it runs', async (_how, remove) => {
    await world.admin.create(deployments, deployment('web', 4, 'west'), inDefault);
    await settled(world.admin, 'web.deployments.apps');
    await fullNodes('east');
    await move(world.admin, deployments, 'web', 'east');
    await until('it joins east', async () => (await there('east')).includes('web'));
    await remove();
    await until('gone', isGone);
    expect(await there('east')).toEqual([]);
    expect(await ready('west', 'web')).toBe(4);
    expect((await web())?.spec).toMatchObject({ clusters: ['west'], shares: { west: { phase: 'Active' } } });
  });

  test('is left by what its user has paused, when it is forgotten', async () => {
    await world.admin.create(deployments, deployment('web', 4, 'west'), inDefault);
    await settled(world.admin, 'web.deployments.apps');
    const metadata = { annotations: { 'atoll.dev/paused': 'true', 'atoll.dev/clusters': 'east' } };
    await world.admin.patch(deployments, { namespace: 'default', name: 'web' }, 'merge', { metadata });
    await until('both run', async () => (await ready('east', 'web')) + (await ready('west', 'web')) === 8);
    await removeEast();
    expect(await there('east')).toEqual([]);
    expect(await ready('west', 'web')).toBe(4);
  });
});

test('a PhysicalCluster that is forgotten long after it was deleted has as long to give up our namespaces', async () => {
  await world.stop();
  world = await startWorld({ forgetMs: 3_000 });
  const metadata = { name: 'front', ...inDefault, annotations: { 'atoll.dev/clusters': 'east' } };
  const spec = { selector: { tier: 'front' }, ports: [{ port: 80 }] };
  await world.admin.create(services, { apiVersion: 'v1', kind: 'Service', metadata, spec }, inDefault);
  await settled(world.admin, 'front.services');
  await world.admin.delete(physicalclusters, { name: 'east' });
  const deletedAt = Date.parse((await east())?.metadata.deletionTimestamp ?? '');
  await until('it was deleted long ago', () => Date.now() > deletedAt + 4_000);
  await removeEast();
  expect(await ours()).toEqual([]);
});

test('a PhysicalCluster is forgotten though who is left behind needs what lives on elsewhere', async () => {
  for (const name of ['east', 'west']) {
    const body = deployment(`web-${name}`, 1, name);
    const { template, ...rest } = body.spec as { template: { metadata: { labels: object } } };
    const metadata = { ...template.metadata, labels: { ...template.metadata.labels, tier: 'front' } };
    await world.admin.create(
      deployments,
      { ...body, spec: { ...rest, template: { ...template, metadata } } },
      inDefault,
    );
  }
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'front', ...inDefault } };
  const spec = { selector: { tier: 'front' }, ports: [{ port: 80 }] };
  await world.admin.create(services, { ...service, spec }, inDefault);
  const names = async (cluster: string) =>
    (await world.physical(cluster).client.list(services)).items.map(({ metadata }) => metadata.name);
  for (const name of ['east', 'west']) {
    await settled(world.admin, `web-${name}.deployments.apps`);
    await until(`${name} has the Service`, async () => (await names(name)).includes('front'));
  }
  await removeEast();
  expect(await ready('east', 'web-east')).toBe(1);
  expect(await names('east')).toContain('front');
});

test('a cluster that takes over what it had removes what nobody wants there, but no claim', async () => {
  const claim = await runWithClaim('free', 'east');
  const before = await uidsInEast();
  await silence();
  await removeEast();
  await move(world.admin, deployments, 'free', 'west');
  await until('free is in west', async () => (await ready('west', 'free')) === 1);
  world.physical('east').faults.heal();
  await add(await formerUids(world.admin, world.physical('east').client));
  await until('it has gone from east', async () => (await uidsInEast())['deployments/free'] === undefined);
  // As long as a claim that is not wanted either would take to go, as that is looked at: by what the syncer says meanwhile.
  const { requests } = world.physical('east').faults;
  const beats = () => requests.filter((request) => request.endsWith('/namespaces/kube-system')).length;
  const last = beats() + 25;
  await until('it has been looked at again', () => beats() >= last);
  expect(await uidsInEast()).toEqual({ [claim]: before[claim] });
});

/** A Deployment with a volume; the key of its claim. */
async function runWithClaim(name: string, clusters?: string): Promise<string> {
  const spec = { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1Gi' } } };
  const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name, ...inDefault }, spec };
  await world.admin.create(persistentvolumeclaims, claim, inDefault);
  const body = deployment(name, 1, clusters);
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: name } }];
  const { template, ...rest } = body.spec as { template: { spec: object } };
  const withVolume = { ...template, spec: { ...template.spec, volumes } };
  await world.admin.create(deployments, { ...body, spec: { ...rest, template: withVolume } }, inDefault);
  await settled(world.admin, `${name}.deployments.apps`);
  return `persistentvolumeclaims/${name}`;
}

/** Of the Deployments and claims there, by resource and name. */
async function uidsInEast(): Promise<Record<string, string | undefined>> {
  const { client } = world.physical('east');
  const lists = await Promise.all(
    [deployments, persistentvolumeclaims].map(async (kind) => {
      const { items } = await client.list(kind);
      return items.map(({ metadata: { name, uid } }) => [`${kind.resource}/${name}`, uid] as const);
    }),
  );
  return Object.fromEntries(lists.flat());
}

describe('a PhysicalCluster that is forgotten in silence', () => {
  test('holds nobody: neither pods nor a Namespace', async () => {
    const shop = { namespace: 'shop' };
    await world.admin.create(namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'shop' },
    });
    const body = deployment('web', 2, 'east');
    await world.admin.create(deployments, { ...body, metadata: { ...body.metadata, ...shop } }, shop);
    await until('pods are shown', async () => (await world.admin.list(pods, shop)).items.length === 2);
    await silence();
    await world.admin.delete(namespaces, { name: 'shop' });
    await removeEast();
    expect((await world.admin.list(pods, shop)).items).toEqual([]);
    await until('the Namespace is gone', async () => !(await find(world.admin, namespaces, 'shop', '')));
  });

  test('and joins again owns nothing there, says how to, and takes nothing from the others meanwhile', async () => {
    await runWeb();
    const before = await deploymentUid();
    await silence();
    await removeEast();
    await until('west has all', async () => (await ready('west', 'web')) === 4);
    world.physical('east').faults.heal();
    await add();
    const refused = await until('it is refused', async () => {
      const error = (await web())?.status?.clusters?.['east']?.error;
      return error?.reason === 'NotOwned' && error.message;
    });
    expect(refused).toContain('atoll cluster add east --adopt');
    expect(await ready('west', 'web')).toBe(4);
    const adopt = await formerUids(world.admin, world.physical('east').client);
    expect(adopt).toHaveLength(1);
    let least = 4;
    await add(adopt);
    await until('two each', async () => {
      const there = await web();
      const [inEast, inWest] = [await ready('east', 'web'), await ready('west', 'web')];
      least = Math.min(least, inEast + inWest);
      return inEast === 2 && inWest === 2 && there?.spec?.shares?.['east']?.phase === 'Active';
    });
    expect(least).toBeGreaterThanOrEqual(4);
    expect(await deploymentUid()).toBe(before);
  });
});

test("a cluster that joins takes over nothing of another Atoll's, which uses it too", async () => {
  await runWeb();
  const { client } = world.physical('east');
  const locator = { syncer: 'of-another', cluster: 'root', namespace: 'shop', uid: 'there' };
  const metadata = {
    name: 'root-shop-01234567',
    labels: { 'atoll.dev/managed-by': 'atoll' },
    annotations: { 'atoll.dev/locator': JSON.stringify(locator) },
  };
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata });
  const own = (await east())?.metadata.uid;
  await silence();
  await removeEast();
  world.physical('east').faults.heal();
  const adopt = await formerUids(world.admin, client);
  await add(adopt);
  await until('it has its own', async () => (await ready('east', 'web')) === 2);
  const there = await find(client, namespaces, metadata.name, '');
  expect([there?.metadata.name, there?.metadata.deletionTimestamp]).toEqual([metadata.name, undefined]);
  expect(adopt).toEqual([own]);
});

async function deploymentUid(): Promise<string | undefined> {
  const { items } = await world.physical('east').client.list(deployments);
  return items[0]?.metadata.uid;
}
