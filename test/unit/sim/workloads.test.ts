import { describe, expect, test } from 'vitest';
import type { Pod, Workload } from '../../../sim/types.ts';
import { decideDaemonSet } from '../../../sim/workloads/daemonset.ts';
import { decideJob } from '../../../sim/workloads/job.ts';
import { ranges } from '../../../sim/workloads/job-index.ts';
import { decideReplicaSet } from '../../../sim/workloads/replicaset.ts';
import { decideStatefulSet } from '../../../sim/workloads/statefulset.ts';
import { become, names, node, now, settle, workload } from './make.ts';

const going = { metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } };

describe('a ReplicaSet', () => {
  const set = (replicas: number, more = {}) => workload('ReplicaSet', { replicas }, more);
  const some = (n: number, state = {}): Pod[] => settle([], decideReplicaSet(set(n), [], now), state);

  test('makes what is missing, also for pods that are stopping or have failed', () => {
    const pods = [...some(1), ...some(1, { deleting: true }), ...some(1, { phase: 'Failed' })];
    const plan = decideReplicaSet(set(3), pods, now);
    expect(plan.create).toHaveLength(2);
    expect(plan.status).toMatchObject({ replicas: 1, readyReplicas: 1, terminatingReplicas: 1 });
  });

  test('of too many the least useful go: unbound, then not ready, then the youngest', () => {
    const [old] = some(1);
    const [young] = some(1);
    const [starting] = some(1, { ready: false });
    const pods = [old, young, starting] as Pod[];
    expect(decideReplicaSet(set(2), pods, now).remove).toEqual([starting?.metadata.name]);
    expect(decideReplicaSet(set(1), pods, now).remove).toEqual([
      starting?.metadata.name,
      young?.metadata.name,
    ]);
  });

  test('one that is being deleted leaves its pods to the garbage collector', () => {
    const plan = decideReplicaSet(set(3, going), some(1), now);
    expect([plan.create, plan.remove]).toEqual([[], []]);
  });

  test('a pod is available minReadySeconds after it is ready', () => {
    const patient = workload('ReplicaSet', { replicas: 1, minReadySeconds: 10 });
    const plan = decideReplicaSet(patient, some(1, { readyFor: 4 }), now);
    expect(plan.status).toMatchObject({ readyReplicas: 1, availableReplicas: 0 });
    expect(plan.afterMs).toBe(6000);
  });
});

