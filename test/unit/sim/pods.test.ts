import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { disruptionStatus } from '../../../sim/disruption/decide.ts';
import { behaviourOf, defaultBehaviours, draw } from '../../../sim/pods/behaviour.ts';
import { chooseNode } from '../../../sim/pods/bind.ts';
import { DrawNames } from '../../../sim/pods/draw-names.ts';
import { nextStep } from '../../../sim/pods/lifecycle.ts';
import { boundStatus, loadBalancerStatus } from '../../../sim/services/decide.ts';
import type { Pod } from '../../../sim/types.ts';
import { podFor } from '../../../sim/workloads/children.ts';
import { become, node, now, workload } from './make.ts';

const set = workload('ReplicaSet', { replicas: 1 });
const asking = (cpu: string, more = {}): Pod => {
  const pod = podFor(set);
  return { ...pod, spec: { ...more, containers: [{ name: 'web', resources: { requests: { cpu } } }] } };
};

describe('where a pod goes', () => {
  const nodes = [node('n1', {}, { disk: 'ssd' }), node('n2')];

  test('to the emptiest node that has room', () => {
    const on = become(asking('1'), { node: 'n1' });
    expect(chooseNode(asking('1'), nodes, [on])).toEqual({ node: 'n2' });
    expect(chooseNode(asking('1500m'), nodes, [on])).toEqual({ node: 'n2' });
  });

  test('a pod that is stopping still needs its room, a finished one does not', () => {
    const stopping = become(asking('2'), { node: 'n1', deleting: true });
    const finished = become(asking('2'), { node: 'n2', phase: 'Succeeded' });
    expect(chooseNode(asking('1'), nodes, [stopping, finished])).toEqual({ node: 'n2' });
  });

  test.each([
    [asking('3'), nodes, '0/2 nodes are available: 2 Insufficient cpu.'],
    [
      asking('1', { nodeSelector: { disk: 'hdd' } }),
      nodes,
      "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.",
    ],
    [
      asking('1'),
      [node('n1', { unschedulable: true })],
      '0/1 nodes are available: 1 node(s) were unschedulable.',
    ],
    [
      asking('1'),
      [node('n1', { taints: [{ key: 'k', effect: 'NoSchedule' }] })],
      '0/1 nodes are available: 1 node(s) had untolerated taint(s) {k: }.',
    ],
    [asking('1'), [], 'no nodes available to schedule pods'],
  ])('says why not', (pod, among, unschedulable) => {
    expect(chooseNode(pod, among, [])).toEqual({ unschedulable });
  });

  test('a toleration opens a tainted node', () => {
    const tainted = node('n1', { taints: [{ key: 'k', value: 'v', effect: 'NoExecute' }] });
    const tolerations = [{ key: 'k', operator: 'Equal', value: 'v' }];
    expect(chooseNode(asking('1', { tolerations }), [tainted], [])).toEqual({ node: 'n1' });
  });
});

describe('a pod’s life', () => {
  const job = {
    name: 'job',
    scheduledAfterMs: [0, 0],
    readyAfterMs: [10, 10],
    succeedsAfterMs: [5, 5],
    stopsAfterMs: [7, 7],
  } as const;
  const at = (pod: Pod, since: number, behaviour: Parameters<typeof nextStep>[0]['behaviour'] = job) =>
    nextStep({ pod, behaviour, since, now, seed: 1, draws: 'x', ip: '10.0.0.1', hostIp: '10.0.0.2' });
  const waiting = become(asking('1'), { phase: 'Pending', ready: false });

  test('is scheduled, becomes ready, succeeds', () => {
    expect(at({ ...waiting, spec: { containers: [] } }, now)).toEqual({ do: 'schedule' });
    expect(at(waiting, now)).toEqual({ do: 'wait', ms: 10 });
    expect(at(waiting, now - 10)).toMatchObject({
      do: 'status',
      status: { phase: 'Running', podIP: '10.0.0.1' },
    });
    const running = become(asking('1'));
    const known = { ...running, status: { ...running.status, podIP: '10.9.9.9' } };
    expect(at(known, now - 5)).toMatchObject({
      do: 'status',
      status: { phase: 'Succeeded', podIP: '10.9.9.9' },
    });
  });

  test('is removed some time after it was deleted', () => {
    const going = become(asking('1'), { deleting: true });
    expect(at(going, now)).toEqual({ do: 'wait', ms: 7 });
    expect(at(going, now - 7)).toEqual({ do: 'remove' });
  });

  test('a behaviour may make it fail, or wait for ever', () => {
    const why = { reason: 'ImagePullBackOff', message: 'no such image' };
    const failing = { ...job, fails: { as: 'Failed' as const, ...why } };
    expect(at(waiting, now - 10, failing)).toMatchObject({
      status: { phase: 'Failed', reason: 'ImagePullBackOff' },
    });
    const stuck = { ...job, fails: { as: 'Waiting' as const, ...why } };
    const step = at(waiting, now - 10, stuck);
    expect(step).toMatchObject({ do: 'status', status: { phase: 'Pending' } });
    if (step.do !== 'status') throw new Error('no status');
    expect(at({ ...waiting, status: { ...waiting.status, ...step.status } }, now - 10, stuck)).toEqual({
      do: 'nothing',
    });
  });

  test('the first behaviour that matches is its own', () => {
    const mine = { ...job, name: 'mine', match: { image: 'shop/web' } };
    const pod = podFor(workload('Job', {}));
    expect(behaviourOf(pod, [mine, ...defaultBehaviours]).name).toBe('job');
    const web = { ...pod, spec: { containers: [{ name: 'a', image: 'registry.example/shop/web:1' }] } };
    expect(behaviourOf(web, [mine, ...defaultBehaviours]).name).toBe('mine');
  });
});

