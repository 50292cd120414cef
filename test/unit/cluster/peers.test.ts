import { describe, expect, it } from 'vitest';
import { reportedAnnotation } from '../../../cluster/names.ts';
import { type Peer, peerOf, peerSlices, reportOf, type Served } from '../../../cluster/peers.ts';
import { reflectedAs } from '../../../cluster/reflected.ts';
import type { PhysicalCluster, Share } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';

const active: Share = { phase: 'Active' };
const both = { east: active, west: active };
const web = (shares: Record<string, Share> = both): Served => ({ name: 'web', uid: 'uid-web', shares });
const peer = (network: string, isSilent = false): Peer => ({ network, isSilent });
const one = new Map([
  ['east', peer('one')],
  ['west', peer('one')],
]);
const pod = (ip: string, more: object = {}) => ({ addresses: [ip], conditions: { ready: true }, ...more });
const ports = [{ name: 'http', port: 80, protocol: 'TCP' }];

/** As the server keeps what the syncer of `from` reported. */
function reported(
  from: string,
  endpoints: object[],
  more: Partial<KubeObject> = {},
  labels = {},
): KubeObject {
  const slice: KubeObject = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `web-${from}`,
      namespace: 'shop',
      uid: `uid-${from}`,
      labels: { 'kubernetes.io/service-name': 'web', ...labels },
    },
    addressType: 'IPv4',
    endpoints,
    ports,
    ...more,
  };
  const annotations = reflectedAs({ [reportedAnnotation]: reportOf(slice) }, `uid-${from}`, [from]);
  return { ...slice, metadata: { ...slice.metadata, annotations } };
}

const east = reported('east', [pod('10.1.0.1')]);
const west = reported('west', [pod('10.2.0.1')]);
const addresses = (slices: readonly KubeObject[]) =>
  slices.flatMap(({ endpoints }) =>
    (endpoints as { addresses: string[] }[]).flatMap((each) => each.addresses),
  );

it('are what the others have, without what means nothing here', () => {
  const slice = reported('east', [
    pod('10.1.0.1', {
      hostname: 'web-0',
      zone: 'a',
      nodeName: 'node-1',
      targetRef: { kind: 'Pod', name: 'web-0' },
      hints: { forZones: [{ name: 'a' }], forNodes: [{ name: 'node-1' }] },
    }),
  ]);
  const [made, ...rest] = peerSlices(web(), [slice, west], one, 'west');
  expect(rest).toEqual([]);
  expect(made).toEqual({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: expect.stringMatching(/^peer-[0-9a-f]{16}$/),
      labels: {
        'kubernetes.io/service-name': 'web',
        'endpointslice.kubernetes.io/managed-by': 'atoll.dev',
      },
    },
    addressType: 'IPv4',
    endpoints: [
      {
        addresses: ['10.1.0.1'],
        conditions: { ready: true },
        hostname: 'web-0',
        zone: 'a',
        hints: { forZones: [{ name: 'a' }] },
      },
    ],
    ports,
  });
  expect(addresses(peerSlices(web(), [slice, west], one, 'east'))).toEqual(['10.2.0.1']);
});

