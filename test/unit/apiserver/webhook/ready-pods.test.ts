import { expect, test } from 'vitest';
import { readyPods } from '../../../../apiserver/webhook/resolve.ts';
import { reflectedAs } from '../../../../cluster/reflected.ts';
import type { KubeObject } from '../../../../kube/object.ts';

const ref = (name: string, rest: object = {}) => ({
  kind: 'Pod',
  name,
  uid: `uid-${name}`,
  namespace: 'ns',
  ...rest,
});

function slice(endpoints: object[], { service = 'web', from = ['east'], ports = [8443] } = {}): KubeObject {
  const annotations = from.length > 0 ? reflectedAs({}, 'u', from) : {};
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 's', uid: 'u', labels: { 'kubernetes.io/service-name': service }, annotations },
    endpoints,
    ports: ports.map((port, at) => ({ name: at === 0 ? 'api' : `other-${at}`, port })),
  };
}

const a = { addresses: ['10.0.0.1'], conditions: { ready: true }, targetRef: ref('a') };

test.each<[string, KubeObject[], [string, number][]]>([
  ['ready', [slice([a])], [['a', 8443]]],
  ['of which nothing is said', [slice([{ ...a, conditions: {} }])], [['a', 8443]]],
  ['not ready', [slice([{ ...a, conditions: { ready: false, serving: true } }])], []],
  [
    'in several slices',
    [slice([a]), slice([a, { ...a, targetRef: ref('b') }])],
    [
      ['a', 8443],
      ['b', 8443],
    ],
  ],
  ['of another Service', [slice([a], { service: 'other' })], []],
  ['of a slice that no cluster has', [slice([a], { from: [] })], []],
  ['that are no pods', [slice([{ ...a, targetRef: { ...ref('a'), kind: 'Node' } }])], []],
  [
    'that nobody knows',
    [slice([{ addresses: ['10.0.0.1'] }, { ...a, targetRef: { kind: 'Pod', name: 'a' } }])],
    [],
  ],
  [
    'by their own ports',
    [slice([a], { ports: [1, 2] }), slice([{ ...a, targetRef: ref('b') }], { ports: [3] })],
    [
      ['a', 1],
      ['b', 3],
    ],
  ],
  ['without that port', [slice([a], { ports: [] })], []],
])('pods %s', (_what, slices, expected) => {
  expect(readyPods(slices, 'web', 'api').map(({ pod, port }) => [pod, port])).toEqual(expected);
});
