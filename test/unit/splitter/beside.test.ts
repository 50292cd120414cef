import { expect, test } from 'vitest';
import { Cache } from '../../../client/cache.ts';
import type { InformerSet } from '../../../client/informers.ts';
import { objectKey } from '../../../client/url.ts';
import {
  logicalClusterAnnotation,
  reflectedFromAnnotation,
  reflectedUidAnnotation,
} from '../../../cluster/names.ts';
import { placementName } from '../../../cluster/placement.ts';
import { readability } from '../../../cluster/readable.ts';
import type { Placement } from '../../../cluster/types.ts';
import { groupResource } from '../../../kube/gvk.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { besideOf } from '../../../splitter/beside.ts';
import { observe } from '../../../splitter/world.ts';

const slices = 'endpointslices.discovery.k8s.io';
const service = { group: '', version: 'v1', resource: 'services', kind: 'Service', name: 'web', uid: 's' };
const workload = {
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  kind: 'Deployment',
  name: 'web',
  uid: 'd',
};

const inShop = (name: string, uid: string, annotations: object = {}) => ({
  name,
  namespace: 'shop',
  uid,
  annotations: { [logicalClusterAnnotation]: 'team', ...annotations },
});

function placementOf(ref: typeof workload, spec: object, cluster: object): Placement {
  return {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'Placement',
    metadata: inShop(placementName(ref), `${ref.uid}-placement`),
    spec: { ref, clusters: ['west'], ...spec },
    status: { clusters: { east: { present: true, ...cluster }, west: { present: true, ...cluster } } },
  } as Placement;
}

const root: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { ...inShop('web', 'd'), generation: 1 },
  spec: { replicas: 2 },
};
const moving = placementOf(
  workload,
  {
    requires: [service],
    shares: { east: { phase: 'Active', replicas: 2 }, west: { phase: 'Joining', replicas: 2 } },
  },
  { share: { replicas: 2 }, observedGeneration: 1, status: { replicas: 2, availableReplicas: 2 } },
);
const leading = placementOf(
  service,
  { shares: { east: { phase: 'Active' }, west: { phase: 'Active' } } },
  {},
);
const told: KubeObject & Record<string, unknown> = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    ...inShop('web-east', 'e', { [reflectedFromAnnotation]: 'east', [reflectedUidAnnotation]: 'e' }),
    labels: { 'kubernetes.io/service-name': 'web' },
  },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.0.0.1'] }, { addresses: ['10.0.0.2'] }],
};

/**
 * A workload that moves from east, whose endpoints are told of, to west, which says so much of what may be read there and what else
 * is there.
 */
function besideMoving(
  said: Parameters<typeof readability>[0],
  more: readonly { of: string; object: KubeObject }[] = [],
) {
  const caches = new Map<string, Cache<KubeObject>>();
  const cacheOf = (of: string) => {
    const cache = caches.get(of) ?? new Cache<KubeObject>(() => {});
    caches.set(of, cache);
    return cache;
  };
  const informers = { for: (kind: { group: string; resource: string }) => cacheOf(groupResource(kind)) };
  const world = observe(informers as unknown as InformerSet);
  const west = {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'PhysicalCluster',
    metadata: { name: 'west', annotations: { [logicalClusterAnnotation]: 'root' } },
    status: { conditions: [{ type: 'Readable', ...readability(said) }] },
  };
  cacheOf('physicalclusters.atoll.dev').put(west);
  for (const placement of [moving, leading]) cacheOf('placements.atoll.dev').put(placement as KubeObject);
  cacheOf('deployments.apps').put(root);
  cacheOf(slices).put(told);
  for (const { of, object } of more) cacheOf(of).put(object);
  return { ...besideOf(world, objectKey(moving), moving, root, 0), world };
}

const services = ['db-0', 'db-1', 'all', 'nobody'].map((name) => {
  const selector = name.startsWith('db')
    ? { app: 'db', 'statefulset.kubernetes.io/pod-name': name }
    : { app: name === 'all' ? 'db' : 'none' };
  const ref = { ...service, name, uid: name };
  const object = { apiVersion: 'v1', kind: 'Service', metadata: inShop(name, name), spec: { selector } };
  return { ref, object: object as KubeObject, placement: placementOf(ref, {}, {}) };
});

