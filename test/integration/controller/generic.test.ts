import { afterEach, beforeEach, expect, test } from 'vitest';
import { rewriteObject } from '../../../apiserver/registry/rewrite.ts';
import { Client } from '../../../client/client.ts';
import { InformerSet } from '../../../client/informers.ts';
import { reflectedAs } from '../../../cluster/reflected.ts';
import { startGenericControllers } from '../../../controller/generic.ts';
import { ensureServiceRanges, ensureSystemNamespaces } from '../../../controller/namespace/furnish.ts';
import type { Transport } from '../../../kube/http.ts';
import { silentLogger } from '../../../kube/log.ts';
import type { KubeObject, ObjectMeta } from '../../../kube/object.ts';
import { StatusError } from '../../../kube/status.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import type { Store } from '../../../storage/store.ts';
import { eventually } from '../../eventually.ts';
import { type Api, startApi, thingsDefinition } from '../apiserver/api.ts';

const core = (resource: string) => ({ group: '', version: 'v1', resource });
const maps = core('configmaps');
const namespaces = core('namespaces');
let server: Api;
let store: Store;
let client: Client;
let stop: AbortController;
let done: Promise<void>;

const user = { name: 'controllers', groups: ['system:masters'] };

beforeEach(async () => {
  store = openMemory();
  server = startApi({ store });
  client = new Client(server.server.transport(user), { cluster: 'root' });
  stop = new AbortController();
  for (const cluster of ['root:a', 'root:b']) await server.addCluster(cluster);
  const x = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' } };
  for (const cluster of ['root', 'root:a', 'root:b']) await client.create(namespaces, x, { cluster });
});
afterEach(async () => {
  stop.abort();
  await done;
  await server.close();
});

/** Names of a kind in namespace x, but for what every namespace is furnished with; `*`: of all logical clusters. */
async function names(resource: string, cluster = '*'): Promise<string[]> {
  const { items } = await client.list(core(resource), { cluster });
  return items
    .filter(({ metadata }) => metadata.namespace === 'x' && metadata.name !== 'kube-root-ca.crt')
    .map(({ metadata }) => metadata.name ?? '')
    .sort();
}

async function countIn(resource: string, cluster: string): Promise<number> {
  return (await client.list(core(resource), { cluster })).items.length;
}

const reflectedPlace = {
  resource: { group: '', resource: 'configmaps', namespaced: true },
  cluster: 'root',
  namespace: 'x',
  name: 'reflected',
};

/** As the view would have written it. */
async function makeReflected(metadata: Partial<ObjectMeta>): Promise<void> {
  const { uid = '' } = (await make('reflected', metadata)).metadata;
  const annotations = reflectedAs(undefined, uid, ['east']);
  await rewriteObject(store, reflectedPlace, (before) => {
    if (!before) throw new Error('it is not there');
    return { ...before, metadata: { ...before.metadata, annotations } };
  });
}

function start(cluster?: string, using = client): void {
  const informers = new InformerSet(using, { cluster, signal: stop.signal });
  const options = { client: using, informers, signal: stop.signal, logger: silentLogger, rootCa: 'PEM' };
  done = startGenericControllers(options);
}

async function make(name: string, metadata: ObjectMeta = {}, cluster?: string): Promise<KubeObject> {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata } };
  return await client.create(maps, object, { namespace: 'x', cluster });
}

const ownedBy = (owner: KubeObject, blockOwnerDeletion = false): ObjectMeta => ({
  ownerReferences: [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: owner.metadata.name ?? '',
      uid: owner.metadata.uid ?? '',
      ...(blockOwnerDeletion && { blockOwnerDeletion }),
    },
  ],
});

test('every namespace of every logical cluster is furnished, again when a part is removed', async () => {
  await ensureSystemNamespaces(client, 'root:a');
  start('*');
  await eventually(async () => expect(await countIn('serviceaccounts', 'root:a')).toBe(5));
  await eventually(async () => expect(await countIn('configmaps', 'root:a')).toBe(5));
  const target = { cluster: 'root:a', namespace: 'default', name: 'kube-root-ca.crt' };
  await client.patch(maps, target, 'merge', { data: { 'ca.crt': 'forged' } });
  await eventually(async () => expect((await client.get(maps, target))['data']).toEqual({ 'ca.crt': 'PEM' }));
  await client.delete(maps, target);
  await eventually(async () => expect((await client.get(maps, target))['data']).toEqual({ 'ca.crt': 'PEM' }));
  const described = async () => (await client.get(maps, target)).metadata.annotations ?? {};
  const before = await described();
  expect(before['kubernetes.io/description']).toMatch(/^Contains a CA bundle/);
  await client.patch(maps, target, 'merge', { metadata: { annotations: null } });
  await eventually(async () => expect(await described()).toEqual(before));
});

