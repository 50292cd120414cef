import { expect, it } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { endpointsOf } from '../../kubelet/endpoints.ts';

type Conditions = Record<string, boolean>;
const ready = { ready: true, serving: true, terminating: false };
const ending = { ready: false, serving: true, terminating: true };
const over = { ready: false, serving: false, terminating: true };
const starting = { ready: false, serving: false, terminating: false };

const slice = (name: string, endpoints: Record<string, Conditions>): KubeObject => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name },
  ports: [{ port: 80 }],
  endpoints: Object.entries(endpoints).map(([ip, conditions]) => ({ addresses: [ip], conditions })),
});

it.each<[string, KubeObject[], string[]]>([
  ['what is ready', [slice('a', { e: ready, f: starting })], ['e']],
  ['what says nothing of itself', [slice('a', { e: {} })], ['e']],
  ['what is ready anywhere, and not what ends', [slice('a', { e: ending }), slice('b', { f: ready })], ['f']],
  ['what ends and still serves, where nothing is ready', [slice('a', { e: ending, f: over })], ['e']],
  ['nothing, where all only starts', [slice('a', { e: starting })], []],
  [
    'an address of which one slice says that it ends, and another that it is ready, whatever their order',
    [slice('b', { e: ending }), slice('a', { e: ready })],
    ['e'],
  ],
  [
    'what ends, though another slice says so, too',
    [slice('a', { e: ending }), slice('b', { e: ending })],
    ['e'],
  ],
])('a kube-proxy leads to %s', (_, slices, ips) => {
  expect(endpointsOf(slices)).toEqual(ips.map((ip) => ({ ip, port: 80 })));
});
