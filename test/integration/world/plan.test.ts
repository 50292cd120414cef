import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { main } from '../../../cli/program.ts';
import type { PhysicalCluster, Placement } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { PlanAnswer } from '../../../server/plan-view.ts';
import { deployment, find, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
let kubeconfig = '';
let out = '';
let err = '';
beforeEach(async () => {
  world = await startWorld();
  kubeconfig = await world.listen();
  const { stdout, stderr } = process;
  const [toOut, toErr] = [vi.spyOn(stdout, 'write'), vi.spyOn(stderr, 'write')];
  toOut.mockImplementation((text) => {
    out += String(text);
    return true;
  });
  toErr.mockImplementation((text) => {
    err += String(text);
    return true;
  });
  onTestFinished(() => {
    toOut.mockRestore();
    toErr.mockRestore();
  });
});
afterEach(() => world.stop());

const namespace = 'default';

async function atoll(...args: string[]): Promise<number> {
  [out, err] = ['', ''];
  return await main(['node', 'atoll', '--atoll-kubeconfig', kubeconfig, ...args]);
}

const planned = () => (JSON.parse(out) as PlanAnswer).items;
const outcomes = () =>
  Object.fromEntries(planned().map(({ object, outcome, to }) => [object, [outcome, to.join()]]));
const clustersOf = async (name: string) =>
  (await find<Placement>(world.admin, resources.placements, name))?.spec?.clusters;

async function run(...objects: KubeObject[]): Promise<void> {
  for (const object of objects) await world.admin.create(resources.deployments, object, { namespace });
  for (const { metadata } of objects) await settled(world.admin, `${metadata.name}.deployments.apps`);
}

test('a plan of a drain says what moves and what cannot; nothing changes, and the drain does just that', async () => {
  await run(deployment('pinned', 1, 'east'), deployment('both', 2, 'east,west'), deployment('free', 1));
  const free = (await clustersOf('free.deployments.apps')) ?? [];
  const [from = '', to = ''] = free[0] === 'east' ? ['east', 'west'] : ['west', 'east'];
  await world.admin.patch(resources.physicalclusters, { name: to }, 'merge', {
    metadata: { labels: { a: 'b' } },
  });
  expect(await atoll('plan', 'drain', from, '-o', 'json')).toBe(0);
  const said = planned();
  expect(outcomes()).toMatchObject({
    'deployments.apps/free': ['moves', to],
    'deployments.apps/both': ['moves', to],
    ...(from === 'east' && { 'deployments.apps/pinned': ['blocked', 'east'] }),
  });
  const cluster = await world.admin.get<PhysicalCluster>(resources.physicalclusters, { name: from });
  expect(cluster.spec?.kubeconfigSecretRef).toBeDefined();
  expect(cluster.spec?.drain).toBeUndefined();
  expect(await atoll('drain', from, '--dry-run')).toBe(0);
  expect(out).toMatch(/^OBJECT +OUTCOME +FROM +TO +WHY\n/);
  expect(out).toMatch(/root\/default\/deployments\.apps\/free +moves /);
  expect(out).toMatch(/; nothing was changed\n$/);
  const spec = { unschedulable: true, drain: true };
  await world.admin.patch(resources.physicalclusters, { name: from }, 'merge', { spec });
  for (const { object, to: clusters } of said.filter(({ workload }) => workload)) {
    const name = `${object.split('/')[1]}.deployments.apps`;
    await until(
      `${name} is where it was planned`,
      async () => (await clustersOf(name))?.join() === clusters.join(),
    );
  }
});

test('a plan of a file is of what the API would make of it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'atoll-plan-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'file.json');
  const plan = async (items: unknown[]) => {
    await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    return await atoll('plan', '-f', file, '-o', 'json');
  };
  await run(deployment('web', 1, 'east'));
  const west = await world.admin.get<PhysicalCluster>(resources.physicalclusters, { name: 'west' });
  expect(await plan([deployment('web', 1, 'west'), deployment('new', 1, 'east')]), err).toBe(0);
  expect(outcomes()).toMatchObject({
    'deployments.apps/web': ['moves', 'west'],
    'deployments.apps/new': ['starts', 'east'],
  });
  expect(await find(world.admin, resources.deployments, 'new')).toBeUndefined();
  expect(await plan([deployment('web', 1, 'east')])).toBe(0);
  expect(outcomes()['deployments.apps/web']).toEqual(['stays', 'east']);
  await plan([deployment('web', 3, 'east,west')]);
  expect(await atoll('plan', '-f', file)).toBe(0);
  expect(out).toMatch(/apps\/web +spreads +east=1 +east=2,west=1 +named by its annotation\n/);
  expect(out).toContain('of 1 workload: 1 spreads; nothing was changed');
  const kind = { apiVersion: 'atoll.dev/v1alpha1', kind: 'PhysicalCluster' };
  const full = {
    ...west,
    ...kind,
    spec: { ...west.spec, capacity: { pods: '0' } },
    status: undefined,
  };
  expect(await plan([full, deployment('web', 1, 'west')])).toBe(0);
  expect(outcomes()['deployments.apps/web']).toEqual(['blocked', 'east']);
  const policy = (names: string[]) => ({
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'PlacementPolicy',
    metadata: { name: 'front', namespace: 'default' },
    spec: { selector: { names: ['front'] }, clusters: { names } },
  });
  const east = policy(['east']);
  const said = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(east) };
  const metadata = { ...east.metadata, annotations: said };
  await world.admin.create(resources.placementpolicies, { ...east, metadata });
  await run(deployment('front', 1));
  expect(await plan([policy(['west'])]), err).toBe(0);
  expect(outcomes()['deployments.apps/front'], 'as kubectl apply has it: a list is another one').toEqual([
    'moves',
    'west',
  ]);
  expect(await plan([{ apiVersion: 'v1', kind: 'Event', metadata: { name: 'x' } }])).toBe(1);
  expect(err).toContain('no plan can be made of Event (v1), only of Deployment, ');
});

