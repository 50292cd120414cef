import { expect, test } from 'vitest';
import {
  adoptedAnnotation,
  reflectedFromAnnotation,
  reflectedUidAnnotation,
} from '../../../cluster/names.ts';
import type { Placement } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isShortOf, podsLedTo, readyEndpoints, servedAt, serviceTold } from '../../../splitter/led.ts';

const slice = (
  cluster: string | undefined,
  ready: (boolean | undefined)[],
  more: object = {},
): KubeObject => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    name: 'web-1',
    uid: 'u',
    labels: { 'kubernetes.io/service-name': 'web' },
    ...(cluster !== undefined && {
      annotations: { [reflectedFromAnnotation]: cluster, [reflectedUidAnnotation]: 'u' },
    }),
  },
  addressType: 'IPv4',
  endpoints: ready.map((is, i) => ({
    addresses: [`10.0.0.${i}`],
    conditions: is === undefined ? {} : { ready: is },
  })),
  ...more,
});

const onNode = (name: string) => ({
  addresses: ['10.0.0.1'],
  conditions: { ready: true },
  targetRef: { kind: 'Pod', name, uid: name },
});

test.each<[string, KubeObject[], Record<string, number>]>([
  ['nobody tells of any', [], {}],
  ["a user's own say nothing", [slice(undefined, [true])], {}],
  ['what says nothing of itself is ready', [slice('a', [true, undefined, false])], { a: 2 }],
  ['one that has none says so', [slice('a', [])], { a: 0 }],
  [
    'two families are the same pods',
    [slice('a', [true, true]), slice('a', [true], { addressType: 'IPv6' })],
    { a: 2 },
  ],
  [
    'one address in two slices is one pod',
    [slice('a', [true, true]), slice('a', [true, true, true]), slice('b', [true])],
    { a: 3, b: 1 },
  ],
  [
    'pods of one node’s network have one address, and are in one slice for each of their ports',
    [
      slice('a', [], { endpoints: ['w-1', 'w-2'].map(onNode) }),
      slice('a', [], { endpoints: [onNode('w-2')] }),
    ],
    { a: 2 },
  ],
])('ready endpoints: %s', (_what, slices, expected) => {
  expect(Object.fromEntries(readyEndpoints(slices))).toEqual(expected);
});

test('what Atoll put there itself is nobody’s word', () => {
  const ours = slice('a', [true]);
  const labels = { ...ours.metadata.labels, 'endpointslice.kubernetes.io/managed-by': 'atoll.dev' };
  expect(readyEndpoints([{ ...ours, metadata: { ...ours.metadata, labels } }]).size).toBe(0);
});

test.each<[string, number, Record<string, number>, boolean]>([
  ['no cluster tells of any', 2, {}, false],
  ['another one does', 2, { a: 2 }, true],
  ['there are fewer', 2, { b: 1 }, true],
  ['there are as many', 2, { b: 2 }, false],
  ['there is nothing to lead to', 0, { a: 2 }, false],
])('short of endpoints on b: %s', (_what, pods, ready, expected) => {
  expect(isShortOf(pods, new Map(Object.entries(ready)), 'b')).toBe(expected);
});

test('it belongs to the Service that its label names, where a cluster told of it', () => {
  expect(serviceTold(slice('a', []))).toBe('web');
  expect(serviceTold(slice(undefined, []))).toBeUndefined();
});

const followed = (kind: string, replicas: number | undefined, status: object, more: object = {}) => ({
  root: { apiVersion: 'apps/v1', kind, metadata: { name: 'w', uid: 'w', ...more } } as KubeObject,
  placement: {
    spec: { shares: { b: { phase: 'Joining', ...(replicas !== undefined && { replicas }) } } },
    status: { clusters: { b: { present: true, status } } },
  } as unknown as Placement,
});
const web = followed('Deployment', 3, { availableReplicas: 2 });

test.each<[string, ReturnType<typeof followed>[], number]>([
  ['those that are ready', [web], 2],
  ['of all that it selects', [web, followed('StatefulSet', 1, { availableReplicas: 1 })], 3],
  ['what a Job has done has no endpoint', [web, followed('Job', undefined, { succeeded: 1 })], 2],
  [
    'nor has a CronJob, nor what is not known of a Pod',
    [followed('CronJob', undefined, {}), followed('Pod', undefined, {})],
    0,
  ],
  [
    'what was adopted counts in its owner’s',
    [web, followed('ReplicaSet', 2, { availableReplicas: 2 }, { annotations: { [adoptedAnnotation]: 'w' } })],
    2,
  ],
])('pods that there are to be endpoints of: %s', (_what, all, expected) => {
  expect(podsLedTo(all, 'b')).toBe(expected);
  expect(podsLedTo(all, 'a')).toBe(0);
});

test.each<[string, object, boolean[] | undefined]>([
  ['one pod by its name', { 'statefulset.kubernetes.io/pod-name': 'db-2' }, [false, true, false]],
  ['one pod by its index', { app: 'db', 'apps.kubernetes.io/pod-index': '0' }, [true, false, false]],
  ['one that there is not', { 'statefulset.kubernetes.io/pod-name': 'db-7' }, [false, false, false]],
  ['all of them', { app: 'db' }, undefined],
])('a Service of %s is served where that is', (_, selector, expected) => {
  const template = { metadata: { labels: { app: 'db' } }, spec: {} };
  const root: KubeObject = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db' },
    spec: { replicas: 3, template },
  };
  const service: KubeObject = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 's' },
    spec: { selector },
  };
  const shares = {
    east: { phase: 'Active', replicas: 2, ordinalsStart: 0 },
    west: { phase: 'Active', replicas: 1, ordinalsStart: 2 },
  };
  const served = servedAt(service, [{ root, placement: { spec: { shares } } as unknown as Placement }]);
  expect(served && ['east', 'west', 'north'].map(served)).toEqual(expected);
  expect(servedAt(service, []), 'nobody knows of any').toBeUndefined();
});