describe('a StatefulSet', () => {
  const set = (spec: object, more = {}) => workload('StatefulSet', spec, more);
  const run = (of: Workload, pods: Pod[], rounds: number): Pod[] => {
    let now2 = pods;
    for (let i = 0; i < rounds; i++) now2 = settle(now2, decideStatefulSet(of, now2, now));
    return now2;
  };

  test('starts one after the other, from ordinals.start', () => {
    const three = set({ replicas: 3, ordinals: { start: 5 } });
    const first = decideStatefulSet(three, [], now);
    expect(names(first.create)).toEqual(['web-5']);
    expect(names(decideStatefulSet(three, settle([], first, { ready: false }), now).create)).toEqual([]);
    expect(names(run(three, [], 3))).toEqual(['web-5', 'web-6', 'web-7']);
  });

  test('Parallel starts and stops all at once', () => {
    const parallel = (replicas: number) => set({ replicas, podManagementPolicy: 'Parallel' });
    const pods = run(parallel(3), [], 1);
    expect(pods).toHaveLength(3);
    expect(decideStatefulSet(parallel(0), pods, now).remove).toHaveLength(3);
  });

  test('stops from the top, and waits until the one before is gone', () => {
    const pods = run(set({ replicas: 3 }), [], 3);
    expect(decideStatefulSet(set({ replicas: 1 }), pods, now).remove).toEqual(['web-2']);
    const stopping = pods.map((pod) =>
      pod.metadata.name === 'web-2' ? become(pod, { deleting: true }) : pod,
    );
    expect(decideStatefulSet(set({ replicas: 1 }), stopping, now).remove).toEqual([]);
  });

  test('does not take away another while a lower one is not ready', () => {
    const pods = run(set({ replicas: 3 }), [], 3);
    const sick = pods.map((pod) => (pod.metadata.name === 'web-0' ? become(pod, { ready: false }) : pod));
    expect(decideStatefulSet(set({ replicas: 2 }), sick, now).remove).toEqual([]);
  });

  test('an update replaces from the top down to the partition', () => {
    const pods = run(set({ replicas: 3 }), [], 3);
    const template = {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'web:2' }] },
    };
    const next = set({ replicas: 3, template, updateStrategy: { rollingUpdate: { partition: 1 } } });
    expect(decideStatefulSet(next, pods, now).remove).toEqual(['web-2']);
    const after = run(next, pods, 8);
    const images = after.map((pod) => [pod.metadata.name, pod.spec?.containers[0]?.image]).sort();
    expect(images).toEqual([
      ['web-0', 'web:1'],
      ['web-1', 'web:2'],
      ['web-2', 'web:2'],
    ]);
  });

  test('claims are made before the pod that mounts them', () => {
    const template = { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'] } };
    const plan = decideStatefulSet(set({ replicas: 1, volumeClaimTemplates: [template] }), [], now);
    expect(names(plan.claims ?? [])).toEqual(['data-web-0']);
    expect(plan.create[0]?.spec?.volumes).toEqual([
      { name: 'data', persistentVolumeClaim: { claimName: 'data-web-0' } },
    ]);
  });

  test('a finished pod is replaced; a set that is being deleted does nothing', () => {
    const [pod] = run(set({ replicas: 1 }), [], 1);
    const failed = [become(pod as Pod, { phase: 'Failed', ready: false })];
    expect(decideStatefulSet(set({ replicas: 1 }), failed, now).remove).toEqual(['web-0']);
    expect(decideStatefulSet(set({ replicas: 1 }, going), failed, now).remove).toEqual([]);
  });
});

describe('a DaemonSet', () => {
  const set = (spec = {}) => workload('DaemonSet', spec);
  const nodes = [node('n1'), node('n2')];

  test('one pod on each node that admits it', () => {
    const tainted = node('n3', { taints: [{ key: 'only', value: 'gpu', effect: 'NoSchedule' }] });
    const plan = decideDaemonSet(set(), [], [...nodes, tainted], now);
    expect(plan.create.map((pod) => pod.spec?.nodeName)).toEqual(['n1', 'n2']);
    expect(plan.status).toMatchObject({ desiredNumberScheduled: 2, currentNumberScheduled: 0 });
  });

  test('a pod that is stopping still holds its node; one of a node that is gone is surplus', () => {
    const [one, two] = decideDaemonSet(set(), [], nodes, now).create as [Pod, Pod];
    const plan = decideDaemonSet(
      set(),
      [become(one, { deleting: true }), become(two)],
      [nodes[0] ?? node('')],
      now,
    );
    expect(plan.create).toEqual([]);
    expect(plan.remove).toHaveLength(1);
  });

  test('an update takes away at most maxUnavailable', () => {
    const pods = decideDaemonSet(set(), [], nodes, now).create.map((pod) => become(pod));
    const template = {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'web:2' }] },
    };
    expect(decideDaemonSet(set({ template }), pods, nodes, now).remove).toHaveLength(1);
    const both = { template, updateStrategy: { rollingUpdate: { maxUnavailable: 2 } } };
    expect(decideDaemonSet(set(both), pods, nodes, now).remove).toHaveLength(2);
    const sick = pods.map((pod) => become(pod, { ready: false }));
    expect(decideDaemonSet(set({ template }), sick, nodes, now).remove).toHaveLength(0);
  });
});