test.each<[string, string[], boolean[] | undefined]>([
  ['one pod is told where that is', ['db-0'], [true, false]],
  ['each of two pods on either', ['db-0', 'db-1'], [true, true]],
  ['one pod, and what leads to nobody', ['db-1', 'nobody'], [false, true]],
  ['one pod, and all of them: on both', ['db-0', 'all'], undefined],
  ['what leads to nobody: on both, as nobody knows', ['nobody'], undefined],
])('the addresses of an Ingress before Services of %s', (_what, names, expected) => {
  const ref = { ...service, group: 'networking.k8s.io', resource: 'ingresses', kind: 'Ingress', uid: 'i' };
  const paths = names.map((name) => ({ path: `/${name}`, backend: { service: { name } } }));
  const ingress: KubeObject = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: inShop('web', 'i'),
    spec: { rules: [{ http: { paths } }] },
  };
  const set = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: inShop('db', 'db'),
    spec: { replicas: 2, template: { metadata: { labels: { app: 'db' } } } },
  };
  const requires = [ref, ...services.filter(({ ref: { name } }) => name !== 'nobody').map((one) => one.ref)];
  const of = { ...workload, resource: 'statefulsets', kind: 'StatefulSet', name: 'db', uid: 'db' };
  const shares = {
    east: { phase: 'Active', replicas: 1, ordinalsStart: 0 },
    west: { phase: 'Active', replicas: 1, ordinalsStart: 1 },
  };
  const leads = placementOf(ref, {}, {});
  const { world } = besideMoving({}, [
    { of: 'statefulsets.apps', object: set },
    { of: 'ingresses.networking.k8s.io', object: ingress },
    { of: 'placements.atoll.dev', object: placementOf(of, { requires, shares }, {}) as KubeObject },
    ...[leads, ...services.map(({ placement }) => placement)].map((one) => ({
      of: 'placements.atoll.dev',
      object: one as KubeObject,
    })),
    ...services.map(({ object }) => ({ of: 'services', object })),
  ]);
  const { isServed } = besideOf(world, objectKey(leads), leads, ingress, 0);
  expect(isServed && ['east', 'west'].map(isServed)).toEqual(expected);
});

test.each<[string, Parameters<typeof readability>[0], boolean]>([
  ['they are read', {}, true],
  ['nobody answers of them, which passes', { Unanswered: ['pods', slices] }, true],
  ['they may not be listed', { Forbidden: [slices] }, false],
  ['their list has no end', { Endless: [slices], Unanswered: ['pods'] }, false],
])('whether the endpoints of a target are waited for: %s', (_what, said, expected) => {
  expect(besideMoving(said).isUnled?.('west')).toBe(expected);
});

test.each<[string, Parameters<typeof readability>[0], boolean]>([
  ['they are read', { Forbidden: [slices] }, false],
  ['nobody answers of them', { Unanswered: ['pods'] }, true],
  ['they may not be listed', { Forbidden: ['pods'] }, true],
  ['their list has no end', { Endless: ['pods'] }, true],
])('whether pods stay where they are since nobody would see them go: %s', (_what, said, expected) => {
  expect(besideMoving(said).isBlind?.('west')).toBe(expected);
});

/** A StatefulSet of one pod, named after the Service, that has arrived; its pods bear this label. */
function named(app: string, selector: object = { app: 'web' }): { of: string; object: KubeObject }[] {
  const ref = { ...workload, resource: 'statefulsets', kind: 'StatefulSet', name: 'db', uid: 'db' };
  const template = { metadata: { labels: { app } } };
  const set = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { ...inShop('db', 'db'), generation: 1 },
    spec: { replicas: 1, serviceName: 'web', template },
  };
  const shares = { west: { phase: 'Active', replicas: 1 } };
  const status = { replicas: 1, readyReplicas: 1, availableReplicas: 1 };
  const placement = placementOf(ref, { requires: [service], shares }, { observedGeneration: 1, status });
  const from = { [reflectedFromAnnotation]: 'west', [reflectedUidAnnotation]: 'w' };
  const { labels } = told.metadata;
  const both = { ...told, metadata: { ...inShop('web-west', 'w', from), ...(labels && { labels }) } };
  const own = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: inShop('web', 's'),
    spec: { selector },
  };
  return [
    { of: 'statefulsets.apps', object: set },
    { of: 'placements.atoll.dev', object: placement as KubeObject },
    { of: 'services', object: own },
    { of: slices, object: both },
  ];
}

test.each<[string, string, object | undefined, boolean]>([
  ['it selects, too', 'web', undefined, true],
  ['are named after it, and not selected', 'db', undefined, false],
  ['it selects one of', 'db', { 'statefulset.kubernetes.io/pod-name': 'db-3' }, false],
])('whether a Service is to lead to the pods of a StatefulSet that %s', (_what, app, selector, expected) => {
  expect(besideMoving({}, named(app, selector)).isUnled?.('west')).toBe(expected);
});
