import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { deployment, find, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const { services, endpoints, endpointslices, pods, deployments } = resources;
const shop = { namespace: 'default' };

let world: World;
beforeAll(async () => {
  world = await startWorld({ clusters: ['east'] });
});
afterAll(() => world.stop());

const serviceOf = (name: string, spec: object) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, ...shop },
  spec: { ports: [{ port: 80 }], ...spec },
});

async function slicesOf(service: string): Promise<KubeObject[]> {
  const labelSelector = `kubernetes.io/service-name=${service}`;
  return (await world.admin.list(endpointslices, { ...shop, labelSelector })).items;
}

async function endpointsOf(name: string): Promise<KubeObject | undefined> {
  return await find(world.admin, endpoints, name);
}

test('a Service that matches nothing has empty Endpoints and an empty slice, which go with it', async () => {
  await world.admin.create(services, serviceOf('nobody', { selector: { app: 'nobody' } }));
  await until('there are both', async () => (await endpointsOf('nobody')) && (await slicesOf('nobody'))[0]);
  await world.admin.delete(services, { ...shop, name: 'nobody' });
  await until('both are gone', async () => {
    return !(await endpointsOf('nobody')) && (await slicesOf('nobody')).length === 0;
  });
});

test('what the cluster says of it takes their place, and names the pods as they are here', async () => {
  await world.admin.create(services, serviceOf('web', { selector: { app: 'web' } }));
  await until('it has empty Endpoints', () => endpointsOf('web'));
  await world.admin.create(deployments, deployment('web', 1, 'east'), shop);
  await settled(world.admin, 'web.deployments.apps');
  const { client } = world.physical('east');
  const [there] = (await client.list(pods, { labelSelector: 'app=web' })).items;
  const { namespace = '', name = '', uid = '' } = there?.metadata ?? {};
  const service = await until('the Service is there', () => find(client, services, 'web', namespace));
  const address = { ip: '10.64.0.1', targetRef: { kind: 'Pod', namespace, name, uid } };
  await client.create(endpoints, {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'web', namespace },
    subsets: [{ addresses: [address], ports: [{ port: 80 }] }],
  } as KubeObject);
  const owner = {
    apiVersion: 'v1',
    kind: 'Service',
    name: 'web',
    uid: service.metadata.uid ?? '',
    controller: true,
  };
  const labels = {
    'kubernetes.io/service-name': 'web',
    'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
  };
  const { ip, targetRef } = address;
  await client.create(endpointslices, {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    addressType: 'IPv4',
    metadata: { name: 'web-there', namespace, labels, ownerReferences: [owner] },
    endpoints: [{ addresses: [ip], targetRef }],
    ports: [],
  } as KubeObject);
  const [pod] = (await world.admin.list(pods, { ...shop, labelSelector: 'app=web' })).items;
  const target = { kind: 'Pod', name, namespace: 'default', uid: pod?.metadata.uid };
  await until('the Endpoints have its address', async () => {
    const subsets = (await endpointsOf('web'))?.['subsets'];
    return subsets !== undefined && JSON.stringify(subsets).includes(ip);
  });
  expect(await endpointsOf('web')).toMatchObject({ subsets: [{ addresses: [{ ip, targetRef: target }] }] });
  const [slice] = await until('there is the slice from there alone', async () => {
    const slices = await slicesOf('web');
    return slices.length === 1 && slices[0]?.metadata.name === 'web-there' ? slices : undefined;
  });
  expect(slice).toMatchObject({ endpoints: [{ targetRef: target }] });
});

test('a slice that a user deletes is deleted where it is made', async () => {
  await world.admin.delete(endpointslices, { ...shop, name: 'web-there' });
  const { client } = world.physical('east');
  expect((await client.list(endpointslices)).items.map(({ metadata }) => metadata.name)).not.toContain(
    'web-there',
  );
  await until('it is gone here too', async () =>
    (await slicesOf('web')).every(({ metadata }) => metadata.name !== 'web-there'),
  );
});

test("a user's Endpoints are mirrored once, wherever they go", async () => {
  await world.admin.create(services, serviceOf('custom', {}));
  await world.admin.create(endpoints, {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'custom', ...shop },
    subsets: [{ addresses: [{ ip: '10.1.2.3' }], ports: [{ port: 80 }] }],
  } as KubeObject);
  const [slice] = await until('there is a slice', async () => {
    const slices = await slicesOf('custom');
    return slices.length > 0 ? slices : undefined;
  });
  expect(slice).toMatchObject({ endpoints: [{ addresses: ['10.1.2.3'] }], ports: [{ port: 80 }] });
  await world.admin.delete(services, { ...shop, name: 'custom' });
  await until('all of it goes with the Service', async () => {
    return !(await endpointsOf('custom')) && (await slicesOf('custom')).length === 0;
  });
});
