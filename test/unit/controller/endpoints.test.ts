import { describe, expect, test } from 'vitest';
import { reflectedAs } from '../../../cluster/reflected.ts';
import { decideEndpoints, type Found } from '../../../controller/endpoints/decide.ts';
import type { KubeObject } from '../../../kube/object.ts';

const object = (kind: string, name: string, more: Partial<KubeObject> = {}): KubeObject => ({
  apiVersion: kind === 'EndpointSlice' ? 'discovery.k8s.io/v1' : 'v1',
  kind,
  ...more,
  metadata: { name, namespace: 'shop', uid: `${kind}-${name}`, ...more.metadata },
});
const service = (spec: object = { selector: { app: 'web' } }, metadata: object = {}) =>
  object('Service', 'web', { spec, metadata: { labels: { team: 'a' }, ...metadata } });
const bare = service({ clusterIP: '10.0.0.1' });
const custom = (more: object = {}, metadata: object = {}) =>
  object('Endpoints', 'web', {
    subsets: [{ addresses: [{ ip: '10.1.2.3' }], ports: [{ port: 80 }] }],
    metadata,
    ...more,
  });

function reflected(of: KubeObject): KubeObject {
  const { uid = '', annotations } = of.metadata;
  return { ...of, metadata: { ...of.metadata, annotations: reflectedAs(annotations, uid, ['east']) } };
}

const decide = (found: Partial<Found>) =>
  decideEndpoints({ service: undefined, endpoints: undefined, slices: [], wasThere: false, ...found });
const nothing = { create: [], update: [], remove: [] };
/** What these steps make, as the server would have it. */
const made = (found: Partial<Found>): KubeObject[] =>
  decide(found).create.map((one) => ({ ...one, metadata: { uid: `${one.kind}-made`, ...one.metadata } }));

