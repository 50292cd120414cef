import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { find, move, readyPods, resources, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const { pods } = resources;

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

type Pod = KubeObject<{ nodeName?: string }>;
const here = (name: string) => find<Pod>(world.admin, pods, name);
const there = async (name: string, cluster = 'east') => {
  const { items } = await world.physical(cluster).client.list<Pod>(pods, { labelSelector: `app=${name}` });
  return items[0];
};

/** A Pod of its own that runs on east. */
async function run(name: string, more: object = {}): Promise<Pod> {
  await world.admin.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      labels: { app: name },
      annotations: { 'atoll.dev/clusters': 'east' },
      ...more,
    },
    spec: { containers: [{ name: 'c', image: 'c:1' }] },
  });
  return await until(`${name} says where it runs`, async () => {
    const pod = await here(name);
    const isReady = (await readyPods(world.physical('east'), name)).length > 0;
    return isReady && pod?.spec?.nodeName ? pod : undefined;
  });
}

/** Whether a pod that was not deleted yet came back would be seen with the next one that is made and runs. */
async function staysGone(name: string): Promise<void> {
  await until('it is gone there', async () => !(await there(name)));
  await run(`after-${name}`);
  expect([await here(name), await there(name)]).toEqual([undefined, undefined]);
}

test('a Pod says on which node it runs, and where it moves on which then', async () => {
  const pod = await run('named');
  expect(pod.spec?.nodeName).toBe((await there('named'))?.spec?.nodeName);
  await move(world.admin, pods, 'named', 'west');
  const node = await until('it runs on west', async () => (await there('named', 'west'))?.spec?.nodeName);
  await until('it says so', async () => (await here('named'))?.spec?.nodeName === node);
});

test('one that is deleted is there until it has stopped, and is not started again', async () => {
  await run('deleted');
  const deleted = await world.admin.delete(pods, { namespace: 'default', name: 'deleted' });
  expect(deleted).toMatchObject({ metadata: { deletionGracePeriodSeconds: 30 } });
  await until('it is gone', async () => !(await here('deleted')));
  expect(await there('deleted')).toBeUndefined();
  await staysGone('deleted');
});

test('one that is deleted at once is gone at once', async () => {
  await run('forced');
  await world.admin.delete(pods, { namespace: 'default', name: 'forced' }, { gracePeriodSeconds: 0 });
  expect(await here('forced')).toBeUndefined();
  await staysGone('forced');
});

test('one that is evicted is gone', async () => {
  await run('evicted');
  const at = { namespace: 'default', name: 'evicted' };
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: at };
  await world.admin.create(pods, eviction, { ...at, subresource: 'eviction' });
  await until('it is gone', async () => !(await here('evicted')));
  await staysGone('evicted');
});

test('one whose eviction is refused here is not stopped there', async () => {
  await run('refused');
  const at = { namespace: 'default', name: 'refused' };
  const eviction = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: at,
    deleteOptions: { preconditions: { resourceVersion: '1' } },
  };
  const evicted = world.admin.create(pods, eviction, { ...at, subresource: 'eviction' });
  await expect(evicted).rejects.toMatchObject({ code: 409 });
  expect((await there('refused'))?.metadata.deletionTimestamp).toBeUndefined();
});

test('a finalizer keeps its record, and does not keep it running', async () => {
  await run('kept', { finalizers: ['example.com/keeps'] });
  const at = { namespace: 'default', name: 'kept' };
  await world.admin.delete(pods, at);
  await until('it has stopped', async () => {
    const pod = await here('kept');
    return !(await there('kept')) && pod?.metadata.deletionGracePeriodSeconds === 0;
  });
  await world.admin.patch(pods, at, 'merge', { metadata: { finalizers: [] } });
  expect(await here('kept')).toBeUndefined();
});
