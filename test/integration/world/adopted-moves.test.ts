import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Placement } from '../../../cluster/types.ts';
import {
  deployment,
  find,
  move,
  readyPods,
  resources,
  settled,
  template,
  until,
} from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const { deployments, placements, replicasets, services } = resources;
const inDefault = { namespace: 'default' };
let world: World;
beforeAll(async () => {
  world = await startWorld({ drainMs: 2_000 });
});
afterAll(() => world.stop());

test('a Service is withdrawn before its Deployment leaves, though that has adopted a ReplicaSet there', async () => {
  const { admin } = world;
  const made = deployment('web', 2, 'east');
  const spec = made.spec as object;
  const service = { selector: { app: 'web' }, ports: [{ port: 80 }] };
  await admin.create(
    services,
    { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', ...inDefault }, spec: service },
    inDefault,
  );
  const metadata = { ...made.metadata, name: 'web-old', labels: { app: 'web' } };
  await admin.create(replicasets, { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata, spec }, inDefault);
  await until('it runs', async () => (await readyPods(world.physical('east'), 'web')).length === 2);
  await admin.create(
    deployments,
    { ...made, spec: { ...spec, template: template('web', 'new:2') } },
    inDefault,
  );
  await until('adopted', async () => {
    const { metadata } = (await find(admin, replicasets, 'web-old')) ?? {};
    return metadata?.ownerReferences?.some(({ controller, name }) => controller && name === 'web');
  });
  await settled(admin, 'web.deployments.apps');
  await settled(admin, 'web-old.replicasets.apps');
  await Promise.all([move(admin, replicasets, 'web-old', 'west'), move(admin, deployments, 'web', 'west')]);
  const sharesOf = async (name: string) =>
    (await find<Placement>(admin, placements, name))?.spec?.shares?.['east'];
  let isWithdrawn = false;
  await until('both have left', async () => {
    const [of, at] = [await sharesOf('web.deployments.apps'), await sharesOf('web.services')];
    isWithdrawn ||= of?.phase === 'Withdrawing' && at?.withdrawn === true;
    return !of && !(await sharesOf('web-old.replicasets.apps'));
  });
  expect(isWithdrawn).toBe(true);
});
