import { afterAll, beforeAll, expect, test } from 'vitest';
import { physicalClusters } from '../../../cluster/names.ts';
import { keyThere } from '../../../cluster/namespace-labels.ts';
import type { Placement } from '../../../cluster/types.ts';
import { deepEqual } from '../../../kube/deep.ts';
import { StatusError } from '../../../kube/status.ts';
import { deployment, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const team = { namespace: 'team' };
const name = { name: 'team' };

/** Without those that Kubernetes, or we, put on every one. */
async function labelsOn(cluster: string): Promise<Record<string, string>[]> {
  const { items } = await world.physical(cluster).client.list(resources.namespaces, {});
  return items
    .filter(({ metadata }) => metadata.annotations?.['atoll.dev/locator']?.includes('"team"'))
    .map(({ metadata: { labels = {} } }) =>
      Object.fromEntries(
        Object.entries(labels).filter(([key]) => !/^(kubernetes\.io|atoll\.dev)\//.test(key)),
      ),
    );
}

async function untilBoth(what: string, wanted: Record<string, string>): Promise<void> {
  for (const cluster of ['east', 'west'])
    await until(`${cluster} ${what}`, async () => {
      const found = await labelsOn(cluster);
      return deepEqual(found, [wanted]);
    });
}

const warn = 'pod-security.kubernetes.io/warn';
const audit = 'pod-security.kubernetes.io/audit';
/** As all of them are there. */
const there = (labels: Record<string, string>) =>
  Object.fromEntries(Object.entries(labels).map(([key, value]) => [keyThere(key), value]));

test('the physical namespaces bear the labels of the logical one from the first, and follow it', async () => {
  const labels = { env: 'test', 'policy.corp/exempt': 'true', [warn]: 'baseline' };
  await world.admin.create(resources.namespaces, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'team', labels },
  });
  const { metadata, ...app } = deployment('app', 2, 'east,west');
  await world.admin.create(resources.deployments, { ...app, metadata: { ...metadata, ...team } }, team);
  await settled(world.admin, 'app.deployments.apps', 'team');
  for (const cluster of ['east', 'west'])
    expect(await labelsOn(cluster)).toEqual([{ ...there(labels), [warn]: 'baseline' }]);
  const change = { env: 'live', [warn]: 'restricted', 'policy.corp/exempt': null };
  await world.admin.patch(resources.namespaces, name, 'merge', { metadata: { labels: change } });
  const changed = { ...there({ env: 'live', [warn]: 'restricted' }), [warn]: 'restricted' };
  await untilBoth('has the change', changed);
  await world.admin.patch(resources.namespaces, name, 'merge', {
    metadata: { labels: { env: null, [warn]: null } },
  });
  await untilBoth('has none', {});
});

test('what the cluster’s administrator put there stays, also under the same name', async () => {
  const east = world.physical('east').client;
  const { items } = await east.list(resources.namespaces, {});
  const found = items.find(({ metadata }) => metadata.annotations?.['atoll.dev/locator']?.includes('"team"'));
  const mine = { name: found?.metadata.name ?? '' };
  await east.patch(resources.namespaces, mine, 'merge', { metadata: { labels: { [warn]: 'restricted' } } });
  await world.admin.patch(resources.namespaces, name, 'merge', {
    metadata: { labels: { [warn]: 'baseline', [audit]: 'baseline' } },
  });
  await until('the rest is there', async () => (await labelsOn('east'))[0]?.[audit] === 'baseline');
  expect((await labelsOn('east'))[0]).toMatchObject({ [warn]: 'restricted', [audit]: 'baseline' });
  await until('west has both', async () => (await labelsOn('west'))[0]?.[warn] === 'baseline');
  // One of ours, too: what it is made there is neither undone nor taken away.
  await east.patch(resources.namespaces, mine, 'merge', { metadata: { labels: { [audit]: 'restricted' } } });
  const then = { labels: { [audit]: null, [warn]: null, more: 'x' } };
  await world.admin.patch(resources.namespaces, name, 'merge', { metadata: then });
  await until(
    'the rest is there',
    async () => (await labelsOn('east'))[0]?.['labels.atoll.dev/more'] === 'x',
  );
  expect((await labelsOn('east'))[0]).toEqual({
    [warn]: 'restricted',
    [audit]: 'restricted',
    ...there({ more: 'x' }),
  });
});

test('the cluster’s administrator lets labels in as they are written, and keeps them out again', async () => {
  const letIn = (namespaceLabels: string[] | null) =>
    world.admin.patch(physicalClusters, { name: 'west' }, 'merge', { spec: { namespaceLabels } });
  expect(await labelsOn('west')).toEqual([there({ more: 'x' })]);
  await letIn(['mo', 'more']);
  await until('it is let in', async () => (await labelsOn('west'))[0]?.['more'] === 'x');
  expect((await labelsOn('east'))[0]).not.toHaveProperty(['more']);
  await letIn(null);
  await until('it is out', async () => (await labelsOn('west'))[0]?.['more'] === undefined);
  await expect(letIn(['*more'])).rejects.toMatchObject({ reason: 'Invalid' });
});

test('a cluster that refuses a label runs everything all the same, in old namespaces and new, and says so', async () => {
  const { faults, client } = world.physical('east');
  faults.intercept = ({ method, url, body = new Uint8Array() }) => {
    const isOfNamespace = /\/api\/v1\/namespaces(\/[^/]+)?(\?|$)/.test(url);
    const writes = (method === 'POST' || method === 'PATCH') && isOfNamespace;
    if (writes && Buffer.from(body).includes('refused'))
      throw new StatusError(403, 'Forbidden', 'no such label here');
  };
  const labels = { refused: 'x', taken: 'x' };
  await world.admin.patch(resources.namespaces, name, 'merge', { metadata: { labels } });
  await world.admin.create(resources.namespaces, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'newer', labels },
  });
  for (const namespace of ['team', 'newer']) {
    const { metadata, ...app } = deployment('later', 1, 'east');
    const target = { namespace };
    await world.admin.create(resources.deployments, { ...app, metadata: { ...metadata, ...target } }, target);
    await settled(world.admin, 'later.deployments.apps', namespace);
    const find = { labelSelector: `atoll.dev/namespace=${namespace}` };
    await until('it bears the others', async () => {
      const [found] = (await client.list(resources.namespaces, find)).items;
      return found?.metadata.labels?.['labels.atoll.dev/taken'] === 'x';
    });
    const [found] = (await client.list(resources.namespaces, find)).items;
    expect(found?.metadata.labels).not.toHaveProperty(['labels.atoll.dev/refused']);
    await until('it is said', async () => {
      const placement = { namespace, name: 'later.deployments.apps' };
      const { status } = await world.admin.get<Placement>(resources.placements, placement);
      return status?.clusters?.['east']?.refusedLabels?.join() === 'labels.atoll.dev/refused';
    });
  }
  faults.intercept = () => {};
});