describe('a Job', () => {
  const job = (spec: object, status = {}) => ({ ...workload('Job', spec), status });
  const types = (plan: { status: Record<string, unknown> }) =>
    ((plan.status['conditions'] ?? []) as { type: string }[]).map(({ type }) => type);
  const done = (pods: readonly Pod[]) => pods.map((pod) => become(pod, { phase: 'Succeeded', ready: false }));

  test('never more at a time than parallelism, nor than are still needed', () => {
    const spec = { completions: 5, parallelism: 3 };
    const first = decideJob(job(spec), [], now);
    expect(first.create).toHaveLength(3);
    expect(decideJob(job(spec), done(first.create), now).create).toHaveLength(2);
  });

  test('the criterion is told at once, the end when no pod runs any more', () => {
    const spec = { completions: 1, parallelism: 2 };
    const [one] = decideJob(job(spec), [], now).create as [Pod];
    const still = become(one, { deleting: true });
    const early = decideJob(job(spec), [...done([one]), still], now);
    expect(types(early)).toEqual(['SuccessCriteriaMet']);
    expect(early.status['completionTime']).toBeUndefined();
    const late = decideJob(job(spec), done([one]), now);
    expect(types(late)).toEqual(['SuccessCriteriaMet', 'Complete']);
    expect(late.status['completionTime']).toBe('2030-01-01T00:00:00Z');
  });

  test('too many failures: what runs is stopped, then it has failed', () => {
    const spec = { completions: 3, parallelism: 2, backoffLimit: 0 };
    const [one, two] = decideJob(job(spec), [], now).create as [Pod, Pod];
    const failed = become(one, { phase: 'Failed', ready: false });
    const plan = decideJob(job(spec), [failed, become(two)], now);
    expect(plan.remove).toHaveLength(1);
    expect(plan.create).toEqual([]);
    expect(types(plan)).toEqual(['FailureTarget']);
    expect(types(decideJob(job(spec), [failed], now))).toEqual(['FailureTarget', 'Failed']);
  });

  test('suspended: pods go, the clock stops; resumed says so', () => {
    const spec = { completions: 2, parallelism: 1 };
    const pods = decideJob(job(spec), [], now).create.map((pod) => become(pod));
    const plan = decideJob(job({ ...spec, suspend: true }, { startTime: 'x' }), pods, now);
    expect([plan.remove.length, plan.status['startTime'], types(plan)]).toEqual([1, null, ['Suspended']]);
    const conditions = plan.status['conditions'];
    const resumed = decideJob(job(spec, { conditions }), [], now);
    expect(resumed.status['conditions']).toMatchObject([{ type: 'Suspended', status: 'False' }]);
  });

  test('activeDeadlineSeconds ends it', () => {
    const spec = { completions: 1, activeDeadlineSeconds: 5 };
    const startTime = new Date(now).toISOString();
    expect(decideJob(job(spec, { startTime }), [], now).afterMs).toBe(5000);
    expect(types(decideJob(job(spec, { startTime }), [], now + 5000))).toContain('Failed');
  });

  test('an Indexed Job makes each index once and says which are complete', () => {
    const spec = { completions: 4, parallelism: 4, completionMode: 'Indexed' };
    const pods = decideJob(job(spec), [], now).create;
    const index = (pod: Pod) => pod.metadata.annotations?.['batch.kubernetes.io/job-completion-index'];
    expect(pods.map(index)).toEqual(['0', '1', '2', '3']);
    const finished = done([0, 1, 3].map((i) => pods[i] as Pod));
    const plan = decideJob(job(spec), finished, now);
    expect(plan.status['completedIndexes']).toBe('0-1,3');
    expect(plan.create.map(index)).toEqual(['2']);
  });

  test('ranges are read as they are written', () => {
    for (const text of ['', '0', '0-2', '0-2,5,7-8'])
      expect(ranges.format(new Set(ranges.parse(text)))).toBe(text);
  });
});
