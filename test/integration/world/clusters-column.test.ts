import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Placement } from '../../../cluster/types.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import type { Entry } from '../../../storage/store.ts';
import { deployment, find, move, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const namespace = 'default';

interface Table {
  columnDefinitions: { name: string; priority: number }[] | null;
  rows: { cells: unknown[] }[];
}

let world: World;
/** Keys of Placements that somebody read. */
let reads: string[] = [];
beforeEach(async () => {
  const store = openMemory();
  const get = store.get.bind(store);
  store.get = (key, options): Promise<Entry | undefined> => {
    if (key.startsWith('/atoll.dev/placements/')) reads.push(key);
    return get(key, options);
  };
  world = await startWorld({ store });
});
afterEach(() => world.stop());

const tableOf = async (path: string, client = world.admin) =>
  (await client.json(path, { headers: { accept } })) as Table;

/** By name. */
async function clusters(path: string, client = world.admin): Promise<Record<string, unknown>> {
  const { rows } = await tableOf(path, client);
  return Object.fromEntries(rows.map(({ cells }) => [cells[0], cells.at(-1)]));
}

const deployments = '/apis/apps/v1/namespaces/default/deployments';

test('Tables of what runs pods say on the wide page where it is, of all else they say what Kubernetes says', async () => {
  await world.admin.create(resources.deployments, deployment('both', 5, 'east,west'), { namespace });
  await world.admin.create(resources.deployments, deployment('one', 1, 'west'), { namespace });
  await settled(world.admin, 'both.deployments.apps');
  await settled(world.admin, 'one.deployments.apps');
  const { columnDefinitions } = await tableOf(deployments);
  expect(columnDefinitions?.at(-1)).toMatchObject({ name: 'Clusters', type: 'string', priority: 1 });
  expect(await clusters(deployments)).toEqual({ both: 'east=3,west=2', one: 'west' });
  const wide = world.as({ name: 'admin', groups: ['system:masters'] }, '*');
  expect(await clusters('/apis/apps/v1/deployments', wide)).toMatchObject({ both: 'east=3,west=2' });
  expect(await clusters(`${deployments}/one`)).toEqual({ one: 'west' });
  expect(await clusters('/apis/apps/v1/namespaces/default/statefulsets')).toEqual({});

  reads = [];
  const pods = await until('all pods are here', async () => {
    const found = Object.values(await clusters('/api/v1/namespaces/default/pods'));
    return found.length === 6 && found.sort();
  });
  expect(pods).toEqual(['east', 'east', 'east', 'west', 'west', 'west']);
  expect(Object.values(await clusters('/apis/apps/v1/namespaces/default/replicasets')).sort()).toEqual([
    'east,west',
    'west',
  ]);
  expect(reads.filter((key) => key.includes('pods') || key.includes('replicasets'))).toEqual([]);

  for (const kind of ['services', 'configmaps']) {
    const columns = (await tableOf(`/api/v1/namespaces/default/${kind}`)).columnDefinitions ?? [];
    expect(columns.map(({ name }) => name)).not.toContain('Clusters');
  }
  const there = (await world.physical('west').client.json('/apis/apps/v1/deployments', {
    headers: { accept },
  })) as Table;
  expect(there.columnDefinitions?.map(({ name }) => name)).not.toContain('Clusters');
});

test('a watch tells it as of each change of the object', async () => {
  await world.admin.create(resources.deployments, deployment('web', 2, 'east'), { namespace });
  await settled(world.admin, 'web.deployments.apps');
  const told: Table[] = [];
  const { body } = await world.transport({ name: 'admin', groups: ['system:masters'] })({
    method: 'GET',
    url: `${deployments}?watch=1`,
    headers: { accept },
  });
  const reading = (async () => {
    let text = '';
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString();
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      told.push(...lines.map((line) => (JSON.parse(line) as { object: Table }).object));
    }
  })();
  const last = () => told.at(-1)?.rows[0]?.cells.at(-1);
  await until('it is told as it is', () => last() === 'east');
  expect(told[0]?.columnDefinitions?.at(-1)?.name).toBe('Clusters');
  await move(world.admin, resources.deployments, 'web', 'west');
  await until('it has moved', async () => {
    const placement = await find<Placement>(world.admin, resources.placements, 'web.deployments.apps');
    return Object.keys(placement?.spec?.shares ?? {}).join() === 'west';
  });
  await world.admin.patch(resources.deployments, { namespace, name: 'web' }, 'merge', {
    metadata: { labels: { looked: 'again' } },
  });
  await until('it is told where it is now', () => last() === 'west');
  expect(told.slice(1).every(({ columnDefinitions }) => columnDefinitions === null)).toBe(true);
  await world.stop();
  await reading;
});