describe('delays', () => {
  test('stay within their span and depend on the seed and the name alone', () => {
    fc.assert(
      fc.property(fc.integer(), fc.string(), fc.nat(1000), fc.nat(1000), (seed, name, from, width) => {
        const drawn = draw([from, from + width], seed, name);
        expect(drawn).toBeGreaterThanOrEqual(from);
        expect(drawn).toBeLessThanOrEqual(from + width);
        expect(draw([from, from + width], seed, name)).toBe(drawn);
      }),
    );
    const drawn = new Set(Array.from({ length: 50 }, (_, i) => draw([0, 1_000_000], 1, `a/${i}`)));
    expect(drawn.size).toBe(50);
  });

  test('pods of one owner are named alike in every run, though their names and uids are random', () => {
    const named = () => {
      const draws = new DrawNames();
      return [0, 1, 2].map(() => draws.nameOf(become(podFor(set))));
    };
    expect(named()).toEqual(['shop/ReplicaSet/web/0', 'shop/ReplicaSet/web/1', 'shop/ReplicaSet/web/2']);
    expect(named()).toEqual(named());
  });
});

describe('what a cloud fills in', () => {
  const service = (spec: object, status = {}) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {},
    spec,
    status,
  });

  test('a LoadBalancer gets one address, others none', () => {
    const address = () => '10.1.1.1';
    const balanced = loadBalancerStatus(service({ type: 'LoadBalancer' }), address);
    expect(balanced).toEqual({ loadBalancer: { ingress: [{ ip: '10.1.1.1', ipMode: 'VIP' }] } });
    expect(loadBalancerStatus(service({ type: 'LoadBalancer' }, balanced), address)).toBeUndefined();
    expect(loadBalancerStatus(service({ type: 'ClusterIP' }), address)).toBeUndefined();
  });

  test('a claim is bound with what it asks for', () => {
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '5Gi' } } };
    const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: {}, spec };
    expect(boundStatus(claim)).toEqual({
      phase: 'Bound',
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '5Gi' },
    });
    expect(boundStatus({ ...claim, status: { phase: 'Bound' } })).toBeUndefined();
  });

  test.each([
    [{ minAvailable: 2 }, { desiredHealthy: 2, disruptionsAllowed: 1 }],
    [{ minAvailable: '100%' }, { desiredHealthy: 3, disruptionsAllowed: 0 }],
    [{ maxUnavailable: 1 }, { desiredHealthy: 2, disruptionsAllowed: 1 }],
    [{ maxUnavailable: '50%' }, { desiredHealthy: 1, disruptionsAllowed: 2 }],
  ])('a PodDisruptionBudget counts: %j', (spec, expected) => {
    const budget = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { generation: 4 },
      spec,
    };
    const three = workload('ReplicaSet', { replicas: 3 });
    const pods = [0, 1, 2].map(() => become(podFor(three)));
    const status = disruptionStatus(budget, pods, [three], '2030-01-01T00:00:00Z');
    expect(status).toMatchObject({ observedGeneration: 4, expectedPods: 3, currentHealthy: 3, ...expected });
  });
});
