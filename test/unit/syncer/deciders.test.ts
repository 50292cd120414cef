import { describe, expect, test } from 'vitest';
import { locatorAnnotation } from '../../../cluster/names.ts';
import type { Locator, PhysicalCluster } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { allocatable } from '../../../syncer/allocatable.ts';
import { ownership, readLocator } from '../../../syncer/ownership.ts';
import { fingerprint, hasObserved, newRecord, sliceOf } from '../../../syncer/records.ts';
import { silenceOf } from '../../../syncer/silence.ts';
import { parseTarget, targetId } from '../../../syncer/target.ts';

const locator: Locator = {
  syncer: 's',
  cluster: 'root',
  namespace: 'n',
  resource: 'pods',
  name: 'x',
  uid: 'u',
};
const bearing = (annotation: string | undefined): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'x',
    ...(annotation !== undefined && { annotations: { [locatorAnnotation]: annotation } }),
  },
});

describe('ownership', () => {
  test.each([
    ['ours', JSON.stringify(locator)],
    ['former', JSON.stringify({ ...locator, uid: 'v' })],
    ['foreign', JSON.stringify({ ...locator, syncer: 't' })],
    ['ours', JSON.stringify({ ...locator, cluster: 'root:a' })],
    ['foreign', JSON.stringify({ ...locator, cluster: 'root:a', uid: 'v' })],
    ['foreign', JSON.stringify({ ...locator, namespace: 'm' })],
    ['foreign', JSON.stringify({ ...locator, resource: 'jobs.batch' })],
    ['foreign', JSON.stringify({ ...locator, name: 'y' })],
    ['foreign', JSON.stringify({ syncer: 's', cluster: 'root', namespace: 'n', uid: 'u' })],
    ['foreign', JSON.stringify({ ...locator, uid: 5 })],
    ['foreign', JSON.stringify([locator])],
    ['foreign', `{"__proto__":${JSON.stringify(locator)}}`],
    ['foreign', 'null'],
    ['foreign', '{'],
    ['foreign', ''],
    ['foreign', ' '.repeat(5000) + JSON.stringify(locator)],
    ['foreign', undefined],
  ])('%s: %s', (wanted, annotation) => {
    expect(ownership(bearing(annotation), locator)).toBe(wanted);
  });

  test('a path may be the former name of any logical cluster that has an id', () => {
    const before = JSON.stringify({ ...locator, cluster: 'root:a', uid: 'v' });
    expect(ownership(bearing(before), { ...locator, cluster: 'x5k2p9q8r7s6t5u4' })).toBe('former');
  });

  test('a locator is read as it was written', () => {
    expect(readLocator(bearing(JSON.stringify(locator)))).toEqual(locator);
  });
});

describe('silence', () => {
  const at = (seconds: number) => new Date(seconds * 1000).toISOString();
  const cluster = (last: number | undefined, ready: 'True' | 'False' | 'Unknown'): PhysicalCluster => ({
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'PhysicalCluster',
    metadata: { name: 'east', creationTimestamp: at(0) },
    status: {
      ...(last !== undefined && { lastHeartbeatTime: at(last) }),
      conditions: [{ type: 'Ready', status: ready, reason: '', message: '', lastTransitionTime: at(0) }],
    },
  });
  test.each<[string, PhysicalCluster, number, string | number]>([
    ['fresh', cluster(100, 'True'), 110, 30_000],
    ['just not yet', cluster(100, 'True'), 139, 1_000],
    ['silent', cluster(100, 'True'), 140, 'Unknown'],
    ['silent while it was not ready', cluster(100, 'False'), 200, 'Unknown'],
    ['silent and known to be', cluster(100, 'Unknown'), 200, 40_000],
    ['never heard of, just registered', cluster(undefined, 'False'), 10, 30_000],
    ['never heard of', cluster(undefined, 'False'), 50, 'Unknown'],
  ])('%s', (_, of, now, wanted) => {
    const verdict = silenceOf(of, { now: now * 1000, since: 0, silentMs: 40_000, stillMs: 300_000 });
    if (typeof wanted === 'number') expect(verdict).toEqual({ lookAgainAfter: wanted });
    else
      expect(verdict).toMatchObject({ condition: { type: 'Ready', status: wanted, reason: 'SyncerSilent' } });
  });
});

test('allocatable sums the nodes that take pods; what is no quantity counts as nothing', () => {
  const node = (amounts: Record<string, unknown>, unschedulable = false) =>
    ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {},
      spec: { unschedulable },
      status: { allocatable: amounts },
    }) as KubeObject;
  const nodes = [
    node({ cpu: '1500m', memory: '1Gi' }),
    node({ cpu: '2', memory: '512Mi', pods: 'many' }),
    node({ cpu: '8' }, true),
  ];
  expect(allocatable(nodes, 0)).toEqual({ cpu: '3500m', memory: '1536Mi' });
  expect(allocatable([], 0), 'whose nodes are yet to come').toEqual({});
  expect(allocatable([node({ cpu: '8', pods: '110' }, true)], 0), 'all cordoned').toEqual({
    cpu: '0',
    pods: '0',
  });
});

