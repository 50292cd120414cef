import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitterUser } from '../../../cluster/names.ts';
import type { ClusterSlice, Share } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { listAt, textAt } from '../../../kube/untyped.ts';
import { withBudgets } from '../../../splitter/budget.ts';
import { foldStatus } from '../../../splitter/fold/index.ts';

const active: Share = { phase: 'Active' };
const slice = (status: Record<string, unknown>, observedGeneration = 2): ClusterSlice => ({
  present: true,
  observedGeneration,
  status,
});
const root = (kind: string, fields: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'x', generation: 2 },
  ...fields,
});
const fold = (object: KubeObject, slices: Record<string, ClusterSlice>, shares?: Record<string, Share>) =>
  foldStatus(object, shares ?? Object.fromEntries(Object.keys(slices).map((c) => [c, active])), slices);
const condition = (type: string, status: string, more: object = {}) => ({ type, status, ...more });
const early = '2026-01-01T00:00:00Z';
const late = '2026-01-02T00:00:00Z';

const firstStatus = (status: Record<string, unknown> | undefined) =>
  (status?.['conditions'] as { status: string }[] | undefined)?.[0]?.status;

describe('foldStatus', () => {
  it('shows conditions in the order in which its cluster has them', () => {
    const conditions = [condition('SuccessCriteriaMet', 'True'), condition('Complete', 'True')];
    const status = fold(root('Job'), { east: slice({ conditions }) });
    expect(listAt(status, 'conditions').map((one) => textAt(one, 'type'))).toEqual([
      'SuccessCriteriaMet',
      'Complete',
    ]);
  });

  it('goes on telling when a CronJob ran last, where it had run before it moved, and nothing of the time to come', () => {
    const ranAt = (lastScheduleTime: string) =>
      root('CronJob', { status: { lastScheduleTime, lastSuccessfulTime: early } });
    expect(fold(ranAt(early), { east: slice({}) })).toEqual({
      lastScheduleTime: early,
      lastSuccessfulTime: early,
    });
    expect(fold(ranAt(early), { east: slice({ lastScheduleTime: late }) })).toMatchObject({
      lastScheduleTime: late,
    });
    expect(fold(ranAt('2999-01-01T00:00:00Z'), { east: slice({}) })).toEqual({ lastSuccessfulTime: early });
    expect(fold(ranAt('never'), { east: slice({}) })).toEqual({ lastSuccessfulTime: early });
  });

  it.each<[string, string, Record<string, unknown>, Record<string, unknown>, Record<string, unknown>]>([
    [
      'Deployment',
      'Deployment',
      { replicas: 3, readyReplicas: 2, updatedReplicas: 3 },
      { replicas: 2, availableReplicas: 1, unavailableReplicas: 1 },
      {
        observedGeneration: 2,
        replicas: 5,
        readyReplicas: 2,
        updatedReplicas: 3,
        availableReplicas: 1,
        unavailableReplicas: 1,
      },
    ],
    [
      'absurd numbers',
      'Deployment',
      { replicas: -4, readyReplicas: 1e300 },
      { replicas: 'many', readyReplicas: 1 },
      { observedGeneration: 2, readyReplicas: 2147483647 },
    ],
    [
      'StatefulSet',
      'StatefulSet',
      { replicas: 2, currentRevision: 'r1', updateRevision: 'r2' },
      { replicas: 1, currentRevision: 'r2', updateRevision: 'r2' },
      {
        observedGeneration: 2,
        replicas: 3,
        availableReplicas: 0,
        collisionCount: 0,
        currentRevision: 'r1',
        updateRevision: 'r2',
      },
    ],
    [
      'ReplicaSet',
      'ReplicaSet',
      { replicas: 2, availableReplicas: 1 },
      { replicas: 1 },
      { observedGeneration: 2, replicas: 3, availableReplicas: 1 },
    ],
    [
      'DaemonSet',
      'DaemonSet',
      { desiredNumberScheduled: 3, numberReady: 3 },
      { desiredNumberScheduled: 2, numberReady: 1 },
      {
        observedGeneration: 2,
        desiredNumberScheduled: 5,
        numberReady: 4,
        currentNumberScheduled: 0,
        numberMisscheduled: 0,
      },
    ],
    [
      'CronJob',
      'CronJob',
      { lastScheduleTime: early, active: [{ name: 'j' }] },
      { lastScheduleTime: late },
      { lastScheduleTime: late, active: [{ name: 'j' }] },
    ],
    [
      'Service',
      'Service',
      { loadBalancer: { ingress: [{ ip: '2.2.2.2' }] } },
      { loadBalancer: { ingress: [{ ip: '1.1.1.1' }, { ip: '2.2.2.2' }] } },
      { loadBalancer: { ingress: [{ ip: '1.1.1.1' }, { ip: '2.2.2.2' }] } },
    ],
    [
      'PVC, bound in one place',
      'PersistentVolumeClaim',
      { phase: 'Bound' },
      { phase: 'Pending' },
      { phase: 'Pending' },
    ],
    [
      'PVC, bound everywhere',
      'PersistentVolumeClaim',
      { phase: 'Bound', capacity: { storage: '2Gi' }, accessModes: ['ReadWriteOnce'] },
      { phase: 'Bound', capacity: { storage: '1Gi' } },
      { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] },
    ],
    [
      'PVC, which grows: as far as the one that has most to do',
      'PersistentVolumeClaim',
      {
        phase: 'Bound',
        capacity: { storage: '1Gi' },
        allocatedResources: { storage: '2Gi' },
        allocatedResourceStatuses: { storage: 'NodeResizePending' },
        currentVolumeAttributesClassName: 'silver',
        modifyVolumeStatus: { status: 'InProgress', targetVolumeAttributesClassName: 'gold' },
        conditions: [{ type: 'FileSystemResizePending', status: 'True' }],
      },
      {
        phase: 'Bound',
        capacity: { storage: '2Gi' },
        allocatedResources: { storage: '2Gi' },
        currentVolumeAttributesClassName: 'gold',
      },
      {
        phase: 'Bound',
        capacity: { storage: '1Gi' },
        allocatedResources: { storage: '2Gi' },
        allocatedResourceStatuses: { storage: 'NodeResizePending' },
        currentVolumeAttributesClassName: 'silver',
        modifyVolumeStatus: { status: 'InProgress', targetVolumeAttributesClassName: 'gold' },
        conditions: [{ type: 'FileSystemResizePending', status: 'True' }],
      },
    ],
    [
      'PDB',
      'PodDisruptionBudget',
      { disruptionsAllowed: 1, currentHealthy: 3 },
      { disruptionsAllowed: 2, currentHealthy: 1 },
      { observedGeneration: 2, disruptionsAllowed: 3, currentHealthy: 4, desiredHealthy: 0, expectedPods: 0 },
    ],
    [
      'a PDB, of which one cluster has no pod, as while its workload moves',
      'PodDisruptionBudget',
      { disruptionsAllowed: 1, currentHealthy: 4, desiredHealthy: 3, expectedPods: 4 },
      { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 3, expectedPods: 0 },
      { observedGeneration: 2, disruptionsAllowed: 1, currentHealthy: 4, desiredHealthy: 3, expectedPods: 4 },
    ],
    ['a kind that nobody adds up: the first by name', 'NetworkPolicy', { a: 1 }, { a: 2 }, { a: 1 }],
  ])('%s', (_name, kind, a, b, expected) => {
    expect(fold(root(kind), { b: slice(b), a: slice(a) })).toEqual(expected);
  });

  it('keeps who was noted as disrupted, of a budget, for as long as a cluster would', () => {
    const noted = (agoMs: number) => new Date(Date.now() - agoMs).toISOString();
    const [young, old] = [noted(1_000), noted(121_000)];
    const budget = { ...root('PodDisruptionBudget'), status: { disruptedPods: { young, old } } };
    const there = { disruptedPods: { there: old } };
    expect(fold(budget, { a: slice(there), b: slice({}) })).toMatchObject({
      disruptedPods: { young, there: old },
    });
    expect(fold(budget, { a: slice({}) })?.['disruptedPods']).toEqual({ young });
    expect(fold(root('PodDisruptionBudget'), { a: slice({ expectedPods: 1 }) })).not.toHaveProperty(
      'disruptedPods',
    );
  });

  it("of a budget, a condition's generation is that of its logical cluster, as its status'", () => {
    const said = {
      type: 'DisruptionAllowed',
      status: 'True',
      reason: 'SufficientPods',
      observedGeneration: 7,
    };
    expect(fold(root('PodDisruptionBudget'), { a: slice({ conditions: [said] }) })).toMatchObject({
      observedGeneration: 2,
      conditions: [{ type: 'DisruptionAllowed', status: 'True', observedGeneration: 2 }],
    });
  });

  it('tells of a claim that moved what its new volume is', () => {
    const claim = (storage: string) => slice({ phase: 'Bound', capacity: { storage } });
    const shares: Record<string, Share> = { a: { phase: 'Leaving' }, b: active };
    const moved = fold(root('PersistentVolumeClaim'), { a: claim('1Gi'), b: claim('2Gi') }, shares);
    expect(moved).toEqual({ phase: 'Bound', capacity: { storage: '2Gi' } });
    const waits = { a: claim('1Gi'), b: slice({ phase: 'Pending' }) };
    expect(fold(root('PersistentVolumeClaim'), waits, shares)).toEqual({ phase: 'Pending' });
  });

  it('counts what leaves while it is there, and nothing of what has gone', () => {
    const shares: Record<string, Share> = { a: active, b: { phase: 'Leaving' }, c: { phase: 'Leaving' } };
    const slices = {
      a: slice({ replicas: 3 }),
      b: slice({ replicas: 2 }, 1),
      c: { present: false, status: { replicas: 9 } },
    };
    const four = root('Deployment', { spec: { replicas: 4 } });
    expect(fold(four, slices, shares)).toEqual({ observedGeneration: 2, replicas: 5 });
  });

  it.each<[string, string, object, number, number]>([
    ['with its surge', 'Deployment', {}, 6, 8],
    ['with no surge', 'Deployment', { strategy: { type: 'Recreate' } }, 6, 6],
    ['with what was written', 'Deployment', { strategy: { rollingUpdate: { maxSurge: 1 } } }, 6, 7],
    ['which has none', 'StatefulSet', {}, 6, 6],
    ['filling up', 'ReplicaSet', {}, 2, 6],
  ])(
    'never shows 12 of 6: what leaves counts as one cluster would show it, %s',
    (_name, kind, spec, b, n) => {
      const full = { replicas: 6, readyReplicas: 6, availableReplicas: 6 };
      const slices = { a: slice(full), b: slice({ replicas: b, readyReplicas: b, availableReplicas: b }) };
      const shares: Record<string, Share> = { a: { phase: 'Leaving' }, b: active };
      const status = fold(root(kind, { spec: { replicas: 6, ...spec } }), slices, shares);
      expect(status).toMatchObject({ replicas: n, readyReplicas: n, availableReplicas: n });
    },
  );

  it('advances observedGeneration only when every staying target has observed it', () => {
    const before = root('Deployment', { status: { observedGeneration: 1 } });
    const joining: Share = { phase: 'Joining' };
    expect(fold(before, { a: slice({}), b: slice({}, 1) })?.['observedGeneration']).toBe(1);
    expect(fold(before, { a: slice({}) }, { a: active, b: joining })?.['observedGeneration']).toBe(1);
    expect(fold(before, { a: slice({}), b: slice({}, 99) })?.['observedGeneration']).toBe(2);
  });

  it('leaves the status alone while nobody has said anything', () => {
    expect(fold(root('Deployment'), {}, { a: active })).toBeUndefined();
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['Deployment', { replicas: 6, readyReplicas: 6 }, {}],
    [
      'StatefulSet',
      { replicas: 6, readyReplicas: 6 },
      { replicas: 0, availableReplicas: 0, collisionCount: 0 },
    ],
    ['ReplicaSet', { replicas: 6, availableReplicas: 6 }, { replicas: 0 }],
  ])('says of a %s that is nowhere any more that there is nothing', (kind, status, expected) => {
    const before = root(kind, { status: { observedGeneration: 2, ...status } });
    const nothing = { observedGeneration: 2, ...expected };
    expect(fold(before, {}, {})).toEqual(nothing);
    expect(fold(before, {}, { a: { phase: 'Joining' } })).toMatchObject(expected);
  });

  it('says of a Deployment that is nowhere any more that it is not available', () => {
    const status = { conditions: [condition('Available', 'True', { lastTransitionTime: early })] };
    expect(fold(root('Deployment', { status }), {}, {})?.['conditions']).toEqual([
      {
        ...condition('Available', 'False', { lastTransitionTime: early }),
        reason: 'MinimumReplicasUnavailable',
        message: 'Deployment does not have minimum availability.',
      },
    ]);
  });

  it.each<[string, Record<string, unknown>[], Record<string, unknown>[], string]>([
    [
      'bad news wins',
      [condition('Progressing', 'True')],
      [condition('Progressing', 'False', { message: 'stuck' })],
      'False',
    ],
    ['bad news of a failure is True', [condition('ReplicaFailure', 'True')], [], 'True'],
    [
      'unknown before good',
      [condition('Progressing', 'Unknown')],
      [condition('Progressing', 'True')],
      'Unknown',
    ],
    ['silence is not good news', [condition('Progressing', 'True')], [], 'Unknown'],
    ['all good', [condition('Progressing', 'True')], [condition('Progressing', 'True')], 'True'],
  ])('conditions: %s', (_name, a, b, expected) => {
    const status = fold(root('ReplicaSet'), { a: slice({ conditions: a }), b: slice({ conditions: b }) });
    expect(firstStatus(status)).toBe(expected);
  });

  it.each<[string, string | undefined, string | undefined, string | undefined]>([
    ['both say the same', 'stuck', 'stuck', 'a, b: stuck'],
    ['each says something', 'torn', 'stuck', 'a: torn'],
    ['nothing is said', '', '', ''],
    ['there is no message', undefined, undefined, undefined],
  ])('names who brings bad news: %s', (_name, a, b, expected) => {
    const bad = (message: string | undefined) =>
      slice({ conditions: [condition('AbleToScale', 'False', message === undefined ? {} : { message })] });
    const status = fold(root('HorizontalPodAutoscaler'), { a: bad(a), b: bad(b) });
    expect(listAt(status, 'conditions').map((one) => textAt(one, 'message'))).toEqual([expected]);
  });

  it('what autoscalers say that have looked already stands where a new one has not', () => {
    const fresh = slice({ desiredReplicas: 0, currentMetrics: null });
    const conditions = [condition('AbleToScale', 'True')];
    const looked = slice({ currentReplicas: 3, desiredReplicas: 3, conditions });
    expect(fold(root('HorizontalPodAutoscaler'), { a: fresh })).toBeUndefined();
    expect(fold(root('HorizontalPodAutoscaler'), { a: fresh, b: looked })).toMatchObject({
      currentReplicas: 3,
      desiredReplicas: 3,
      conditions: [{ type: 'AbleToScale', status: 'True' }],
    });
  });

  const cpu = (averageUtilization: number, averageValue: string) => ({
    type: 'Resource',
    resource: { name: 'cpu', current: { averageUtilization, averageValue } },
  });
  const memory = (averageValue: string) => ({
    type: 'Resource',
    resource: { name: 'memory', current: { averageValue } },
  });
  const queue = (value: string) => ({
    type: 'External',
    external: { metric: { name: 'queue' }, current: { value } },
  });

  it.each<[string, unknown[], unknown[], unknown[] | undefined]>([
    ['an average of all pods', [cpu(40, '400m')], [cpu(80, '800m')], [cpu(70, '700m')]],
    ['each in its form', [memory('1Mi')], [memory('5Mi')], [memory('4Mi')]],
    ['in their order', [cpu(40, '4'), memory('1')], [cpu(40, '4'), memory('5')], [cpu(40, '4'), memory('4')]],
    ['a whole that all say', [queue('7')], [queue('7')], [queue('7')]],
    ['one that nobody could read', [{ type: '' }], [{ type: '' }], [{ type: '' }]],
    ['of one that has said nothing, the other’s', [cpu(40, '1')], [], [cpu(40, '1')]],
    ['nothing where they differ', [queue('7')], [queue('8')], undefined],
    ['nothing of different metrics', [cpu(1, '1')], [memory('1')], undefined],
    ['nothing of different many', [cpu(1, '1')], [cpu(1, '1'), cpu(1, '1')], undefined],
    ['nothing of what is no quantity', [memory('x')], [memory('1')], undefined],
    ['nothing where one could not read it', [cpu(1, '1')], [{ type: '' }], undefined],
    ['nothing of what is no text', [memory('1')], [memory({ toString: 1, valueOf: 1 } as never)], undefined],
    ['no percentage below none', [cpu(-1e308, '1')], [cpu(-1e308, '1')], [cpu(0, '1')]],
  ])('what pods use by autoscalers of one and three: %s', (_name, a, b, expected) => {
    const of = (currentReplicas: number, currentMetrics: unknown[]) =>
      slice({ currentReplicas, ...(currentMetrics.length > 0 && { currentMetrics }) });
    const status = fold(root('HorizontalPodAutoscaler'), { a: of(1, a), b: of(3, b) });
    expect(status?.['currentMetrics']).toEqual(expected);
  });

  it('a Deployment that has neither surge nor unavailability may miss one, as one cluster has it', () => {
    const rollingUpdate = { maxSurge: 0, maxUnavailable: '5%' };
    const spec = { replicas: 10, strategy: { type: 'RollingUpdate', rollingUpdate } };
    const available = (b: number) => {
      const conditions = [condition('Available', 'True')];
      const of = (n: number) => slice({ replicas: 5, availableReplicas: n, conditions });
      return firstStatus(fold(root('Deployment', { spec }), { a: of(5), b: of(b) }));
    };
    expect([available(5), available(4), available(3)]).toEqual(['True', 'True', 'False']);
  });

  it('says of a Deployment that it is available as one cluster would', () => {
    const good = condition('Available', 'True', { lastTransitionTime: early });
    const bad = condition('Available', 'False', { lastTransitionTime: late });
    const available = (a: number, b: number) => {
      const slices = {
        a: slice({ availableReplicas: a, conditions: [good] }),
        b: slice({ availableReplicas: b, conditions: [bad] }),
      };
      const status = fold(root('Deployment', { spec: { replicas: 4 } }), slices);
      return firstStatus(status);
    };
    expect(available(3, 0), 'one of four may be missing').toBe('True');
    expect(available(2, 0)).toBe('False');
  });

  it('completes a Job when every part is complete, and then leaves it alone', () => {
    const part = (succeeded: number, complete: boolean, startTime: string) =>
      slice({
        succeeded,
        startTime,
        completionTime: late,
        conditions: complete ? [condition('Complete', 'True')] : [],
      });
    const half = fold(root('Job'), { a: part(2, true, late), b: part(1, false, early) });
    expect(half).toEqual({ succeeded: 3, startTime: early });
    const whole = fold(root('Job'), { a: part(2, true, late), b: part(3, true, early) });
    expect(whole).toMatchObject({
      succeeded: 5,
      completionTime: late,
      conditions: [{ type: 'Complete', status: 'True' }],
    });
    expect(fold(root('Job', { status: whole }), { a: part(2, true, late) })).toBeUndefined();
  });

  describe('a Job of which one part has failed', () => {
    const failed = slice({
      failed: 1,
      conditions: [condition('FailureTarget', 'True'), condition('Failed', 'True')],
    });
    const types = (b: ClusterSlice, share: Share = active) =>
      listAt(fold(root('Job'), { a: failed, b }, { a: active, b: share }), 'conditions').map((c) =>
        textAt(c, 'type'),
      );
    const suspended: Share = { ...active, suspend: true };
    const stopped = (active = 0, terminating = 0): ClusterSlice => ({
      ...slice({ active, terminating, conditions: [condition('Suspended', 'True')] }),
      share: { suspend: true },
    });

    it.each<[string, ClusterSlice, Share, boolean]>([
      ['runs elsewhere', slice({ active: 1 }), active, false],
      ['is told to stop there', slice({ active: 1 }), suspended, false],
      ['stops there', stopped(0, 1), suspended, false],
      ['has stopped there', stopped(), suspended, true],
      ['was suspended there before it was told to be', { ...stopped(), share: {} }, suspended, false],
      [
        'is complete there',
        slice({ succeeded: 1, conditions: [condition('Complete', 'True')] }),
        active,
        true,
      ],
      ['has failed there', failed, active, true],
    ])('that %s', (_what, b, share, isOver) => {
      expect(types(b, share)).toEqual(isOver ? ['FailureTarget', 'Failed'] : ['FailureTarget']);
    });

    it('is not over while nothing is heard of another part', () => {
      const silence = { since: early, words: 'b is silent' } as never;
      const status = foldStatus(root('Job'), { a: active, b: suspended }, { a: failed, b: stopped() }, (c) =>
        c === 'b' ? silence : undefined,
      );
      expect(listAt(status, 'conditions').map((c) => textAt(c, 'type'))).not.toContain('Failed');
    });
  });

  it('a Job of which a part went with a cluster that was given up is not complete without it', () => {
    const part = { ...active, completions: 2 };
    const whole = slice({ succeeded: 2, completionTime: late, conditions: [condition('Complete', 'True')] });
    const job = root('Job', { spec: { completions: 4 } });
    expect(fold(job, { a: whole }, { a: part })).toMatchObject({
      succeeded: 2,
      conditions: [
        {
          type: 'Failed',
          status: 'True',
          reason: 'ClusterForgotten',
          message: '2 of its 4 completions went with a cluster that was given up',
          lastTransitionTime: late,
        },
      ],
    });
    expect(fold(job, { a: whole, b: whole }, { a: part, b: part })).toMatchObject({
      conditions: [{ type: 'Complete', status: 'True' }],
    });
  });

  it('a Job of which a part had come before its cluster was given up is complete with the rest', () => {
    const whole = slice({ succeeded: 2, completionTime: late, conditions: [condition('Complete', 'True')] });
    const job = root('Job', { spec: { completions: 4 } });
    expect(fold(job, { a: whole }, { a: { ...active, completions: 2, came: 2 } })).toMatchObject({
      succeeded: 4,
      completionTime: late,
      conditions: [{ type: 'Complete', status: 'True' }],
    });
    expect(fold(job, { a: whole }, { a: { ...active, completions: 2, came: 1 } })).toMatchObject({
      succeeded: 3,
      conditions: [
        { type: 'Failed', message: '1 of its 4 completions went with a cluster that was given up' },
      ],
    });
  });

  it('counts the pods of a Job once a cluster does, and names none of those that it has still to count', () => {
    const counting = slice({ succeeded: 1, uncountedTerminatedPods: { succeeded: ['some-uid'] } });
    const both = { a: counting, b: slice({ succeeded: 1 }) };
    expect(fold(root('Job'), both)).toEqual({ succeeded: 2, uncountedTerminatedPods: {} });
    expect(fold(root('Job'), { b: slice({ succeeded: 1 }) })).toEqual({ succeeded: 1 });
  });

  it('leaves addresses that somebody wrote in the logical cluster, until they are taken back', () => {
    const loadBalancer = { ingress: [{ ip: '192.0.2.1' }] };
    const wrote = (manager: string, status: object) =>
      root('Service', {
        metadata: { name: 'x', managedFields: [{ manager, subresource: 'status' }] },
        status,
      });
    const theirs = { loadBalancer: { ingress: [{ ip: '1.1.1.1' }] } };
    for (const said of [{ loadBalancer: {} }, theirs]) {
      expect(fold(wrote('controller', { loadBalancer }), { east: slice(said) })).toEqual({ loadBalancer });
      expect(fold(wrote(splitterUser, { loadBalancer }), { east: slice(said) })).toEqual(said);
      expect(fold(wrote('controller', { loadBalancer: {} }), { east: slice(said) })).toEqual(said);
    }
  });
});

