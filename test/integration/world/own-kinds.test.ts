import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ownResources } from '../../../cluster/resources.ts';
import type { ObjectSchema, Schema } from '../../../kube/schema/schema.ts';
import { deployment, resources, settled } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const cluster = (name: string, spec: unknown) => ({
  apiVersion: 'atoll.dev/v1alpha1',
  kind: 'PhysicalCluster',
  metadata: { name },
  spec,
});
const kubeconfigSecretRef = { namespace: 'atoll-system', name: 'none' };

describe('a PhysicalCluster is refused', () => {
  test.each<[string, unknown, string]>([
    ['without a way to it', {}, 'spec.kubeconfigSecretRef: Required value'],
    ['without a spec', undefined, 'spec: Required value'],
    [
      'whose secret has no name',
      { kubeconfigSecretRef: { namespace: 'a' } },
      'spec.kubeconfigSecretRef.name: Required value',
    ],
    [
      'with a bound that is no quantity',
      { kubeconfigSecretRef, capacity: { cpu: 'banana' } },
      'spec.capacity[cpu]: Invalid value: "banana": quantities must match the regular expression',
    ],
    [
      'with a bound below nothing',
      { kubeconfigSecretRef, capacity: { memory: '-1' } },
      'spec.capacity[memory]: Invalid value: "-1": must be greater than or equal to 0',
    ],
    [
      'with a bound on what there is not',
      { kubeconfigSecretRef, capacity: { gpus: '1' } },
      'spec.capacity: Invalid value: "gpus": must be a standard resource type or fully qualified',
    ],
    [
      'with an effect that no taint has',
      { kubeconfigSecretRef, taints: [{ key: 'a', effect: 'Never' }] },
      'spec.taints[0].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    ],
    [
      'with a network that is no name',
      { kubeconfigSecretRef, network: 'Our Network' },
      'spec.network: Invalid value: "Our Network": a lowercase RFC 1123 label must consist of',
    ],
    [
      'with one taint twice',
      {
        kubeconfigSecretRef,
        taints: [
          { key: 'a', effect: 'NoSchedule' },
          { key: 'a', effect: 'NoSchedule', value: 'b' },
        ],
      },
      'spec.taints[1]: Duplicate value: "a:NoSchedule": taints must be unique by key and effect pair',
    ],
  ])('%s', async (_what, spec, message) => {
    const made = world.admin.create(resources.physicalclusters, cluster('odd', spec) as never);
    await expect(made).rejects.toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: expect.stringContaining(message),
    });
  });

  test('in an update as well; what was so before may stay', async () => {
    const bound = (cpu: string) => ({ spec: { capacity: { cpu } } });
    const west = { name: 'west' };
    await expect(
      world.admin.patch(resources.physicalclusters, west, 'merge', bound('banana')),
    ).rejects.toMatchObject({ code: 422 });
    await world.admin.patch(resources.physicalclusters, west, 'merge', bound('40'));
    const devices = { spec: { capacity: { cpu: null, 'nvidia.com/gpu': '4', pods: '10' } } };
    await world.admin.patch(resources.physicalclusters, west, 'merge', devices);
    const none = { spec: { capacity: null } };
    await world.admin.patch(resources.physicalclusters, west, 'merge', none);
  });
});

interface Table {
  columnDefinitions: { name: string; priority: number }[];
  rows: { cells: unknown[] }[];
}

/** As kubectl asks for it, by column. */
async function tableOf(path: string): Promise<Record<string, unknown>[]> {
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const table = (await world.admin.json(path, { headers: { accept } })) as Table;
  return table.rows.map(({ cells }) =>
    Object.fromEntries(table.columnDefinitions.map(({ name }, i) => [name, cells[i]])),
  );
}

const placements = '/apis/atoll.dev/v1alpha1/namespaces/default/placements';

test('get placements says how much is ready where, how it is and why', async () => {
  await world.admin.create(resources.deployments, deployment('web', 3, 'east,west'), {
    namespace: 'default',
  });
  await settled(world.admin, 'web.deployments.apps');
  const [web] = await tableOf(`${placements}?fieldSelector=metadata.name%3Dweb.deployments.apps`);
  expect(web).toMatchObject({
    Name: 'web.deployments.apps',
    Clusters: 'east=2/2 west=1/1',
    State: 'Settled',
    Why: 'named by its annotation',
  });
});

