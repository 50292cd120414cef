import { describe, expect, it } from 'vitest';
import { decide, type Seen, statusAfter } from '../../../controller/autoscaling/decide.ts';
import { groupsOf, versionOf } from '../../../controller/autoscaling/own.ts';
import { type History, normalise, noteScale } from '../../../controller/autoscaling/rates.ts';
import type { Autoscaler, AutoscalerSpec, Behavior } from '../../../controller/autoscaling/types.ts';
import type { KubeObject } from '../../../kube/object.ts';

const now = Date.UTC(2026, 0, 1);
const none = (): History => ({ recommended: [], ups: [], downs: [] });
const metric = (target: object) => ({
  type: 'External',
  external: { metric: { name: 'queue' }, target: { type: 'AverageValue', ...target } },
});
const autoscaler = (spec: object = {}): Autoscaler => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    minReplicas: 2,
    maxReplicas: 10,
    metrics: [metric({ averageValue: '10' })],
    ...spec,
  } as AutoscalerSpec,
});
const ready: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {},
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
};
const seen = (wanted: number, values: bigint[], more: Partial<Seen> = {}): Seen => ({
  scale: { wanted, current: wanted },
  readings: [{ values }],
  selector: 'app=web',
  scalers: ['default/web'],
  pods: Array.from({ length: wanted }, () => ready),
  now,
  ...more,
});

