import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Client } from '../../../client/client.ts';
import type { ApiRequest } from '../../../kube/http.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { deployment, find, readyPods, resources, settled, statefulSet, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const { daemonsets, deployments, placements, pods, replicasets, statefulsets } = resources;
type Resource = (typeof resources)[keyof typeof resources];

let world: World;
/** What of our controllers' requests waits for `letGo`, and of those to the cluster. */
let isHeldHere: (request: ApiRequest) => boolean;
let isHeldThere: (request: ApiRequest) => boolean;
let letGo: () => void;
let held: Promise<void>;

beforeAll(async () => {
  world = await startWorld({
    clusters: ['east'],
    controllersWire: (transport) => async (request) => {
      if (isHeldHere(request)) await held;
      return await transport(request);
    },
  });
  world.physical('east').faults.intercept = async (request) => {
    if (isHeldThere(request)) await held;
  };
});
afterAll(() => world.stop());

beforeEach(() => {
  isHeldHere = () => false;
  isHeldThere = () => false;
  held = new Promise((resolve) => {
    letGo = resolve;
  });
});
afterEach(() => letGo());

const labelled = async (client: Client, kind: Resource, app: string): Promise<KubeObject[]> =>
  (await client.list(kind, { labelSelector: `app=${app}` })).items;
const there = (kind: Resource, app: string) => labelled(world.physical('east').client, kind, app);
const here = (kind: Resource, app: string) => labelled(world.admin, kind, app);

async function run(kind: Resource, workload: KubeObject): Promise<string> {
  const { name = '' } = workload.metadata;
  await world.admin.create(kind, workload, { namespace: 'default' });
  // All of its pods, so that none comes while it is orphaned.
  await settled(world.admin, `${name}.${kind.resource}.apps`);
  await until('its pods are shown', async () => (await here(pods, name)).length > 0);
  return name;
}

async function orphan(kind: Resource, name: string): Promise<void> {
  await world.admin.delete(kind, { namespace: 'default', name }, { propagationPolicy: 'Orphan' });
}

/** The first that there is of the workload: somebody looked there before it was deleted, or it was made anew by then. */
async function untilLookedAt(kind: Resource, app: string, { metadata }: KubeObject): Promise<void> {
  const look = new RegExp(`GET .*/${kind.resource}/${metadata.name}`);
  await until('its cluster was asked', async () => {
    if (world.physical('east').faults.requests.some((one) => look.test(one))) return true;
    const all = await there(kind, app);
    return all.length > 0 && all.every(({ metadata: { uid } }) => uid !== metadata.uid);
  });
}

async function nothingIsLeft(app: string, placement: string): Promise<void> {
  await until('its pods are gone there', async () => (await there(pods, app)).length === 0);
  expect(await there(replicasets, app)).toEqual([]);
  await until('they are gone here', async () => (await here(pods, app)).length === 0);
  await until('nothing is kept of it', async () => !(await find(world.admin, placements, placement)));
}

const agent: KubeObject = (({ metadata, spec }) => {
  const { replicas: _, ...rest } = spec as { replicas: number };
  return { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata, spec: rest };
})(deployment('agent', 1, 'east'));

test.each<[string, Resource, KubeObject, Resource, 'deleted' | 'evicted']>([
  ['the ReplicaSets of a Deployment', deployments, deployment('web', 2, 'east'), replicasets, 'deleted'],
  ['the pods of a StatefulSet', statefulsets, statefulSet('db', 2, 'east'), pods, 'deleted'],
  [
    'those of a StatefulSet that are evicted',
    statefulsets,
    statefulSet('evicted', 1, 'east'),
    pods,
    'evicted',
  ],
  ['the pods of a DaemonSet', daemonsets, agent, pods, 'deleted'],
])(
  '%s are left behind, and gone for good when they are deleted at once',
  async (_, kind, workload, made, how) => {
    const name = await run(kind, workload);
    const [first] = await until('all are shown', async () => {
      const [all, shown] = [await there(made, name), await here(made, name)];
      return all.length > 0 && all.length === shown.length ? all : undefined;
    });
    if (!first) throw new Error('there is none');
    isHeldThere = ({ method, url }) => method === 'DELETE' && url.includes(`/${kind.resource}/${name}`);
    await orphan(kind, name);
    await until('it is gone here', async () => !(await find(world.admin, kind, name)));
    const left = await here(made, name);
    const going = left.map(({ metadata }) => {
      const at = { namespace: 'default', name: metadata.name ?? '' };
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: at };
      return how === 'evicted'
        ? world.admin.create(pods, eviction, { ...at, subresource: 'eviction' })
        : world.admin.delete(made, at);
    });
    await untilLookedAt(made, name, first);
    letGo();
    await Promise.all(going);
    await nothingIsLeft(name, `${name}.${kind.resource}.apps`);
  },
  120_000,
);

