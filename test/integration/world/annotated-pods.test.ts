import { afterEach, beforeEach, expect, test } from 'vitest';
import { deployment, resources, settled } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.stop());

test('who says of a pod where it is to run is told to say it of what makes it', async () => {
  const into = { namespace: 'default' };
  await world.admin.create(resources.deployments, deployment('web', 1, 'east'), into);
  await settled(world.admin, 'web.deployments.apps');
  const [pod] = (await world.admin.list(resources.pods, into)).items;
  const [owner] = pod?.metadata.ownerReferences ?? [];
  const { status, headers } = await world.transport({ name: 'admin', groups: ['system:masters'] })({
    method: 'PATCH',
    url: `/api/v1/namespaces/default/pods/${pod?.metadata.name}`,
    headers: { 'content-type': 'application/merge-patch+json' },
    body: Buffer.from(JSON.stringify({ metadata: { annotations: { 'atoll.dev/clusters': 'west' } } })),
  });
  expect([status, owner?.kind]).toEqual([200, 'ReplicaSet']);
  expect([headers['warning']].flat()).toEqual([
    `299 - "metadata.annotations[atoll.dev/clusters]: it has no effect: ReplicaSet ${owner?.name} makes this; annotate the workload itself"`,
  ]);
});