describe('what external metrics ask for', () => {
  it.each<[string, object, number, bigint[], number | undefined]>([
    ['more, rounded up', {}, 4, [41_000n, 10_000n], 6],
    ['within a tenth of the target: nothing', {}, 4, [43_900n], undefined],
    ['no more than twice as many at a time', { maxReplicas: 30 }, 4, [900_000n], 8],
    ['no more than the maximum', {}, 8, [900_000n], 10],
    ['a whole value: by how many are ready', { metrics: [metric({ value: '10' })] }, 3, [20_000n], 6],
    ['more than the maximum is lowered, whatever they say', {}, 12, [120_000n], 10],
    ['less than the minimum is raised, whatever they say', {}, 1, [0n], 2],
    ['none at all switch it off', {}, 0, [900_000n], undefined],
  ])('%s', (_, spec, wanted, values, expected) => {
    expect(decide(autoscaler(spec), seen(wanted, values), none()).replicas).toBe(expected);
  });

  it('less only once nothing more was asked for in five minutes', () => {
    const history = none();
    const at = (minutes: number) =>
      decide(autoscaler(), seen(6, [20_000n], { now: now + minutes * 60_000 }), history);
    expect(at(0).replicas).toBeUndefined();
    const able = at(4).conditions.find(({ type }) => type === 'AbleToScale');
    expect(able).toMatchObject({ status: 'True', reason: 'ScaleDownStabilized' });
    expect(at(6)).toMatchObject({ replicas: 2, reason: 'All metrics below target' });
  });

  it('says why it cannot say, and changes nothing', () => {
    const failure = 'no answer';
    const why = 'unable to get external metric default/queue/nil: no answer';
    const hpa = { ...autoscaler(), status: { desiredReplicas: 4 } };
    const decision = decide(hpa, seen(4, [], { readings: [{ failure }] }), none());
    expect(decision).toMatchObject({ replicas: undefined, failed: true });
    expect(decision.words.map(({ reason, message }) => [reason, message])).toEqual([
      ['FailedGetExternalMetric', why],
      [
        'FailedComputeMetricsReplicas',
        'invalid metrics (1 invalid out of 1), first error is: failed to get queue external metric value: ' +
          `failed to get queue external metric: ${why}`,
      ],
    ]);
    const status = statusAfter(hpa, decision, seen(4, []), false);
    expect(status).toMatchObject({ currentReplicas: 4, desiredReplicas: 4 });
    expect(status.conditions?.map(({ type, status: is }) => [type, is])).toEqual([
      ['AbleToScale', 'True'],
      ['ScalingActive', 'False'],
    ]);
  });

  it('of several the one that asks for most counts; where one fails it may only be more', () => {
    const metrics = [metric({ averageValue: '10' }), metric({ averageValue: '10' })];
    const both = (readings: Seen['readings']) =>
      decide(autoscaler({ metrics }), seen(4, [], { readings }), none()).replicas;
    const [low, high, failed] = [{ values: [30_000n] }, { values: [70_000n] }, { failure: 'no' }];
    expect(both([low, high])).toBe(7);
    expect(both([high, failed])).toBe(7);
    expect(both([low, failed])).toBeUndefined();
  });

  it('says nothing of a target that does not say which pods are its own', () => {
    const hpa = autoscaler({ metrics: [metric({ value: '10' })] });
    const decision = decide(hpa, seen(3, [20_000n], { selector: '' }), none());
    expect(decision).toMatchObject({ replicas: undefined, failed: true });
    expect(decision.words.map(({ reason, message }) => [reason, message])).toEqual([
      ['SelectorRequired', 'selector is required'],
      ['FailedComputeMetricsReplicas', 'selector is required'],
    ]);
    const active = decision.conditions.find(({ type }) => type === 'ScalingActive');
    expect(active).toMatchObject({ status: 'False', reason: 'InvalidSelector' });
  });

  it.each([
    ['unable to parse requirement: ', 'app in ('],
    ["found '', expected: identifier after ','", 'app=web,'],
    ['it is longer than ', `app in (${'x,'.repeat(20_000)}y)`],
  ])('nor of one whose selector is none: %s', (why, selector) => {
    const decision = decide(autoscaler(), seen(3, [90_000n], { selector }), none());
    const message = expect.stringContaining(
      `couldn't convert selector into a corresponding internal selector object: ${why}`,
    );
    expect(decision).toMatchObject({ replicas: undefined, failed: true });
    const active = decision.conditions.find(({ type }) => type === 'ScalingActive');
    expect(active).toMatchObject({ status: 'False', reason: 'InvalidSelector', message });
    expect(active?.message.length).toBeLessThan(2_000);
    expect(decision.words[0]).toEqual({ type: 'Warning', reason: 'InvalidSelector', message });
  });

  it.each<[string, object, object]>([
    ['External', { external: { metric: { name: 'queue' }, target: { value: '1' } } }, { values: [9000n] }],
    ['Pods', { pods: { metric: { name: 'hits' }, target: { averageValue: '1' } } }, { samples: new Map() }],
    ['Resource', { resource: { name: 'cpu', target: { averageUtilization: 1 } } }, { samples: new Map() }],
  ])('by %s: says that its pods cannot be read', (type, metric, reading) => {
    const hpa = autoscaler({ metrics: [{ type, ...metric }] });
    const unlisted = 'unable to get pods while calculating replica count: forbidden';
    const readings = [reading] as Seen['readings'];
    const decision = decide(hpa, seen(3, [], { readings, pods: [], unlisted }), none());
    expect(decision).toMatchObject({ replicas: undefined, failed: true });
    expect(decision.words[0]?.message).toContain(unlisted);
  });

  it('is not asked of two that scale the same', () => {
    const scalers = ['default/other', 'default/web'];
    const decision = decide(autoscaler(), seen(3, [90_000n], { scalers }), none());
    const message = 'pods by selector app=web are controlled by multiple HPAs: [default/other default/web]';
    expect(decision.replicas).toBeUndefined();
    const active = decision.conditions.find(({ type }) => type === 'ScalingActive');
    expect(active).toMatchObject({ status: 'False', reason: 'AmbiguousSelector', message });
    expect(decision.words).toContainEqual({ type: 'Warning', reason: 'AmbiguousSelector', message });
  });

  it.each<[string, object, Seen['readings'][number]]>([
    [
      'of the whole',
      { external: { metric: { name: 'queue' }, target: { value: '1e400' } } },
      { values: [1n] },
    ],
    [
      'of each pod',
      { pods: { metric: { name: 'hits' }, target: { averageValue: '1e400' } } },
      { samples: new Map([['a', { value: 1n, at: now, windowMs: 0 }]]) },
    ],
  ])('a target %s beyond all measure is a number, too', (_, metric, reading) => {
    const names = ['a', 'b', 'c'];
    const pods = names.map((name) => ({ ...ready, metadata: { name } }));
    const hpa = autoscaler({ metrics: [metric], behavior: { scaleDown: { stabilizationWindowSeconds: 0 } } });
    const { replicas = 3 } = decide(hpa, seen(3, [], { readings: [reading], pods }), none());
    expect(Number.isInteger(replicas)).toBe(true);
  });

  it('what many external metrics say together is no more than Kubernetes counts', () => {
    const most = 2n ** 63n - 1n;
    const { metrics } = decide(
      autoscaler({ metrics: [metric({ value: '10' })] }),
      seen(3, [most, most, most]),
      none(),
    );
    const current = { value: '9223372036854775807m' };
    expect(metrics).toEqual([{ type: 'External', external: { metric: { name: 'queue' }, current } }]);
  });

  it('shows what is there, per pod', () => {
    const { metrics } = decide(autoscaler(), seen(4, [41_000n]), none());
    expect(metrics).toEqual([
      { type: 'External', external: { metric: { name: 'queue' }, current: { averageValue: '10250m' } } },
    ]);
  });

  it('needs the API of each of its metrics that no cluster has of itself', () => {
    const cpu = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization' } } };
    const pods = { type: 'Pods', pods: { metric: { name: 'a' }, target: { type: 'AverageValue' } } };
    const of = (...metrics: object[]) => groupsOf(autoscaler({ metrics }));
    expect(of(metric({}), cpu)).toEqual(['external.metrics.k8s.io']);
    expect(of(pods, cpu, { ...pods, type: 'Object' })).toEqual(['custom.metrics.k8s.io']);
    expect(of(cpu)).toEqual([]);
  });

  it.each([
    ['external.metrics.k8s.io', ['v1beta1'], 'v1beta1'],
    ['custom.metrics.k8s.io', ['v1beta1', 'v1beta2'], 'v1beta2'],
    ['custom.metrics.k8s.io', ['v1beta1'], 'v1beta1'],
    ['custom.metrics.k8s.io', ['v3'], 'v3'],
    ['custom.metrics.k8s.io', [], 'v1beta2'],
  ])('%s, of which %j are served, is asked in %s', (group, served, version) => {
    expect(versionOf(group, served)).toBe(version);
  });
});

