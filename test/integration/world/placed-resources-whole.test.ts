import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PhysicalCluster } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { at, listAt } from '../../../kube/untyped.ts';
import { custom, definition } from '../../world/custom.ts';
import { find, resources, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const placedresources = { group: 'atoll.dev', version: 'v1alpha1', resource: 'placedresources' } as const;
const group = 'fleet.example.com';
const workflows = { group, version: 'v1alpha1', resource: 'workflows' } as const;
const build = { namespace: 'default', name: 'build' };

let world: World;
beforeAll(async () => {
  world = await startWorld({ clusters: ['east'] });
  for (const client of [world.physical('east').client, world.admin])
    await client.create(resources.customresourcedefinitions, withoutSubresources());
  await world.admin.create(placedresources, {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'PlacedResource',
    metadata: { name: `workflows.${group}` },
    spec: {
      ...workflows,
      observesGeneration: false,
      status: { worst: [{ path: '.status.phase', values: ['Running', 'Succeeded'] }] },
    },
  });
  await until('east says what it serves', async () => {
    const found = await find<PhysicalCluster>(world.admin, resources.physicalclusters, 'east', '');
    return found?.status?.serves?.includes(`workflows.${group}/v1alpha1`);
  });
});
afterAll(() => world.stop());

function withoutSubresources(): KubeObject {
  const crd = definition({ resource: 'workflows', kind: 'Workflow' });
  for (const version of listAt(crd, 'spec', 'versions'))
    delete (version as { subresources?: unknown }).subresources;
  return crd;
}

test('what has no subresource for its status shows its status all the same, and stands still then', async () => {
  await world.admin.create(workflows, custom('Workflow', 'build', { steps: ['compile'] }, 'east'));
  const { client } = world.physical('east');
  const there = async () => (await client.list(workflows)).items[0];
  await until('east has it', there);
  // As a controller of such a kind does: with the rest of the object.
  for (const phase of ['Running', 'Succeeded']) {
    const seen = (await there()) as KubeObject;
    await client.update(workflows, { ...seen, status: { phase, observedGeneration: 7 } });
    await until(`it is ${phase}`, async () => {
      const shown = await world.admin.get(workflows, build);
      return at(shown, 'status', 'phase') === phase;
    });
  }
  const shown = await world.admin.get(workflows, build);
  expect(shown.spec).toEqual({ steps: ['compile'] });
  // What comes after has been through the same chain.
  await world.admin.patch(workflows, build, 'merge', { spec: { steps: ['compile', 'test'] } });
  await until('east has the new step', async () => {
    return listAt(await there(), 'spec', 'steps').length === 2;
  });
  await until('it is still as east says', async () => {
    const after = await world.admin.get(workflows, build);
    return after.metadata.generation === (shown.metadata.generation ?? 0) + 1 ? after : undefined;
  });
  expect((await there())?.status).toEqual({ phase: 'Succeeded', observedGeneration: 7 });
});
