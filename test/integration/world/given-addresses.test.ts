import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { listAt, numberAt } from '../../../kube/untyped.ts';
import { deployment, find, move, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

/** A load balancer or ingress controller of a logical cluster: it knows nothing of the clusters where pods run. */
const { deployments, ingresses, services } = resources;
const shop = { namespace: 'default' };
const web = 'web.deployments.apps';

let world: World;
beforeAll(async () => {
  world = await startWorld();
}, 60_000);
afterAll(() => world.stop());

const kinds = [
  [services, 'Service', 'v1', { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port: 80 }] }],
  [
    ingresses,
    'Ingress',
    'networking.k8s.io/v1',
    { defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
  ],
] as const;

const told = async (resource: (typeof kinds)[number][0]) => {
  const { status } = (await find(world.admin, resource, 'web')) ?? {};
  return listAt(status, 'loadBalancer', 'ingress').map((each) => (each as { ip?: string }).ip);
};

const give = (resource: (typeof kinds)[number][0], ...ips: string[]) =>
  world.admin.patch(resource, { ...shop, name: 'web', subresource: 'status' }, 'merge', {
    status: { loadBalancer: { ingress: ips.map((ip) => ({ ip })) } },
  });

test('addresses that a controller of the logical cluster gives stay through moves, until it takes them back', async () => {
  for (const [resource, kind, apiVersion, spec] of kinds) {
    await world.admin.create(resource, { apiVersion, kind, metadata: { name: 'web', ...shop }, spec });
  }
  await world.admin.create(deployments, deployment('web', 2, 'east'), shop);
  await settled(world.admin, web);
  const [east] = await until('the address of east is told', async () => {
    const addresses = await told(services);
    return addresses.length > 0 ? addresses : undefined;
  });
  expect(east).toBeDefined();
  for (const [resource] of kinds) await give(resource, '192.0.2.7');
  await move(world.admin, deployments, 'web', 'west');
  await settled(world.admin, web);
  await until('it is on west alone', async () => {
    const { spec } = (await find(world.admin, resources.placements, web)) as { spec?: { shares?: object } };
    return Object.keys(spec?.shares ?? {}).join() === 'west';
  });
  for (const [resource] of kinds) expect(await told(resource)).toEqual(['192.0.2.7']);
  for (const [resource] of kinds) await give(resource);
  await until('that of west is told', async () => (await told(services)).length > 0);
  expect(await told(services)).not.toContain('192.0.2.7');
  expect(await told(ingresses)).toEqual([]);
});

test('a node port that somebody wrote is asked of the cluster, one that was handed out here is not', async () => {
  const wish = { port: 80, protocol: 'TCP', nodePort: 30080 };
  for (const [name, ports] of [
    ['wish', [wish]],
    ['none', [{ port: 80 }]],
  ] as const) {
    const spec = { type: 'NodePort', selector: { app: 'web' }, ports };
    await world.admin.create(services, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, ...shop },
      spec,
    });
  }
  const portOf = (service: KubeObject | undefined) =>
    numberAt(listAt(service, 'spec', 'ports')[0], 'nodePort');
  const there = async (name: string) => {
    const { items } = await world.physical('west').client.list(services);
    return items.find(({ metadata }) => metadata.name === name);
  };
  const [wished, none] = await until('both are on west', async () => {
    const both = [await there('wish'), await there('none')];
    return both.every((service) => service !== undefined) ? both : undefined;
  });
  expect(portOf(wished)).toBe(30080);
  const handedOut = portOf(await find(world.admin, services, 'none'));
  expect(handedOut).toBeGreaterThanOrEqual(30_000);
  expect(portOf(none)).not.toBe(handedOut);
});

test('a node port that is taken there is another there, which its Placement tells', async () => {
  const service = (name: string, namespace: string) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace },
    spec: { type: 'NodePort', selector: { app: 'web' }, ports: [{ port: 80, nodePort: 30070 }] },
  });
  const { client } = world.physical('west');
  await client.create(services, service('theirs', 'kube-system'));
  await world.admin.create(services, service('second', 'default'));
  const given = await until('it is on west', async () => {
    const { items } = await client.list(services);
    const found = items.find(({ metadata }) => metadata.name === 'second');
    return numberAt(listAt(found, 'spec', 'ports')[0], 'nodePort');
  });
  expect(given).toBeGreaterThanOrEqual(30_000);
  expect(given).not.toBe(30070);
  const message = await until('it is told', async () => {
    const { status } = (await find(world.admin, resources.placements, 'second.services')) ?? {};
    const conditions = listAt(status, 'conditions') as { message?: string }[];
    return conditions.find((one) => one.message?.includes('node port'))?.message;
  });
  expect(message).toContain(`${given} instead of 30070`);
  await move(world.admin, deployments, 'web', 'east');
  await until('it has left for where its port is free', async () => {
    const at = async (name: string) => (await world.physical(name).client.list(services)).items;
    const [west, east] = [await at('west'), await at('east')].map((items) =>
      items.find(({ metadata }) => metadata.name === 'second'),
    );
    return west === undefined && numberAt(listAt(east, 'spec', 'ports')[0], 'nodePort') === 30070;
  });
});

test('a port for health checks that somebody wrote is asked of the cluster; where it is taken that gives another, which is told', async () => {
  const service = (name: string, namespace: string) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace },
    spec: {
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 30069,
      selector: { app: 'web' },
      ports: [{ port: 80, nodePort: 30068 }],
    },
  });
  const at = (name: string) =>
    until(`it is on ${name}`, async () => {
      const { items } = await world.physical(name).client.list(services);
      const found = items.find(({ metadata }) => metadata.name === 'checked');
      return (
        found && [
          numberAt(found, 'spec', 'healthCheckNodePort'),
          numberAt(listAt(found, 'spec', 'ports')[0], 'nodePort'),
        ]
      );
    });
  await world.physical('west').client.create(services, service('theirs-too', 'kube-system'));
  await world.admin.create(services, service('checked', 'default'));
  expect(await at('east')).toEqual([30069, 30068]);
  await move(world.admin, deployments, 'web', 'west');
  const [health, port] = await at('west');
  expect([health, port]).not.toContain(30069);
  expect([health, port]).not.toContain(30068);
  const message = await until('it is told', async () => {
    const { status } = (await find(world.admin, resources.placements, 'checked.services')) ?? {};
    const conditions = listAt(status, 'conditions') as { message?: string }[];
    return conditions.find((one) => one.message?.includes('node port'))?.message;
  });
  expect(message).toContain(`${port} instead of 30068, ${health} instead of 30069`);
});