test('it is for administrators of everything, and says which clusters there are', async () => {
  expect(await atoll('plan', 'drain', 'esat')).toBe(1);
  expect(err).toContain('no physical cluster esat; there are: east, west');
  expect(await atoll('plan')).toBe(2);
  expect(await atoll('plan', 'drain', 'east', '-f', 'x')).toBe(2);
  const tenant = world.as({ name: 'ann', groups: ['system:authenticated'] });
  const answer = await tenant.raw({ method: 'POST', path: '/plan', body: { drain: ['east'] } });
  expect(answer.status).toBe(403);
  const read = await world.admin.raw({ method: 'GET', path: '/plan' });
  expect(read.status).toBe(405);
});

const workload = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a', namespace } };
const whole = { ...deployment('a', 1), metadata: { name: 'a', namespace } };
const seen = { ...whole, metadata: { ...whole.metadata, uid: 'x' } };
const inNamespace = (where: string | undefined) => ({
  ...seen,
  metadata: { ...seen.metadata, namespace: where },
});
const cluster = {
  apiVersion: 'atoll.dev/v1alpha1',
  kind: 'PhysicalCluster',
  metadata: { name: 'east' },
  spec: { kubeconfigSecretRef: { namespace: 'a', name: 'b' } },
};

test('what it does not mean is refused, by its name: nothing is passed over', async () => {
  const cases: [object, number, string][] = [
    [{}, 400, 'objects, drain and rebalance are empty'],
    [[], 400, 'the body must be an object'],
    [Buffer.from('null'), 400, 'the body must be an object'],
    [{ drian: ['east'] }, 400, 'unknown field "drian"'],
    [{ cluster: 7, objects: [whole] }, 400, 'cluster must be a string'],
    [{ cluster: '', objects: [whole] }, 400, 'cluster: "" is not'],
    [{ cluster: '*', drain: ['east'] }, 400, 'cluster: "*" is not'],
    [{ cluster: '../x', objects: [whole] }, 400, 'cluster: "../x" is not'],
    [
      { cluster: 'root:nowhere', drain: ['east'] },
      400,
      'cluster: there is no logical cluster "root:nowhere"',
    ],
    [{ drain: 'east', objects: [whole] }, 400, 'drain must be a list'],
    [{ drain: [7] }, 400, 'drain[0] must be a string'],
    [{ drain: ['east', ''] }, 400, 'drain[1]: "" is not'],
    [{ drain: ['east/status'] }, 400, 'drain[0]: "east/status" is not'],
    [{ drain: ['nowhere'] }, 404, '"nowhere" not found'],
    [{ drain: ['east'], objects: [cluster] }, 400, 'drain[0]: east is among the objects'],
    [{ rebalance: ['east', 7] }, 400, 'rebalance[1] must be a string'],
    [{ rebalance: ['nowhere'] }, 404, '"nowhere" not found'],
    [{ rebalance: ['east'], objects: [cluster] }, 400, 'rebalance[0]: east is among the objects'],
    [{ drain: ['east'], rebalance: ['east'] }, 400, 'rebalance[0]: east is there twice'],
    [{ objects: {} }, 400, 'objects must be a list'],
    [{ objects: [whole, 1] }, 400, 'objects[1] must be an object'],
    [{ objects: [{ ...whole, metadata: 7 }] }, 400, 'objects[0].metadata.name must be a string'],
    [{ objects: [{ ...whole, kind: ['Deployment'] }] }, 400, 'objects[0].kind must be a string'],
    [{ objects: [{ ...whole, kind: 'Lease' }] }, 400, 'objects[0]: no plan can be made of Lease'],
    [{ objects: [{ ...whole, spek: {} }] }, 400, 'objects[0]: strict decoding error: unknown field "spek"'],
    [{ objects: [{ ...whole, spec: 7 }] }, 400, 'objects[0]: json: cannot unmarshal number'],
    [{ objects: [workload] }, 422, 'objects[0].spec.selector: Required value'],
    [{ objects: [whole, inNamespace(undefined)] }, 422, 'objects[1].metadata.namespace: Required value'],
    [{ objects: [inNamespace('a/b')] }, 400, 'objects[0].metadata.namespace: "a/b" is not'],
    ...[7, { 'atoll.dev/clusters': 7 }].map((annotations): [object, number, string] => [
      { objects: [{ ...seen, metadata: { ...seen.metadata, annotations } }] },
      400,
      'objects[0]: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.annotations',
    ]),
    [{ objects: [{ ...cluster, spec: { ...cluster.spec, taints: 7 } }] }, 422, 'objects[0].spec.taints: '],
    [{ cluster: 'nowhere', objects: [whole] }, 400, 'cluster: there is no logical cluster "nowhere"'],
  ];
  for (const [body, status, why] of cases) {
    const answer = await world.admin.raw({ method: 'POST', path: '/plan', body });
    const { message } = JSON.parse(Buffer.from(answer.body as Uint8Array).toString()) as { message: string };
    expect
      .soft([answer.status, message], JSON.stringify(body))
      .toEqual([status, expect.stringContaining(why)]);
  }
  const twice = Buffer.from('{"drain": ["east"], "drain": ["west"]}');
  const answer = await world.admin.raw({ method: 'POST', path: '/plan', body: twice });
  expect(answer.status).toBe(400);
});
