import { afterEach, expect, test } from 'vitest';
import type { Placement } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { deployment, find, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
afterEach(() => world.stop());

const pulls = { scheduledAfterMs: [20, 60], readyAfterMs: [100, 200], stopsAfterMs: [20, 60] } as const;
const fails = { as: 'Waiting', reason: 'ImagePullBackOff', message: 'no such image' } as const;

function using(name: string, image: string) {
  const containers = [{ name: 'c', image, envFrom: [{ configMapRef: { name } }] }];
  return { template: { metadata: { labels: { app: 'web' } }, spec: { containers } } };
}

async function mapsThere(): Promise<string[]> {
  const { items } = await world.physical('west').client.list<KubeObject>(resources.configmaps, {});
  const names = items.map(({ metadata }) => metadata.name ?? '');
  return names.filter((name) => name === 'one' || name === 'two').sort();
}

test('what the running pods use stays until a rollout is done, however long it is stuck', async () => {
  const behaviour = { name: 'bad', match: { image: 'bad' }, ...pulls, fails };
  world = await startWorld({ clusters: ['west'], behaviours: [behaviour as never] });
  const { admin } = world;
  const at = { namespace: 'default' };
  for (const name of ['one', 'two']) {
    await admin.create(resources.configmaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }, at);
  }
  const web = deployment('web', 2, 'west');
  const spec = { ...(web.spec as object), ...using('one', 'good:1') };
  await admin.create(resources.deployments, { ...web, spec }, at);
  await settled(admin, 'web.deployments.apps');
  const change = (name: string, image: string) =>
    admin.patch(resources.deployments, { ...at, name: 'web' }, 'merge', { spec: using(name, image) });
  const required = async () => {
    const placement = await find<Placement>(admin, resources.placements, 'web.deployments.apps');
    return placement?.spec?.requires?.map(({ name }) => name);
  };

  await change('two', 'bad:1');
  await until('a pod of it waits', async () => {
    const { items } = await world.physical('west').client.list<KubeObject>(resources.pods, {});
    return items.some((pod) => JSON.stringify(pod.spec).includes('bad:1'));
  });
  await until('what it names is there', async () => (await mapsThere()).includes('two'));
  expect([await required(), await mapsThere()]).toEqual([
    ['one', 'two'],
    ['one', 'two'],
  ]);
  await change('two', 'good:2');
  await until('the former is not needed', async () => (await mapsThere()).join() === 'two');
  expect(await required()).toEqual(['two']);
});