describe('of a Service with a selector', () => {
  const [endpoints, slice] = made({ service: service() });

  test('whose pods run nowhere there are empty Endpoints and an empty slice', () => {
    expect(endpoints).toMatchObject({
      kind: 'Endpoints',
      metadata: {
        name: 'web',
        labels: { team: 'a', 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' },
      },
    });
    expect(slice).toMatchObject({
      kind: 'EndpointSlice',
      addressType: 'IPv4',
      endpoints: [],
      metadata: {
        generateName: 'web-',
        labels: {
          team: 'a',
          'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
          'kubernetes.io/service-name': 'web',
        },
        ownerReferences: [{ kind: 'Service', uid: 'Service-web', controller: true }],
      },
    });
  });

  test('made once, and again under the same name', () => {
    expect(decide({ service: service(), endpoints, slices: [slice as KubeObject] })).toEqual(nothing);
    const again = decide({ service: service(), endpoints }).create;
    expect(again.map(({ metadata }) => metadata.name)).toEqual([slice?.metadata.name]);
  });

  test('a headless one says so', () => {
    const labels = made({ service: service({ clusterIP: 'None', selector: { a: 'b' } }) }).map(
      (one) => one.metadata.labels?.['service.kubernetes.io/headless'],
    );
    expect(labels).toEqual(['', '']);
  });

  test('they follow its labels', () => {
    const relabelled = service(undefined, { labels: { team: 'b' } });
    const { update } = decide({ service: relabelled, endpoints, slices: [slice as KubeObject] });
    expect(update.map(({ wanted }) => wanted.metadata.labels?.['team'])).toEqual(['b', 'b']);
  });

  test('what a user wrote into them goes, and Endpoints of before there was a selector with what mirrored them', () => {
    const edited = {
      ...(slice as KubeObject),
      endpoints: [{ addresses: ['10.1.2.3'] }],
      ports: [{ port: 1 }],
    };
    const own = custom({}, { labels: { x: 'y' }, annotations: { kept: 'z' } });
    const [mirror] = made({ service: bare, endpoints: own });
    const slices = [edited, mirror as KubeObject];
    const steps = decide({ service: service(), endpoints: own, slices });
    expect([steps.create, steps.remove]).toEqual([[], [mirror]]);
    expect(steps.update).toEqual([
      {
        old: own,
        wanted: expect.objectContaining({
          metadata: { ...own.metadata, labels: (endpoints as KubeObject).metadata.labels },
        }),
      },
      { old: edited, wanted: slice },
    ]);
    expect(steps.update[0]?.wanted).not.toHaveProperty('subsets');
    const going = custom({}, { deletionTimestamp: '2026-01-01T00:00:00Z' });
    expect(decide({ service: service(), endpoints: going, slices: [slice as KubeObject] })).toEqual(nothing);
  });

  test('what a controller made of another Service of this name, as out of a backup, goes; a user’s own stays', () => {
    const { ownerReferences: _, ...metadata } = (slice as KubeObject).metadata;
    const restored = object('EndpointSlice', 'web-old', { metadata: { ...metadata, name: 'web-old' } });
    const own = object('EndpointSlice', 'web-own', {
      metadata: { name: 'web-own', labels: { 'kubernetes.io/service-name': 'web' } },
    });
    const told = reflected(object('EndpointSlice', 'web-x'));
    const steps = { service: service(), endpoints: reflected(custom()), slices: [restored, own, told] };
    expect(decide(steps)).toEqual({ ...nothing, remove: [restored] });
    const alone = decide({ service: service(), endpoints, slices: [restored, slice as KubeObject] });
    expect(alone).toEqual({ ...nothing, remove: [restored] });
    const going = {
      ...restored,
      metadata: { ...restored.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    };
    expect(decide({ service: service(), endpoints, slices: [going, slice as KubeObject] })).toEqual(nothing);
  });

  test('what a physical cluster says of it takes their place', () => {
    const told = reflected(object('EndpointSlice', 'web-x'));
    const steps = decide({
      service: service(),
      endpoints: reflected(custom()),
      slices: [slice as KubeObject, told],
    });
    expect(steps).toEqual({ ...nothing, remove: [slice] });
  });

  test.each([
    ['its Endpoints go with it', { endpoints }, [endpoints]],
    ['those of before a restart too', { endpoints, wasThere: false }, [endpoints]],
    ['a user wrote them, as a Service was there', { endpoints: custom(), wasThere: true }, [custom()]],
    ['a user wrote them, and there never was a Service', { endpoints: custom() }, []],
    ['a cluster still has them', { endpoints: reflected(custom()), wasThere: true }, []],
  ])('that is gone: %s', (_, found, remove) => {
    expect(decide(found)).toEqual({ ...nothing, remove });
  });
});

describe('of a Service without selector', () => {
  const subsets = [
    {
      addresses: [
        { ip: '10.1.2.3', nodeName: 'n', targetRef: { kind: 'Pod', name: 'p' } },
        { ip: '10.1.2.4' },
      ],
      notReadyAddresses: [{ ip: '10.1.2.5' }],
      ports: [{ name: 'http', port: 8080 }],
    },
    { addresses: [{ ip: 'fd00::1' }], ports: [{ name: 'http', port: 8080 }] },
  ];
  const endpoints = custom(
    { subsets },
    { labels: { e: 'f' }, annotations: { said: 'x', 'atoll.dev/clusters': 'y' } },
  );
  const slices = made({ service: bare, endpoints });

  test('its Endpoints are mirrored, by kind of address', () => {
    expect(slices).toMatchObject([
      {
        addressType: 'IPv4',
        ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
        endpoints: [
          {
            addresses: ['10.1.2.3'],
            conditions: { ready: true },
            nodeName: 'n',
            targetRef: { kind: 'Pod', name: 'p' },
          },
          { addresses: ['10.1.2.4'], conditions: { ready: true } },
          { addresses: ['10.1.2.5'], conditions: { ready: false } },
        ],
      },
      { addressType: 'IPv6', endpoints: [{ addresses: ['fd00::1'] }] },
    ]);
    expect(slices[0]?.metadata).toMatchObject({
      labels: {
        e: 'f',
        'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
        'kubernetes.io/service-name': 'web',
      },
      ownerReferences: [{ kind: 'Endpoints', uid: 'Endpoints-web' }],
    });
    expect(slices[0]?.metadata.annotations).toEqual({ said: 'x' });
  });

  test('also those that were not its user’s while it had a selector', () => {
    const [placeholder] = made({ service: service() });
    const again = { ...(placeholder as KubeObject), subsets };
    const mirrored = made({ service: bare, endpoints: again });
    expect(mirrored.map((one) => one['endpoints'])).toEqual(slices.map((one) => one['endpoints']));
    expect(decide({ service: bare, endpoints: placeholder })).toEqual(nothing);
  });

  test('and follow them', () => {
    expect(decide({ service: bare, endpoints, slices })).toEqual(nothing);
    const [first = {}] = subsets;
    const less = { ...endpoints, subsets: [{ ...first, notReadyAddresses: [] }] };
    const { create, update, remove } = decide({ service: bare, endpoints: less, slices });
    expect([create, remove]).toEqual([[], [slices[1]]]);
    expect(update.map(({ wanted }) => wanted['endpoints'])).toMatchObject([[{}, {}]]);
    expect(decide({ service: bare, slices }).remove).toEqual(slices);
  });

  test('an address that is told twice is there once, and not ready where that is told', () => {
    const ip = '10.1.2.3';
    const twice = { addresses: [{ ip }, { ip }, { ip: '10.1.2.4' }], notReadyAddresses: [{ ip }] };
    const [one] = made({ service: bare, endpoints: custom({ subsets: [twice, { addresses: [{ ip }] }] }) });
    expect(one?.['endpoints']).toEqual([
      { addresses: [ip], conditions: { ready: false } },
      { addresses: ['10.1.2.4'], conditions: { ready: true } },
    ]);
  });

  test('ports are written down once for all of their addresses, and not where no slice holds them', () => {
    let written = 0;
    const port = { name: { toJSON: () => ++written && 'p' }, port: 80 };
    const addresses = Array.from({ length: 500 }, (_, i) => ({ ip: `10.1.${i >> 8}.${i & 255}` }));
    const many = (count: number) => custom({ subsets: [{ addresses, ports: Array(count).fill(port) }] });
    const mirrored = made({ service: bare, endpoints: many(20_000) });
    expect(mirrored.map((one) => (one['ports'] as unknown[]).length)).toEqual(Array(5).fill(20_000));
    expect(written).toBe(20_000);
    expect(made({ service: bare, endpoints: many(20_001) })).toEqual([]);
  });

  test('a mirror that a user edits is put right', () => {
    const [first, second] = slices as [KubeObject, KubeObject];
    const edited = { ...first, ports: [{ port: 1 }] };
    const { update } = decide({ service: bare, endpoints, slices: [edited, second] });
    expect(update.map(({ wanted }) => wanted['ports'])).toEqual([first['ports']]);
  });

  test('a hundred addresses in one slice', () => {
    const addresses = Array.from({ length: 150 }, (_, i) => ({ ip: `10.1.0.${i}` }));
    const many = made({ service: bare, endpoints: custom({ subsets: [{ addresses }] }) });
    expect(many.map((one) => (one['endpoints'] as unknown[]).length)).toEqual([100, 50]);
    expect(new Set(many.map(({ metadata }) => metadata.name)).size).toBe(2);
  });

  test.each([
    ['by its user', { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } }],
    ['as a lock of elections', { annotations: { 'control-plane.alpha.kubernetes.io/leader': '{}' } }],
  ])('not those marked %s', (_, metadata) => {
    expect(decide({ service: bare, endpoints: custom({}, metadata) })).toEqual(nothing);
  });

  test('also where it is but a name, unless that has a selector', () => {
    const name = { type: 'ExternalName', externalName: 'x' };
    const [mirror] = made({ service: service(name), endpoints: custom() });
    expect(mirror?.['endpoints']).toMatchObject([{ addresses: ['10.1.2.3'] }]);
    const selecting = service({ ...name, selector: { app: 'web' } });
    const steps = decide({ service: selecting, endpoints: custom(), slices: [mirror as KubeObject] });
    expect(steps).toEqual({ ...nothing, remove: [mirror] });
  });
});