describe('withBudgets', () => {
  const web = (rollingUpdate: object | undefined, replicas = 4): KubeObject =>
    root('Deployment', {
      spec: { replicas, strategy: { type: 'RollingUpdate', ...(rollingUpdate && { rollingUpdate }) } },
    });
  const of = (...replicas: number[]): Record<string, Share> =>
    Object.fromEntries(replicas.map((n, i) => ['abc'.charAt(i), { ...active, replicas: n }]));
  it.each<
    [
      string,
      KubeObject,
      Record<string, Share>,
      (readonly [number | string | undefined, number | string | undefined])[],
    ]
  >([
    [
      '25% of 4 is one pod more here, and one less there',
      web(undefined),
      of(2, 2),
      [
        [1, 0],
        [0, 1],
      ],
    ],
    [
      'who has most gives, so that nobody has nothing',
      web({ maxSurge: 3, maxUnavailable: 0 }, 22),
      of(20, 1, 1),
      [
        [1, 0],
        [1, 0],
        [1, 0],
      ],
    ],
    [
      'whole numbers',
      web({ maxSurge: 4, maxUnavailable: 2 }, 6),
      of(4, 2),
      [
        [3, 1],
        [1, 1],
      ],
    ],
    ['one alone keeps what was written', web({ maxSurge: 4 }), of(4), [[undefined, undefined]]],
    [
      'an empty share does not count',
      web({ maxSurge: 4 }),
      of(4, 0),
      [
        [undefined, undefined],
        [undefined, undefined],
      ],
    ],
  ])('%s', (_name, object, shares, expected) => {
    const done = Object.values(withBudgets(object, shares));
    expect(done.map((s) => [s.maxSurge, s.maxUnavailable])).toEqual(expected);
    for (const s of done)
      if (s.maxSurge !== undefined) expect(Number(s.maxSurge) + Number(s.maxUnavailable)).toBeGreaterThan(0);
  });
  it('of however many clusters and pods: those that go on have in all what was said, and nobody has nothing', () => {
    const pods = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 2, maxLength: 3 });
    const few = fc.nat({ max: 8 });
    fc.assert(
      fc.property(pods, few, few, (replicas, maxSurge, maxUnavailable) => {
        fc.pre(maxSurge + maxUnavailable > 0);
        const total = replicas.reduce((a, b) => a + b);
        const done = Object.values(withBudgets(web({ maxSurge, maxUnavailable }, total), of(...replicas)));
        const going = done.filter(({ paused }) => !paused);
        const inAll = (what: 'maxSurge' | 'maxUnavailable') => going.reduce((n, s) => n + Number(s[what]), 0);
        for (const s of done) expect(Number(s.maxSurge) + Number(s.maxUnavailable)).toBeGreaterThan(0);
        expect(inAll('maxUnavailable')).toBe(maxUnavailable);
        expect(inAll('maxSurge')).toBe(maxSurge);
      }),
    );
  });
});
