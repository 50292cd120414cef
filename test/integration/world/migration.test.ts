import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { carryForward } from '../../../apiserver/migration/format.ts';
import { physicalNamespace } from '../../../cluster/placement.ts';
import { silentLogger } from '../../../kube/log.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { loadIdentity } from '../../../server/identity.ts';
import { type SimulatedCluster, startSimulatedCluster } from '../../../sim/cluster.ts';
import { openLevel } from '../../../storage/level/level.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import type { Entry, Store } from '../../../storage/store.ts';
import {
  adminToken,
  formerPhysical,
  formerSlice,
  formerStore,
  killedAt,
  storeOfFormat2,
} from '../../world/former.ts';
import { deployment, isReady, resources, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let east: SimulatedCluster;
let store: Store;
beforeAll(async () => {
  east = await startSimulatedCluster({ name: 'east', nodes: 3 });
  await formerPhysical(east);
  await until('four pods run there', async () => (await physicalPods()).length === 4);
});
afterAll(() => east.stop());
beforeEach(async () => {
  store = openMemory();
  await formerStore(store, east);
});

async function physicalPods(): Promise<string[]> {
  const { items } = await east.client.list<KubeObject<unknown, { phase?: string }>>(resources.pods);
  const running = items.filter(
    ({ status, metadata }) => status?.phase === 'Running' && !metadata.deletionTimestamp,
  );
  return running.map(({ metadata }) => `${metadata.namespace} ${metadata.uid}`).sort();
}

async function entries(of = store): Promise<readonly Entry[]> {
  return (await of.list({ start: '', end: '\x7f' })).entries;
}

/** All there is, with the same word for the same path wherever ids were given. */
async function told(of: Store): Promise<string[]> {
  const all = await entries(of);
  const names = new Map<string, string>();
  for (const { key, value } of all) {
    const [, , kind, cluster = ''] = key.split('/');
    const path = /"kcp.io\/path":"([^"]+)"/.exec(Buffer.from(value).toString())?.[1];
    if (kind === 'logicalclusters' && path) names.set(cluster, path);
  }
  const times = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
  const named = (text: string) =>
    [...names].reduce((done, [id, path]) => done.replaceAll(id, path), text).replaceAll(times, '?');
  return all.map(({ key, value }) => named(`${key} ${Buffer.from(value).toString()}`)).sort();
}

describe('a store of the version before', () => {
  test('keeps no path in a key, and no secret among the keys of the API', async () => {
    await carryForward(store, silentLogger);
    const keys = (await entries()).map(({ key }) => key);
    expect(keys.filter((key) => key.includes(':') || key.includes('internal.atoll.dev'))).toEqual([]);
    expect(keys.filter((key) => key.startsWith('/!internal/'))).toEqual([
      expect.stringMatching(/^\/!internal\/clusterips\/[a-z0-9]{16}\/10\.96\.0\.9$/),
      '/!internal/format',
      '/!internal/secrets/admin',
    ]);
    expect((await loadIdentity(store, '127.0.0.1', '/nowhere')).adminToken).toBe(adminToken);
  });

  test('is the same whenever it was killed meanwhile, and is carried once', async () => {
    await carryForward(store, silentLogger);
    const whole = await told(store);
    let writes = 0;
    for (let done = false; !done; writes++) {
      const again = openMemory();
      await formerStore(again, east);
      done = await carryForward(killedAt(again, writes), silentLogger).then(
        () => true,
        () => false,
      );
      await carryForward(again, silentLogger);
      expect(await told(again)).toEqual(whole);
    }
    expect(writes).toBeGreaterThan(30);
    const { revision } = store;
    await carryForward(store, silentLogger);
    expect(store.revision).toBe(revision);
  });

  test('is carried by one of several servers that start at once', async () => {
    await Promise.all([1, 2, 3].map(() => carryForward(store, silentLogger)));
    const whole = await told(store);
    const alone = openMemory();
    await formerStore(alone, east);
    await carryForward(alone, silentLogger);
    expect(whole).toEqual(await told(alone));
  });
});

