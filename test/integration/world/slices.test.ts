import { afterEach, beforeEach, expect, test } from 'vitest';
import { decodeStored, encodeStored } from '../../../apiserver/registry/codec.ts';
import { allSlices } from '../../../apiserver/slices/keys.ts';
import { newSlice, type PlacementSlice } from '../../../cluster/slices.ts';
import type { Placement } from '../../../cluster/types.ts';
import { eventually } from '../../eventually.ts';
import { deployment, find, move, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const namespace = 'default';
const web = 'web.deployments.apps';
let world: World;
beforeEach(async () => {
  world = await startWorld({ settleMs: 60 });
});
afterEach(() => world.stop());

async function stored(): Promise<[string, PlacementSlice][]> {
  const { entries } = await world.store.list(allSlices);
  return entries.map((entry) => [entry.key, decodeStored(entry) as PlacementSlice]);
}

/** Whose Placement, and who speaks. */
const spoken = async () =>
  (await stored()).map(([, { spec }]) => `${spec?.placement.name} ${spec?.cluster}`).sort();
const placement = () => find<Placement>(world.admin, resources.placements, web);

test('there is one for each cluster that has something of it, and none is left when it is gone', async () => {
  await world.admin.create(resources.deployments, deployment('web', 4, 'east,west'), { namespace });
  await settled(world.admin, web);
  await eventually(async () => expect(await spoken()).toEqual([`${web} east`, `${web} west`]));
  await move(world.admin, resources.deployments, 'web', 'west');
  await eventually(async () =>
    expect(Object.keys((await placement())?.spec?.shares ?? {})).toEqual(['west']),
  );
  await eventually(async () => expect(await spoken()).toEqual([`${web} west`]));
  await world.admin.delete(resources.deployments, { namespace, name: 'web' });
  await until('it is gone', async () => (await placement()) === undefined);
  await eventually(async () => expect(await stored()).toEqual([]));
});

test('none is left when its Namespace is gone', async () => {
  const shop = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
  await world.admin.create(resources.namespaces, shop);
  const { metadata, ...rest } = deployment('web', 1, 'east');
  const inShop = { ...rest, metadata: { ...metadata, namespace: 'shop' } };
  await world.admin.create(resources.deployments, inShop);
  await eventually(async () => expect(await spoken()).toContain(`${web} east`));
  await world.admin.delete(resources.namespaces, { name: 'shop' });
  await until('it is gone', async () => !(await find(world.admin, resources.namespaces, 'shop', '')));
  await eventually(async () => expect(await stored()).toEqual([]));
});

test('what a process that was killed left over is dropped by the next', async () => {
  await world.admin.create(resources.deployments, deployment('web', 2, 'east'), { namespace });
  const now = await settled(world.admin, web);
  await eventually(async () => expect(await spoken()).toEqual([`${web} east`]));
  const [[key = ''] = []] = await stored();
  const leave = async (of: Placement, cluster: string) => {
    const slice = newSlice(of, cluster, { present: true });
    const at = key.replace(`${web}~east`, slice.metadata.name ?? '');
    await world.store.create(at, encodeStored(slice));
  };
  const named = (name: string, uid: string) => ({ ...now, metadata: { ...now.metadata, name, uid } });
  // Of a share that is gone, of a Placement that is gone, and of a former one of the name.
  await leave(now, 'west');
  await leave(named('gone.deployments.apps', 'x'), 'east');
  await leave(named(web, 'former'), 'north');
  await world.restartControllers();
  await eventually(async () => expect(await spoken()).toEqual([`${web} east`]));
  expect((await placement())?.status?.clusters).toMatchObject({ east: { present: true } });
});
