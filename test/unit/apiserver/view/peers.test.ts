import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Client } from '../../../../client/client.ts';
import { reportedAnnotation } from '../../../../cluster/names.ts';
import { reportOf } from '../../../../cluster/peers.ts';
import { physicalNamespace } from '../../../../cluster/placement.ts';
import { reflectedAs } from '../../../../cluster/reflected.ts';
import type { ObjectRef, Placement, Share, ShareView } from '../../../../cluster/types.ts';
import type { KubeObject, WatchEvent } from '../../../../kube/object.ts';
import { until } from '../../../world/objects.ts';
import { active, keys, logical, namespace, object, Upstream } from './upstream.ts';

const shares = { group: 'atoll.dev', version: 'v1alpha1', resource: 'shares' };
const other = 'root:other';

let upstream: Upstream;
let west: Client;
let life: AbortController;
beforeEach(async () => {
  upstream = await Upstream.make();
  await upstream.write(keys.namespace(other, namespace), object('v1', 'Namespace', namespace));
  for (const name of ['east', 'west', 'north']) await cluster(name, 'one');
  west = upstream.client('west');
  life = new AbortController();
});
afterEach(() => life.abort());

async function cluster(name: string, network?: string, beat = ''): Promise<void> {
  await upstream.write(keys.physicalCluster(name), {
    ...object('atoll.dev/v1alpha1', 'PhysicalCluster', name),
    metadata: { name, uid: `uid-${name}` },
    spec: { kubeconfigSecretRef: { namespace: 'a', name: 'b' }, ...(network && { network }) },
    status: { conditions: [{ type: 'Ready', status: 'True' }], lastHeartbeatTime: beat },
  });
}

const refOf = (name: string, of: string): ObjectRef => ({
  group: '',
  version: 'v1',
  resource: 'services',
  kind: 'Service',
  name,
  uid: `uid-of-${name}-in-${of}`,
});

async function service(
  name: string,
  on: Record<string, Share>,
  of = logical,
  spec: object = {},
): Promise<void> {
  const ref = refOf(name, of);
  const root = object('v1', 'Service', name);
  await upstream.write(keys.object(ref, of, namespace), {
    ...root,
    metadata: { ...root.metadata, uid: ref.uid },
    spec,
  });
  await place(name, on, of);
}

async function place(name: string, on: Record<string, Share>, of = logical): Promise<void> {
  const placement: Placement = {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'Placement',
    metadata: { name: `${name}.services`, namespace, uid: `uid-of-placement-${name}-in-${of}` },
    spec: { ref: refOf(name, of), clusters: Object.keys(on), shares: on, requires: [] },
  };
  await upstream.write(keys.placement(of, namespace, `${name}.services`), placement);
}

const sliceKey = (name: string, of: string) =>
  keys.object({ group: 'discovery.k8s.io', resource: 'endpointslices', name }, of, namespace);

/** As what the syncer of `from` reported is stored. */
async function reported(from: string, of: string, name: string, ...ips: string[]): Promise<void> {
  await reportedAs(`${name}-${from}`, from, of, name, ...ips);
}

async function reportedAs(its: string, from: string, of: string, name: string, ...ips: string[]) {
  const { metadata, ...rest } = object('discovery.k8s.io/v1', 'EndpointSlice', its);
  const labels = { 'kubernetes.io/service-name': name };
  const slice: KubeObject = {
    ...rest,
    metadata: { ...metadata, labels },
    addressType: 'IPv4',
    endpoints: ips.map((ip) => ({ addresses: [ip], conditions: { ready: true } })),
    ports: [],
  };
  const annotations = reflectedAs({ [reportedAnnotation]: reportOf(slice) }, metadata.uid ?? '', [from]);
  await upstream.write(sliceKey(its, of), {
    ...slice,
    metadata: { ...slice.metadata, annotations },
  });
}

type Shown = [logical: string | undefined, addresses: string];

