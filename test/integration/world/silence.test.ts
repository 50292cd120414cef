import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TransportError } from '../../../client/errors.ts';
import { systemNamespace } from '../../../cluster/names.ts';
import type { PhysicalCluster, Placement } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { StatusError } from '../../../kube/status.ts';
import {
  deployment,
  find,
  isReady,
  move,
  readyPods,
  resources,
  settled,
  until,
} from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.stop());

const words = /^cluster west has not answered since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/;

const conditionOf = (object: PhysicalCluster | Placement | undefined, type: string) =>
  object?.status?.conditions?.find((condition) => condition.type === type);

/** What is asked first of a cluster before anything of a pod there: whose its namespace is. */
const asksWhose = (request: string) => /^GET \/api\/v1\/namespaces\/root-default-[^/]+$/.test(request);

async function podOnWest(): Promise<string> {
  await world.admin.create(resources.deployments, deployment('web', 1, 'west'), { namespace: 'default' });
  await settled(world.admin, 'web.deployments.apps');
  const pod = await until('its pod is shown', async () => {
    const { items } = await world.admin.list<KubeObject>(resources.pods, { namespace: 'default' });
    return items[0]?.metadata.name;
  });
  return pod;
}

test('what would have to ask a silent cluster is refused at once, with its name and since when', async () => {
  const name = await podOnWest();
  const { faults } = world.physical('west');
  faults.silence();
  await until('west is not ready', async () => !(await isReady(world.admin, 'west')));
  const before = faults.requests.length;
  const path = `/api/v1/namespaces/default/pods/${name}`;
  for (const request of [
    () => world.admin.json(`${path}/log`),
    () => world.admin.json(`${path}/proxy/`),
    () => world.admin.delete(resources.pods, { namespace: 'default', name }),
  ]) {
    const error = await request().catch((why: unknown) => why);
    expect(error).toBeInstanceOf(StatusError);
    expect(error).toMatchObject({
      code: 503,
      reason: 'ServiceUnavailable',
      message: expect.stringMatching(words),
    });
  }
  expect(faults.requests.slice(before).filter(asksWhose)).toEqual([]);
});

test('before anybody has noticed the silence, it ends too', async () => {
  const name = await podOnWest();
  const { faults } = world.physical('west');
  faults.silence();
  const refused = world.admin.json(`/api/v1/namespaces/default/pods/${name}/log`);
  await expect(refused).rejects.toMatchObject({ code: 503, message: expect.stringMatching(words) });
  expect(faults.requests.some(asksWhose)).toBe(true);
});

test('the PhysicalCluster and the Placement of what should go there say the same', async () => {
  await world.admin.create(resources.deployments, deployment('web', 1, 'east'), { namespace: 'default' });
  await settled(world.admin, 'web.deployments.apps');
  world.physical('west').faults.silence();
  await until('west is not ready', async () => !(await isReady(world.admin, 'west')));
  const west = await find<PhysicalCluster>(world.admin, resources.physicalclusters, 'west', '');
  expect(conditionOf(west, 'Ready')).toMatchObject({
    status: 'False',
    reason: 'Unreachable',
    message: expect.stringMatching(words),
  });
  await move(world.admin, resources.deployments, 'web', 'west');
  const placed = await until('the refusal is written', async () => {
    const found = await find<Placement>(world.admin, resources.placements, 'web.deployments.apps');
    const placed = conditionOf(found, 'Placed');
    return placed?.status === 'False' ? placed : undefined;
  });
  const since = words.exec(conditionOf(west, 'Ready')?.message ?? '')?.[0];
  expect(placed.message).toContain(since);
});

