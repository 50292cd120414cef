import { expect, test } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { warningsOf } from '../../../../kube/warnings/index.ts';
import { infoOf, named } from '../kinds.ts';

const zone = 'failure-domain.beta.kubernetes.io/zone';
const instead = 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead';
const backend = { service: { name: 'web', port: { number: 80 } } };

function ingress(more: object): KubeObject {
  const object = named('networking.k8s.io/v1', 'Ingress', { spec: { defaultBackend: backend, ...more } });
  object.metadata.annotations = { 'kubernetes.io/ingress.class': 'x' };
  return object;
}

function policy(peer: object): KubeObject {
  const rule = (end: string) => [{}, { [end]: [{ podSelector: {} }, { ipBlock: peer }] }];
  const spec = { podSelector: {}, ingress: rule('from'), egress: rule('to') };
  return named('networking.k8s.io/v1', 'NetworkPolicy', { spec });
}

function configuration(kind: string, name: string): KubeObject {
  const object = named('admissionregistration.k8s.io/v1', kind, {});
  object.metadata.name = name;
  return object;
}

const range = (path: string) =>
  `${path}: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)`;
const reserved =
  'metadata.name: names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API';

const table: [string, KubeObject, string[]][] = [
  [
    'an Ingress with a class of before',
    ingress({}),
    [`annotation "kubernetes.io/ingress.class" is deprecated, please use 'spec.ingressClassName' instead`],
  ],
  ['an Ingress with both', ingress({ ingressClassName: 'x' }), []],
  [
    'ranges of addresses with more than the network',
    policy({ cidr: '10.0.0.1/8', except: ['10.1.0.0/16', '10.0.0.1/8'] }),
    ['spec.ingress[1].from[1].ipBlock', 'spec.egress[1].to[1].ipBlock'].flatMap((path) => [
      range(`${path}.cidr`),
      range(`${path}.except[1]`),
    ]),
  ],
  [
    'a RuntimeClass by an old label of nodes',
    named('node.k8s.io/v1', 'RuntimeClass', {
      handler: 'h',
      scheduling: { nodeSelector: { [zone]: 'a', other: 'b' } },
    }),
    [`scheduling.nodeSelector: ${instead}`],
  ],
  [
    'a StorageClass by one',
    named('storage.k8s.io/v1', 'StorageClass', {
      provisioner: 'p',
      allowedTopologies: [{}, { matchLabelExpressions: [{ key: zone, values: ['a'] }] }],
    }),
    [`allowedTopologies[1].matchLabelExpressions[0].key: ${instead}`],
  ],
  [
    'a CSIStorageCapacity by two',
    named('storage.k8s.io/v1', 'CSIStorageCapacity', {
      storageClassName: 's',
      nodeTopology: { matchLabels: { [zone]: 'a' }, matchExpressions: [{ key: zone, operator: 'Exists' }] },
    }),
    [
      `nodeTopology.matchExpressions[0].key: ${zone} is ${instead}`,
      `nodeTopology.matchLabels.${zone}: ${instead}`,
    ],
  ],
  [
    'a driver in capitals',
    named('resource.k8s.io/v1', 'ResourceSlice', { spec: { driver: 'A.example' } }),
    ['spec.driver: driver names should be lowercase; "A.example" contains uppercase characters'],
  ],
  [
    'a policy with a name of files',
    configuration('ValidatingAdmissionPolicy', 'a.static.k8s.io'),
    [reserved],
  ],
  ['one with another', configuration('ValidatingAdmissionPolicy', 'a.k8s.io'), []],
];

test.each(table)('%s', (_name, object, expected) => {
  expect(warningsOf(object, undefined, infoOf(object))).toEqual(expected);
});

test('the class of an Ingress is told of when it is made; the rest with each update', () => {
  for (const [name, object, expected] of table) {
    const told = warningsOf(object, object, infoOf(object));
    expect(told, name).toEqual(object.kind === 'Ingress' ? [] : expected);
  }
});