test('so is what is deleted while its owner is still being orphaned here', async () => {
  const name = await run(deployments, deployment('early', 1, 'east'));
  const [set] = await there(replicasets, name);
  if (!set) throw new Error('there is none');
  isHeldHere = ({ method, url }) => method !== 'GET' && url.includes(`/placements/${name}.`);
  await orphan(deployments, name);
  const going = world.admin.delete(replicasets, { namespace: 'default', name: set.metadata.name ?? '' });
  await untilLookedAt(replicasets, name, set);
  letGo();
  await going;
  await nothingIsLeft(name, `${name}.deployments.apps`);
});

test('whom it takes too long is told so, and nothing is deleted', async () => {
  const name = await run(deployments, deployment('held', 1, 'east'));
  const sets = await there(replicasets, name);
  const at = { namespace: 'default', name: sets[0]?.metadata.name ?? '' };
  isHeldThere = ({ method, url }) => method === 'DELETE' && url.includes(`/deployments/${name}`);
  await orphan(deployments, name);
  await expect(world.admin.delete(replicasets, at)).rejects.toMatchObject({
    code: 503,
    message: expect.stringContaining('Deployment held still owns it'),
    details: { retryAfterSeconds: 1 },
  });
  expect((await there(replicasets, name)).map(({ metadata }) => metadata.uid)).toEqual(
    sets.map(({ metadata }) => metadata.uid),
  );
  letGo();
  await world.admin.delete(replicasets, at);
  await nothingIsLeft(name, `${name}.deployments.apps`);
});

test('what somebody deletes who does not wait for that is not deleted', async () => {
  const name = await run(deployments, deployment('left', 1, 'east'));
  const [set] = await there(replicasets, name);
  if (!set) throw new Error('there is none');
  isHeldThere = ({ method, url }) => method === 'DELETE' && url.includes(`/deployments/${name}`);
  await orphan(deployments, name);
  await until('it is gone here', async () => !(await find(world.admin, deployments, name)));
  const leaving = new AbortController();
  const at = { namespace: 'default', name: set.metadata.name ?? '' };
  const going = world.admin.delete(replicasets, at, {}, leaving.signal).catch(() => undefined);
  await untilLookedAt(replicasets, name, set);
  leaving.abort();
  await going;
  letGo();
  await world.admin.delete(replicasets, at);
  await nothingIsLeft(name, `${name}.deployments.apps`);
  const isDeletion = (one: string) => one.startsWith('DELETE') && one.includes(`/replicasets/${at.name}`);
  expect(world.physical('east').faults.requests.filter(isDeletion)).toHaveLength(1);
});

test('a Pod of its own that a ReplicaSet adopted goes for good too', async () => {
  const { metadata, spec } = deployment('adopted', 1, 'east');
  const labelledSo = { ...metadata, labels: { app: 'adopted' } };
  const { template } = spec as { template: { spec: object } };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: labelledSo, spec: template.spec };
  await world.admin.create(pods, pod, { namespace: 'default' });
  await until('it runs', async () => (await readyPods(world.physical('east'), 'adopted')).length === 1);
  const set = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: labelledSo, spec };
  await world.admin.create(replicasets, set, { namespace: 'default' });
  const at = { namespace: 'default', name: 'adopted' };
  const adopter = async () => (await find(world.admin, pods, 'adopted'))?.metadata.ownerReferences?.[0];
  await until('it is adopted', adopter);
  const isAdopters = ({ method, url }: Pick<ApiRequest, 'method' | 'url'>) =>
    method === 'DELETE' && url.includes('/replicasets/adopted');
  isHeldThere = isAdopters;
  await orphan(replicasets, 'adopted');
  await until('its owner is gone here', async () => !(await find(world.admin, replicasets, 'adopted')));
  await until('it is nobody’s', async () => !(await adopter()));
  await world.admin.delete(pods, at);
  await until('its owner is to be let go', () =>
    world.physical('east').faults.requests.some((one) => {
      const [method = '', url = ''] = one.split(' ');
      return isAdopters({ method, url });
    }),
  );
  letGo();
  await nothingIsLeft('adopted', 'adopted.replicasets.apps');
});
