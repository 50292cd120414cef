import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { deployment, find, move, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ clusters: ['east', 'west'] });
});
afterAll(() => world.stop());

const inDefault = { namespace: 'default' };
const account = { ...inDefault, name: 'default' };

function pullSecret(name: string): KubeObject {
  const data = { '.dockerconfigjson': Buffer.from('{"auths":{}}').toString('base64') };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name },
    type: 'kubernetes.io/dockerconfigjson',
    data,
  };
}

/** The ServiceAccount `default` of the one namespace of ours there, and the names of the Secrets beside it. */
async function there(cluster: string): Promise<{ account: KubeObject | undefined; secrets: string[] }> {
  const { client } = world.physical(cluster);
  const selection = { labelSelector: 'atoll.dev/managed-by=atoll' };
  const [home] = (await client.list(resources.namespaces, selection)).items;
  if (!home) return { account: undefined, secrets: [] };
  const namespace = home.metadata.name ?? '';
  const { items } = await client.list(resources.secrets, { namespace, ...selection });
  return {
    account: await find(client, resources.serviceaccounts, 'default', namespace),
    secrets: items.map(({ metadata }) => metadata.name ?? '').sort(),
  };
}

function pullSecretsOf(object: KubeObject | undefined): unknown {
  return object?.['imagePullSecrets'];
}

test('pull secrets of the ServiceAccount default are where pods that name no account run, before these', async () => {
  await world.admin.create(resources.secrets, pullSecret('registry'), inDefault);
  await until('it has been furnished', () => find(world.admin, resources.serviceaccounts, 'default'));
  const imagePullSecrets = [{ name: 'registry' }];
  await world.admin.patch(resources.serviceaccounts, account, 'merge', { imagePullSecrets });
  await world.admin.create(resources.deployments, deployment('private', 2, 'east'), inDefault);
  await settled(world.admin, 'private.deployments.apps');
  const { account: made, secrets } = await there('east');
  expect(secrets).toEqual(['registry']);
  expect(pullSecretsOf(made)).toEqual(imagePullSecrets);
});

test('a later change is followed without a rollout', async () => {
  const before = await world.physical('east').client.list(resources.pods, { labelSelector: 'app=private' });
  await world.admin.create(resources.secrets, pullSecret('second'), inDefault);
  const imagePullSecrets = [{ name: 'registry' }, { name: 'second' }];
  await world.admin.patch(resources.serviceaccounts, account, 'merge', { imagePullSecrets });
  await until('both are there', async () => {
    const { account: made, secrets } = await there('east');
    return secrets.length === 2 && JSON.stringify(pullSecretsOf(made)) === JSON.stringify(imagePullSecrets);
  });
  const after = await world.physical('east').client.list(resources.pods, { labelSelector: 'app=private' });
  const uids = (items: KubeObject[]) => items.map(({ metadata }) => metadata.uid).sort();
  expect(uids(after.items)).toEqual(uids(before.items));
});

test('they go along with a move, and the account that stays behind bears nothing of ours', async () => {
  const { client } = world.physical('east');
  const [home] = (await client.list(resources.namespaces, { labelSelector: 'atoll.dev/managed-by=atoll' }))
    .items;
  const namespace = home?.metadata.name ?? '';
  // Somebody else's, which keeps the namespace.
  await client.create(
    resources.configmaps,
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'theirs' } },
    { namespace },
  );
  const { metadata: old } = await client.get(resources.serviceaccounts, { namespace, name: 'default' });
  await move(world.admin, resources.deployments, 'private', 'west');
  await until('west has them', async () => {
    const { account: made, secrets } = await there('west');
    return secrets.length === 2 && (pullSecretsOf(made) as unknown[] | undefined)?.length === 2;
  });
  await until('east has given them back', async () => {
    const found = await client.get(resources.serviceaccounts, { namespace, name: 'default' });
    return (
      found.metadata.labels?.['atoll.dev/managed-by'] === undefined && found.metadata.uid === old.uid && found
    );
  });
  const left = await client.get(resources.serviceaccounts, { namespace, name: 'default' });
  expect(pullSecretsOf(left) ?? []).toEqual([]);
  expect(left.metadata.annotations ?? {}).toEqual({});
});

test('one that is as every namespace has it again is placed nowhere', async () => {
  await world.admin.patch(resources.serviceaccounts, account, 'merge', { imagePullSecrets: null });
  await until('no record of it', async () => {
    return (await find(world.admin, resources.placements, 'default.serviceaccounts')) === undefined;
  });
  await until('west has none', async () => {
    const { account: made, secrets } = await there('west');
    return secrets.length === 0 && ((pullSecretsOf(made) ?? []) as unknown[]).length === 0;
  });
});
