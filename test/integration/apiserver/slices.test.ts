import { afterEach, beforeEach, expect, test } from 'vitest';
import { InformerSet } from '../../../client/informers.ts';
import type { PlacementSlice } from '../../../cluster/slices.ts';
import type { ObjectRef, Placement } from '../../../cluster/types.ts';
import type { KubeList, KubeObject } from '../../../kube/object.ts';
import type { StatusError } from '../../../kube/status.ts';
import { commitThough, placementStands } from '../../../scheduler/race.ts';
import { eventually } from '../../eventually.ts';
import { resources, until } from '../../world/objects.ts';
import { active, configMap, leaving, namespace, Upstream } from '../../world/upstream.ts';

const { placements } = resources;
const there = (generation: number) => ({ present: true, observedGeneration: generation });
const inAll = '/apis/atoll.dev/v1alpha1/placements';

let upstream: Upstream;
let ref: ObjectRef;
let life: AbortController;
beforeEach(async () => {
  upstream = await Upstream.start('east', 'west');
  ref = await upstream.place(configMap('conf'), { east: active, west: active });
  life = new AbortController();
});
afterEach(async () => {
  life.abort();
  await upstream.close();
});

const name = 'conf.configmaps';
const code = (promise: Promise<unknown>) =>
  promise.then(
    () => 200,
    (error: StatusError) => error.code,
  );
const admin = () => upstream.admin;
const read = () => admin().get<Placement>(placements, { namespace, name });
const revision = ({ metadata }: KubeObject) => Number(metadata.resourceVersion);

test('who reads a Placement finds what its clusters say in it, however it is read', async () => {
  const before = await read();
  expect(before.status?.clusters).toBeUndefined();
  await upstream.say(ref, there(1));
  const one = await read();
  expect(one.status?.clusters).toEqual({ east: there(1) });
  expect(revision(one)).toBeGreaterThan(revision(before));
  const list = await admin().list<Placement>(placements, { namespace });
  expect(list.items).toEqual([one]);
  const everywhere = await admin().list<Placement>(placements, { cluster: '*' });
  expect(everywhere.items.map(({ status }) => status?.clusters)).toEqual([{ east: there(1) }]);
  const status = await admin().get<Placement>(placements, { namespace, name, subresource: 'status' });
  expect(status.status).toEqual(one.status);
  const named = { namespace, fieldSelector: `metadata.name=${name}` };
  expect((await admin().list<Placement>(placements, named)).items).toEqual([one]);
});

test('a watch tells every word at a revision from which it can go on', async () => {
  const { metadata } = await admin().list(placements, { namespace });
  await upstream.say(ref, there(1));
  await upstream.say(ref, there(2));
  await upstream.shares(ref, { east: active });
  const follow = async (resourceVersion: string | undefined, count: number) => {
    const found: Placement[] = [];
    for await (const { type, object } of admin().watch<Placement>(placements, {
      namespace,
      resourceVersion,
      signal: life.signal,
    })) {
      if (type === 'BOOKMARK') continue;
      found.push(object);
      if (found.length === count) return found;
    }
    return found;
  };
  const told = await follow(metadata.resourceVersion, 3);
  expect(told.map(({ status }) => status?.clusters?.['east'])).toEqual([there(1), there(2), there(2)]);
  const revisions = told.map(revision);
  expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
  const again = await follow(told[0]?.metadata.resourceVersion, 2);
  expect(again).toEqual(told.slice(1));
});