test('one on a disk is carried, too, whichever start comes to its end', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'atoll-migration-'));
  try {
    for (let run = 0, done = false; !done; run++) {
      const disk = await openLevel(directory, { sync: false });
      if (run === 0) await formerStore(disk, east);
      done = await carryForward(killedAt(disk, 7), silentLogger).then(
        () => true,
        () => false,
      );
      if (done) await carryForward(store, silentLogger);
      if (done) expect(await told(disk)).toEqual(await told(store));
      else expect(run).toBeLessThan(30);
      await disk.close();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test('a store of a later version is refused in words', async () => {
  const later = openMemory();
  await later.create('/!internal/format', Buffer.from('{"format":4}'));
  await expect(carryForward(later, silentLogger)).rejects.toThrow(
    "the objects in the store have format 4, a later version's; this one reads up to 3, and has changed nothing",
  );
});

test('what clusters said in Placements are objects of their own, whenever it was killed meanwhile', async () => {
  const at = '/atoll.dev/placementslices/root/shop';
  for (let writes = 0, done = false; !done; writes++) {
    const of = openMemory();
    await storeOfFormat2(of);
    done = await carryForward(killedAt(of, writes), silentLogger).then(
      () => true,
      () => false,
    );
    await carryForward(of, silentLogger);
    const all = new Map(
      (await entries(of)).map(({ key, value }) => [key, JSON.parse(Buffer.from(value).toString())]),
    );
    expect(all.get('/!internal/format')).toEqual({ format: 3 });
    const slices = [...all].filter(([key]) => key.startsWith('/atoll.dev/placementslices/'));
    const said = (name: string, cluster: string) => ({
      placement: { name, uid: `uid-of-${name}` },
      cluster,
    });
    expect(slices.map(([key, { spec, status }]) => [key, spec, status])).toEqual([
      // It was said of what had been told to leave, and counts.
      [
        `${at}/old.deployments.apps~east`,
        { ...said('old.deployments.apps', 'east'), left: true },
        { present: false },
      ],
      [`${at}/web.deployments.apps~east`, said('web.deployments.apps', 'east'), formerSlice],
      [`${at}/web.deployments.apps~west`, said('web.deployments.apps', 'west'), formerSlice],
    ]);
    const placements = [...all].filter(([key]) => key.startsWith('/atoll.dev/placements/'));
    expect(placements).toHaveLength(3);
    for (const [, { status }] of placements) expect(Object.keys(status ?? {})).not.toContain('clusters');
    expect(all.get('/atoll.dev/placements/root/shop/web.deployments.apps')?.status.conditions).toHaveLength(
      1,
    );
  }
});

describe('on that store', () => {
  let world: World;
  afterAll(() => world?.stop());

  test('what runs goes on as it is, and what is new comes beside it', async () => {
    const before = await physicalPods();
    await carryForward(store, silentLogger);
    world = await startWorld({ clusters: [], store });
    await until('east is heard of', () => isReady(world.admin, 'east'));
    for (const cluster of ['root', 'root:team']) {
      const into = { cluster, namespace: 'shop' };
      await until(`web is folded in ${cluster}`, async () => {
        const { status } = await world.admin.get<KubeObject<unknown, { readyReplicas?: number }>>(
          resources.deployments,
          { ...into, name: 'web' },
        );
        return status?.readyReplicas === 2;
      });
      const { items } = await world.admin.list(resources.pods, into);
      const told = items.map(({ metadata }) => metadata.uid).sort();
      // The reflections of before, not others in their place.
      expect(told.every((uid) => uid?.startsWith('uid-of-web-'))).toBe(true);
      expect(told).toHaveLength(2);
      const { metadata, spec } = deployment('late', 1, 'east');
      const late = {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { ...metadata, namespace: 'shop' },
        spec,
      };
      await world.admin.create(resources.deployments, late, into);
      await until(`late runs beside web of ${cluster}`, async () => {
        const at = { namespace: physicalNamespace(cluster, 'shop'), labelSelector: 'app=late' };
        return (await east.client.list(resources.pods, at)).items.length === 1;
      });
    }
    expect((await physicalPods()).filter((pod) => before.includes(pod))).toEqual(before);
    await until('what the ghost left is gone', async () =>
      (await entries()).every(({ value }) => !Buffer.from(value).includes('root:ghost')),
    );
    expect((await world.admin.list(resources.workspaces)).items.map(({ metadata }) => metadata.name)).toEqual(
      ['team'],
    );
    await world.admin.delete(resources.workspaces, { name: 'team' });
    await until('nothing of root:team runs', async () => {
      const left = await east.client.list(resources.pods, {
        namespace: physicalNamespace('root:team', 'shop'),
      });
      return left.items.length === 0 && (await world.admin.list(resources.workspaces)).items.length === 0;
    });
  });
});
