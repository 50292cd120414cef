import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { validateCreate } from '../../../../kube/validation/index.ts';
import { infoOf, named } from '../kinds.ts';
import { causesOf } from './refused.ts';

const storage = 'storage.k8s.io/v1';
const network = 'networking.k8s.io/v1';
const flow = 'flowcontrol.apiserver.k8s.io/v1';
const node = (drivers: object[]) => named(storage, 'CSINode', { spec: { drivers } });
const driver = (spec: object) => named(storage, 'CSIDriver', { spec });
const ranges = (cidrs: string[]) => named(network, 'ServiceCIDR', { spec: { cidrs } });
const address = (name: string, parentRef?: object) =>
  named(network, 'IPAddress', { metadata: { name }, spec: parentRef ? { parentRef } : {} });
const slice = (endpoint: object, addressType = 'IPv4') =>
  named('discovery.k8s.io/v1', 'EndpointSlice', {
    addressType,
    endpoints: [{ addresses: ['10.0.0.1'], ...endpoint }],
  });
const level = (spec: object) => named(flow, 'PriorityLevelConfiguration', { spec });
const queuing = (value: object) =>
  level({ type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing: value } } });
const attachment = (source: object) =>
  named(storage, 'VolumeAttachment', { spec: { attacher: 'd.example.com', nodeName: 'n', source } });

const refused: [string, KubeObject, string[]][] = [
  [
    'topologies that repeat',
    named(storage, 'StorageClass', {
      provisioner: 'example.com/p',
      allowedTopologies: [
        { matchLabelExpressions: [{ key: 'zone', values: ['a'] }] },
        { matchLabelExpressions: [{ key: 'zone', values: ['a'] }] },
      ],
    }),
    ['allowedTopologies[1].matchLabelExpressions: Duplicate value: ""'],
  ],
  [
    'a topology without values',
    named(storage, 'StorageClass', {
      provisioner: 'example.com/p',
      allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: [] }] }],
    }),
    ['allowedTopologies[0].matchLabelExpressions[0].values: Required value'],
  ],
  [
    'tokens that live too short or too long',
    driver({
      tokenRequests: [
        { audience: 'a', expirationSeconds: 1 },
        { audience: 'b', expirationSeconds: 2 ** 33 },
        { audience: 'a' },
      ],
    }),
    [
      'spec.tokenRequests[0].expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes',
      'spec.tokenRequests[1].expirationSeconds: Invalid value: 8589934592: may not specify a duration larger than 2^32 seconds',
      'spec.tokenRequests[2].audience: Duplicate value: "a"',
    ],
  ],
  [
    'a lifecycle mode of its own',
    driver({ volumeLifecycleModes: ['Both'] }),
    ['spec.volumeLifecycleModes: Unsupported value: "Both": supported values: "Persistent", "Ephemeral"'],
  ],
  [
    'topology keys that repeat',
    node([{ name: 'd.example.com', nodeID: 'n', topologyKeys: ['zone', 'zone'] }]),
    ['spec.drivers[0]: Duplicate value: "zone"'],
  ],
  [
    'a negative count of volumes',
    node([{ name: 'd.example.com', nodeID: 'n', allocatable: { count: -1 } }]),
    ['spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0'],
  ],
  [
    'an attachment of nothing',
    attachment({}),
    ['spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName'],
  ],
  [
    'an attachment of two things',
    attachment({ persistentVolumeName: 'a', inlineVolumeSpec: {} }),
    ['spec.source: Forbidden: must specify exactly one of inlineVolumeSpec and persistentVolumeName'],
  ],
  [
    'a range with bits beyond its prefix',
    ranges(['10.0.0.1/24']),
    ['spec.cidrs[0]: Invalid value: "10.0.0.1/24": must not have bits set beyond the prefix length'],
  ],
  [
    'a range that is not in canonical form',
    ranges(['FD00:0:0::/48']),
    ['spec.cidrs[0]: Invalid value: "FD00:0:0::/48": must be in canonical form ("fd00::/48")'],
  ],
  [
    'two ranges of one family',
    ranges(['10.0.0.0/24', '10.0.1.0/24']),
    [
      'spec.cidrs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
    ],
  ],
  ['an address of nobody', address('10.0.0.1'), ['spec.parentRef: Required value']],
  [
    'an address with leading zeros',
    address('10.0.0.01', { resource: 'services', name: 'web' }),
    ['metadata.name: Invalid value: "10.0.0.01": must not have leading 0s'],
  ],
  [
    'hints for a node that cannot be',
    slice({ hints: { forNodes: [{ name: 'a' }, { name: 'a' }] } }),
    ['endpoints[0].hints.forNodes[1].name: Duplicate value: "a"'],
  ],
  [
    'an IPv6 address among IPv4',
    slice({ addresses: ['fd00::1'] }),
    ['endpoints[0].addresses: Invalid value: "fd00::1": must be an IPv4 address'],
  ],
  [
    'a domain of one segment',
    slice({ addresses: ['web'] }, 'FQDN'),
    [
      'endpoints[0].addresses[0]: Invalid value: "web": should be a domain with at least two segments separated by dots',
    ],
  ],
  ['a level without a type', level({}), ['spec.type: Required value']],
  [
    'hands larger than the deck',
    queuing({ queues: 2, handSize: 3, queueLengthLimit: 1 }),
    ['spec.limited.limitResponse.queuing.handSize: Invalid value: 3: should not be greater than queues (2)'],
  ],
  [
    'more hands than a hash can deal',
    queuing({ queues: 1024, handSize: 7, queueLengthLimit: 1 }),
    [
      'spec.limited.limitResponse.queuing.handSize: Invalid value: 7: required entropy bits of deckSize 1024 and handSize 7 should not be greater than 60',
    ],
  ],
  [
    'tolerations that repeat',
    named('node.k8s.io/v1', 'RuntimeClass', {
      handler: 'h',
      scheduling: {
        tolerations: [
          { key: 'a', operator: 'Exists' },
          { key: 'a', operator: 'Exists' },
        ],
      },
    }),
    [
      'scheduling.tolerations[1]: Duplicate value: {"Key":"a","Operator":"Exists","Value":"","Effect":"","TolerationSeconds":null}',
    ],
  ],
  [
    'a request for a certificate that is none',
    named('certificates.k8s.io/v1', 'CertificateSigningRequest', {
      spec: { request: 'AQ==', signerName: 'other', usages: ['any', 'any'], expirationSeconds: 1 },
    }),
    [
      'spec.request: Invalid value: "AQ==": PEM block type must be CERTIFICATE REQUEST',
      'spec.usages[1]: Duplicate value: "any"',
      'spec.signerName: Invalid value: "other": must be a fully qualified domain and path of the form \'example.com/signer-name\'',
      'spec.expirationSeconds: Invalid value: 1: may not specify a duration less than 600 seconds (10 minutes)',
    ],
  ],
];

