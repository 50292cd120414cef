import { describe, expect, it } from 'vitest';
import { byAverage, byUtilization } from '../../../controller/autoscaling/pods.ts';
import { propose } from '../../../controller/autoscaling/propose.ts';
import type { Metric, Sample } from '../../../controller/autoscaling/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { timestamp } from '../../../kube/timestamp.ts';

/** What pods use, as Kubernetes' controller counts it: pkg/controller/podautoscaler/replica_calculator.go. */
const now = Date.UTC(2026, 0, 1, 12);
const ago = (seconds: number) => timestamp(now - seconds * 1000);
interface Kind {
  phase?: string;
  ready?: 'True' | 'False' | undefined;
  /** Seconds ago. */
  started?: number;
  since?: number;
  deleted?: boolean;
  requests?: Record<string, string>;
}
const pod = (name: string, of: Kind = {}): KubeObject => {
  const { phase = 'Running', started = 3600, since = 3500, requests = { cpu: '1' } } = of;
  const ready = 'ready' in of ? of.ready : 'True';
  const condition = { type: 'Ready', status: ready, lastTransitionTime: ago(since) };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...(of.deleted && { deletionTimestamp: ago(1) }) },
    spec: { containers: [{ name: 'main', resources: { requests } }] },
    status: { phase, startTime: ago(started), conditions: ready ? [condition] : [] },
  };
};
const samples = (of: Record<string, number>): Map<string, Sample> =>
  new Map(
    Object.entries(of).map(([name, value]) => [name, { value: BigInt(value), at: now, windowMs: 60_000 }]),
  );
const within = (ratio: number) => ratio >= 0.9 && ratio <= 1.1;
const asked = (pods: KubeObject[], used: Record<string, number>, resource = 'cpu') => ({
  pods,
  samples: samples(used),
  resource,
  wanted: pods.length,
  isWithin: within,
  now,
});
const three = [pod('a'), pod('b'), pod('c')];

describe('by how much of their requests they use, of 50 percent', () => {
  it.each<[string, KubeObject[], Record<string, number>, number | string]>([
    ['more', three, { a: 800, b: 900, c: 1000 }, 6],
    ['less', three, { a: 100, b: 200, c: 300 }, 2],
    ['about as much', three, { a: 500, b: 520, c: 510 }, 3],
    ['one that is not measured asks for nothing where more would come', three, { a: 900, b: 900 }, 4],
    ['and for all it may have where less would', three, { a: 100, b: 100 }, 3],
    [
      'nor one that has not begun',
      [...three.slice(1), pod('a', { phase: 'Pending' })],
      { b: 700, c: 700 },
      3,
    ],
    [
      'one that goes does not count',
      [...three.slice(1), pod('a', { deleted: true })],
      { a: 9000, b: 500, c: 500 },
      3,
    ],
    [
      'nor one that failed',
      [...three.slice(1), pod('a', { phase: 'Failed' })],
      { a: 9000, b: 900, c: 900 },
      4,
    ],
    [
      'nor what it takes to begin',
      [...three.slice(1), pod('a', { ready: 'False', started: 20, since: 20 })],
      { a: 9000, b: 500, c: 500 },
      3,
    ],
    [
      'nor what was measured before it was ready',
      [...three.slice(1), pod('a', { started: 100, since: 30 })],
      { a: 9000, b: 500, c: 500 },
      3,
    ],
    [
      'one that was ready before counts',
      [...three.slice(1), pod('a', { ready: 'False', started: 3600, since: 60 })],
      { a: 1000, b: 1000, c: 1000 },
      6,
    ],
    [
      'one without conditions has not begun',
      [pod('a', { ready: undefined })],
      { a: 900 },
      'did not receive metrics',
    ],
    ['none at all', [], { a: 1 }, 'no pods returned by selector'],
    ['none measured', [pod('a', { phase: 'Pending' })], { a: 1 }, 'did not receive metrics'],
    [
      'one without a request',
      [pod('a', { requests: {} })],
      { a: 1 },
      'missing request for cpu in container main of Pod a',
    ],
    ['samples of strangers alone', [pod('a')], { z: 1 }, 'no metrics returned matched known pods'],
  ])('%s', (_, pods, used, expected) => {
    const found = byUtilization(asked(pods, used), 50, '');
    if (typeof expected === 'string') expect(found).toEqual({ failure: expect.stringContaining(expected) });
    else expect(found).toMatchObject({ replicas: expected });
  });

  it('says what is used', () => {
    const found = byUtilization(asked(three, { a: 800, b: 900, c: 1000 }), 50, '');
    expect(found).toMatchObject({ utilization: 90, average: 900n });
  });

  it('of one container, a sidecar too', () => {
    const of = pod('a');
    const proxy = { name: 'proxy', restartPolicy: 'Always', resources: { requests: { cpu: '100m' } } };
    const both = { ...of, spec: { ...(of.spec as object), initContainers: [proxy] } };
    expect(byUtilization(asked([both], { a: 100 }), 50, 'proxy')).toMatchObject({ utilization: 100 });
    expect(byUtilization(asked([both], { a: 550 }), 50, '')).toMatchObject({ utilization: 50 });
    const none = { failure: 'container other not found in Pod a' };
    expect(byUtilization(asked([both], { a: 1 }), 50, 'other')).toEqual(none);
  });

  it('of what is requested for the pod as a whole', () => {
    const of = pod('a');
    const whole = { ...of, spec: { ...(of.spec as object), resources: { requests: { cpu: '2' } } } };
    expect(byUtilization(asked([whole], { a: 500 }), 50, '')).toMatchObject({ utilization: 25 });
  });
});