test('an owner in another namespace is none, and an Event says why what names it goes', async () => {
  start('*');
  const where = { cluster: 'root:a' };
  const elsewhere = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'owner', namespace: 'default' },
  };
  const owner = await client.create(maps, elsewhere, where);
  await make('lost', ownedBy(owner), where.cluster);
  const { uid } = owner.metadata;
  const said = {
    involvedObject: expect.objectContaining({ kind: 'ConfigMap', namespace: 'x', name: 'lost' }),
    type: 'Warning',
    reason: 'OwnerRefInvalidNamespace',
    message: `ownerRef [v1/ConfigMap, namespace: x, name: owner, uid: ${uid}] does not exist in namespace "x"`,
  };
  await eventually(async () => {
    const { items } = await client.list(core('events'), where);
    expect(items).toContainEqual(expect.objectContaining(said));
  });
  await eventually(async () => expect(await names('configmaps', where.cluster)).toEqual([]));
});

test('a logical cluster says where the addresses of its Services come from', async () => {
  const ranges = { group: 'networking.k8s.io', version: 'v1', resource: 'servicecidrs' };
  await ensureSystemNamespaces(client, 'root:a');
  await ensureSystemNamespaces(client, 'root:a');
  const range = await client.get(ranges, { cluster: 'root:a', name: 'kubernetes' });
  const ready = { type: 'Ready', status: 'True', message: 'Kubernetes default Service CIDR is ready' };
  expect(range).toMatchObject({ spec: { cidrs: ['10.96.0.0/12'] }, status: { conditions: [ready] } });
});

test('logical clusters of before get theirs, once', async () => {
  const ranges = { group: 'networking.k8s.io', version: 'v1', resource: 'servicecidrs' };
  await ensureSystemNamespaces(client, 'root:a');
  const before = await client.get(ranges, { cluster: 'root:a', name: 'kubernetes' });
  await ensureServiceRanges(client, { logger: silentLogger, signal: stop.signal });
  await ensureServiceRanges(client, { logger: silentLogger, signal: stop.signal });
  expect(await client.get(ranges, { cluster: 'root:a', name: 'kubernetes' })).toEqual(before);
  const made = await client.get(ranges, { cluster: 'root:b', name: 'kubernetes' });
  expect(made).toMatchObject({ spec: before.spec, status: { conditions: [{ type: 'Ready' }] } });
});

test('one whose webhook refuses theirs keeps nobody else from it, and what was left without its status gets that', async () => {
  const ranges = { group: 'networking.k8s.io', version: 'v1', resource: 'servicecidrs' };
  await ensureSystemNamespaces(client, 'root:b');
  const at = { cluster: 'root:b', name: 'kubernetes' };
  await client.patch(ranges, { ...at, subresource: 'status' }, 'merge', { status: { conditions: null } });
  let refused = 0;
  const refusing = client.with({});
  refusing.create = async () => {
    refused++;
    throw new StatusError(403, 'Forbidden', 'denied the request');
  };
  await ensureServiceRanges(refusing, { logger: silentLogger, signal: stop.signal });
  expect(refused).toBe(2);
  expect(await client.get(ranges, at)).toMatchObject({ status: { conditions: [{ type: 'Ready' }] } });
});

test.each([
  ['denied the request', 3],
  ['unable to create new content in logical cluster x because it is being terminated', 0],
])(
  'of those that refuse theirs the log tells, but for the ones that are going: %s',
  async (message, told) => {
    const warned: unknown[] = [];
    const logger = { ...silentLogger, warn: (fields: unknown) => warned.push(fields) };
    const refusing = client.with({});
    refusing.create = () => Promise.reject(new StatusError(403, 'Forbidden', message));
    await ensureServiceRanges(refusing, { logger, signal: stop.signal });
    expect(warned).toHaveLength(told);
  },
);