describe('how fast', () => {
  const of = (behavior: Behavior, current: number, wanted: number, history = none()) => {
    const { replicas, limited } = normalise(history, { current, wanted, min: 1, max: 100, behavior, now });
    return [replicas, limited.reason];
  };
  const policy = (type: string, value: number, periodSeconds = 60) => ({ type, value, periodSeconds });

  it.each<[string, Behavior, number, number, number, string]>([
    ['as many as a policy', { scaleUp: { policies: [policy('Pods', 2)] } }, 4, 20, 6, 'ScaleUpLimit'],
    [
      'the larger of two',
      { scaleUp: { policies: [policy('Pods', 2), policy('Percent', 100)] } },
      4,
      20,
      8,
      'ScaleUpLimit',
    ],
    [
      'the smaller of two',
      { scaleUp: { selectPolicy: 'Min', policies: [policy('Pods', 2), policy('Percent', 100)] } },
      4,
      20,
      6,
      'ScaleUpLimit',
    ],
    ['not at all', { scaleUp: { selectPolicy: 'Disabled' } }, 4, 20, 4, 'ScaleUpLimit'],
    [
      'down as well',
      { scaleDown: { stabilizationWindowSeconds: 0, policies: [policy('Percent', 50)] } },
      9,
      1,
      4,
      'ScaleDownLimit',
    ],
    ['within it', { scaleDown: { stabilizationWindowSeconds: 0 } }, 9, 1, 1, 'DesiredWithinRange'],
  ])('%s', (_, behavior, current, wanted, replicas, reason) => {
    expect(of(behavior, current, wanted)).toEqual([replicas, reason]);
  });

  it('whoever has it look ever again is not remembered for ever', () => {
    const history = none();
    history.recommended = Array.from({ length: 200_000 }, (_, i) => ({ at: now - 200_000 + i, replicas: 5 }));
    expect(of({}, 5, 1, history)[0]).toBe(5);
    expect(history.recommended.length).toBeLessThan(2_000);
  });

  it('what was added in the period counts, and is forgotten after it', () => {
    const behavior = { scaleUp: { policies: [policy('Pods', 4)] } };
    const history = none();
    noteScale(history, 4, 7, now - 30_000);
    expect(of(behavior, 7, 20, history)).toEqual([8, 'ScaleUpLimit']);
    const later = none();
    noteScale(later, 4, 7, now - 61_000);
    expect(of(behavior, 7, 20, later)).toEqual([11, 'ScaleUpLimit']);
  });
});