const shown = ({ spec, metadata }: ShareView): Shown[] => {
  if (!spec?.isBeside) return [];
  const endpoints = (spec.manifest?.['endpoints'] ?? []) as { addresses: string[] }[];
  return [[metadata.annotations?.['kcp.io/cluster'], endpoints.map(({ addresses }) => addresses[0]).join()]];
};
const listed = async (of: Client = west) => {
  const { items } = await of.list<ShareView>(shares);
  return items.flatMap(shown).sort();
};

async function watch(of: Client = west, from?: string): Promise<WatchEvent<ShareView>[]> {
  const resourceVersion = from ?? (await of.list(shares)).metadata.resourceVersion ?? '';
  const events: WatchEvent<ShareView>[] = [];
  void (async () => {
    for await (const event of of.watch<ShareView>(shares, { resourceVersion, signal: life.signal }))
      events.push(event);
  })();
  return events;
}
/** What a watch was told of slices, once `count` of such events have come. */
const told = async (events: WatchEvent<ShareView>[], count: number) => {
  const beside = () => events.filter(({ object: { spec } }) => spec?.isBeside);
  await until(`${count} events`, async () => beside().length >= count);
  return beside().map(({ type, object }) => [type, ...shown(object).map(([, ips]) => ips)]);
};

const both = { east: active, west: active };

test('come with a locator of the Service, in its namespace there, and only from those that have it', async () => {
  await service('web', both);
  await reported('east', logical, 'web', '10.1.0.1');
  await reported('west', logical, 'web', '10.2.0.1');
  const { items } = await west.list<ShareView>(shares);
  const [made, ...rest] = items.filter(({ spec }) => spec?.isBeside);
  expect(rest).toEqual([]);
  const { ref, locator, manifest } = made!.spec!;
  const home = physicalNamespace(logical, namespace);
  expect(locator).toEqual({
    syncer: 'uid-west',
    cluster: logical,
    namespace,
    resource: 'endpointslices.discovery.k8s.io',
    name: ref.name,
    uid: refOf('web', logical).uid,
  });
  expect(manifest?.metadata).toEqual({
    name: ref.name,
    namespace: home,
    labels: {
      'kubernetes.io/service-name': 'web',
      'endpointslice.kubernetes.io/managed-by': 'atoll.dev',
      'atoll.dev/managed-by': 'atoll',
    },
    annotations: { 'atoll.dev/locator': JSON.stringify(locator) },
  });
  expect(await listed(upstream.client('east'))).toEqual([[logical, '10.2.0.1']]);
  expect(await listed(upstream.client('north'))).toEqual([]);
});

test('of two logical clusters with a Service of one name each gets its own', async () => {
  await service('web', both);
  await service('web', both, other);
  await reported('east', logical, 'web', '10.1.0.1');
  const events = await watch();
  await reported('east', other, 'web', '10.1.0.2');
  expect(await told(events, 1)).toEqual([['ADDED', '10.1.0.2']]);
  expect(await listed()).toEqual([
    [other, '10.1.0.2'],
    [logical, '10.1.0.1'],
  ]);
});

test('follow endpoints, shares, the Service and networks; a beat wakes nobody', async () => {
  await service('web', both);
  const events = await watch();
  await reported('east', logical, 'web', '10.1.0.1');
  await cluster('east', 'one', 'later');
  await reported('east', logical, 'web', '10.1.0.1', '10.1.0.2');
  await place('web', { ...both, east: { ...active, withdrawn: true } });
  await place('web', both);
  await cluster('east', 'two');
  await cluster('west', 'two');
  await cluster('west');
  await cluster('west', 'two');
  await upstream.remove(sliceKey('web-east', logical));
  await reported('east', logical, 'web', '10.1.0.3');
  await service('web', both, logical, { type: 'ExternalName' });
  await service('web', both);
  await upstream.remove(keys.object(refOf('web', logical), logical, namespace));
  await service('web', both);
  await upstream.remove(keys.physicalCluster('east'));
  await cluster('east', 'two');
  await place('web', { east: active });
  expect(await told(events, 17)).toEqual([
    ['ADDED', '10.1.0.1'],
    ['MODIFIED', '10.1.0.1,10.1.0.2'],
    ['DELETED', ''],
    ['ADDED', '10.1.0.1,10.1.0.2'],
    ['DELETED', ''],
    ['ADDED', '10.1.0.1,10.1.0.2'],
    ['DELETED', ''],
    ['ADDED', '10.1.0.1,10.1.0.2'],
    ['DELETED', ''],
    ['ADDED', '10.1.0.3'],
    ['DELETED', ''],
    ['ADDED', '10.1.0.3'],
    ['DELETED', ''],
    ['ADDED', '10.1.0.3'],
    ['DELETED', ''],
    ['ADDED', '10.1.0.3'],
    ['DELETED', ''],
  ]);
});