test('what does not fit is refused with numbers, and is not settled', async () => {
  const { spec, ...rest } = deployment('huge', 1, 'west');
  const pod = { containers: [{ name: 'c', image: 'c:1', resources: { requests: { cpu: '4000' } } }] };
  const template = { metadata: { labels: { app: 'huge' } }, spec: pod };
  await world.admin.create(
    resources.deployments,
    { ...rest, spec: { ...(spec as object), template } },
    { namespace: 'default' },
  );
  const path = `${placements}?fieldSelector=metadata.name%3Dhuge.deployments.apps`;
  await expect
    .poll(() => tableOf(path))
    .toMatchObject([
      {
        Clusters: '<none>',
        State: 'NoClusterFits',
        Why: expect.stringMatching(/^west: needs 4k cpu, \d+(\.\d+)?m? left$/),
      },
    ]);
  const found = await world.admin.get(resources.placements, {
    namespace: 'default',
    name: 'huge.deployments.apps',
  });
  expect((found.status as { conditions: unknown }).conditions).toMatchObject([
    { type: 'Placed', status: 'False', reason: 'NoClusterFits' },
    { type: 'Settled', status: 'False', reason: 'NoClusterFits' },
  ]);
});

test('get physicalclusters shows the bound that counts', async () => {
  const spec = { capacity: { cpu: '1' } };
  await world.admin.patch(resources.physicalclusters, { name: 'west' }, 'merge', { spec });
  const rows = await tableOf('/apis/atoll.dev/v1alpha1/physicalclusters');
  expect(rows.find(({ Name }) => Name === 'west')).toMatchObject({
    Ready: 'True',
    CPU: expect.stringMatching(/^1 of \d+$/),
    Why: '',
  });
});

test('kubectl explain has a text for every field of our kinds', async () => {
  const bare: string[] = [];
  const look = (schema: Schema, path: string): void => {
    if (schema.type === 'list') look(schema.items, path);
    if (schema.type === 'map') look(schema.values, path);
    if (schema.type !== 'object') return;
    for (const { name, schema: below, description } of schema.fields.values()) {
      const everyKinds = ['apiVersion', 'kind', 'metadata'].includes(name) && !path.includes('.');
      if (!description && !everyKinds) bare.push(`${path}.${name}`);
      look(below, `${path}.${name}`);
    }
  };
  for (const { info, schema } of ownResources) look(schema, info.resource);
  expect(bare).toEqual([]);
  const document = (await world.admin.json('/openapi/v3/apis/atoll.dev/v1alpha1')) as {
    components: { schemas: Record<string, { description?: string; properties: Record<string, object> }> };
  };
  const placement = document.components.schemas['dev.atoll.v1alpha1.Placement'];
  const { schema } = ownResources.find(({ info }) => info.kind === 'Placement') as { schema: ObjectSchema };
  expect(placement?.description).toBe(schema.description);
  expect(placement?.properties['spec']).toMatchObject({
    properties: { clusters: { description: expect.stringContaining('should be') } },
  });
});

test('are found with all verbs but Placements, which a backup takes for what it may make anew otherwise', async () => {
  type Resource = { name: string; resource: string; verbs: string[] };
  const legacy = (await world.admin.json('/apis/atoll.dev/v1alpha1')) as { resources: Resource[] };
  const plain = legacy.resources.filter(({ name }) => !name.includes('/'));
  const reads = plain.filter(({ verbs }) => verbs.join() === 'get,list,watch').map(({ name }) => name);
  expect(reads).toEqual(['placements']);
  expect(plain.length).toBeGreaterThan(4);
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const { body } = await world.admin.raw({ method: 'GET', path: '/apis', headers: { accept } });
  const { items } = JSON.parse(Buffer.from(body as Uint8Array).toString()) as {
    items: { metadata: { name: string }; versions: { resources: Resource[] }[] }[];
  };
  const ours = items.find(({ metadata }) => metadata.name === 'atoll.dev')?.versions[0]?.resources;
  expect(ours?.find(({ resource }) => resource === 'placements')?.verbs).toEqual(['get', 'list', 'watch']);
});
