import { expect, test } from 'vitest';
import { placementOfOwner, placementOfUid } from '../../../../apiserver/view/placement-of.ts';
import type { ObjectRef, Placement } from '../../../../cluster/types.ts';
import { active, deployment, logical, namespace, object, Upstream } from './upstream.ts';

const sets = { group: 'apps', version: 'v1', resource: 'replicasets' };
const [web, ref] = deployment('web');
const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: ref.uid };
const place = { logical, namespace };

/** Of a kind that only its rule says how to place; a Deployment by its name, and none by its group. */
const ruled: ObjectRef = {
  group: 'shop.example',
  version: 'v1',
  resource: 'deployments',
  kind: 'Deployment',
  name: 'web',
  uid: 'uid-of-ruled',
};
const ruledOwner = { apiVersion: 'shop.example/v1', kind: 'Deployment', name: 'web', uid: ruled.uid };

async function start() {
  const upstream = await Upstream.make('east', 'west');
  await upstream.place(web, ref, { east: active, west: active });
  await upstream.place(object('shop.example/v1', 'Deployment', 'web'), ruled, { east: active });
  const lists: string[] = [];
  const list = upstream.store.list.bind(upstream.store);
  upstream.store.list = async (range, options) => {
    if (range.start.includes('/placements/')) lists.push(range.start);
    return await list(range, options);
  };
  return { upstream, lists };
}

const nameOf = (placement: Placement | undefined) => placement?.metadata.name;

test('the Placement of what owns something is read by its name, and is none of a former object of that name', async () => {
  const { upstream, lists } = await start();
  const { store } = upstream;
  expect(nameOf(await placementOfOwner(store, place, owner))).toBe('web.deployments.apps');
  expect(await placementOfOwner(store, place, { ...owner, uid: 'former' })).toBeUndefined();
  expect(lists).toEqual([]);
});

test('of a kind that the code does not know it is found by the uid', async () => {
  const { upstream } = await start();
  const { store } = upstream;
  expect(nameOf(await placementOfOwner(store, place, ruledOwner))).toBe('web.deployments.shop.example');
  expect(nameOf(await placementOfUid(store, place, ref.uid))).toBe('web.deployments.apps');
  expect(await placementOfUid(store, place, 'nobody')).toBeUndefined();
});

test('a cluster that takes back its part of a ReplicaSet has nobody read the Placements of all others', async () => {
  const { upstream, lists } = await start();
  const put = (cluster: string) =>
    upstream.client(cluster).update(
      sets,
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        metadata: { name: 'web-5d', namespace, ownerReferences: [owner] },
        spec: { replicas: 1, template: { spec: { containers: [{ image: 'shop:1' }] } } },
      },
      { cluster: logical },
    );
  for (const cluster of ['east', 'west']) await put(cluster);
  lists.length = 0;
  for (const cluster of ['east', 'west'])
    await upstream.client(cluster).delete(sets, { cluster: logical, namespace, name: 'web-5d' });
  expect(lists).toEqual([]);
});