describe('validateCreate of kinds of the cluster', () => {
  it.each(refused)('refuses %s', (_what, object, expected) => {
    expect(causesOf(object)).toEqual(expected);
  });

  it('lets a port of any number be in an EndpointSlice', () => {
    expect(causesOf({ ...slice({}), ports: [{ port: -1 }] })).toEqual([]);
  });
});

describe('validateUpdate of kinds of the cluster', () => {
  it('lets a ServiceCIDR grow by one range and do nothing else', () => {
    const before = ranges(['10.0.0.0/24']);
    expect(causesOf(ranges(['10.0.0.0/24', 'fd00::/48']), before)).toEqual([]);
    expect(causesOf(ranges(['10.1.0.0/24']), before)).toEqual([
      'spec.cidrs[0]: Invalid value: "10.1.0.0/24": field is immutable',
    ]);
    expect(causesOf(ranges([]), before)).toEqual(['spec.cidrs: Invalid value: []: field is immutable']);
  });

  it('shows what an address may not be moved to', () => {
    const before = address('10.0.0.1', { resource: 'services', name: 'web' });
    expect(causesOf(address('10.0.0.1', { resource: 'services', name: 'api' }), before)).toEqual([
      'spec.parentRef: Invalid value: {"Group":"","Resource":"services","Namespace":"","Name":"api"}: field is immutable',
    ]);
  });
});

describe('events', () => {
  const event = named('v1', 'Event', {
    involvedObject: { kind: 'Pod', namespace: 'reef', name: 'web' },
    eventTime: '2026-01-01T00:00:00.000000Z',
    reportingComponent: 'example.com/c',
    reportingInstance: 'c-1',
    action: 'Start',
    reason: 'Started',
  });
  const causes = (rest: object, group: string) =>
    validateCreate({ ...event, ...rest }, infoOf(event), { group, version: 'v1' }).map(
      (cause) => cause.field,
    );

  it.each<[string, object, string[], string[]]>([
    ['no type', {}, ['type'], []],
    [
      'a series of one',
      { type: 'Normal', series: { count: 1 } },
      ['series.count', 'series.lastObservedTime'],
      [],
    ],
    ['a count', { type: 'Normal', count: 1 }, ['count'], []],
    ['no reason', { type: 'Normal', reason: '' }, ['reason'], ['reason']],
    [
      'no controller',
      { type: 'Normal', reportingComponent: '' },
      Array(3).fill('reportingController'),
      Array(3).fill('reportingComponent'),
    ],
  ])('with %s are told of by the rules of the group that the client speaks', (_what, rest, inNew, inOld) => {
    expect(causes(rest, 'events.k8s.io')).toEqual(inNew);
    expect(causes(rest, '')).toEqual(inOld);
  });
});