describe('by what each uses, of 100', () => {
  it.each<[string, KubeObject[], Record<string, number>, number]>([
    ['more', three, { a: 200_000, b: 200_000, c: 200_000 }, 6],
    [
      'one that is not measured asks for as much as it may where less would come',
      three,
      { a: 10_000, b: 10_000 },
      2,
    ],
    ['and a turn in direction is none', three, { a: 110_000, b: 120_000 }, 3],
    [
      'of what is no cpu, pods that are not ready count',
      [...three.slice(1), pod('a', { ready: 'False', started: 20, since: 20 })],
      { a: 200_000, b: 200_000, c: 200_000 },
      6,
    ],
  ])('%s', (_, pods, used, replicas) => {
    expect(byAverage(asked(pods, used, ''), 100_000n)).toMatchObject({ replicas });
  });
});

describe('as it is told', () => {
  const of = { namespace: 'shop', scale: { wanted: 3, current: 3 }, pods: three, behavior: undefined, now };
  const used = { samples: samples({ a: 800, b: 900, c: 1000 }) };
  const values = { values: [30_000n] };
  const named = { metric: { name: 'hits' } };
  const ingress = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'main' };
  const average = { target: { type: 'AverageValue', averageValue: '1' } };
  const cpu = { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } };
  const container = { ...cpu, container: 'main' };

  it.each<[string, Metric, typeof used | typeof values, number, object]>([
    [
      'cpu resource utilization (percentage of request)',
      { type: 'Resource', resource: cpu },
      used,
      6,
      {
        type: 'Resource',
        resource: { name: 'cpu', current: { averageUtilization: 90, averageValue: '900m' } },
      },
    ],
    [
      'cpu container resource utilization (percentage of request)',
      { type: 'ContainerResource', containerResource: container },
      used,
      6,
      { containerResource: { container: 'main', current: { averageUtilization: 90 } } },
    ],
    [
      'memory resource',
      {
        type: 'Resource',
        resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Ki' } },
      },
      { samples: samples({ a: 2_048_000, b: 2_048_000, c: 2_048_000 }) },
      6,
      { resource: { name: 'memory', current: { averageValue: '2Ki' } } },
    ],
    [
      'pods metric hits',
      { type: 'Pods', pods: { ...named, ...average } },
      { samples: samples({ a: 2000, b: 2000, c: 2000 }) },
      6,
      { pods: { ...named, current: { averageValue: '2' } } },
    ],
    [
      'Ingress metric hits',
      {
        type: 'Object',
        object: { ...named, describedObject: ingress, target: { type: 'Value', value: '15' } },
      },
      values,
      6,
      { object: { ...named, describedObject: ingress, current: { value: '30' } } },
    ],
    [
      'external metric hits(nil)',
      { type: 'Object', object: { ...named, describedObject: ingress, ...average } },
      values,
      30,
      { object: { current: { averageValue: '10' } } },
    ],
  ])('%s', (name, metric, reading, replicas, status) => {
    expect(propose(metric, reading, of)).toMatchObject({ name, replicas, status });
  });

  it.each<[string, string, string, Metric]>([
    [
      'FailedGetResourceMetric',
      'failed to get cpu utilization: unable to get metrics for resource cpu: no',
      'failed to get cpu resource metric value: ',
      { type: 'Resource', resource: cpu },
    ],
    [
      'FailedGetContainerResourceMetric',
      'failed to get cpu utilization: unable to get metrics for resource cpu: no',
      'failed to get main container metric value: ',
      { type: 'ContainerResource', containerResource: container },
    ],
    [
      'FailedGetResourceMetric',
      'failed to get cpu usage: unable to get metrics for resource cpu: no',
      'failed to get cpu resource metric value: ',
      { type: 'Resource', resource: { name: 'cpu', ...average } },
    ],
    [
      'FailedGetPodsMetric',
      'unable to get metric hits: no',
      'failed to get pods metric value: ',
      { type: 'Pods', pods: { ...named, ...average } },
    ],
    [
      'FailedGetObjectMetric',
      'unable to get metric hits: Ingress on shop main/no',
      'failed to get object metric value: failed to get hits object metric: ',
      { type: 'Object', object: { ...named, describedObject: ingress, ...average } },
    ],
  ])('%s: %s', (reason, failure, whole, metric) => {
    const told = { reason, failure, whole: whole + failure };
    expect(propose(metric, { failure: 'no' }, of)).toEqual(told);
  });
});
