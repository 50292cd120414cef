import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { drain } from '../../../cli/drain.ts';
import { reflectedFrom } from '../../../cluster/reflected.ts';
import type { Placement } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import {
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
  world = await startWorld();
});
afterEach(() => world.stop());

const { persistentvolumeclaims, physicalclusters, placements, statefulsets } = resources;
const inDefault = { namespace: 'default' };

async function runSet(clusters: string | undefined, more: object = {}): Promise<void> {
  const set = statefulSet('db', 2, clusters);
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec: claim }];
  const spec = { ...(set.spec as object), volumeClaimTemplates, ...more };
  await world.admin.create(statefulsets, { ...set, spec }, inDefault);
  await settled(world.admin, 'db.statefulsets.apps');
}

type Claim = KubeObject<{ resources?: { requests?: { storage?: string } } }, { phase?: string }>;

/** What `kubectl get pvc` lists: each claim's name, and where it is. */
async function shown(): Promise<string[]> {
  const { items } = await world.admin.list<Claim>(persistentvolumeclaims, inDefault);
  return items
    .filter(({ status }) => status?.phase === 'Bound')
    .map((claim) => `${claim.metadata.name} ${reflectedFrom(claim)}`)
    .sort();
}

async function there(cluster: string): Promise<Claim[]> {
  return (await world.physical(cluster).client.list<Claim>(persistentvolumeclaims)).items;
}
const names = async (cluster: string) => (await there(cluster)).map(({ metadata }) => metadata.name).sort();
const untilShown = (...claims: string[]) =>
  until(`shown: ${claims.join(', ')}`, async () => (await shown()).join() === claims.join());
const spec = async () => (await find<Placement>(world.admin, placements, 'db.statefulsets.apps'))?.spec;