test('who comes back is told what has changed since, as if it had never been away', async () => {
  await service('web', both);
  await reported('east', logical, 'web', '10.1.0.1');
  const { resourceVersion = '' } = (await west.list(shares)).metadata;
  await reported('east', logical, 'web', '10.1.0.2');
  await cluster('west');
  await cluster('west', 'one');
  expect(await told(await watch(west, resourceVersion), 3)).toEqual([
    ['MODIFIED', '10.1.0.2'],
    ['DELETED', ''],
    ['ADDED', '10.1.0.2'],
  ]);
});

test('endpoints of what is not on several clusters of a network wake nobody', async () => {
  await service('web', { east: active });
  await service('db', both);
  const events = await watch();
  await reported('east', logical, 'web', '10.1.0.1');
  await reported('west', logical, 'db', '10.2.0.1');
  await reported('north', logical, 'db', '10.3.0.1');
  await reported('east', logical, 'db', '10.1.0.2');
  expect(await told(events, 1)).toEqual([['ADDED', '10.1.0.2']]);
  // By now the index alone says what concerns west.
  for (const ip of ['10.1.0.3', '10.1.0.4']) {
    const before = events.length;
    await reported('east', logical, 'web', ip);
    await reported('east', logical, 'db', ip);
    await until(`${ip} is told`, async () => events.length > before);
  }
  await cluster('north', 'two');
  await cluster('east', 'two');
  expect(await told(events, 4)).toEqual([
    ['ADDED', '10.1.0.2'],
    ['MODIFIED', '10.1.0.3'],
    ['MODIFIED', '10.1.0.4'],
    ['DELETED', ''],
  ]);
});

test('a slice that names another Service is taken back from the one it named', async () => {
  await service('web', both);
  await service('db', both);
  await reportedAs('one', 'east', logical, 'web', '10.1.0.1');
  const events = await watch();
  await reportedAs('one', 'east', logical, 'db', '10.1.0.2');
  await reportedAs('one', 'east', logical, 'none', '10.1.0.2');
  await reportedAs('one', 'east', logical, 'web', '10.1.0.3');
  expect(await told(events, 4)).toEqual([
    ['DELETED', ''],
    ['ADDED', '10.1.0.2'],
    ['DELETED', ''],
    ['ADDED', '10.1.0.3'],
  ]);
});

test('a share that goes after its cluster has come into the network takes its slices along', async () => {
  await cluster('east', 'two');
  await service('web', both);
  await reported('east', logical, 'web', '10.1.0.1');
  const events = await watch();
  await cluster('east', 'one');
  await place('web', { west: active });
  await place('web', both);
  expect(await told(events, 3)).toEqual([
    ['ADDED', '10.1.0.1'],
    ['DELETED', ''],
    ['ADDED', '10.1.0.1'],
  ]);
});

test('what became of a Service while its cluster had no peers is known when it has some again', async () => {
  await service('web', both);
  await reported('east', logical, 'web', '10.1.0.1');
  const events = await watch();
  await cluster('east', 'two');
  await service('web', both, logical, { type: 'ExternalName' });
  await upstream.remove(keys.placement(logical, namespace, 'web.services'));
  await service('web', both);
  await cluster('east', 'one');
  await cluster('east', 'two');
  const again = { ...refOf('web', logical), uid: 'another' };
  const root = object('v1', 'Service', 'web');
  await upstream.write(keys.object(again, logical, namespace), {
    ...root,
    metadata: { ...root.metadata, uid: again.uid },
  });
  const key = keys.placement(logical, namespace, 'web.services');
  const placement = await upstream.read<Placement>(key);
  await upstream.write(key, { ...placement, spec: { ...placement?.spec, ref: again } } as Placement);
  await cluster('east', 'one');
  expect(await told(events, 4)).toEqual([
    ['DELETED', ''],
    ['ADDED', '10.1.0.1'],
    ['DELETED', ''],
    ['ADDED', '10.1.0.1'],
  ]);
});

