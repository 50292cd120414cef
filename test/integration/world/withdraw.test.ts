import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Placement, Share } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { listAt, mapAt } from '../../../kube/untyped.ts';
import {
  deployment,
  find,
  move,
  readyPods,
  resources,
  settled,
  statefulSet,
  until,
} from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const { deployments, endpointslices, namespaces, placements, services } = resources;
const shop = { namespace: 'default' };
const web = 'web.deployments.apps';

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.stop());

const record = (name: string) => find<Placement>(world.admin, placements, name);
const shareOf = async (name: string, cluster: string): Promise<Share | undefined> =>
  (await record(name))?.spec?.shares?.[cluster];
const why = async (name: string) =>
  (await record(name))?.status?.conditions?.find(({ type }) => type === 'Settled')?.message ?? '';
const ready = async (cluster: string, app = 'web') => (await readyPods(world.physical(cluster), app)).length;
const annotate = (name: string, annotations: Record<string, string | null>) =>
  world.admin.patch(deployments, { ...shop, name }, 'merge', { metadata: { annotations } });

const labelled = (object: KubeObject, labels: Record<string, string>): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, labels },
});

async function serve(
  type = 'LoadBalancer',
  selector: Record<string, string> = { app: 'web' },
): Promise<void> {
  await world.admin.create(services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', ...shop },
    spec: { type, selector, ports: [{ port: 80 }] },
  });
}

/** The Service on a cluster, and the address that it has there. */
async function there(cluster: string): Promise<{ service: KubeObject; ip: unknown }> {
  const { items } = await world.physical(cluster).client.list(services, {});
  const service = items.find(({ metadata }) => metadata.name === 'web');
  if (!service) throw new Error(`there is no Service web on ${cluster}`);
  return { service, ip: (listAt(service.status, 'loadBalancer', 'ingress')[0] as { ip?: string })?.ip };
}

const told = async () => {
  const status = (await find(world.admin, services, 'web'))?.status;
  return listAt(status, 'loadBalancer', 'ingress').map((each) => (each as { ip?: string }).ip);
};

/** So that the two clusters give different addresses. */
async function takeAddress(): Promise<void> {
  const other = {
    metadata: { name: 'other', ...shop },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
  };
  const { client } = world.physical('west');
  await client.create(services, { apiVersion: 'v1', kind: 'Service', ...other });
  await until('it has its address', async () => {
    const { items } = await client.list(services, {});
    return items.some(({ status }) => listAt(status, 'loadBalancer', 'ingress').length > 0);
  });
}

async function onEast(drain: string): Promise<void> {
  await takeAddress();
  await serve();
  const made = deployment('web', 2, 'east');
  made.metadata.annotations = { ...made.metadata.annotations, 'atoll.dev/drain-seconds': drain };
  await world.admin.create(deployments, made, shop);
  await settled(world.admin, web);
}

/** As the cluster's own controller would. */
async function slice(cluster: string): Promise<void> {
  const { service } = await there(cluster);
  const { namespace = '', uid = '' } = service.metadata;
  await world.physical(cluster).client.create(endpointslices, {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: 'web-abcde',
      namespace,
      labels: {
        'kubernetes.io/service-name': 'web',
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name: 'web', uid }],
    },
    addressType: 'IPv4',
    endpoints: [
      { addresses: ['10.0.0.1'], conditions: { ready: true } },
      { addresses: ['10.0.0.2'], conditions: { ready: false } },
    ],
    ports: [{ port: 80 }],
  } as KubeObject);
}

const standIn = async (cluster: string) => {
  const { items } = await world.physical(cluster).client.list(endpointslices, {});
  return items.find(({ metadata }) => metadata.name === 'web-abcde-withdrawn');
};
const selectsPods = async (cluster: string) => {
  const { service } = await there(cluster);
  return mapAt(service, 'spec', 'selector')?.['atoll.dev/withdrawn'] === undefined;
};