test.each<[string, (string | undefined)[], string]>([
  ['beside others does not count', ['node-role.kubernetes.io/control-plane', undefined], '2'],
  ['of before beside others does not count', ['node-role.kubernetes.io/master', undefined, undefined], '4'],
  ['counts where there are no others', ['node-role.kubernetes.io/control-plane'], '2'],
  ['is what its taint says: others count', ['example.com/gpu', undefined], '4'],
])('a node of the control plane %s', (_, keys, cpu) => {
  const nodes = keys.map(
    (key): KubeObject => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {},
      spec: { ...(key && { taints: [{ key, effect: 'NoSchedule' }] }) },
      status: { allocatable: { cpu: '2' } },
    }),
  );
  expect(allocatable(nodes, 0)).toEqual({ cpu });
});

test.each([
  ['True', 'for long', '8', '2026-01-01T00:00:00Z'],
  ['False', 'for so long that its pods are evicted', '0', '2026-01-02T00:00:00Z'],
  ['Unknown', 'for so long that its pods are evicted', '0', '2026-01-02T00:00:00Z'],
  ['Unknown', 'for a moment, in which its pods wait for it', '8', '2026-01-02T00:00:01Z'],
  ['False', 'since nobody can tell when', '0', 'once'],
])('a node that is Ready %s, %s, offers cpu %s', (status, _, cpu, lastTransitionTime) => {
  const node: KubeObject = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {},
    status: { allocatable: { cpu: '8' }, conditions: [{ type: 'Ready', status, lastTransitionTime }] },
  };
  expect(allocatable([node], Date.parse('2026-01-02T00:05:00Z'))).toEqual({ cpu });
});

describe('what the controller has observed', () => {
  const object = (kind: string, observedGeneration?: number): KubeObject => ({
    apiVersion: 'apps/v1',
    kind,
    metadata: {},
    status: { ...(observedGeneration !== undefined && { observedGeneration }) },
  });
  test.each([
    ['Deployment', undefined, false],
    ['Deployment', 2, false],
    ['Deployment', 3, true],
    ['StatefulSet', 4, true],
    ['ConfigMap', undefined, true],
    ['Job', undefined, true],
  ])('%s at %s of 3: %s', (kind, observed, wanted) => {
    expect(hasObserved(object(kind, observed), 3)).toBe(wanted);
  });
});

describe('slices', () => {
  const share = { apiVersion: '', kind: 'Share', metadata: {} };
  const error = { reason: 'R', message: 'm' };
  test('nothing is said before anything is known', () => {
    expect(sliceOf(share, newRecord(), undefined)).toBeUndefined();
  });
  test('absent is said only when it is known', () => {
    expect(sliceOf(share, { ...newRecord(), absent: true }, undefined)).toEqual({ present: false });
    expect(sliceOf(share, { ...newRecord(), error }, undefined)).toEqual({ present: false, error });
  });
  test('a status that is too large is left out, and why', () => {
    const object = { ...bearing(undefined), status: { text: 'x'.repeat(70_000) } };
    const slice = sliceOf(share, newRecord(), object);
    expect(slice).toMatchObject({ present: true, error: { reason: 'StatusTooLarge' } });
    expect(slice?.status).toBeUndefined();
  });
});

test('a fingerprint changes with what we apply, not with what controllers add', () => {
  const manifest: KubeObject = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { labels: { a: '1' } },
    spec: { x: 1 },
  };
  const object: KubeObject = {
    ...manifest,
    metadata: { labels: { a: '1' }, uid: 'u', resourceVersion: '1' },
  };
  const print = fingerprint(object, manifest);
  const like = (more: Partial<KubeObject>) => fingerprint({ ...object, ...more }, manifest) === print;
  expect(
    like({
      status: { y: 1 },
      metadata: { ...object.metadata, resourceVersion: '2', annotations: { b: 'c' } },
    }),
  ).toBe(true);
  expect(like({ spec: { x: 2 } })).toBe(false);
  expect(like({ metadata: { ...object.metadata, labels: { a: '2' } } })).toBe(false);
  expect(like({ metadata: { ...object.metadata, labels: {} } })).toBe(false);
  expect(like({ metadata: { ...object.metadata, uid: 'v' } })).toBe(false);
});

test("of a Deployment it does not change with the generation, which its controller's annotation counts up", () => {
  const manifest: KubeObject = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {},
    spec: { replicas: 2 },
  };
  const object = { ...manifest, metadata: { uid: 'u', generation: 1 } };
  const print = fingerprint(object, manifest);
  const annotations = { 'deployment.kubernetes.io/revision': '1' };
  const noted = { ...object, metadata: { ...object.metadata, annotations, generation: 2 } };
  expect(fingerprint(noted, manifest)).toBe(print);
  expect(fingerprint({ ...noted, spec: { replicas: 3 } }, manifest)).not.toBe(print);
});

test.each([
  [{ group: 'apps', resource: 'deployments' }, 'v1', 'workload'],
  [{ group: 'autoscaling', resource: 'horizontalpodautoscalers' }, 'v2', 'closure'],
  [{ group: '', resource: 'configmaps' }, 'v1', 'closure'],
])('targets keep their place: %o', (kind, version, role) => {
  expect(parseTarget(targetId(kind, 'ns', 'a.b'))).toEqual({
    kind: { ...kind, version },
    role,
    namespace: 'ns',
    name: 'a.b',
  });
});
