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