test('a terminating namespace is emptied, waits for finalizers, and goes', async () => {
  start();
  await make('plain');
  const held = await make('held', { finalizers: ['example.com/wait'] });
  await eventually(async () => expect(await names('serviceaccounts')).toEqual(['default']));
  await client.delete(namespaces, { name: 'x' });
  await eventually(async () => expect(await names('configmaps')).toEqual(['held']));
  expect((await client.get(namespaces, { name: 'x' })).metadata.deletionTimestamp).toBeDefined();
  const target = { namespace: 'x', name: held.metadata.name ?? '' };
  await client.patch(maps, target, 'merge', { metadata: { finalizers: null } });
  await eventually(async () => {
    const { items } = await client.list(namespaces);
    expect(items.map(({ metadata }) => metadata.name)).not.toContain('x');
  });
  expect(await names('configmaps', 'root')).toEqual([]);
});

test.each(['*', undefined])(
  'in the background dependents follow their owner (informers of %s)',
  async (cluster) => {
    start(cluster);
    const owner = await make('owner');
    const child = await make('child', ownedBy(owner));
    await make('grandchild', ownedBy(child));
    await make('other');
    await makeReflected(ownedBy(owner));
    await client.delete(maps, { namespace: 'x', name: 'owner' }, { propagationPolicy: 'Background' });
    await eventually(async () => expect(await names('configmaps')).toEqual(['other', 'reflected']));
  },
);

test('whoever defines a kind of their own has it collected, and nobody asks what all others are served', async () => {
  const definitions = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' };
  const counting = client.with({});
  let asked = 0;
  counting.json = (path, options) => {
    if (path === '/apis' && options?.cluster === 'root') asked++;
    return client.json(path, options);
  };
  start('*', counting);
  await make('child', ownedBy(await make('owner', {}, 'root:b')), 'root:a');
  await eventually(async () => expect(await names('configmaps')).toEqual(['owner']));
  const before = asked;
  const { apiVersion, kind, metadata, spec } = thingsDefinition() as KubeObject<object>;
  await client.create(definitions, { apiVersion, kind, metadata, spec }, { cluster: 'root:a' });
  const things = { group: 'example.com', version: 'v1', resource: 'things' };
  const thing = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' } };
  const at = { cluster: 'root:a', namespace: 'x' };
  await client.create(things, thing, at);
  await client.delete(things, { ...at, name: 'a' }, { propagationPolicy: 'Foreground' });
  await eventually(async () => expect((await client.list(things, at)).items).toEqual([]));
  expect(asked).toBe(before);
  await client.create(definitions, { apiVersion, kind, metadata, spec }, { cluster: 'root' });
  await eventually(async () => expect(asked).toBeGreaterThan(before));
});

test('an owner that never was counts as gone; one in another logical cluster is not this one', async () => {
  const elsewhere = await make('owner', {}, 'root:b');
  await make('child', ownedBy(elsewhere), 'root:a');
  await make('sibling', ownedBy(elsewhere), 'root:b');
  start('*');
  await eventually(async () => expect(await names('configmaps')).toEqual(['owner', 'sibling']));
});

test('an object with an owner left keeps its life and loses the reference', async () => {
  start();
  const [one, two] = [await make('one'), await make('two')];
  const both = [...(ownedBy(one).ownerReferences ?? []), ...(ownedBy(two).ownerReferences ?? [])];
  await make('child', { ownerReferences: both });
  await client.delete(maps, { namespace: 'x', name: 'one' });
  await eventually(async () => {
    const child = await client.get(maps, { namespace: 'x', name: 'child' });
    expect(child.metadata.ownerReferences?.map(({ name }) => name)).toEqual(['two']);
  });
});

test('in the foreground the owner goes last', async () => {
  start();
  const owner = await make('owner');
  const child = await make('child', { ...ownedBy(owner, true), finalizers: ['example.com/wait'] });
  await client.delete(maps, { namespace: 'x', name: 'owner' }, { propagationPolicy: 'Foreground' });
  const target = { namespace: 'x', name: child.metadata.name ?? '' };
  await eventually(async () =>
    expect((await client.get(maps, target)).metadata.deletionTimestamp).toBeDefined(),
  );
  expect(await names('configmaps')).toEqual(['child', 'owner']);
  await client.patch(maps, target, 'merge', { metadata: { finalizers: null } });
  await eventually(async () => expect(await names('configmaps')).toEqual([]));
});

