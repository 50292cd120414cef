import { afterEach, beforeEach, expect, test } from 'vitest';
import { removeCluster } from '../../../cli/remove.ts';
import type { Placement } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { StatusError } from '../../../kube/status.ts';
import { deployment, find, isReady, move, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const { deployments, endpointslices, namespaces, physicalclusters, placements, services } = resources;
const shop = { namespace: 'default' };
const web = 'web.deployments.apps';
const ips = { east: '10.1.0.1', west: '10.2.0.1' } as const;
type Name = keyof typeof ips;
const other: Record<Name, Name> = { east: 'west', west: 'east' };

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.stop());

async function network(name: Name, value: string | null): Promise<void> {
  await world.admin.patch(physicalclusters, { name }, 'merge', { spec: { network: value } });
}

async function there(name: Name): Promise<KubeObject | undefined> {
  const { items } = await world.physical(name).client.list(services, {});
  return items.find(({ metadata }) => metadata.name === 'web');
}

/** What the cluster's own controller makes of the pods of the Service there. */
async function endpointsOn(name: Name, ...addresses: string[]): Promise<void> {
  const service = await until(`the Service is on ${name}`, () => there(name));
  const { namespace = '', uid = '' } = service.metadata;
  const { client } = world.physical(name);
  const made = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `web-of-${name}`,
      namespace,
      labels: {
        'kubernetes.io/service-name': 'web',
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name: 'web', uid, controller: true }],
    },
    addressType: 'IPv4',
    endpoints: addresses.map((ip) => ({ addresses: [ip], conditions: { ready: true }, nodeName: 'node-1' })),
    ports: [{ name: '', port: 80, protocol: 'TCP' }],
  } as KubeObject;
  if (await find(client, endpointslices, made.metadata.name ?? '', namespace))
    await client.patch(endpointslices, { namespace, name: made.metadata.name ?? '' }, 'merge', made);
  else await client.create(endpointslices, made);
}

async function pushed(name: Name): Promise<KubeObject[]> {
  const labelSelector = 'atoll.dev/managed-by=atoll';
  return (await world.physical(name).client.list(endpointslices, { labelSelector })).items;
}

async function given(name: Name): Promise<string[]> {
  const endpoints = (await pushed(name)).flatMap((slice) => slice['endpoints'] as { addresses: string[] }[]);
  return endpoints.flatMap(({ addresses }) => addresses).sort();
}

const has = (name: Name, ...addresses: string[]) =>
  until(`${name} is given ${addresses.join() || 'nothing'}`, async () => {
    return (await given(name)).join() === addresses.join();
  });

/** What the logical cluster shows, by name. */
const shown = async () =>
  (await world.admin.list(endpointslices, shop)).items.map(({ metadata }) => metadata.name).sort();

async function serve(): Promise<void> {
  await world.admin.create(services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', ...shop },
    spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
  });
}

interface Templated {
  template: { metadata: { labels: Record<string, string> } };
}

/** An app on both, whose Service leads on each to the pods there. */
async function split(): Promise<void> {
  await serve();
  const made = deployment('web', 4, 'east,west');
  // Its endpoints are made by hand: nobody waits for as many as there are pods.
  const manner = { 'atoll.dev/drain-seconds': '3600', 'atoll.dev/wait-seconds': '0' };
  made.metadata.annotations = { ...made.metadata.annotations, ...manner };
  (made.spec as Templated).template.metadata.labels['tier'] = 'front';
  await world.admin.create(deployments, made, shop);
  await settled(world.admin, web);
  for (const name of ['east', 'west'] as const) await endpointsOn(name, ips[name]);
  await until('both are shown', async () => (await shown()).join() === 'web-of-east,web-of-west');
}

async function joined(): Promise<void> {
  for (const name of ['east', 'west'] as const) await network(name, 'one');
  await split();
  for (const name of ['east', 'west'] as const) await has(name, ips[other[name]]);
}