describe("a StatefulSet's own claims", () => {
  test('are shown, with the cluster that has them', async () => {
    await runSet('east');
    await untilShown('data-db-0 east', 'data-db-1 east');
    const claim = await find(world.admin, persistentvolumeclaims, 'data-db-0');
    expect(claim?.metadata.labels).toMatchObject({ app: 'db' });
    expect(JSON.stringify(claim)).not.toContain('atoll.dev/claim-of');
  });

  test('hold it against a drain, which says which of them and fails', async () => {
    await runSet(undefined);
    const [cluster = ''] = (await spec())?.clusters ?? [];
    await untilShown(`data-db-0 ${cluster}`, `data-db-1 ${cluster}`);
    const drained = drain(world.admin, cluster, { timeoutSeconds: 180, output: 'json', patienceMs: 500 });
    await expect(drained).rejects.toThrow(`db: its claim data-db-0 holds data on ${cluster}`);
    expect(await readyPods(world.physical(cluster), 'db')).toHaveLength(2);
    expect((await spec())?.clusters).toEqual([cluster]);
  });

  test('hold it against a NoExecute taint, also where its annotation names that cluster', async () => {
    await runSet('east,west');
    await untilShown('data-db-0 east', 'data-db-1 west');
    const taints = [{ key: 'k', effect: 'NoExecute' }];
    await world.admin.patch(physicalclusters, { name: 'east' }, 'merge', { spec: { taints } });
    await until('held', async () => (await spec())?.reasons?.['east']?.includes('data-db-0'));
    expect((await spec())?.clusters).toEqual(['east', 'west']);
  });

  test('are deleted, and grow, where they are', async () => {
    await runSet('east');
    await untilShown('data-db-0 east', 'data-db-1 east');
    const resize = { spec: { resources: { requests: { storage: '2Gi' } } } };
    await world.admin.patch(persistentvolumeclaims, { ...inDefault, name: 'data-db-0' }, 'merge', resize);
    const [grown] = (await there('east')).filter(({ metadata }) => metadata.name === 'data-db-0');
    expect(grown?.spec?.resources?.requests?.storage).toBe('2Gi');
    await world.admin.patch(statefulsets, { ...inDefault, name: 'db' }, 'merge', { spec: { replicas: 1 } });
    await until('one pod', async () => (await readyPods(world.physical('east'), 'db')).length === 1);
    await world.admin.delete(persistentvolumeclaims, { ...inDefault, name: 'data-db-1' });
    await untilShown('data-db-0 east');
    expect(await names('east')).toEqual(['data-db-0']);
  });

  test('keep what a user says of their data, whatever changes where they are', async () => {
    await runSet('east');
    await untilShown('data-db-0 east', 'data-db-1 east');
    const hold = { metadata: { annotations: { 'atoll.dev/volumes': 'hold' } } };
    await world.admin.patch(persistentvolumeclaims, { ...inDefault, name: 'data-db-0' }, 'merge', hold);
    const [claim] = (await there('east')).filter(({ metadata }) => metadata.name === 'data-db-0');
    const at = { namespace: claim?.metadata.namespace, name: 'data-db-0' };
    const { client } = world.physical('east');
    const said = { labels: { a: 'b' }, annotations: { 'atoll.dev/volumes': 'recreate' } };
    await client.patch(persistentvolumeclaims, at, 'merge', { metadata: said });
    const here = () => find(world.admin, persistentvolumeclaims, 'data-db-0');
    await until('its label is shown', async () => (await here())?.metadata.labels?.['a'] === 'b');
    expect((await here())?.metadata.annotations?.['atoll.dev/volumes']).toBe('hold');
  });

  test('outlive their set, and can be deleted then', async () => {
    await runSet('east');
    await untilShown('data-db-0 east', 'data-db-1 east');
    await world.admin.delete(statefulsets, { ...inDefault, name: 'db' });
    await until('gone', async () => (await spec()) === undefined);
    expect(await shown()).toEqual(['data-db-0 east', 'data-db-1 east']);
    for (const name of ['data-db-0', 'data-db-1'])
      await world.admin.delete(persistentvolumeclaims, { ...inDefault, name });
    await untilShown();
    expect(await names('east')).toEqual([]);
  });

  test('stay where a user moves it away from them, whatever its policy says; those in use are shown', async () => {
    await runSet('east', { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' } });
    await untilShown('data-db-0 east', 'data-db-1 east');
    await move(world.admin, statefulsets, 'db', 'west');
    await untilShown('data-db-0 west', 'data-db-1 west');
    await settled(world.admin, 'db.statefulsets.apps');
    expect(await names('east')).toEqual(['data-db-0', 'data-db-1']);
    // Deleted, not moved: now its policy counts, where it is.
    await world.admin.delete(statefulsets, { ...inDefault, name: 'db' });
    await until('gone on west', async () => (await names('west')).length === 0);
    expect(await names('east')).toEqual(['data-db-0', 'data-db-1']);
  });

  const ownersOf = async (name: string) =>
    (await find(world.admin, persistentvolumeclaims, name))?.metadata.ownerReferences ?? [];

  test('are owned by whom their template names, and go with it, though their set stays', async () => {
    const configmaps = { group: '', version: 'v1', resource: 'configmaps' };
    const owner = await world.admin.create(
      configmaps,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owner' } },
      inDefault,
    );
    const { uid = '' } = owner.metadata;
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid, controller: true };
    const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    const metadata = { name: 'data', ownerReferences: [reference] };
    await runSet('east', { volumeClaimTemplates: [{ metadata, spec: claim }], ...retention('Delete') });
    await untilShown('data-db-0 east', 'data-db-1 east');
    expect(await ownersOf('data-db-0')).toEqual([reference]);
    expect(
      (await there('east')).flatMap(({ metadata: { ownerReferences = [] } }) => ownerReferences),
    ).toEqual([]);
    await world.admin.delete(statefulsets, { ...inDefault, name: 'db' });
    await until('gone', async () => (await spec()) === undefined);
    expect(await names('east')).toEqual(['data-db-0', 'data-db-1']);
    await world.admin.delete(configmaps, { ...inDefault, name: 'owner' });
    await until('gone with it', async () => (await names('east')).length === 0);
  });

  const retention = (whenDeleted: string) => ({ persistentVolumeClaimRetentionPolicy: { whenDeleted } });
  const change = (spec: object) =>
    world.admin.patch(statefulsets, { ...inDefault, name: 'db' }, 'merge', { spec });
  const untilOwned = (name: string, ...owners: string[]) =>
    until(`${name} is owned by ${owners}`, async () => {
      const found = await ownersOf(name);
      return found.map(({ kind, controller }) => `${kind} ${controller === true}`).join() === owners.join();
    });

  test('are owned by it as long as it has them deleted with it', async () => {
    await runSet('east', retention('Delete'));
    await untilOwned('data-db-0', 'StatefulSet true');
    const set = await find(world.admin, statefulsets, 'db');
    const { uid } = set?.metadata ?? {};
    const flags = { controller: true, blockOwnerDeletion: true };
    expect(await ownersOf('data-db-0')).toEqual([
      { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid, ...flags },
    ]);
    expect((await there('east')).flatMap(({ metadata }) => metadata.ownerReferences ?? [])).toEqual([]);
    const taken = { metadata: { ownerReferences: null } };
    await world.admin.patch(persistentvolumeclaims, { ...inDefault, name: 'data-db-0' }, 'merge', taken);
    expect(await ownersOf('data-db-0')).toHaveLength(1);
    await change(retention('Retain'));
    await world.admin.patch(persistentvolumeclaims, { ...inDefault, name: 'data-db-0' }, 'merge', taken);
    expect(await ownersOf('data-db-0'), 'it is to stay, and is taken from a set that has it stay').toEqual(
      [],
    );
    await untilOwned('data-db-1');
    await change(retention('Delete'));
    await untilOwned('data-db-0', 'StatefulSet true');
  });

  test('have those owners too that somebody here gives them, of whom another controller stands alone', async () => {
    await runSet('east', retention('Retain'));
    await untilShown('data-db-0 east', 'data-db-1 east');
    const { metadata: by } = await world.admin.create(
      resources.configmaps,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'by' } },
      inDefault,
    );
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'by', uid: by.uid };
    const give = (name: string, ...ownerReferences: object[]) =>
      world.admin.patch(persistentvolumeclaims, { ...inDefault, name }, 'merge', {
        metadata: { ownerReferences },
      });
    await give('data-db-0', owner);
    await give('data-db-1', { ...owner, controller: true });
    await change(retention('Delete'));
    await untilOwned('data-db-0', 'ConfigMap false', 'StatefulSet true');
    const label = { metadata: { labels: { seen: 'yes' } } };
    await world.admin.patch(persistentvolumeclaims, { ...inDefault, name: 'data-db-1' }, 'merge', label);
    await untilOwned('data-db-1', 'ConfigMap true');
    await give('data-db-1');
    await untilOwned('data-db-1', 'StatefulSet true');
    await give('data-db-1', { ...owner, controller: true });
    await untilOwned('data-db-1', 'ConfigMap true');
    await world.admin.delete(statefulsets, { ...inDefault, name: 'db' });
    await until('it is gone', async () => (await spec()) === undefined);
    expect(await names('east')).toEqual(['data-db-0', 'data-db-1']);
  });

  test.each([
    ['Delete', 'Retain', ['data-db-0', 'data-db-1']],
    ['Retain', 'Delete', []],
  ])(
    'had %s, told %s while its cluster is silent, then deleted: the last word counts',
    async (before, after, left) => {
      await runSet('east', retention(before));
      const owners = (policy: string) => (policy === 'Delete' ? ['StatefulSet true'] : []);
      await untilShown('data-db-0 east', 'data-db-1 east');
      await untilOwned('data-db-0', ...owners(before));
      const { faults } = world.physical('east');
      faults.silence();
      await until('it is known to be silent', async () => !(await isReady(world.admin, 'east')));
      await change(retention(after));
      for (const name of ['data-db-0', 'data-db-1']) await untilOwned(name, ...owners(after));
      await world.admin.delete(statefulsets, { ...inDefault, name: 'db' });
      faults.heal();
      await until('it is gone there', async () => (await spec()) === undefined);
      await until('what goes is gone', async () => (await names('east')).join() === left.join());
      const going = (await there('east')).filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
      expect(going).toEqual([]);
    },
  );

  test('are its own where a user made one beforehand, as far as it has that pod', async () => {
    for (const name of ['data-db-1', 'data-db-2']) {
      const made = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
      const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name }, spec: made };
      await world.admin.create(persistentvolumeclaims, claim, inDefault);
    }
    await runSet('east', retention('Delete'));
    await untilOwned('data-db-0', 'StatefulSet true');
    await untilOwned('data-db-1', 'StatefulSet true');
    expect(await ownersOf('data-db-2')).toEqual([]);
    await world.admin.delete(statefulsets, { ...inDefault, name: 'db' });
    await until('those that it had are gone', async () => (await names('east')).length === 0);
    await until('here too', async () => (await shown()).length <= 1);
    expect(await find(world.admin, persistentvolumeclaims, 'data-db-2')).toBeDefined();
  });

  test('stay where its pods went before claims were to go with it, and where a former set left them', async () => {
    const replicas = (count: number, whenDeleted: string) => ({ replicas: count, ...retention(whenDeleted) });
    await runSet('east', replicas(3, 'Retain'));
    await untilShown('data-db-0 east', 'data-db-1 east', 'data-db-2 east');
    await change(replicas(2, 'Retain'));
    await until('two are there', async () => (await readyPods(world.physical('east'), 'db')).length === 2);
    await change(replicas(2, 'Delete'));
    await untilOwned('data-db-1', 'StatefulSet true');
    await world.admin.delete(statefulsets, { ...inDefault, name: 'db' });
    await until('those that it had are gone', async () => (await names('east')).join() === 'data-db-2');
    await until('the set is gone', async () => (await spec()) === undefined);
    await runSet('east', replicas(2, 'Delete'));
    await untilOwned('data-db-1', 'StatefulSet true');
    expect(await ownersOf('data-db-2')).toEqual([]);
    await world.admin.delete(statefulsets, { ...inDefault, name: 'db' });
    await until('its own are gone', async () => (await names('east')).join() === 'data-db-2');
    await untilShown('data-db-2 east');
  });

  test('go with it in the foreground, which ends', async () => {
    await runSet('east', retention('Delete'));
    await untilOwned('data-db-0', 'StatefulSet true');
    await untilOwned('data-db-1', 'StatefulSet true');
    await world.admin.delete(statefulsets, { ...inDefault, name: 'db' }, { propagationPolicy: 'Foreground' });
    await until('gone', async () => (await find(world.admin, statefulsets, 'db')) === undefined);
    await until('its claims there, too', async () => (await names('east')).length === 0);
    await until('and here', async () => (await shown()).length === 0);
  });

  test('stay, owned by nobody, where it is deleted without what it owns', async () => {
    await runSet('east', retention('Delete'));
    await untilOwned('data-db-0', 'StatefulSet true');
    await untilOwned('data-db-1', 'StatefulSet true');
    await world.admin.delete(statefulsets, { ...inDefault, name: 'db' }, { propagationPolicy: 'Orphan' });
    await until('gone', async () => (await find(world.admin, statefulsets, 'db')) === undefined);
    await untilOwned('data-db-0');
    await untilOwned('data-db-1');
    expect(await names('east')).toEqual(['data-db-0', 'data-db-1']);
    expect(await shown()).toEqual(['data-db-0 east', 'data-db-1 east']);
  });
});
