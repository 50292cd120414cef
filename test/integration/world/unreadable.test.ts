import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Condition, PhysicalCluster, Placement } from '../../../cluster/types.ts';
import type { ApiRequest } from '../../../kube/http.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { StatusError } from '../../../kube/status.ts';
import { deployment, find, move, readyPods, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld({ clusters: ['west'] });
  await world.simulate('east');
});
afterEach(() => world.stop());

const inDefault = { namespace: 'default' };
const services = { ...inDefault, apiVersion: 'v1', kind: 'Service' };

/** What an agent without the right is answered, whatever it asks for of the resource. */
function forbid(...denied: string[]): void {
  world.physical('east').faults.intercept = ({ url }: ApiRequest) => {
    const [path = ''] = url.split('?');
    const found = denied.find((name) => path.endsWith(`/${name}`) || path.includes(`/${name}/`));
    if (found)
      throw new StatusError(403, 'Forbidden', `${found} is forbidden: the agent cannot list resource`);
  };
}

async function readable(): Promise<Condition | undefined> {
  const cluster = await find<PhysicalCluster>(world.admin, resources.physicalclusters, 'east', '');
  return cluster?.status?.conditions?.find(({ type }) => type === 'Readable');
}

function service(name: string): KubeObject {
  const spec = { selector: { app: name }, ports: [{ port: 80 }] };
  const { apiVersion, kind } = services;
  return { apiVersion, kind, metadata: { name }, spec };
}

test('a kind that may not be listed is said of the cluster, and nothing else waits for it', async () => {
  forbid('ingresses', 'cronjobs');
  await world.register('east');
  await world.admin.create(resources.deployments, deployment('web', 2, 'east'), inDefault);
  await settled(world.admin, 'web.deployments.apps');
  const said = await until('it is said', async () => {
    const condition = await readable();
    return condition?.status === 'False' && condition.message.includes('ingresses') && condition;
  });
  expect(said).toMatchObject({
    reason: 'Forbidden',
    message: 'may not list cronjobs.batch, ingresses.networking.k8s.io',
  });
  forbid();
  await until('it is taken back', async () => (await readable())?.status === 'True');
});

test('what is of that kind says so, what needs it waits, and both go on when rights come back', async () => {
  forbid('services');
  await world.register('east');
  await world.admin.create(resources.services, service('web'), inDefault);
  await world.admin.create(resources.deployments, deployment('web', 1, 'east'), inDefault);
  await world.admin.create(resources.deployments, deployment('free', 1, 'east'), inDefault);
  await settled(world.admin, 'free.deployments.apps');
  const placement = () => find<Placement>(world.admin, resources.placements, 'web.services');
  const slice = await until('the service is refused', async () => {
    const told = (await placement())?.status?.clusters?.['east'];
    return told?.error && told;
  });
  expect(slice).toMatchObject({ present: false, error: { reason: 'Forbidden' } });
  const workload = await until('what needs it says so', async () => {
    const found = await find<Placement>(world.admin, resources.placements, 'web.deployments.apps');
    return found?.status?.clusters?.['east']?.error;
  });
  expect(workload.reason).toBe('RequirementFailed');
  expect(await readyPods(world.physical('east'), 'web')).toEqual([]);
  forbid();
  await settled(world.admin, 'web.deployments.apps');
  expect((await placement())?.status?.clusters?.['east']).toMatchObject({ present: true });
});

