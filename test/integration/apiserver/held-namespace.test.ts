import { afterEach, beforeEach, expect, test } from 'vitest';
import { emptyNamespace } from '../../../controller/namespace/empty.ts';
import { configMap, leaving, namespace, Upstream } from '../../world/upstream.ts';

let upstream: Upstream;
beforeEach(async () => {
  upstream = await Upstream.start('east');
});
afterEach(() => upstream.close());

test('a Placement of what is on a cluster yet holds its Namespace', async () => {
  await upstream.remove(await upstream.place(configMap('there'), { east: leaving }));
  const { signal } = new AbortController();
  const { counts } = await emptyNamespace(upstream.admin, { cluster: upstream.logical, namespace, signal });
  expect(counts).toMatchObject({ 'placements.atoll.dev': 1 });
});
