import { beforeEach, expect, test } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { active, deployment, keys, logical, namespace, Upstream } from './upstream.ts';

const sets = { group: 'apps', version: 'v1', resource: 'replicasets' };
const [web, ref] = deployment('web');
const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: ref.uid };
const deletionTimestamp = '2030-01-01T00:00:00Z';

let upstream: Upstream;
beforeEach(async () => {
  upstream = await Upstream.make('east', 'west');
  await upstream.place(web, ref, { east: active, west: active });
});

const put = (cluster: string, going?: object): Promise<KubeObject> =>
  upstream.client(cluster).update(
    sets,
    {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'web-5d', namespace, ownerReferences: [owner], ...going },
      spec: { replicas: 2, template: { spec: { containers: [{ name: 'c', image: 'shop:1' }] } } },
    },
    { cluster: logical },
  );
const takeBack = (cluster: string) =>
  upstream.client(cluster).delete(sets, { cluster: logical, namespace, name: 'web-5d' });
const shown = () => upstream.read<KubeObject>(keys.object({ ...sets, name: 'web-5d' }, logical, namespace));

test('a ReplicaSet that one of its clusters lets go is not shown as deleted, since another has it', async () => {
  await put('west');
  await put('east');
  await put('east', { deletionTimestamp });
  expect((await shown())?.metadata).not.toHaveProperty('deletionTimestamp');
  await takeBack('east');
  expect((await shown())?.metadata).not.toHaveProperty('deletionTimestamp');
  expect((await shown())?.spec).toMatchObject({ replicas: 2 });
});

test('what only this one has is shown as deleted while it goes', async () => {
  await put('east');
  await put('east', { deletionTimestamp });
  expect((await shown())?.metadata).toMatchObject({ deletionTimestamp, deletionGracePeriodSeconds: 0 });
});

test('what is deleted where it was alone, and comes to another cluster, is there again', async () => {
  await put('east');
  await put('east', { deletionTimestamp });
  await put('west');
  await takeBack('east');
  expect((await shown())?.metadata).not.toHaveProperty('deletionTimestamp');
});

test('what becomes history when its cluster is left is not deleted', async () => {
  await put('east');
  await put('east', { deletionTimestamp });
  await upstream.shares(ref, { east: { ...active, phase: 'Leaving' }, west: active });
  await takeBack('east');
  const kept = await shown();
  expect(kept?.spec).toMatchObject({ replicas: 0 });
  expect(kept?.metadata).not.toHaveProperty('deletionTimestamp');
  expect(kept?.metadata).not.toHaveProperty('deletionGracePeriodSeconds');
});