test('while pods may not be listed nothing of theirs is taken for gone', async () => {
  await world.register('east');
  await world.admin.create(resources.deployments, deployment('web', 1, 'east'), inDefault);
  await settled(world.admin, 'web.deployments.apps');
  // From its start on, as a server that is started anew finds it.
  forbid('pods');
  await world.admin.patch(resources.physicalclusters, { name: 'east' }, 'merge', {
    spec: { adopt: ['none'] },
  });
  await until('it is said', async () => (await readable())?.message.includes('pods'));
  await world.admin.create(resources.deployments, deployment('other', 1, 'east'), inDefault);
  await until('others are applied', async () => {
    const { items } = await world.physical('east').client.list(resources.deployments, {});
    return items.some(({ metadata }) => metadata.name === 'other');
  });
  await move(world.admin, resources.deployments, 'web', 'west');
  await until('its object has gone', async () => {
    const { items } = await world.physical('east').client.list(resources.deployments, {});
    return items.every(({ metadata }) => metadata.name !== 'web');
  });
  const share = async () => {
    const found = await find<Placement>(world.admin, resources.placements, 'web.deployments.apps');
    return found?.spec?.shares?.['east'];
  };
  // Long enough for a share that counts as gone to go: it is looked at each second.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(await share()).toMatchObject({ phase: 'Leaving' });
  forbid();
  await until('it has left', async () => (await share()) === undefined);
});

test('what may not run twice is not stopped where nobody would learn that it has', async () => {
  await world.register('east');
  const web = deployment('web', 2, 'east');
  const recreated = { ...web, spec: { ...(web.spec as object), strategy: { type: 'Recreate' } } };
  await world.admin.create(resources.deployments, recreated, inDefault);
  await settled(world.admin, 'web.deployments.apps');
  forbid('pods');
  await world.admin.patch(resources.physicalclusters, { name: 'east' }, 'merge', {
    spec: { adopt: ['none'] },
  });
  await until('it is said', async () => (await readable())?.message.includes('pods'));
  await move(world.admin, resources.deployments, 'web', 'west');
  const said = await until('it says what it waits for', async () => {
    const placement = await find<Placement>(world.admin, resources.placements, 'web.deployments.apps');
    const condition = placement?.status?.conditions?.find(({ type }) => type === 'Settled');
    return condition?.message.includes('cannot be read') && condition.message;
  });
  expect(said).toContain('it may not run twice, and stays on east while its pods there cannot be read');
  expect(await readyPods(world.physical('east'), 'web')).toHaveLength(2);
  forbid();
  const placement = await settled(world.admin, 'web.deployments.apps');
  expect(placement.spec?.clusters).toEqual(['west']);
  expect(await readyPods(world.physical('west'), 'web')).toHaveLength(2);
});

test('nobody waits for endpoints on a cluster where they may not be read, whatever others tell of', async () => {
  forbid('endpointslices');
  await world.register('east');
  await until('it is said', async () => (await readable())?.message.includes('endpointslices'));
  await world.admin.create(resources.services, service('led'), inDefault);
  await world.admin.create(resources.deployments, deployment('led', 1, 'west'), inDefault);
  await settled(world.admin, 'led.deployments.apps');
  const { client } = world.physical('west');
  const there = (await client.list(resources.services)).items.find(({ metadata }) => metadata.name === 'led');
  const { namespace, uid = '' } = there?.metadata ?? {};
  await client.create(
    resources.endpointslices,
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      addressType: 'IPv4',
      metadata: {
        name: 'led-west',
        labels: {
          'kubernetes.io/service-name': 'led',
          'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        },
        ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name: 'led', uid, controller: true }],
      },
      endpoints: [{ addresses: ['10.64.0.1'] }],
      ports: [],
    } as KubeObject,
    { namespace },
  );
  await until('west tells of it', async () => {
    const labelSelector = 'kubernetes.io/service-name=led';
    const { items } = await world.admin.list(resources.endpointslices, { ...inDefault, labelSelector });
    return items.some((slice) => JSON.stringify(slice).includes('10.64.0.1'));
  });
  await move(world.admin, resources.deployments, 'led', 'east');
  await until('it has moved', async () => (await readyPods(world.physical('west'), 'led')).length === 0);
  const placement = await settled(world.admin, 'led.deployments.apps');
  expect(placement.spec?.clusters).toEqual(['east']);
});
