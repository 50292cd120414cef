import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import {
  deployment,
  find,
  move,
  readyPods,
  resources,
  settled,
  statefulSet,
  template,
  until,
} from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const inDefault = { namespace: 'default' };
const ofServer = /^(atoll\.dev\/physical-cluster|internal\.atoll\.dev\/|kcp\.io\/cluster)/;

function reserved(object: KubeObject | undefined): string[] {
  return Object.keys(object?.metadata.annotations ?? {}).filter((key) => ofServer.test(key));
}

async function run(name: string, clusters = 'east'): Promise<void> {
  await world.admin.create(resources.deployments, deployment(name, 2, clusters), inDefault);
  await settled(world.admin, `${name}.deployments.apps`);
}

async function reflected(resource: (typeof resources)['pods' | 'replicasets'], app: string) {
  return await until(`${resource.resource} of ${app} are seen`, async () => {
    const list = await world.admin.list(resource, { ...inDefault, labelSelector: `app=${app}` });
    return list.items.find((item) => reserved(item).length > 0);
  });
}

test('kubectl rollout undo copies the annotations of a ReplicaSet: the Deployment is placed as before', async () => {
  await run('undone');
  const first = await reflected(resources.replicasets, 'undone');
  const at = { ...inDefault, name: 'undone' };
  const spec = { template: template('undone', 'undone:2') };
  await world.admin.patch(resources.deployments, at, 'merge', { spec });
  // As kubectl makes it: the template and the annotations of the ReplicaSet to go back to.
  const annotations = { ...first.metadata.annotations, extra: 'of the ReplicaSet' };
  const undo = [
    { op: 'replace', path: '/spec/template', value: template('undone') },
    { op: 'replace', path: '/metadata/annotations', value: annotations },
  ];
  const undone = await world.admin.patch(resources.deployments, at, 'json', undo);
  expect(reserved(undone)).toEqual([]);
  expect(undone.metadata.annotations).toMatchObject({ extra: 'of the ReplicaSet' });
  await move(world.admin, resources.deployments, 'undone', 'west');
  await until('it runs on west alone', async () => {
    const [east, west] = [world.physical('east'), world.physical('west')];
    return (await readyPods(west, 'undone')).length === 2 && (await readyPods(east, 'undone')).length === 0;
  });
});

test('kubectl rollout undo takes away nothing that a user said of where it runs', async () => {
  await run('stays');
  const at = { ...inDefault, name: 'stays' };
  const said = { 'atoll.dev/clusters': 'east', 'atoll.dev/drain-seconds': '7' };
  await world.admin.patch(resources.deployments, at, 'merge', { metadata: { annotations: said } });
  const { metadata } = await reflected(resources.replicasets, 'stays');
  const patch = (annotations: object) =>
    world.admin.patch(resources.deployments, at, 'json', [
      { op: 'replace', path: '/metadata/annotations', value: annotations },
    ]);
  const undone = await patch({ ...metadata.annotations });
  expect(undone.metadata.annotations).toMatchObject(said);
  const removed = await patch({ 'atoll.dev/drain-seconds': '7' });
  expect(removed.metadata.annotations).not.toMatchObject({ 'atoll.dev/clusters': 'east' });
});

test('a copy of a reflected pod is a pod of its own, which is placed', async () => {
  await run('copied');
  const { metadata, spec } = await reflected(resources.pods, 'copied');
  const { nodeName: _, ...rest } = spec as Record<string, unknown>;
  // As kubectl debug --copy-to does: without the owner, with all else; its uid is made up anew.
  const { ownerReferences: __, resourceVersion: ___, ...kept } = metadata;
  const copy = { apiVersion: 'v1', kind: 'Pod', metadata: { ...kept, name: 'copy' }, spec: rest };
  const made = await world.admin.create(resources.pods, copy, inDefault);
  expect(reserved(made)).toEqual([]);
  await until('it runs', async () => {
    const pod = await find<KubeObject<unknown, { phase?: string }>>(world.admin, resources.pods, 'copy');
    return pod?.status?.phase === 'Running';
  });
});

test('a copy of a reflected ReplicaSet is collected like anything else when its owner goes', async () => {
  await run('owner');
  const { metadata, spec } = await reflected(resources.replicasets, 'owner');
  const { resourceVersion: _, uid: __, ...kept } = metadata;
  const copy = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { ...kept, name: 'kept' },
    spec: { ...(spec as object), replicas: 0 },
  };
  await world.admin.create(resources.replicasets, copy, inDefault);
  await world.admin.delete(resources.deployments, { ...inDefault, name: 'owner' });
  await until('it is collected', async () => !(await find(world.admin, resources.replicasets, 'kept')));
});

const tries = {
  'merge patch': (name: string, forged: object) =>
    world.admin.patch(resources.deployments, { ...inDefault, name }, 'merge', {
      metadata: { annotations: forged },
    }),
  apply: (name: string, forged: object) =>
    world.admin.patch(
      resources.deployments,
      { ...inDefault, name },
      'apply',
      { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, annotations: forged } },
      { fieldManager: 'forger', force: true },
    ),
  'patch of its status': (name: string, forged: object) =>
    world.admin.patch(resources.deployments, { ...inDefault, name, subresource: 'status' }, 'merge', {
      metadata: { annotations: forged },
    }),
  replace: async (name: string, forged: object) => {
    const object = await world.admin.get(resources.deployments, { ...inDefault, name });
    const { resourceVersion: _, ...metadata } = object.metadata;
    const annotations = { ...metadata.annotations, ...forged };
    return world.admin.update(resources.deployments, { ...object, metadata: { ...metadata, annotations } });
  },
};

