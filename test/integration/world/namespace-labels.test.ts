import { afterAll, beforeAll, expect, test } from 'vitest';
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
      return JSON.stringify(found) === JSON.stringify([wanted]);
    });
}

test('the physical namespaces bear the labels of the logical one from the first, and follow it', async () => {
  const labels = { env: 'test', 'pod-security.kubernetes.io/warn': 'baseline' };
  await world.admin.create(resources.namespaces, {
    ...{ apiVersion: 'v1', kind: 'Namespace' },
    metadata: { name: 'team', labels },
  });
  const { metadata, ...app } = deployment('app', 2, 'east,west');
  await world.admin.create(resources.deployments, { ...app, metadata: { ...metadata, ...team } }, team);
  await settled(world.admin, 'app.deployments.apps', 'team');
  for (const cluster of ['east', 'west']) expect(await labelsOn(cluster)).toEqual([labels]);
  await world.admin.patch(resources.namespaces, name, 'merge', { metadata: { labels: { env: 'live' } } });
  await untilBoth('has the change', { ...labels, env: 'live' });
  await world.admin.patch(resources.namespaces, name, 'merge', {
    metadata: { labels: { env: null, 'pod-security.kubernetes.io/warn': null } },
  });
  await untilBoth('has none', {});
});

test('what the cluster’s administrator put there stays, also under the same name', async () => {
  const east = world.physical('east').client;
  const { items } = await east.list(resources.namespaces, {});
  const there = items.find(({ metadata }) => metadata.annotations?.['atoll.dev/locator']?.includes('"team"'));
  const mine = { name: there?.metadata.name ?? '' };
  await east.patch(resources.namespaces, mine, 'merge', { metadata: { labels: { cost: 'theirs' } } });
  await world.admin.patch(resources.namespaces, name, 'merge', {
    metadata: { labels: { cost: 'ours', other: 'x' } },
  });
  await until('the rest is there', async () => (await labelsOn('east'))[0]?.['other'] === 'x');
  expect((await labelsOn('east'))[0]).toEqual({ cost: 'theirs', other: 'x' });
  await until('west has both', async () => (await labelsOn('west'))[0]?.['cost'] === 'ours');
  // One of ours, too: what it is made there is neither undone nor taken away.
  await east.patch(resources.namespaces, mine, 'merge', { metadata: { labels: { other: 'mine' } } });
  const then = { labels: { other: null, more: 'x' } };
  await world.admin.patch(resources.namespaces, name, 'merge', { metadata: then });
  await until('the rest is there', async () => (await labelsOn('east'))[0]?.['more'] === 'x');
  expect((await labelsOn('east'))[0]).toEqual({ cost: 'theirs', other: 'mine', more: 'x' });
});

test('a cluster that refuses a label runs everything all the same', async () => {
  const { faults } = world.physical('east');
  faults.intercept = ({ method, url }) => {
    if (method === 'PATCH' && /\/namespaces\/[^/]+\?|\/namespaces\/[^/]+$/.test(url))
      throw new StatusError(403, 'Forbidden', 'no such label here');
  };
  await world.admin.patch(resources.namespaces, name, 'merge', { metadata: { labels: { refused: 'x' } } });
  await until('west has it', async () => (await labelsOn('west'))[0]?.['refused'] === 'x');
  const { metadata, ...app } = deployment('later', 1, 'east');
  await world.admin.create(resources.deployments, { ...app, metadata: { ...metadata, ...team } }, team);
  await settled(world.admin, 'later.deployments.apps', 'team');
  expect((await labelsOn('east'))[0]).not.toHaveProperty('refused');
  faults.intercept = () => {};
});
