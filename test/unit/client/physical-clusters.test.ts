import { expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import { InformerSet } from '../../../client/informers.ts';
import { physicalClusterInformer } from '../../../client/physical-clusters.ts';
import type { ApiRequest } from '../../../kube/http.ts';

test('physical clusters are those of root, also to whoever reads all logical clusters', async () => {
  const life = new AbortController();
  const asked: string[] = [];
  const transport = async ({ url }: ApiRequest): Promise<never> => {
    asked.push(url);
    life.abort();
    throw new Error('not now');
  };
  const informers = new InformerSet(new Client(transport, { cluster: '*' }), { signal: life.signal });
  const informer = physicalClusterInformer(informers);
  informer.synced.catch(() => {});
  await informer.stopped;
  expect(asked[0]).toMatch(/^(\/clusters\/root)?\/apis\/atoll\.dev\/v1alpha1\/physicalclusters\?/);
});