type Watching = Record<string, WatchEvent<ShareView>[]>;
let ends = 0;

/** What these clusters, who watch, read at a revision for `work`: until each is told of a Service that comes after it. */
async function readFor(watching: Watching, work: () => Promise<unknown>): Promise<string[]> {
  const lists = vi.spyOn(upstream.store, 'list');
  const gets = vi.spyOn(upstream.store, 'get');
  await work();
  for (const [name, events] of Object.entries(watching)) {
    const end = `end-${ends++}`;
    await service(end, { [name]: active });
    await until(`${name} is told`, async () =>
      events.some(({ object: { metadata } }) => metadata.name === `${end}.services`),
    );
  }
  const listed = lists.mock.calls.flatMap(([{ start }, options]) => (options?.revision ? [start] : []));
  const got = gets.mock.calls.flatMap(([key, options]) => (options?.revision ? [key] : []));
  lists.mockRestore();
  gets.mockRestore();
  return [...listed, ...got].filter((key) => !key.includes('/end-'));
}

/** By then the index alone says what concerns them. */
async function follows(watching: Watching): Promise<void> {
  await readFor(watching, async () => {});
  for (const events of Object.values(watching)) events.length = 0;
}

test('without a network what other clusters have of a Service is neither read nor told', async () => {
  for (const name of ['east', 'west', 'north']) await cluster(name);
  await service('web', both);
  await reported('east', logical, 'web', '10.1.0.1');
  const events = await watch();
  await follows({ west: events });
  const reads = await readFor({ west: events }, async () => {
    await place('web', { ...both, east: { ...active, withdrawn: true } });
    await place('web', { ...both, north: active });
    await reported('east', logical, 'web', '10.1.0.2');
    await cluster('east', 'one');
    await cluster('north', 'one');
    await place('web', both);
    await upstream.remove(sliceKey('web-east', logical));
  });
  expect(reads).toEqual([]);
  expect(events).toHaveLength(1);
});

test('with a network only what changes the endpoints of others is looked at', async () => {
  for (const name of ['web', 'db']) await service(name, both);
  await reported('east', logical, 'web', '10.1.0.1');
  const events = await watch();
  await follows({ west: events });
  const webKey = keys.object(refOf('web', logical), logical, namespace);
  // What it has said itself of what it is told of.
  const saidKey = keys.object(
    { group: 'atoll.dev', resource: 'placementslices', name: 'web.services~west' },
    logical,
    namespace,
  );
  const reads = await readFor({ west: events }, async () => {
    // Of the Service, its share here, and what leads nowhere.
    await service('web', both, logical, { ports: [{ port: 81 }] });
    await place('web', { ...both, north: { ...active, phase: 'Leaving' } });
    await cluster('north', 'two');
    await reported('east', logical, 'web', '10.1.0.2');
    await reported('east', logical, 'db', '10.1.0.3');
  });
  expect(reads.filter((key) => key !== webKey && key !== saidKey)).toEqual([]);
  expect((await told(events, 2)).map(([, ips]) => ips)).toEqual(['10.1.0.2', '10.1.0.3']);
});

test('one reading of a Namespace is for all who ask', async () => {
  for (const name of ['web', 'db']) await service(name, { ...both, north: active });
  await reported('east', logical, 'web', '10.1.0.1');
  await reported('east', logical, 'db', '10.1.0.2');
  const watching = { west: await watch(), north: await watch(upstream.client('north')) };
  await follows(watching);
  const slices = sliceKey('', logical);
  const listed = async (network: string) =>
    (await readFor(watching, () => cluster('east', network))).filter((key) => key === slices);
  expect(await listed('two')).toHaveLength(0);
  expect(await listed('one')).toHaveLength(1);
});