test('what goes already is not read anew each time that something else of its owner has gone', async () => {
  const read: string[] = [];
  const transport = server.server.transport(user);
  const counting: Transport = (request) => {
    if (request.method === 'GET' && /\/configmaps\/child/.test(request.url)) read.push(request.url);
    return transport(request);
  };
  start(undefined, new Client(counting, { cluster: 'root' }));
  const owner = await make('owner');
  const children = Array.from({ length: 12 }, (_, i) => `child-${i}`);
  for (const name of children)
    await make(name, { ...ownedBy(owner, true), finalizers: ['example.com/wait'] });
  await client.delete(maps, { namespace: 'x', name: 'owner' }, { propagationPolicy: 'Foreground' });
  await eventually(async () => {
    const { items } = await client.list(maps);
    const going = items.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
    expect(going).toHaveLength(children.length + 1);
  });
  for (const [gone, name] of children.entries()) {
    await client.patch(maps, { namespace: 'x', name }, 'merge', { metadata: { finalizers: null } });
    const rest = children.slice(gone + 1).sort();
    await eventually(async () =>
      expect(await names('configmaps')).toEqual(rest.length > 0 ? [...rest, 'owner'] : []),
    );
    // The owner is looked at in its turn, and so is what it wakes: this one after them.
    const marker = `marker-${gone}`;
    await make(marker, ownedBy({ ...owner, metadata: { ...owner.metadata, uid: 'never' } }));
    await eventually(async () => expect(await names('configmaps')).not.toContain(marker));
  }
  // Each once or twice before it went: as an orphan to be, and as what its owner waits for.
  expect(read.length).toBeLessThanOrEqual(2 * children.length);
});

test('in the foreground the owner waits for what physical clusters have of it, and leaves that to them', async () => {
  start();
  const owner = await make('owner');
  const { ownerReferences = [] } = ownedBy(owner, true);
  await makeReflected({ ownerReferences: ownerReferences.map((one) => ({ ...one, controller: true })) });
  await client.delete(maps, { namespace: 'x', name: 'owner' }, { propagationPolicy: 'Foreground' });
  await make('gone', ownedBy({ ...owner, metadata: { ...owner.metadata, uid: 'never' } }));
  await eventually(async () => expect(await names('configmaps')).not.toContain('gone'));
  expect(await names('configmaps')).toEqual(['owner', 'reflected']);
  await rewriteObject(store, reflectedPlace, () => undefined);
  await eventually(async () => expect(await names('configmaps')).toEqual([]));
});

test('a Job that has ended goes when its time has come, with its pods', async () => {
  const jobs = { group: 'batch', version: 'v1', resource: 'jobs' };
  const pod = { metadata: {}, spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
  const add = async (name: string, ttl: object) => {
    const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name }, spec: { template: pod, ...ttl } };
    const made = await client.create(jobs, job, { namespace: 'x', cluster: 'root:a' });
    const times = { startTime: '2026-01-02T03:04:05Z', completionTime: '2026-01-02T03:05:05Z' };
    const condition = (type: string) => ({ type, status: 'True', lastTransitionTime: times.completionTime });
    const conditions = [condition('SuccessCriteriaMet'), condition('Complete')];
    const status = { ...times, succeeded: 1, uncountedTerminatedPods: {}, conditions };
    await client.update(jobs, { ...made, status }, { cluster: 'root:a', subresource: 'status' });
    return made;
  };
  start('*');
  await add('kept', {});
  await add('later', { ttlSecondsAfterFinished: 2_000_000_000 });
  const gone = await add('gone', { ttlSecondsAfterFinished: 60 });
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'gone', uid: gone.metadata.uid ?? '' };
  await make('of-gone', { ownerReferences: [owner] }, 'root:a');
  await eventually(async () => {
    expect(await names('configmaps')).toEqual([]);
    const { items } = await client.list(jobs, { cluster: 'root:a' });
    expect(items.map(({ metadata }) => metadata.name).sort()).toEqual(['kept', 'later']);
  });
});

test('orphans stay, without the reference', async () => {
  const owner = await make('owner');
  await make('child', ownedBy(owner));
  await client.delete(maps, { namespace: 'x', name: 'owner' }, { propagationPolicy: 'Orphan' });
  // Started only now, so that the collector's caches have both before it works: it frees those it knows.
  start();
  await eventually(async () => expect(await names('configmaps')).toEqual(['child']));
  const child = await client.get(maps, { namespace: 'x', name: 'child' });
  expect(child.metadata.ownerReferences ?? []).toEqual([]);
});