test('as our own controllers read it: both kinds, page by page, of one revision, and in one watch', async () => {
  await upstream.place(configMap('more'), { east: active });
  await upstream.say(ref, there(1));
  const items: KubeObject[] = [];
  const revisions = new Set<string | undefined>();
  for (let next: string | undefined = ''; next !== undefined; ) {
    const path = `${inAll}?slices=apart&limit=1${next && `&continue=${next}`}`;
    const page = (await admin().json(path, { cluster: '*' })) as KubeList<KubeObject>;
    items.push(...page.items);
    revisions.add(page.metadata.resourceVersion);
    next = page.metadata.continue || undefined;
  }
  expect(items.map(({ kind, metadata }) => [kind, metadata.name, metadata.annotations])).toEqual([
    ['Placement', name, { 'kcp.io/cluster': upstream.logical }],
    ['Placement', 'more.configmaps', { 'kcp.io/cluster': upstream.logical }],
    ['PlacementSlice', `${name}~east`, { 'kcp.io/cluster': upstream.logical }],
  ]);
  expect(items[0]?.status).toBeUndefined();
  expect((items[2] as PlacementSlice).status).toEqual(there(1));
  expect(revisions.size).toBe(1);
  const informers = new InformerSet(admin().with({ cluster: '*' }), { signal: life.signal });
  const joined = informers.placements();
  await joined.synced;
  const key = `${upstream.logical}/${namespace}/${name}`;
  const stored = joined.get(key);
  await upstream.say(ref, there(2));
  await eventually(() => expect(joined.get(key)?.status?.clusters).toEqual({ east: there(2) }));
  expect(joined.get(key)?.metadata.resourceVersion).toBe(stored?.metadata.resourceVersion);
  expect(informers.for(placements)).toBe(joined);
});

test('what is said before it is told to leave is shown to nobody as if it had left', async () => {
  await upstream.say(ref, { present: false });
  expect((await read()).status?.clusters).toEqual({ east: { present: false } });
  await upstream.shares(ref, { east: leaving, west: active });
  expect((await read()).status?.clusters).toBeUndefined();
  await upstream.say(ref, { present: false });
  expect((await read()).status?.clusters).toEqual({ east: { present: false } });
});

test('slices are no resource: nobody finds, reads or makes one, and Placements are written by the system alone', async () => {
  await upstream.say(ref, there(1));
  const slices = { ...placements, resource: 'placementslices' };
  const discovered = (await admin().json('/apis/atoll.dev/v1alpha1')) as { resources: { name: string }[] };
  expect(discovered.resources.map((one) => one.name)).not.toContain('placementslices');
  expect(await code(admin().list(slices, { namespace }))).toBe(404);
  expect(await code(admin().get(slices, { namespace, name: `${name}~east` }))).toBe(404);
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'placementslices.atoll.dev' },
    spec: {
      group: 'atoll.dev',
      scope: 'Namespaced',
      names: { plural: 'placementslices', kind: 'PlacementSlice' },
      versions: [
        { name: 'v1alpha1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
      ],
    },
  };
  const crds = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' };
  await expect(admin().create(crds, definition)).rejects.toThrow('are protected groups');
  const lie = { status: { clusters: { east: { present: false } } } };
  expect(
    await code(admin().patch(placements, { namespace, name, subresource: 'status' }, 'merge', lie)),
  ).toBe(403);
  await until('it is as its cluster said', async () => (await read()).status?.clusters?.['east']?.present);
});

test('a claim is not taken from its data by who decided before it was bound', async () => {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data' }, spec };
  const of = await upstream.place(claim, { east: active });
  const at = { namespace, name: 'data.persistentvolumeclaims' };
  const informers = new InformerSet(admin().with({ cluster: '*' }), { signal: life.signal });
  const joined = informers.placements();
  await joined.synced;
  const old = joined.get(`${upstream.logical}/${at.namespace}/${at.name}`) as Placement;
  await upstream.say(of, { present: true, status: { phase: 'Bound' } });
  const wanted = { ...old, spec: { ...old.spec, clusters: ['west'] } } as Placement;
  const racing = { client: upstream.splitter, reader: admin(), stands: placementStands, signal: life.signal };
  const moving = commitThough(placements, old, wanted, { ...racing, cluster: upstream.logical });
  await expect(moving).rejects.toMatchObject({ reason: 'Conflict' });
  expect(await admin().get<Placement>(placements, at)).toMatchObject({ status: { bound: ['east'] } });
});
