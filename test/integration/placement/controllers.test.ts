import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PhysicalClusterSpec, Placement, PlacementSpec } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { eventually } from '../../eventually.ts';
import { deployment, find, move, readyPods, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const settleMs = 60;
const namespace = 'default';
const web = 'web.deployments.apps';
const conf = 'conf.configmaps';
let world: World;

beforeEach(async () => {
  world = await startWorld({ settleMs });
});
afterEach(() => world.stop());

const spec = async (name: string) =>
  (await find<Placement>(world.admin, resources.placements, name))?.spec as PlacementSpec | undefined;
const shares = async (name: string) =>
  Object.entries((await spec(name))?.shares ?? {}).map(
    ([c, s]) => `${c}=${s.phase}${s.replicas === undefined ? '' : ` ${s.replicas}`}`,
  );

/** A Deployment of four on east that reads a ConfigMap. */
async function createWeb(replicas = 4): Promise<void> {
  const root = deployment('web', replicas, 'east') as KubeObject<{ template: { spec: object } }>;
  const volumes = [{ name: 'conf', configMap: { name: 'conf' } }];
  Object.assign(root.spec?.template.spec ?? {}, { volumes });
  await world.admin.create(resources.deployments, root, { namespace });
}

async function createMap(name: string): Promise<void> {
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } };
  await world.admin.create(resources.configmaps, map, { namespace });
}

async function cluster(name: string, change: { [field in keyof PhysicalClusterSpec]?: unknown }) {
  await world.admin.patch(resources.physicalclusters, { name }, 'merge', { spec: change });
}

/** The fewest ready pods of web that both clusters together had, from now until it is asked. */
function watchPods(): () => Promise<number> {
  let fewest = Number.POSITIVE_INFINITY;
  let ends = false;
  const watching = (async () => {
    while (!ends) {
      const east = await readyPods(world.physical('east'), 'web');
      const west = await readyPods(world.physical('west'), 'web');
      fewest = Math.min(fewest, east.length + west.length);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  return async () => {
    ends = true;
    await watching;
    return fewest;
  };
}

/** Nothing of it is written any more, over several settle times. */
async function quiet(name: string): Promise<void> {
  let before: string | undefined = '';
  await eventually(async () => {
    const now = (await find(world.admin, resources.placements, name))?.metadata.resourceVersion;
    const same = now === before;
    before = now;
    expect(same).toBe(true);
  }, 5 * settleMs);
}

test('a workload and what it uses are placed, moved and deleted', async () => {
  await createMap('conf');
  await createWeb();
  await settled(world.admin, web);
  expect(await shares(web)).toEqual(['east=Active 4']);
  await eventually(async () => expect(await shares(conf)).toEqual(['east=Active']));
  await eventually(async () => {
    expect(await find(world.admin, resources.deployments, 'web')).toMatchObject({
      status: { availableReplicas: 4 },
    });
  });
  const fewest = watchPods();
  await move(world.admin, resources.deployments, 'web', 'east,west');
  await eventually(async () => expect(await shares(web)).toEqual(['east=Active 2', 'west=Active 2']));
  await move(world.admin, resources.deployments, 'web', 'west');
  await eventually(async () => expect(await shares(web)).toEqual(['west=Active 4']));
  await eventually(async () => expect(await shares(conf)).toEqual(['west=Active']));
  expect(await fewest()).toBe(4);
  await until('east has nothing left', async () => {
    const { items } = await world.physical('east').client.list(resources.configmaps, {});
    const deployments = await world.physical('east').client.list(resources.deployments, {});
    return deployments.items.length === 0 && !items.some(({ metadata }) => metadata.name === 'conf');
  });
  await quiet(web);
  const placement = await find<Placement>(world.admin, resources.placements, web);
  expect(Object.keys(placement?.status?.clusters ?? {})).toEqual(['west']);

  await world.admin.delete(resources.deployments, { namespace, name: 'web' });
  await eventually(async () => {
    expect((await world.admin.list(resources.placements, { namespace })).items).toEqual([]);
  });
  expect(await readyPods(world.physical('west'), 'web')).toEqual([]);
});

test('a drain moves it, and a restart in the middle resumes where it was', async () => {
  await createWeb();
  await world.admin.patch(resources.deployments, { namespace, name: 'web' }, 'merge', {
    metadata: { annotations: { 'atoll.dev/clusters': null } },
  });
  await settled(world.admin, web);
  const fewest = watchPods();
  await cluster('east', { unschedulable: true, drain: true });
  await eventually(async () => expect(await shares(web)).toHaveLength(2));
  await world.restartControllers();
  await eventually(async () => expect(await shares(web)).toEqual(['west=Active 4']));
  expect(await fewest()).toBe(4);
  await quiet(web);
});

test('where nothing else fits, a drain leaves it in place until something does', async () => {
  await cluster('west', { unschedulable: true });
  await createWeb();
  await settled(world.admin, web);
  const fewest = watchPods();
  await cluster('east', { unschedulable: true, drain: true });
  await eventually(async () => expect((await spec(web))?.reasons?.['east']).toContain('stays'));
  await quiet(web);
  expect(await shares(web)).toEqual(['east=Active 4']);
  await move(world.admin, resources.deployments, 'web', 'east,west');
  await cluster('west', { unschedulable: null });
  await eventually(async () => expect(await shares(web)).toEqual(['west=Active 4']));
  expect(await fewest()).toBe(4);
});

test('an autoscaler’s bounds follow the shares of what it scales', async () => {
  const autoscalers = { group: 'autoscaling', version: 'v2', resource: 'horizontalpodautoscalers' };
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
  await createWeb();
  await world.admin.create(
    autoscalers,
    {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'hpa' },
      spec: { minReplicas: 4, maxReplicas: 8, scaleTargetRef },
    },
    { namespace },
  );
  const hpa = async () => (await spec('hpa.horizontalpodautoscalers.autoscaling'))?.shares;
  const whole = { phase: 'Active', replicas: 4, maxReplicas: 8 };
  await eventually(async () => expect(await hpa()).toMatchObject({ east: whole }));
  await move(world.admin, resources.deployments, 'web', 'east,west');
  const half = { phase: 'Active', replicas: 2, maxReplicas: 4 };
  await eventually(async () => expect(await hpa()).toMatchObject({ east: half, west: half }));
});

test('what a workload names comes along when it is made last, whatever else there is', async () => {
  for (let i = 0; i < 20; i++) await createMap(`unused-${i}`);
  await createWeb(1);
  await eventually(async () => expect((await shares(web))[0]).toContain('east='));
  await createMap('unused-more');
  await createMap('conf');
  await eventually(async () => expect(await shares(conf)).toEqual(['east=Active']));
  await settled(world.admin, web);
  await quiet(web);
  const { items } = await world.admin.list(resources.placements, { namespace });
  expect(items.map((p) => p.metadata.name).sort()).toEqual([conf, web]);
});
