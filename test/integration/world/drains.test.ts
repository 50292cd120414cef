import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { main } from '../../../cli/program.ts';
import type { PhysicalCluster, Placement } from '../../../cluster/types.ts';
import { deployment, find, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
let kubeconfig = '';
let out = '';
beforeEach(async () => {
  world = await startWorld();
  kubeconfig = await world.listen();
  const toOut = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += String(text);
    return true;
  });
  onTestFinished(() => toOut.mockRestore());
});
afterEach(() => world.stop());

const namespace = 'default';

async function atoll(...args: string[]): Promise<number> {
  out = '';
  return await main(['node', 'atoll', '--atoll-kubeconfig', kubeconfig, ...args]);
}

const specOf = async (name: string) =>
  (await find<PhysicalCluster>(world.admin, resources.physicalclusters, name, ''))?.spec;
const placementOf = (name: string) =>
  find<Placement>(world.admin, resources.placements, `${name}.deployments.apps`);

test.each([
  ['atoll undrain', () => atoll('undrain', 'east')],
  [
    'a plain patch',
    () =>
      world.admin.patch(resources.physicalclusters, { name: 'east' }, 'merge', { spec: { drain: false } }),
  ],
])('a drain is taken back by %s: what is there stays, and nothing comes', async (what, undo) => {
  await world.admin.create(resources.deployments, deployment('pinned', 1, 'east'), { namespace });
  await settled(world.admin, 'pinned.deployments.apps');
  await world.admin.patch(resources.physicalclusters, { name: 'east' }, 'merge', {
    spec: { unschedulable: true, drain: true },
  });
  await until('it cannot leave', async () => (await placementOf('pinned'))?.spec?.blocked === true);
  await undo();
  await until('it is where it ought to be', async () => {
    const { blocked, clusters } = (await placementOf('pinned'))?.spec ?? {};
    return blocked !== true && clusters?.join() === 'east';
  });
  expect(await specOf('east')).toMatchObject({ unschedulable: true });
  expect((await specOf('east'))?.drain ?? false).toBe(false);
  if (what === 'atoll undrain')
    expect(out).toBe(
      'physicalcluster.atoll.dev/east undrained: nothing more leaves it\n' +
        'it stays cordoned; atoll uncordon east has new workloads placed there again\n',
    );
  await world.admin.create(resources.deployments, deployment('new', 1), { namespace });
  expect((await settled(world.admin, 'new.deployments.apps')).spec?.clusters).toEqual(['west']);
});

test('a drain with a limit has so many leave at a time, over all namespaces and through a restart', async () => {
  const cordon = (unschedulable: boolean) =>
    world.admin.patch(resources.physicalclusters, { name: 'west' }, 'merge', { spec: { unschedulable } });
  const shops = ['one', 'two', 'three', 'four'];
  await cordon(true);
  for (const name of shops) {
    const home = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await world.admin.create(resources.namespaces, home);
    const { metadata, ...web } = deployment('web', 1);
    const there = { ...web, metadata: { ...metadata, namespace: name } };
    await world.admin.create(resources.deployments, there, { namespace: name });
    await settled(world.admin, 'web.deployments.apps', name);
  }
  await cordon(false);

  const specs = new Map<string, Placement['spec']>();
  const on = (spec: Placement['spec']) => spec?.shares?.['east'] !== undefined;
  const isLeaving = (spec: Placement['spec']) => on(spec) && spec?.clusters.includes('east') === false;
  const isTold = (spec: Placement['spec']) => spec?.leavingSince?.['east'] !== undefined;
  const most = { leaving: 0, waiting: 0, untold: 0 };
  const prefix = '/atoll.dev/placements/root/';
  await world.store.watch(
    { start: prefix, end: '/atoll.dev/placements/root0' },
    {
      after: 0,
      sink: (events) => {
        for (const { type, entry } of events.filter(({ entry: { key } }) =>
          key.endsWith('.deployments.apps'),
        ))
          if (type === 'delete') specs.delete(entry.key);
          else specs.set(entry.key, (JSON.parse(Buffer.from(entry.value).toString()) as Placement).spec);
        const all = [...specs.values()];
        most.leaving = Math.max(most.leaving, all.filter(isLeaving).length);
        most.untold = Math.max(most.untold, all.filter((spec) => isLeaving(spec) && !isTold(spec)).length);
        most.waiting = Math.max(most.waiting, all.filter((spec) => spec?.waits?.includes('east')).length);
      },
    },
  );
  const drained = atoll('drain', 'east', '--concurrent', '1', '--timeout', '180');
  await until('the second is on its way', () => [...specs.values()].filter(on).length === 3);
  await world.restartControllers();
  expect(await drained, out).toBe(0);
  expect([...specs.values()].map((spec) => spec?.clusters.join())).toEqual(shops.map(() => 'west'));
  expect(most).toEqual({ leaving: 1, waiting: 3, untold: 0 });
  await until('it is said of none any more that it leaves', () => ![...specs.values()].some(isTold));
  expect(out).toMatch(/ of 4 workloads moved, [123] waits? for (its|their) turn/);
  expect(await specOf('east')).toMatchObject({ drain: true, drainConcurrent: 1 });
  for (const [field, value, least] of [
    ['drainConcurrent', 0, 1],
    ['cost', -1, 0],
  ] as const) {
    const spec = { [field]: value };
    await expect(
      world.admin.patch(resources.physicalclusters, { name: 'east' }, 'merge', { spec }),
    ).rejects.toThrow(`spec.${field}: Invalid value: ${value}: must be greater than or equal to ${least}`);
  }
});