test('the address and the endpoints of what leaves are taken back first, its pods go when it is drained', async () => {
  await onEast('3600');
  await slice('east');
  await move(world.admin, deployments, 'web', 'west');
  await until('east is withdrawn', async () => (await shareOf(web, 'east'))?.phase === 'Withdrawing');
  await until('its Service selects no pod there', async () => !(await selectsPods('east')));
  expect(await standIn('east')).toMatchObject({
    endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: false, serving: true, terminating: true } }],
  });
  const { ip } = await there('west');
  expect(ip).not.toBe((await there('east')).ip);
  await until('the address of west alone is told', async () => (await told()).join() === String(ip));
  const closed = 'east gets no new connections, and leaves when the time to drain is over';
  await until('that is told', async () => (await why(web)) === closed);
  expect([await ready('east'), await ready('west')]).toEqual([2, 2]);
  // Since when is in the Placement: whoever takes over goes on.
  const before = await shareOf(web, 'east');
  await world.restartControllers();
  await annotate('web', { 'atoll.dev/drain-seconds': '3500' });
  expect(await shareOf(web, 'east')).toEqual(before);
  await annotate('web', { 'atoll.dev/drain-seconds': '0' });
  await settled(world.admin, web);
  await until('nothing is on east', async () => (await ready('east')) === 0);
  await until('the Service has left it too', async () => (await standIn('east')) === undefined);
});

test('the time of a drain counts from when the cluster has taken the endpoints back', async () => {
  await onEast('2');
  await slice('east');
  const { faults } = world.physical('east');
  let refused = 0;
  faults.intercept = ({ method, url }) => {
    if (method !== 'PATCH' || !url.includes('/services/web')) return;
    refused++;
    throw new Error('east takes no Service yet');
  };
  await move(world.admin, deployments, 'web', 'west');
  await until('east is withdrawn', async () => (await shareOf(web, 'east'))?.phase === 'Withdrawing');
  const { since = '' } = (await shareOf(web, 'east'))?.withdrawing ?? {};
  await until('it would be over', async () => refused > 0 && Date.now() > Date.parse(since) + 3000);
  expect((await shareOf(web, 'east'))?.phase).toBe('Withdrawing');
  expect(await ready('east')).toBe(2);
  faults.intercept = () => {};
  await settled(world.admin, web);
  await until('nothing is on east', async () => (await ready('east')) === 0);
});

test('what is withdrawn and wanted again is counted on at once, with all that leads to it', async () => {
  await onEast('3600');
  await slice('east');
  const { ip } = await there('east');
  await move(world.admin, deployments, 'web', 'west');
  await until('its Service selects no pod there', async () => !(await selectsPods('east')));
  await move(world.admin, deployments, 'web', 'east');
  await until('east is Active', async () => (await shareOf(web, 'east'))?.phase === 'Active');
  await until('its Service selects its pods', () => selectsPods('east'));
  await until('nothing stands in for its slices', async () => (await standIn('east')) === undefined);
  const { service } = await there('east');
  await until('its Service is as it was', async () => {
    const now = (await there('east')).service.metadata;
    expect(now.uid).toBe(service.metadata.uid);
    return now.annotations?.['atoll.dev/withdrawn'] === undefined;
  });
  expect(await ready('east')).toBe(2);
  await annotate('web', { 'atoll.dev/drain-seconds': '0' });
  await settled(world.admin, web);
  await until('its address is told', async () => (await told()).join() === String(ip));
});

test('what no Service selects is not drained', async () => {
  await world.admin.create(deployments, deployment('web', 2, 'east'), shop);
  await settled(world.admin, web);
  await world.admin.patch(namespaces, { name: 'default' }, 'merge', {
    metadata: { annotations: { 'atoll.dev/drain-seconds': '3600' } },
  });
  await move(world.admin, deployments, 'web', 'west');
  await until('it has left east', async () => (await shareOf(web, 'east')) === undefined);
  await settled(world.admin, web);
});

test('a paused move keeps both copies, and goes on when its Namespace is paused no more', async () => {
  await world.admin.create(deployments, deployment('web', 2, 'east'), shop);
  await settled(world.admin, web);
  const pause = (value: string | null) =>
    world.admin.patch(namespaces, { name: 'default' }, 'merge', {
      metadata: { annotations: { 'atoll.dev/paused': value } },
    });
  await pause('true');
  await move(world.admin, deployments, 'web', 'west');
  await until('it says so', async () => (await why(web)).startsWith('paused by annotation atoll.dev/paused'));
  expect([await ready('east'), await ready('west')]).toEqual([2, 2]);
  await pause(null);
  await settled(world.admin, web);
  await until('nothing is on east', async () => (await ready('east')) === 0);
});

