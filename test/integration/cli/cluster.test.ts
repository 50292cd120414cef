import { afterEach, beforeEach, expect, test } from 'vitest';
import { createAuthority } from '../../../apiserver/tls/ca.ts';
import { registerCluster } from '../../../cli/cluster.ts';
import { physicalClusters } from '../../../cli/resources.ts';
import { Client } from '../../../client/client.ts';
import { ownResources } from '../../../cluster/resources.ts';
import type { PhysicalCluster } from '../../../cluster/types.ts';
import { type Api, admin, startApi } from '../apiserver/api.ts';

let api: Api;
let client: Client;
beforeEach(() => {
  const resources = ownResources.map((one) => ({ ...one, custom: true, subresources: { status: true } }));
  api = startApi({ resources });
  client = new Client(api.server.transport(admin));
});
afterEach(() => api.close());

const east = async () => {
  const { metadata, spec } = await client.get<PhysicalCluster>(physicalClusters, { name: 'east' });
  return { labels: metadata.labels, ...spec };
};
const kubeconfigSecretRef = { namespace: 'atoll-system', name: 'physicalcluster-east' };

test('who joins a cluster again keeps what is not named, and changes what is', async () => {
  const { certificate } = await createAuthority('one');
  const certificateAuthorityData = Buffer.from(certificate).toString('base64');
  const given = {
    labels: { region: 'eu', tier: 'one' },
    network: 'flat',
    copier: 'volsync',
    inCluster: { server: 'https://one.example.com', certificateAuthorityData },
    adopt: ['former'],
  };
  const { labels, network, copier, inCluster: inClusterConfig, adopt } = given;
  await registerCluster(client, 'east', 'first', given);
  expect(await east()).toEqual({ labels, kubeconfigSecretRef, network, copier, inClusterConfig, adopt });
  await client.patch(physicalClusters, { name: 'east' }, 'merge', { spec: { unschedulable: true } });
  await registerCluster(client, 'east', 'second', { labels: { tier: 'two' } });
  expect(await east()).toEqual({
    labels: { region: 'eu', tier: 'two' },
    kubeconfigSecretRef,
    network,
    copier,
    inClusterConfig,
    adopt,
    unschedulable: true,
  });
  // Of another server another authority vouches.
  await registerCluster(client, 'east', 'third', { inCluster: { server: 'https://two.example.com' } });
  expect(await east()).toMatchObject({
    network,
    inClusterConfig: { server: 'https://two.example.com' },
  });
  expect(JSON.stringify(await east())).not.toContain(certificateAuthorityData);
  const secrets = { group: '', version: 'v1', resource: 'secrets' };
  const { namespace, name } = kubeconfigSecretRef;
  expect(await client.get(secrets, { namespace, name })).toMatchObject({
    data: { kubeconfig: Buffer.from('third').toString('base64') },
  });
});

test('what is refused leaves the credentials of before as they were, and none of what was to be joined', async () => {
  await registerCluster(client, 'east', 'first');
  await expect(registerCluster(client, 'east', 'second', { labels: { 'a b': 'c' } })).rejects.toMatchObject({
    code: 422,
  });
  await expect(registerCluster(client, 'west', 'other', { network: 'X Y' })).rejects.toMatchObject({
    code: 422,
  });
  const { items } = await client.list(
    { group: '', version: 'v1', resource: 'secrets' },
    { namespace: 'atoll-system' },
  );
  expect(items).toMatchObject([
    {
      metadata: { name: kubeconfigSecretRef.name },
      data: { kubeconfig: Buffer.from('first').toString('base64') },
    },
  ]);
});