test.each(Object.entries(tries))(
  'nobody marks an object of theirs as reflected, knowing its uid: %s',
  async (_, forge) => {
    const name = `forged-${Object.keys(tries).indexOf(_)}`;
    const made = await world.admin.create(resources.deployments, deployment(name, 0), inDefault);
    const forged = {
      'atoll.dev/physical-cluster': 'east',
      'internal.atoll.dev/reflected-uid': made.metadata.uid,
      'internal.atoll.dev/parts': '{}',
      'kcp.io/cluster': 'root:else',
      mine: 'stays',
    };
    const written = await forge(name, forged);
    expect(reserved(written)).toEqual([]);
    expect(written.metadata.annotations?.['mine']).toBe('stays');
    expect(JSON.stringify(written.metadata['managedFields'] ?? [])).not.toContain('reflected-uid');
  },
);

test("nobody takes a reflected pod's marks away", async () => {
  await run('kept');
  const pod = await reflected(resources.pods, 'kept');
  const at = { ...inDefault, name: pod.metadata.name ?? '' };
  const before = reserved(pod);
  const none = Object.fromEntries(before.map((key) => [key, null]));
  const after = await world.admin.patch(resources.pods, at, 'merge', { metadata: { annotations: none } });
  expect(reserved(after)).toEqual(before);
});

test('nobody but the system writes Placements; everybody who may look may read them', async () => {
  await run('recorded');
  const at = { ...inDefault, name: 'recorded.deployments.apps' };
  const record = await world.admin.get(resources.placements, at);
  const refused = { code: 403, reason: 'Forbidden' };
  const forged = { spec: { shares: { west: { phase: 'Active', replicas: 100 } } } };
  for (const attempt of [
    world.admin.patch(resources.placements, at, 'merge', forged),
    world.admin.patch(resources.placements, { ...at, subresource: 'status' }, 'merge', { status: {} }),
    world.admin.update(resources.placements, record),
    world.admin.delete(resources.placements, at),
    world.admin.create(resources.placements, { ...record, metadata: { name: 'forged' } }, inDefault),
    world.as({ name: 'system:atoll:scheduler', groups: [] }).delete(resources.placements, at),
  ])
    await expect(attempt).rejects.toMatchObject(refused);
});

test('a pod whose name another cluster had is seen once that one is gone', async () => {
  await world.admin.create(resources.statefulsets, statefulSet('same', 1, 'west'), inDefault);
  await settled(world.admin, 'same.statefulsets.apps');
  await move(world.admin, resources.statefulsets, 'same', 'east');
  await until('west has it no more', async () => {
    const { items } = await world.physical('west').client.list(resources.pods, { labelSelector: 'app=same' });
    return items.length === 0;
  });
  await until('it is seen on east', async () => {
    const pod = await find(world.admin, resources.pods, 'same-0');
    return pod?.metadata.annotations?.['atoll.dev/physical-cluster'] === 'east';
  });
});

test('a pod that is made anew under its name is another one: the former goes, then it comes', async () => {
  const at = { ...inDefault, name: 'anew-0' };
  await world.admin.create(resources.statefulsets, statefulSet('anew', 1, 'east'), inDefault);
  await settled(world.admin, 'anew.statefulsets.apps');
  const before = await world.admin.get(resources.pods, at);
  const { resourceVersion = '' } = (await world.admin.list(resources.pods, inDefault)).metadata;
  const east = world.physical('east').client;
  const there = (await east.list(resources.pods, { labelSelector: 'app=anew' })).items[0];
  const { name = '', namespace = '' } = there?.metadata ?? {};
  await east.delete(resources.pods, { namespace, name });
  const after = await until('another is ready', async () => {
    const pod = await find(world.admin, resources.pods, 'anew-0');
    return pod && pod.metadata.uid !== before.metadata.uid ? pod : undefined;
  });
  const seen: string[] = [];
  const stop = new AbortController();
  const events = world.admin.watch(resources.pods, { ...inDefault, resourceVersion, signal: stop.signal });
  for await (const { type, object } of events) {
    if ((object as KubeObject).metadata?.name !== 'anew-0' || type === 'MODIFIED') continue;
    seen.push(`${type} ${(object as KubeObject).metadata.uid}`);
    if (type === 'ADDED') break;
  }
  stop.abort();
  expect(seen).toEqual([`DELETED ${before.metadata.uid}`, `ADDED ${after.metadata.uid}`]);
});

test('a physical cluster that answers a deletion without end is cut short', async () => {
  await run('endless');
  const pod = await reflected(resources.pods, 'endless');
  const { faults } = world.physical('east');
  let sent = 0;
  async function* zeros() {
    for (;;) {
      sent += 65_536;
      yield new Uint8Array(65_536);
    }
  }
  faults.instead = ({ method, url }) =>
    method === 'DELETE' && url.includes('/pods/') ? { status: 200, headers: {}, body: zeros() } : undefined;
  const target = { ...inDefault, name: pod.metadata.name ?? '' };
  await expect(world.admin.delete(resources.pods, target)).rejects.toThrow(
    'the answer of the physical cluster is too large',
  );
  faults.instead = () => undefined;
  expect(sent).toBeLessThan(8 * 1024 * 1024);
});