describe('to west come', () => {
  const three = { ...both, north: active };
  it.each<[string, Served, KubeObject[], ReadonlyMap<string, Peer>, string[]]>([
    ['those of east', web(), [east, west], one, ['10.1.0.1']],
    ['none where it has no network', web(), [east], new Map([['east', peer('one')]]), []],
    ['none where east has none', web(), [east], new Map([['west', peer('one')]]), []],
    ['none of another network', web(), [east], new Map([...one, ['east', peer('two')]]), []],
    [
      'those of all in its network',
      web(three),
      [east, reported('north', [pod('10.3.0.1')])],
      new Map([...one, ['north', peer('one')]]),
      ['10.1.0.1', '10.3.0.1'],
    ],
    ['none of a Service that is not on east any more', web({ west: active }), [east], one, []],
    ['none of a Service that is not on west', web({ east: active }), [east], one, []],
    ['none of what is withdrawn', web({ ...both, east: { ...active, withdrawn: true } }), [east], one, []],
    [
      'those of east while west is withdrawn',
      web({ ...both, west: { ...active, withdrawn: true } }),
      [east],
      one,
      ['10.1.0.1'],
    ],
    ['none of what leaves', web({ ...both, east: { phase: 'Leaving' } }), [east], one, []],
    [
      'those of east while west leaves',
      web({ ...both, west: { phase: 'Leaving' } }),
      [east],
      one,
      ['10.1.0.1'],
    ],
    ['those of what joins', web({ ...both, east: { phase: 'Joining' } }), [east], one, ['10.1.0.1']],
    ['none of another Service', { ...web(), name: 'db' }, [east], one, []],
    ['none where there are none', web(), [reported('east', [])], one, []],
    ['none without an address', web(), [reported('east', [pod('')])], one, []],
    ['none by name', web(), [reported('east', [pod('example.com')], { addressType: 'FQDN' })], one, []],
    [
      'those of both families',
      web(),
      [east, reported('east', [pod('fd00::1')], { addressType: 'IPv6' })],
      one,
      ['10.1.0.1', 'fd00::1'],
    ],
  ])('%s', (_what, service, slices, clusters, expected) =>
    expect(addresses(peerSlices(service, slices, clusters, 'west'))).toEqual(expected),
  );
});

describe('what a cluster did not report is passed over:', () => {
  const { metadata } = east;
  const { annotations } = metadata;
  it.each<[string, KubeObject]>([
    ['other addresses', { ...east, endpoints: [pod('192.0.2.1')] }],
    ['one more', { ...east, endpoints: [...(east['endpoints'] as object[]), pod('192.0.2.1')] }],
    ['another port', { ...east, ports: [{ ...ports[0], port: 22 }] }],
    ['another state', { ...east, endpoints: [pod('10.1.0.1', { conditions: { ready: false } })] }],
    ['another family', { ...east, addressType: 'IPv6' }],
    ['of one’s own, with all the marks', { ...east, metadata: { ...metadata, uid: 'uid-own' } }],
    [
      'of one’s own, with the digest that fits',
      {
        ...east,
        metadata: {
          ...metadata,
          uid: 'uid-own',
          annotations: {
            ...annotations,
            [reportedAnnotation]: reportOf({ ...east, metadata: { ...metadata, uid: 'uid-own' } }),
          },
        },
      },
    ],
    [
      'without a digest',
      { ...east, metadata: { ...metadata, annotations: reflectedAs({}, 'uid-east', ['east']) } },
    ],
  ])('%s', (_what, forged) => expect(peerSlices(web(), [forged], one, 'west')).toEqual([]));

  it('as another Service’s', () => {
    const labels = { 'kubernetes.io/service-name': 'db' };
    const moved = { ...east, metadata: { ...metadata, labels } };
    expect(peerSlices({ ...web(), name: 'db' }, [moved], one, 'west')).toEqual([]);
  });

  it('but for what says nothing of endpoints', () => {
    const labels = { ...metadata.labels, mine: 'yes' };
    expect(
      addresses(peerSlices(web(), [{ ...east, metadata: { ...metadata, labels } }], one, 'west')),
    ).toEqual(['10.1.0.1']);
  });
});

it.each([
  [1, [1]],
  [100, [100]],
  [101, [100, 1]],
  [250, [100, 100, 50]],
])('%i endpoints are in slices of %j: none is left out', (count, sizes) => {
  const ips = Array.from({ length: count }, (_, i) => `10.1.${i >> 8}.${i & 255}`);
  const made = peerSlices(
    web(),
    [
      reported(
        'east',
        ips.map((ip) => pod(ip)),
      ),
    ],
    one,
    'west',
  );
  expect(made.map(({ endpoints }) => (endpoints as unknown[]).length)).toEqual(sizes);
  expect(addresses(made)).toEqual(ips);
  expect(new Set(made.map(({ metadata }) => metadata.name)).size).toBe(sizes.length);
});