test('a Service on two clusters of one network reaches the pods on both; on networks apart it does not', async () => {
  await network('east', 'one');
  await split();
  expect([await given('east'), await given('west')]).toEqual([[], []]);
  await network('west', 'one');
  await has('east', ips.west);
  await has('west', ips.east);
  const [slice] = await pushed('west');
  expect(slice).toMatchObject({
    metadata: {
      namespace: (await there('west'))?.metadata.namespace,
      labels: { 'kubernetes.io/service-name': 'web' },
    },
    addressType: 'IPv4',
    ports: [{ port: 80, protocol: 'TCP' }],
  });
  expect(slice?.['endpoints']).toEqual([{ addresses: [ips.east], conditions: { ready: true } }]);
  // Nothing of it comes back up: what has been there for long enough to change is still not shown.
  await endpointsOn('east', ips.east, '10.1.0.2');
  await has('west', ips.east, '10.1.0.2');
  expect(await shown()).toEqual(['web-of-east', 'web-of-west']);
  await network('west', 'two');
  await has('west');
  await has('east');
});

test('its slices follow its selector and go with it', async () => {
  await joined();
  await world.admin.patch(services, { ...shop, name: 'web' }, 'merge', {
    spec: { selector: { app: null, tier: 'front' } },
  });
  await until('east selects anew', async () => JSON.stringify((await there('east'))?.spec).includes('front'));
  await endpointsOn('east', '10.1.0.9');
  await has('west', '10.1.0.9');
  await world.admin.delete(services, { ...shop, name: 'web' });
  await has('west');
  await has('east');
});

test('what somebody writes in the logical cluster is not given to any cluster', async () => {
  await joined();
  const forged = '192.0.2.1';
  const seen: string[] = [];
  for (const name of ['east', 'west'] as const)
    world.physical(name).faults.intercept = ({ body }) => {
      const text = body ? Buffer.from(body).toString() : '';
      if (text.includes(forged)) seen.push(name);
    };
  const endpoints = [{ addresses: [forged], conditions: { ready: true } }];
  await world.admin.patch(endpointslices, { ...shop, name: 'web-of-east' }, 'merge', { endpoints });
  await has('west');
  const { metadata, ...rest } = await world.admin.get(endpointslices, { ...shop, name: 'web-of-west' });
  const { name: _name, uid: _uid, resourceVersion: _version, ...marks } = metadata;
  await world.admin.create(
    endpointslices,
    { ...rest, metadata: { ...marks, name: 'copy' }, endpoints },
    shop,
  );
  const labels = {
    'kubernetes.io/service-name': 'web',
    'endpointslice.kubernetes.io/managed-by': 'atoll.dev',
  };
  await world.admin.create(
    endpointslices,
    {
      apiVersion: rest.apiVersion,
      kind: rest.kind,
      metadata: { name: 'own', labels },
      addressType: 'IPv4',
      endpoints,
    } as KubeObject,
    shop,
  );
  // What comes after has been given, so all before has been looked at.
  await endpointsOn('west', '10.2.0.2');
  await has('east', '10.2.0.2');
  // As soon as the cluster says anew what it has, that counts again.
  await endpointsOn('east', '10.1.0.2');
  await has('west', '10.1.0.2');
  expect(seen).toEqual([]);
});

test('what is withdrawn is taken back from the others, and is itself given what they have until it has left', async () => {
  await joined();
  await move(world.admin, deployments, 'web', 'west');
  await until('east is withdrawn', async () => {
    const { spec } = await world.admin.get<Placement>(placements, { ...shop, name: 'web.services' });
    return spec?.shares?.['east']?.withdrawn === true;
  });
  await has('west');
  await has('east', ips.west);
  await world.admin.patch(deployments, { ...shop, name: 'web' }, 'merge', {
    metadata: { annotations: { 'atoll.dev/drain-seconds': '0' } },
  });
  await settled(world.admin, web);
  await until('the Service has left east', async () => (await there('east')) === undefined);
  await has('east');
});

test('endpoints of a cluster that is silent are the last resort until it is heard of again', async () => {
  await joined();
  const states = async () =>
    JSON.stringify((await pushed('west')).map((slice) => (slice['endpoints'] as object[])[0]));
  const { faults } = world.physical('east');
  faults.silence();
  const last = '"conditions":{"ready":false,"serving":true,"terminating":true}';
  await until('they are the last resort', async () => (await states()).includes(last));
  faults.heal();
  await until('they count again', async () => (await states()).includes('"conditions":{"ready":true}'));
  expect(await given('west')).toEqual([ips.east]);
});

