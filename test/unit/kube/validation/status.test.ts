import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { validateStatus } from '../../../../kube/validation/index.ts';

type Row = readonly [what: string, before: object, now: object, causes: readonly string[]];

/** Of a kind, what is said of a status that follows another. */
function check(group: string, kind: string, spec: object, rows: readonly Row[]): void {
  const object = (status: object) => {
    const apiVersion = group === '' ? 'v1' : `${group}/v1`;
    return { apiVersion, kind, metadata: { name: 'a' }, spec, status } as unknown as KubeObject;
  };
  test.each(rows)(`${kind}: %s`, (_, before, now, causes) => {
    const told = validateStatus(object(now), object(before), {
      group,
      version: 'v1',
      kind,
      resource: '',
      namespaced: true,
    });
    expect(told.map(({ field, message }) => `${field}: ${message}`)).toEqual(causes);
  });
}

const is = (type: string) => ({ type, status: 'True' });

describe('what a user tells as a status', () => {
  const given = { request: 'r1', driver: 'd.example.com', pool: 'p', device: 'dev-1' };
  const allocation = { devices: { results: [given] } };
  const but = (changed: object) => ({ allocation: { devices: { results: [{ ...given, ...changed }] } } });
  const pod = { resource: 'pods', name: 'p', uid: 'u' };
  const told = { driver: 'd.example.com', pool: 'p', device: 'dev-1' };
  const unnamed =
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
  check(
    'resource.k8s.io',
    'ResourceClaim',
    { devices: { requests: [{ name: 'r1' }, { name: 'r2', firstAvailable: [{ name: 's1' }] }] } },
    [
      ['given devices, and used', {}, { allocation, reservedFor: [pod], devices: [told] }, []],
      ['of an alternative', {}, but({ request: 'r2/s1' }), []],
      [
        'used before it is given any',
        {},
        { reservedFor: [pod] },
        ['status.reservedFor: Forbidden: may not be specified when `allocated` is not set'],
      ],
      [
        'used twice by the same, and by nobody',
        {},
        { allocation, reservedFor: [pod, pod, {}] },
        [
          'status.reservedFor[2].resource: Required value',
          'status.reservedFor[2].name: Required value',
          'status.reservedFor[2].uid: Required value',
          'status.reservedFor[1]: Duplicate value: "u"',
        ],
      ],
      [
        'for no request of its',
        {},
        but({ request: 'r2/zz' }),
        [`status.allocation.devices.results[0].request: Invalid value: "r2/zz": ${unnamed}`],
      ],
      [
        'of no pool, shared as no uid',
        {},
        but({ pool: '', shareID: 'x' }),
        [
          'status.allocation.devices.results[0].pool: Required value',
          'status.allocation.devices.results[0].shareID: Invalid value: "x": error validating uid: invalid UUID length: 1',
        ],
      ],
      [
        'configured by nobody',
        {},
        { allocation: { devices: { results: [given], config: [{ source: 'X' }] } } },
        [
          'status.allocation.devices.config[0].source: Unsupported value: "X": supported values: "FromClaim", "FromClass"',
          'status.allocation.devices.config[0].opaque: Required value',
        ],
      ],
      [
        'told of a device that is not its',
        {},
        { allocation, devices: [{ ...told, device: 'other' }] },
        [
          'status.devices[0]: Invalid value: {"Driver":"d.example.com","Pool":"p","Device":"other","ShareID":""}: must be an allocated device in the claim',
        ],
      ],
      [
        'told of twice, and of its network',
        {},
        {
          allocation,
          devices: [told, { ...told, data: [1], networkData: { ips: ['1.1.1.1', '10.0.0.1/24'] } }],
        },
        [
          'status.devices[1].data: Invalid value: "<value omitted>": must be a valid JSON object',
          'status.devices[1].networkData.ips[0]: Invalid value: "1.1.1.1": must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)',
          'status.devices[1]: Duplicate value: {"Driver":"d.example.com","Pool":"p","Device":"dev-1","ShareID":""}',
        ],
      ],
      ['given back', { allocation }, {}, []],
      [
        'given another',
        { allocation },
        but({ device: 'dev-2' }),
        [
          'status.allocation: Invalid value: {"Devices":{"Results":[{"Request":"r1","Driver":"d.example.com","Pool":"p","Device":"dev-2","AdminAccess":null,"Tolerations":null,"BindingConditions":null,"BindingFailureConditions":null,"ShareID":null,"ConsumedCapacity":null}],"Config":null},"NodeSelector":null,"AllocationTimestamp":null}: field is immutable',
        ],
      ],
    ],
  );

  check('apps', 'Deployment', {}, [
    ['as a rule', {}, { replicas: 2, readyReplicas: 1, availableReplicas: 1 }, []],
    [
      'fewer than none',
      {},
      { unavailableReplicas: -1 },
      ['status.unavailableReplicas: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'more than there are',
      {},
      { replicas: 1, readyReplicas: 2 },
      ['status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas'],
    ],
    [
      'counted down',
      { collisionCount: 2 },
      { collisionCount: 1 },
      ['status.collisionCount: Invalid value: 1: cannot be decremented'],
    ],
  ]);
  check('', 'Node', {}, [
    ['as a rule', {}, { capacity: { cpu: '4' }, addresses: [{ type: 'InternalIP', address: 'a' }] }, []],
    [
      'more than can be, and an address twice',
      {},
      {
        capacity: { cpu: '-1' },
        addresses: [
          { type: 'InternalIP', address: 'a' },
          { type: 'InternalIP', address: 'a' },
        ],
      },
      [
        'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
        'status.addresses[1]: Duplicate value: {"Type":"InternalIP","Address":"a"}',
      ],
    ],
  ]);
  check('admissionregistration.k8s.io', 'ValidatingAdmissionPolicy', {}, [
    [
      'of nothing, and by no name',
      {},
      {
        typeChecking: { expressionWarnings: [{ fieldRef: ' ', warning: '' }] },
        conditions: [{ ...is('A'), reason: 'B', observedGeneration: -1 }],
      },
      [
        'status.typeChecking.expressionWarnings[0].warning: Required value',
        'status.typeChecking.expressionWarnings[0].fieldRef: Required value',
        'status.conditions[0].observedGeneration: Invalid value: -1: must be greater than or equal to zero',
        'status.conditions[0].lastTransitionTime: Required value',
      ],
    ],
  ]);
  check(
    '',
    'Pod',
    {
      containers: [
        {
          name: 'c',
          resources: { claims: [{ name: 'k', request: 'r' }], requests: { 'example.com/a': '1' } },
        },
      ],
    },
    [
      [
        'of its devices',
        {},
        {
          containerStatuses: [
            {
              name: 'c',
              allocatedResourcesStatus: [
                { name: 'example.com/a', resources: [{ resourceID: '1', health: 'Healthy' }] },
                { name: 'claim:k/r', resources: [{ resourceID: '1', health: 'Unknown' }] },
              ],
            },
          ],
        },
        [],
      ],
      [
        'of devices of others, twice, and how',
        {},
        {
          containerStatuses: [
            {
              name: 'c',
              allocatedResourcesStatus: [
                {
                  name: 'claim:k',
                  resources: [
                    { resourceID: '1', health: 'Healthy' },
                    { resourceID: '1', health: 'Ill', message: '' },
                  ],
                },
              ],
            },
          ],
          ephemeralContainerStatuses: [{ name: 'e', allocatedResourcesStatus: [{ name: 'x' }] }],
        },
        [
          `status.containerStatuses[0].allocatedResourcesStatus[0].name: Invalid value: "claim:k": must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty`,
          'status.containerStatuses[0].allocatedResourcesStatus[0].resources[1].health: Unsupported value: "Ill": supported values: "Healthy", "Unhealthy", "Unknown"',
          'status.containerStatuses[0].allocatedResourcesStatus[0].resources[1].message: Required value: must be non-empty if specified',
          'status.containerStatuses[0].allocatedResourcesStatus[0].resources[1].resourceID: Duplicate value: "1"',
          'status.ephemeralContainerStatuses[0].allocatedResourcesStatus: Forbidden: must not be specified in container status',
        ],
      ],
      [
        'of a claim for what nobody asked for',
        {},
        {
          extendedResourceClaimStatus: {
            requestMappings: [{ containerName: 'c', resourceName: 'b', requestName: 'r' }],
          },
        },
        [
          'status.extendedResourceClaimStatus.requestMappings[0].resourceName: Invalid value: "b": must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests',
          'status.extendedResourceClaimStatus.resourceClaimName: Required value',
        ],
      ],
    ],
  );
  check('batch', 'Job', { completions: 5, completionMode: 'Indexed' }, [
    ['running', {}, { startTime: '2024-01-02T03:04:05Z', active: 2, ready: 1 }, []],
    [
      'taken back',
      { conditions: [is('Failed'), is('FailureTarget')], startTime: '2024-01-02T03:04:05Z' },
      { startTime: '2024-01-02T03:04:05Z' },
      [
        'status.conditions: Invalid value: cannot disable the terminal Failed=True condition',
        'status.conditions: Invalid value: cannot disable the terminal FailureTarget=True condition',
      ],
    ],
    [
      'counted down to none, which is not written',
      { failed: 1, succeeded: 1 },
      {},
      [
        'status.failed: Invalid value: 0: cannot decrease the failed counter',
        'status.succeeded: Invalid value: 0: cannot decrease the succeeded counter',
      ],
    ],
    [
      'complete at no time',
      { startTime: '2024-01-02T03:04:05Z' },
      { startTime: '2024-01-02T03:04:05Z', conditions: [is('Complete'), is('SuccessCriteriaMet')] },
      ['status.completionTime: Required value: completionTime is required for Complete jobs'],
    ],
    ['what was wrong before', { completedIndexes: 'x' }, { completedIndexes: 'x', active: 1 }, []],
    [
      'an index too many',
      {},
      { completedIndexes: '1,3-5' },
      [
        'status.completedIndexes: Invalid value: "1,3-5": error parsing completedIndexes: too large index: "5"',
      ],
    ],
  ]);
  check('', 'Pod', { restartPolicy: 'Never', containers: [{ name: 'c' }] }, [
    ['two families', {}, { podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] }, []],
    ['an address that was there', { podIPs: [{ ip: 'x' }] }, { podIPs: [{ ip: 'x' }] }, []],
    [
      'no address',
      {},
      { podIPs: [{ ip: 'x' }] },
      ['status.podIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
    ],
    [
      'running again',
      { containerStatuses: [{ name: 'c', state: { terminated: { exitCode: 1 } } }] },
      { containerStatuses: [{ name: 'c', state: { running: {} } }] },
      ['status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state'],
    ],
    [
      'running again, and ended',
      { containerStatuses: [{ name: 'c', state: { terminated: { exitCode: 1 } } }] },
      {
        containerStatuses: [
          { name: 'c', state: { terminated: { exitCode: 1 } } },
          { name: 'c', state: { running: {} } },
        ],
      },
      ['status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state'],
    ],
  ]);
  check('', 'Service', { type: 'ClusterIP' }, [
    [
      'of another type',
      {},
      { loadBalancer: { ingress: [{ ip: '10.0.0.1', ipMode: 'VIP' }] } },
      ["status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"],
    ],
  ]);
  check('networking.k8s.io', 'Ingress', {}, [
    [
      'an address for a name',
      {},
      { loadBalancer: { ingress: [{ hostname: '10.0.0.1' }] } },
      [
        'status.loadBalancer.ingress[0].hostname: Invalid value: "10.0.0.1": must be a DNS name, not an IP address',
      ],
    ],
  ]);
  check('', 'PersistentVolumeClaim', { accessModes: ['ReadWriteOnce'] }, [
    ['grown', {}, { capacity: { storage: '2Gi' }, allocatedResources: { storage: '2Gi' } }, []],
    [
      'of what it has not',
      {},
      { allocatedResources: { cpu: '1' } },
      ['status.allocatedResources: Unsupported value: "cpu": supported values: "storage"'],
    ],
  ]);
  check('policy', 'PodDisruptionBudget', {}, [
    [
      'for no reason',
      {},
      { conditions: [{ ...is('A'), lastTransitionTime: '2024-01-02T03:04:05Z' }] },
      ['status.conditions[0].reason: Required value'],
    ],
  ]);
});

test('what was told before is read once, however much there is', () => {
  let read = 0;
  const ingress = Array.from({ length: 100 }, (_, i) => ({ ip: `10.0.0.${i}`, ipMode: 'VIP' }));
  const address = (each: object) =>
    Object.defineProperty({ ...each }, 'ip', { get: () => `10.0.1.${read++ % 100}`, enumerable: true });
  const statusOf = (list: object[]) => ({ loadBalancer: { ingress: list } });
  for (const [group, kind] of [
    ['', 'Service'],
    ['networking.k8s.io', 'Ingress'],
  ] as const) {
    read = 0;
    const object = (status: object) =>
      ({
        apiVersion: 'v1',
        kind,
        metadata: {},
        spec: { type: 'LoadBalancer' },
        status,
      }) as unknown as KubeObject;
    const info = { group, version: 'v1', kind, resource: '', namespaced: true };
    expect(validateStatus(object(statusOf(ingress)), object(statusOf(ingress.map(address))), info)).toEqual(
      [],
    );
    expect(read).toBe(100);
  }
});

test('a Pod does not become a mirror by what is told of its status', () => {
  const pod = (annotations: object) =>
    ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a', annotations },
      spec: {},
      status: {},
    }) as unknown as KubeObject;
  const info = { group: '', version: 'v1', kind: 'Pod', resource: 'pods', namespaced: true };
  const mirror = 'kubernetes.io/config.mirror';
  const said = (now: object, before: object) =>
    validateStatus(pod(now), pod(before), info).map(({ field, message }) => `${field}: ${message}`);
  const at = `metadata.annotations[${mirror}]`;
  expect(said({ [mirror]: 'x' }, {})).toEqual([`${at}: Forbidden: may not add mirror pod annotation`]);
  expect(said({}, { [mirror]: 'x' })).toEqual([
    `${at}: Forbidden: may not remove or update mirror pod annotation`,
  ]);
  expect(said({ [mirror]: 'x', a: 'b' }, { [mirror]: 'x' })).toEqual([]);
});
