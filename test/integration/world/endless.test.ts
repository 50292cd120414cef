import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PhysicalCluster, Placement } from '../../../cluster/types.ts';
import type { ApiRequest, ApiResponse } from '../../../kube/http.ts';
import { deployment, find, readyPods, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld({ clusters: ['west'] });
  await world.simulate('east');
});
afterEach(() => world.stop());

/** Something is there, and a list of all has a next page each time. */
function pagesWithoutEnd({ method, url }: ApiRequest): ApiResponse | undefined {
  const [path, query = ''] = url.split('?');
  if (method !== 'GET' || path !== '/api/v1/configmaps' || query.includes('watch=true')) return undefined;
  const one = { metadata: { name: 'one', namespace: 'default', uid: 'one', resourceVersion: '1' } };
  const isProbe = query.split('&').includes('limit=1');
  const list = {
    kind: 'ConfigMapList',
    apiVersion: 'v1',
    metadata: { resourceVersion: '1', ...(!isProbe && { continue: 'more' }) },
    items: isProbe ? [one] : [],
  };
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(list)),
  };
}

test('a cluster of which a list has no end works without that kind, and says so', async () => {
  world.physical('east').faults.instead = pagesWithoutEnd;
  await world.register('east');
  const inDefault = { namespace: 'default' };
  await world.admin.create(resources.deployments, deployment('web', 2, 'east'), inDefault);
  await settled(world.admin, 'web.deployments.apps');
  expect(await readyPods(world.physical('east'), 'web')).toHaveLength(2);
  const said = await until('it is said', async () => {
    const cluster = await find<PhysicalCluster>(world.admin, resources.physicalclusters, 'east', '');
    const condition = cluster?.status?.conditions?.find(({ type }) => type === 'Readable');
    return condition?.status === 'False' && condition;
  });
  expect(said).toMatchObject({ reason: 'Endless', message: 'no list ends of configmaps' });
});

test('what needs that kind keeps no other from being applied', async () => {
  world.physical('east').faults.instead = pagesWithoutEnd;
  await world.register('east');
  const inDefault = { namespace: 'default' };
  const names = Array.from({ length: 40 }, (_, i) => `map-${i}`);
  for (const name of names)
    await world.admin.create(
      resources.configmaps,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } },
      inDefault,
    );
  const many = deployment('many', 1, 'east');
  const { template } = many.spec as { template: { spec: { containers: object[] } } };
  const envFrom = names.map((name) => ({ configMapRef: { name } }));
  template.spec.containers = template.spec.containers.map((one) => ({ ...one, envFrom }));
  await world.admin.create(resources.deployments, many, inDefault);
  await until('it waits for them', async () => {
    const placement = await find<Placement>(world.admin, resources.placements, 'map-39.configmaps');
    return placement?.status?.clusters?.['east']?.error?.reason === 'Endless';
  });
  await world.admin.create(resources.deployments, deployment('web', 1, 'east'), inDefault);
  await settled(world.admin, 'web.deployments.apps');
  expect(await readyPods(world.physical('east'), 'many')).toEqual([]);
});
