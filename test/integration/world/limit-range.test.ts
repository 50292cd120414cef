import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { deployment, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const inDefault = { namespace: 'default' };

function limitRange(cpu: string): KubeObject {
  const limits = [{ type: 'Container', default: { cpu }, defaultRequest: { cpu: '100m' } }];
  return { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'defaults' }, spec: { limits } };
}

/** What the first container of each pod of an app is limited to. */
async function limitsOf(cluster: string, app: string): Promise<(string | undefined)[]> {
  const { client } = world.physical(cluster);
  const { items: pods } = await client.list(resources.pods, { labelSelector: `app=${app}` });
  return pods.map(({ spec }) => {
    const [container] = (spec as { containers: { resources?: { limits?: { cpu?: string } } }[] }).containers;
    return container?.resources?.limits?.cpu;
  });
}

test('defaults of a LimitRange reach the pods of a Deployment on each physical cluster', async () => {
  await world.admin.create(resources.limitranges, limitRange('500m'), inDefault);
  await world.admin.create(resources.deployments, deployment('limited', 2, 'east,west'), inDefault);
  await settled(world.admin, 'limited.deployments.apps');
  for (const cluster of ['east', 'west']) expect(await limitsOf(cluster, 'limited')).toEqual(['500m']);
  await until('their reflections have them', async () => {
    const { items } = await world.admin.list(resources.pods, { ...inDefault, labelSelector: 'app=limited' });
    return items.filter(({ spec }) => JSON.stringify(spec).includes('500m')).length === 2;
  });
});

test('a later change is followed, and a LimitRange that goes limits nobody', async () => {
  const at = { ...inDefault, name: 'defaults' };
  const { spec } = limitRange('250m');
  await world.admin.patch(resources.limitranges, at, 'merge', { spec });
  const isThere = async (cluster: string, cpu: string | undefined) => {
    const { items } = await world.physical(cluster).client.list(resources.limitranges, {});
    const all = items.map((item) => JSON.stringify(item.spec));
    return cpu === undefined ? all.length === 0 : all.some((text) => text.includes(cpu));
  };
  await until(
    'both have the new one',
    async () => (await isThere('east', '250m')) && isThere('west', '250m'),
  );
  await world.admin.create(resources.deployments, deployment('later', 1, 'east'), inDefault);
  await settled(world.admin, 'later.deployments.apps');
  expect(await limitsOf('east', 'later')).toEqual(['250m']);
  await world.admin.delete(resources.limitranges, at);
  await until('neither has it', async () => (await isThere('east', undefined)) && isThere('west', undefined));
});