it('names are the same each time, and others on each cluster, of each Service, slice and family', () => {
  const three = new Map([...one, ['north', peer('one')]]);
  const names = (service: Served, slices: KubeObject[], me: string) =>
    peerSlices(service, slices, three, me).map(({ metadata }) => metadata.name ?? '');
  const six = reported('east', [pod('fd00::1')], { addressType: 'IPv6' });
  const served = web({ ...both, north: active });
  const all = [
    ...names(served, [east], 'west'),
    ...names(served, [east], 'north'),
    ...names({ ...served, uid: 'uid-again' }, [east], 'west'),
    ...names(served, [six], 'west'),
    ...names(served, [west], 'north'),
  ];
  expect(new Set(all).size).toBe(5);
  expect(names(served, [east], 'west')).toEqual(all.slice(0, 1));
});

it('of a headless Service say so, as its pods’ own names go along', () => {
  const headless = { 'service.kubernetes.io/headless': '' };
  const slice = reported('east', [pod('10.1.0.1', { hostname: 'db-0' })], {}, headless);
  const [made] = peerSlices(web(), [slice], one, 'west');
  expect(made).toMatchObject({ metadata: { labels: headless }, endpoints: [{ hostname: 'db-0' }] });
});

it.each([
  [{ ready: true }, { ready: true }, { ready: false, serving: true, terminating: true }],
  [{}, {}, { ready: false, serving: true, terminating: true }],
  [{ ready: false }, { ready: false }, { ready: false, serving: false, terminating: true }],
  [
    { ready: false, serving: true, terminating: true },
    { ready: false, serving: true, terminating: true },
    { ready: false, serving: true, terminating: true },
  ],
])('conditions %j go along; of a silent cluster they are the last resort', (conditions, heard, silent) => {
  const slice = reported('east', [pod('10.1.0.1', { conditions })]);
  const of = (clusters: ReadonlyMap<string, Peer>) =>
    peerSlices(web(), [slice], clusters, 'west')[0]?.['endpoints'];
  expect(of(one)).toMatchObject([{ conditions: heard }]);
  expect(of(new Map([...one, ['east', peer('one', true)]]))).toMatchObject([{ conditions: silent }]);
});

it('of a headless Service those of a silent cluster stay in its name: a DNS server knows no last resort', () => {
  const slice = reported('east', [pod('10.1.0.1')], {}, { 'service.kubernetes.io/headless': '' });
  const [made] = peerSlices(web(), [slice], new Map([...one, ['east', peer('one', true)]]), 'west');
  expect(made?.['endpoints']).toEqual([pod('10.1.0.1')]);
});

it.each([
  ['uid-web', ['10.1.0.1']],
  ['uid-of-former', []],
])('of the Service %s there come %j to the one that has its name now', (uid, expected) => {
  const owner = { apiVersion: 'v1', kind: 'Service', name: 'web', uid };
  const slice = { ...east, metadata: { ...east.metadata, ownerReferences: [owner] } };
  expect(addresses(peerSlices(web(), [slice], one, 'west'))).toEqual(expected);
});

it.each<[string | undefined, string | undefined, Peer | undefined]>([
  ['one', 'True', peer('one')],
  ['one', 'False', peer('one', true)],
  ['one', undefined, peer('one', true)],
  ['', 'True', undefined],
  [undefined, 'True', undefined],
])('a cluster of network %s that is Ready: %s', (network, status, expected) => {
  const conditions = status === undefined ? [] : [{ type: 'Ready', status }];
  const cluster = { metadata: { name: 'east' }, spec: { network }, status: { conditions } };
  expect(peerOf(cluster as unknown as PhysicalCluster)).toEqual(expected);
});