test('what a policy lets wait for a silent cluster for a while is made elsewhere then, and nothing else', async () => {
  const tolerations = [
    { key: 'atoll.dev/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1 },
  ];
  const policy = {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'PlacementPolicy',
    metadata: { name: 'moves' },
    spec: { selector: { names: ['moves'] }, clusters: { names: ['west', 'east'], count: 1 }, tolerations },
  };
  const into = { namespace: 'default' };
  await world.admin.create(resources.deployments, deployment('stays', 1, 'west'), into);
  await world.admin.create(resources.deployments, deployment('moves', 1, 'west'), into);
  for (const name of ['stays', 'moves']) await settled(world.admin, `${name}.deployments.apps`);
  await world.admin.create({ ...resources.placements, resource: 'placementpolicies' }, policy, into);
  const unannotated = { metadata: { annotations: { 'atoll.dev/clusters': null } } };
  await world.admin.patch(resources.deployments, { ...into, name: 'moves' }, 'merge', unannotated);
  const clustersOf = async (name: string) =>
    (await find<Placement>(world.admin, resources.placements, `${name}.deployments.apps`))?.spec?.clusters;
  expect(await clustersOf('moves')).toEqual(['west']);
  world.physical('west').faults.silence();
  await until('it is made elsewhere', async () => (await clustersOf('moves'))?.join() === 'east');
  await until('it runs there', async () => {
    const found = await find<KubeObject<unknown, { readyReplicas?: number }>>(
      world.admin,
      resources.deployments,
      'moves',
    );
    return found?.status?.readyReplicas === 1;
  });
  expect(await clustersOf('stays')).toEqual(['west']);
});

test('what was made elsewhere of a silent cluster and falls silent there, too, keeps what still runs at the first', async () => {
  const tolerations = [
    { key: 'atoll.dev/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1 },
  ];
  const policy = {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'PlacementPolicy',
    metadata: { name: 'moves' },
    spec: { clusters: { names: ['west', 'east'], count: 1 }, tolerations },
  };
  const into = { namespace: 'default' };
  const web = deployment('web', 2, 'west');
  await world.admin.create(resources.deployments, web, into);
  await settled(world.admin, 'web.deployments.apps');
  await world.admin.create({ ...resources.placements, resource: 'placementpolicies' }, policy, into);
  const unannotated = { metadata: { annotations: { 'atoll.dev/clusters': null } } };
  await world.admin.patch(resources.deployments, { ...into, name: 'web' }, 'merge', unannotated);
  const spec = async () =>
    (await find<Placement>(world.admin, resources.placements, 'web.deployments.apps'))?.spec;
  const [east, west] = [world.physical('east'), world.physical('west')];
  const before = await readyPods(west, 'web');
  expect(before).toHaveLength(2);
  west.faults.silence();
  await until('it is made elsewhere, and would leave west', async () => {
    const { shares = {} } = (await spec()) ?? {};
    return shares['east']?.phase === 'Active' && shares['west']?.phase !== 'Active';
  });
  east.faults.silence();
  await until('east is not ready', async () => !(await isReady(world.admin, 'east')));
  west.faults.heal();
  await until('it is to be on west again', async () => (await spec())?.clusters.join() === 'west');
  await until('it is counted on there', async () => (await spec())?.shares?.['west']?.phase === 'Active');
  expect((await readyPods(west, 'web')).sort()).toEqual(before.sort());
  east.faults.heal();
  await settled(world.admin, 'web.deployments.apps');
  expect((await readyPods(west, 'web')).sort()).toEqual(before.sort());
  await until('nothing is left on east', async () => (await readyPods(east, 'web')).length === 0);
});

test('a cluster that is registered twice, and Atoll itself, are not Ready and get nothing', async () => {
  const secret = (name: string, kubeconfig: string) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: systemNamespace },
    data: { kubeconfig: Buffer.from(kubeconfig).toString('base64') },
  });
  const own = await readFile(await world.listen(), 'utf8');
  const kubeconfigs = { again: world.physical('east').kubeconfig, self: own };
  for (const [name, kubeconfig] of Object.entries(kubeconfigs)) {
    await world.admin.create(resources.secrets, secret(name, kubeconfig));
    await world.admin.create(resources.physicalclusters, {
      apiVersion: 'atoll.dev/v1alpha1',
      kind: 'PhysicalCluster',
      metadata: { name },
      spec: { kubeconfigSecretRef: { namespace: systemNamespace, name } },
    });
  }
  const said = async (name: string) =>
    await until(`what is said of ${name}`, async () => {
      const found = await find<PhysicalCluster>(world.admin, resources.physicalclusters, name, '');
      const ready = conditionOf(found, 'Ready');
      return ready?.reason === 'SameCluster' ? ready : undefined;
    });
  expect(await said('again')).toMatchObject({
    status: 'False',
    message: 'it is the cluster that is registered as east',
  });
  expect(await said('self')).toMatchObject({ status: 'False', message: 'it is this Atoll itself' });
  expect(await isReady(world.admin, 'east')).toBe(true);
  await world.admin.create(resources.deployments, deployment('web', 2, 'again,self'), {
    namespace: 'default',
  });
  const placement = await until('the scheduler has looked', async () => {
    const found = await find<Placement>(world.admin, resources.placements, 'web.deployments.apps');
    return conditionOf(found, 'Placed') ? found : undefined;
  });
  expect(placement.spec).toMatchObject({
    clusters: [],
    reasons: {
      again: 'it is the cluster that is registered as east',
      self: 'it is this Atoll itself',
    },
  });
});

test('an outage is one line of the log with the name of the cluster, and one when it is over', async () => {
  await world.stop();
  const lines: { level: string; message: string; fields: object }[] = [];
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, message, fields });
  world = await startWorld({
    logger: { debug: () => {}, info: at('info'), warn: at('warn'), error: at('error') },
  });
  await podOnWest();
  lines.length = 0;
  const { faults } = world.physical('west');
  faults.intercept = () => {
    throw new TransportError('ECONNREFUSED', 'connect ECONNREFUSED');
  };
  await until('west is not ready', async () => !(await isReady(world.admin, 'west')));
  faults.intercept = () => {};
  await until('west is ready', () => isReady(world.admin, 'west'));
  const west = lines.filter(({ level, fields }) => level !== 'info' || 'physicalCluster' in fields);
  expect(west.map(({ message, fields }) => [message, fields])).toEqual([
    ['a physical cluster does not answer', { physicalCluster: 'west', error: expect.any(String) }],
    ['a physical cluster answers again', { physicalCluster: 'west', seconds: expect.any(Number) }],
  ]);
});