test('what changed while a syncer was away is made good when it is back', async () => {
  await joined();
  const { faults } = world.physical('west');
  faults.intercept = ({ method }) => {
    if (method !== 'GET') throw new Error('west takes nothing');
  };
  await network('east', null);
  // Another syncer takes over, which knows nothing of what there was.
  await world.admin.patch(physicalclusters, { name: 'west' }, 'merge', {
    spec: { namespaceLabels: ['team'] },
  });
  await until('east has had it taken back', async () => (await given('east')).length === 0);
  expect(await given('west')).toEqual([ips.east]);
  faults.intercept = () => {};
  await has('west');
});

test('a cluster that goes takes its endpoints along', async () => {
  await joined();
  await world.admin.patch(deployments, { ...shop, name: 'web' }, 'merge', {
    metadata: { annotations: { 'atoll.dev/drain-seconds': '0', 'atoll.dev/clusters': null } },
  });
  await world.admin.delete(physicalclusters, { name: 'east' });
  await has('west');
  await until(
    'it is gone',
    async () => (await find(world.admin, physicalclusters, 'east', '')) === undefined,
  );
  expect([await given('east'), await given('west')]).toEqual([[], []]);
});

test('what a cluster refuses is given to it soon after it takes it again', async () => {
  await joined();
  let [refused, takes] = [0, false];
  world.physical('west').faults.intercept = ({ method, url }) => {
    if (method !== 'PATCH' || !url.includes('/endpointslices/') || takes) return;
    refused++;
    throw new StatusError(403, 'Forbidden', 'not here');
  };
  await endpointsOn('east', '10.1.0.2');
  await until('it is refused a few times', async () => refused > 3);
  takes = true;
  await has('west', '10.1.0.2');
});

test('a cluster that is forgotten keeps no endpoints of the others, nor a Namespace for them', async () => {
  await joined();
  await world.admin.patch(deployments, { ...shop, name: 'web' }, 'merge', {
    metadata: { annotations: { 'atoll.dev/drain-seconds': '0' } },
  });
  await removeCluster(world.admin, 'east', { forget: true, waitSeconds: 180 });
  expect(await given('east')).toEqual([]);
  const { items } = await world
    .physical('east')
    .client.list(namespaces, { labelSelector: 'atoll.dev/managed-by=atoll' });
  expect(items).toEqual([]);
});

test('what somebody changes of what is shown is put anew after a while, and counts again', async () => {
  await joined();
  const forged = [{ addresses: ['192.0.2.1'], conditions: { ready: true } }];
  await world.admin.patch(endpointslices, { ...shop, name: 'web-of-west' }, 'merge', { endpoints: forged });
  await has('east');
  const { faults } = world.physical('west');
  faults.silence();
  await until('west is silent', async () => !(await isReady(world.admin, 'west')));
  faults.heal();
  await has('east', ips.west);
  const { endpoints } = await world.admin.get(endpointslices, { ...shop, name: 'web-of-west' });
  expect(endpoints).toMatchObject([{ addresses: [ips.west] }]);
});

test('a burst of changes is a few writes', async () => {
  await joined();
  let writes = 0;
  world.physical('west').faults.intercept = ({ method, url }) => {
    if (method === 'PATCH' && url.includes('/endpointslices/')) writes++;
  };
  const began = Date.now();
  const all = Array.from({ length: 40 }, (_, i) => `10.1.1.${100 + i}`);
  for (const [i, last] of all.entries()) {
    await endpointsOn('east', ...all.slice(0, i + 1));
    await until(`${last} is shown`, async () => {
      const slice = await world.admin.get(endpointslices, { ...shop, name: 'web-of-east' });
      return JSON.stringify(slice['endpoints']).includes(last);
    });
  }
  await has('west', ...all);
  expect(writes).toBeLessThanOrEqual(Math.ceil((Date.now() - began) / 250) + 1);
});
