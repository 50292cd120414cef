import { expect, test } from 'vitest';
import { registerCluster } from '../../../cli/cluster.ts';
import type { Client } from '../../../client/client.ts';
import { notFound } from '../../../kube/status.ts';

/** What the last write of its PhysicalCluster says of it. */
async function written(options: { copier?: string; network?: string }, isThere: boolean): Promise<object> {
  let spec = {};
  const client = {
    create: async (_: object, object: { kind: string; spec?: object }) => {
      if (object.kind === 'PhysicalCluster') spec = object.spec ?? {};
    },
    patch: async ({ resource }: { resource: string }, _: object, _how: string, object: { spec?: object }) => {
      if (resource !== 'physicalclusters') return;
      if (!isThere) throw notFound({ group: 'atoll.dev', resource }, 'east');
      spec = object.spec ?? {};
    },
  };
  await registerCluster(client as unknown as Client, 'east', 'kubeconfig', options);
  return JSON.parse(JSON.stringify(spec));
}

test.each<[string, { copier?: string; network?: string }, boolean, object]>([
  ['named', { copier: 'x', network: 'lan' }, true, { copier: 'x', network: 'lan' }],
  ['taken away', { copier: '', network: '' }, true, { copier: null, network: null }],
  ['none from the start', { copier: '', network: '' }, false, {}],
  ['not spoken of', {}, true, {}],
])('a copier, and a network, are %s', async (_what, options, isThere, expected) => {
  const { kubeconfigSecretRef: _secret, ...said } = (await written(options, isThere)) as Record<
    string,
    unknown
  >;
  expect(said).toEqual(expected);
});
