import { expect, test } from 'vitest';
import { TransportError } from '../../../client/errors.ts';
import { locatorAnnotation, physicalClusters } from '../../../cluster/names.ts';
import type { Locator, PhysicalCluster } from '../../../cluster/types.ts';
import type { Transport } from '../../../kube/http.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { deployment, resources, until } from '../../world/objects.ts';
import { active, configMap, leaving, namespace } from '../../world/upstream.ts';
import { Sides } from './sides.ts';

const { configmaps, deployments, namespaces, pods, secrets } = resources;
const sides = Sides.forEach();

/** Of which resources a watch was asked for, sorted. */
function watched(): string[] {
  const found = sides.physical.faults.requests.flatMap(
    (line) => /\/([a-z]+)\?.*watch=true/.exec(line)?.[1] ?? [],
  );
  return [...new Set(found)].sort();
}

/** Of which resources a watch is open, from now on, sorted. */
function opened(): () => string[] {
  const all: { resource: string; signal: AbortSignal | undefined }[] = [];
  sides.physical.faults.intercept = ({ url, signal }) => {
    const [, resource] = /\/([a-z]+)\?.*watch=true/.exec(url) ?? [];
    if (resource !== undefined) all.push({ resource, signal });
  };
  return () => all.flatMap(({ resource, signal }) => (signal?.aborted ? [] : [resource])).sort();
}

test('of a cluster that has nothing of ours only Nodes are watched, and what comes is carried as ever', async () => {
  const { upstream, physical } = sides;
  const open = opened();
  await sides.start().ready;
  await until('they are alone', () => open().join() === 'nodes');
  const asked = physical.faults.requests.filter((line) => line.includes('limit=1&'));
  expect(asked.length, 'what may be read is found out before anything is placed').toBeGreaterThan(15);
  const from = physical.faults.requests.length;
  const ref = await upstream.place(configMap('settings'), { east: active });
  await sides.untilThere(configmaps, 'settings');
  expect(open()).toContain('namespaces');
  const made = physical.faults.requests.findIndex(
    (line) => line.startsWith('POST') && line.includes('/namespaces'),
  );
  const before = physical.faults.requests.slice(from, made).filter((line) => line.includes('limit=1&'));
  expect(before, 'of what cannot be there nothing is asked first').toEqual([
    expect.stringContaining('/configmaps?'),
  ]);
  await upstream.shares(ref, { east: leaving });
  await until('it has left', async () => (await upstream.slice(ref))?.present === false);
});

test('what a share makes is watched from its coming on, and it leaves only after its pods', async () => {
  const { upstream, physical } = sides;
  await sides.start().ready;
  const ref = await upstream.place(deployment('web', 1), { east: active });
  const of = await sides.untilThere(deployments, 'web');
  const expected = [
    'deployments',
    'events',
    'namespaces',
    'nodes',
    'persistentvolumeclaims',
    'pods',
    'replicasets',
  ];
  await until('all are watched', () => watched().length >= expected.length);
  expect(watched()).toEqual(expected);
  const set = await physical.child('ReplicaSet', 'web-1', { of });
  await physical.child('Pod', 'web-1-a', { of: set, holds: false, node: 'one' });
  await until('its pod is shown', async () => {
    const { items } = await upstream.admin.list(pods, { namespace });
    return items.some(({ metadata }) => metadata.name === 'web-1-a');
  });
  await upstream.shares(ref, { east: leaving });
  await until('its object is gone', async () => !(await sides.there(deployments, 'web')));
  expect((await upstream.slice(ref))?.present).not.toBe(false);
  await physical.end(upstream.home, 'web-1-a');
  await until('it has left', async () => (await upstream.slice(ref))?.present === false);
});

test('when the last of it has gone all rests, and what comes then is carried and shown as ever', async () => {
  const { upstream, physical } = sides;
  const open = opened();
  await sides.start(physical.transport, [], 100).ready;
  for (const name of ['web', 'api']) {
    const ref = await upstream.place(deployment(name, 1), { east: active });
    const of = await sides.untilThere(deployments, name);
    expect(open()).toContain('namespaces');
    const set = await physical.child('ReplicaSet', `${name}-1`, { of });
    await physical.child('Pod', `${name}-1-a`, { of: set, holds: false, node: 'one' });
    const shown = async () => (await upstream.admin.list(pods, { namespace })).items.length;
    await until('its pod is shown', async () => (await shown()) === 1);
    await upstream.shares(ref, { east: leaving });
    await until('its object is gone', async () => !(await sides.there(deployments, name)));
    await physical.end(upstream.home, `${name}-1-a`);
    await until('it has left', async () => (await upstream.slice(ref))?.present === false);
    await upstream.remove(ref);
    await upstream.unplace(ref);
    await until('all rests', () => open().join() === 'nodes');
    expect(await shown()).toBe(0);
  }
});

test('what was put there while nothing was watched is found with its namespace, and goes where nobody wants it', async () => {
  const { upstream, physical } = sides;
  const ref = await upstream.place(configMap('settings'), { east: active });
  await sides.start().ready;
  const made = await sides.untilThere(configmaps, 'settings');
  const home = await physical.client.get(namespaces, { name: upstream.home });
  await upstream.remove(ref);
  await upstream.unplace(ref);
  await until('the namespace is gone', async () => {
    const { items } = await physical.client.list(namespaces);
    return items.every(({ metadata }) => metadata.name !== upstream.home);
  });
  const again = ({ metadata: { name, namespace: at, labels, annotations } }: KubeObject) => ({
    name: name ?? '',
    ...(at && { namespace: at }),
    ...(labels && { labels }),
    ...(annotations && { annotations }),
  });
  let put = () => {};
  const isPut = new Promise<void>((resolve) => {
    put = resolve;
  });
  physical.faults.intercept = ({ url }) => (url.includes('/secrets?limit=1') ? isPut : undefined);
  await physical.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: again(home) });
  const locator = JSON.parse(made.metadata.annotations?.[locatorAnnotation] ?? '') as Locator;
  const other = JSON.stringify({ ...locator, resource: 'secrets', name: 'old' });
  const { labels } = again(made);
  const metadata = {
    name: 'old',
    namespace: upstream.home,
    ...(labels && { labels }),
    annotations: { [locatorAnnotation]: other },
  };
  await physical.client.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata });
  put();
  await until('it is gone', async () => !(await sides.there(secrets, 'old')));
});

test('one that is left alone is asked as soon as something comes: that it is gone is known then', async () => {
  const { upstream, physical } = sides;
  let isGone = false;
  const transport: Transport = async (request) => {
    if (isGone) throw new TransportError('ECONNREFUSED', 'it is gone');
    return await physical.transport(request);
  };
  // No beat is due before something comes.
  await sides.start(transport, [], undefined, 3_600_000).ready;
  const ready = async () => {
    const east = await upstream.view('east').get<PhysicalCluster>(physicalClusters, { name: 'east' });
    return east.status?.conditions?.find(({ type }) => type === 'Ready');
  };
  await until('it answers', async () => (await ready())?.status === 'True');
  isGone = true;
  await upstream.place(configMap('settings'), { east: active });
  await until('it is known', async () => (await ready())?.status === 'False');
  expect((await ready())?.reason).toBe('Unreachable');
});