test('what is part of one app leaves when all of it can', async () => {
  const part = { 'app.kubernetes.io/part-of': 'shop' };
  for (const name of ['web', 'db'])
    await world.admin.create(deployments, labelled(deployment(name, 2, 'east'), part), shop);
  await settled(world.admin, web);
  await settled(world.admin, 'db.deployments.apps');
  const west = world.physical('west').faults;
  west.intercept = ({ method, url }) => {
    if (method === 'PATCH' && url.includes('/deployments/db')) throw new Error('west takes no db yet');
  };
  await move(world.admin, deployments, 'db', 'west');
  await until(
    'db is bound for west',
    async () => (await shareOf('db.deployments.apps', 'west')) !== undefined,
  );
  await move(world.admin, deployments, 'web', 'west');
  await until('web waits for db', async () => (await why(web)).includes('Deployment db'));
  expect(await why(web)).toMatch(
    /^waiting for what moves with it: Deployment db; until then it stays on east; at \S+Z it goes without$/,
  );
  expect([await ready('east'), await ready('west'), await ready('east', 'db')]).toEqual([2, 2, 2]);
  west.intercept = () => {};
  await settled(world.admin, web);
  await settled(world.admin, 'db.deployments.apps');
});

test('an address that the new cluster does not give is waited for, as its Event says; told to, it goes without', async () => {
  await serve('ClusterIP');
  const service = { name: 'web', port: { number: 80 } };
  await world.admin.create(resources.ingresses, {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'web', ...shop },
    spec: { defaultBackend: { service } },
  });
  const made = deployment('web', 2, 'east');
  await world.admin.create(deployments, made, shop);
  await annotate('web', { 'atoll.dev/drain-seconds': '0' });
  const { client } = world.physical('east');
  const ingress = await until(
    'its Ingress is on east',
    async () => (await client.list(resources.ingresses)).items[0],
  );
  const { namespace = '' } = ingress.metadata;
  const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };
  await client.patch(resources.ingresses, { namespace, name: 'web', subresource: 'status' }, 'merge', {
    status,
  });
  await until('its address is told', async () => {
    const found = await find(world.admin, resources.ingresses, 'web');
    return listAt(found?.status, 'loadBalancer', 'ingress').length > 0;
  });
  await settled(world.admin, web);
  await move(world.admin, deployments, 'web', 'west');
  const said =
    'waiting for what moves with it: Ingress web (no address on west); until then it stays on east; ' +
    'to go without, annotate it or its Namespace with atoll.dev/wait-seconds: "0"';
  await until('it says so', async () => (await why(web)) === said, 30_000);
  await until('its Event says so', async () => {
    const { items } = await world.admin.list(resources.events, shop);
    return items.some((event) => {
      const { type, reason, message } = event as { type?: unknown; reason?: unknown; message?: unknown };
      return type === 'Warning' && reason === 'WaitingForOthers' && message === said;
    });
  });
  expect([await ready('east'), await ready('west')]).toEqual([2, 2]);
  await annotate('web', { 'atoll.dev/wait-seconds': '0' });
  await until('nothing is on east', async () => (await ready('east')) === 0);
});

test('a value that means nothing is refused', async () => {
  for (const [annotation, value, message] of [
    ['atoll.dev/drain-seconds', 'soon', 'must be a whole number of seconds from 0 to 3600'],
    ['atoll.dev/drain-seconds', '3601', 'must be a whole number of seconds from 0 to 3600'],
    ['atoll.dev/wait-seconds', '86401', 'must be a whole number of seconds from 0 to 86400'],
    ['atoll.dev/paused', 'yes', 'must be "true" or "false"'],
  ] as const) {
    const made = deployment('web', 1, 'east');
    made.metadata.annotations = { [annotation]: value };
    await expect(world.admin.create(deployments, made, shop)).rejects.toThrow(message);
  }
});

test('the address of a Service of one pod of a divided StatefulSet is that of the cluster which runs that pod', async () => {
  await takeAddress();
  await serve('LoadBalancer', { 'statefulset.kubernetes.io/pod-name': 'db-1' });
  await world.admin.create(resources.statefulsets, statefulSet('db', 2, 'east,west'), shop);
  await settled(world.admin, 'db.statefulsets.apps');
  expect(await readyPods(world.physical('west'), 'db')).toEqual(['db-1']);
  await until('both have one, and it is the one of west', async () => {
    const [{ ip: east }, { ip: west }] = [await there('east'), await there('west')];
    return east && west && east !== west && (await told()).join() === west;
  });
});
