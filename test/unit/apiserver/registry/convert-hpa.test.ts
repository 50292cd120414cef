import { expect, test } from 'vitest';
import { hpaFromV1, hpaToV1 } from '../../../../apiserver/registry/kinds/convert-hpa.ts';
import type { KubeObject } from '../../../../kube/object.ts';

const prefix = 'autoscaling.alpha.kubernetes.io/';
const hpa = (spec: object, annotations?: Record<string, string>, status?: object): KubeObject => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'web', ...(annotations && { annotations }) },
  spec: { maxReplicas: 3, ...spec },
  ...(status && { status }),
});
const metric = { name: 'x', selector: { matchLabels: { a: 'b' } } };
const describedObject = { kind: 'Ingress', name: 'i', apiVersion: 'networking.k8s.io/v1' };

/** Annotations of a real kube-apiserver 1.36. */
const metrics: [string, object, string][] = [
  [
    'pods',
    { type: 'Pods', pods: { metric: { name: 'x' }, target: { type: 'AverageValue', averageValue: '5' } } },
    '{"type":"Pods","pods":{"metricName":"x","targetAverageValue":"5"}}',
  ],
  [
    'something outside',
    { type: 'External', external: { metric, target: { type: 'Value', value: '10' } } },
    '{"type":"External","external":{"metricName":"x","metricSelector":{"matchLabels":{"a":"b"}},"targetValue":"10"}}',
  ],
  [
    'an object',
    {
      type: 'Object',
      object: { describedObject, metric: { name: 'z' }, target: { type: 'Value', value: '1' } },
    },
    '{"type":"Object","object":{"target":{"kind":"Ingress","name":"i","apiVersion":"networking.k8s.io/v1"},"metricName":"z","targetValue":"1"}}',
  ],
  [
    'an object, by pod',
    {
      type: 'Object',
      object: { describedObject, metric: { name: 'z' }, target: { type: 'AverageValue', averageValue: '1' } },
    },
    '{"type":"Object","object":{"target":{"kind":"Ingress","name":"i","apiVersion":"networking.k8s.io/v1"},"metricName":"z","targetValue":"0","averageValue":"1"}}',
  ],
  [
    'memory',
    { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
    '{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}}',
  ],
  [
    'a container',
    {
      type: 'ContainerResource',
      containerResource: {
        name: 'cpu',
        container: 'c',
        target: { type: 'Utilization', averageUtilization: 50 },
      },
    },
    '{"type":"ContainerResource","containerResource":{"name":"cpu","targetAverageUtilization":50,"container":"c"}}',
  ],
];

test.each(metrics)('a metric of %s is an annotation of v1, and back', (_, one, text) => {
  const inV2 = hpa({ metrics: [one] });
  const inV1 = hpaToV1(inV2);
  expect(inV1.metadata.annotations).toEqual({ [`${prefix}metrics`]: `[${text}]` });
  expect(hpaFromV1(inV1)).toEqual(inV2);
});

test('the processor is a field of v1', () => {
  const cpu = {
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } },
  };
  const inV1 = hpaToV1(hpa({ metrics: [cpu] }));
  expect([inV1.metadata.annotations, inV1.spec]).toEqual([
    undefined,
    { maxReplicas: 3, targetCPUUtilizationPercentage: 60 },
  ]);
  expect(hpaFromV1(inV1)).toEqual(hpa({ metrics: [cpu] }));
});

test('a behavior is written with the names of another type, and read in any case', () => {
  const behavior = {
    scaleUp: {
      stabilizationWindowSeconds: 0,
      selectPolicy: 'Max',
      policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }],
      tolerance: '100m',
    },
  };
  const text =
    '{"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max","Policies":[{"Type":"Pods","Value":4,"PeriodSeconds":15}],"Tolerance":"100m"},"ScaleDown":null}';
  const inV1 = hpaToV1(hpa({ behavior }));
  expect(inV1.metadata.annotations).toEqual({ [`${prefix}behavior`]: text });
  expect(hpaFromV1(inV1)).toEqual(hpa({ behavior }));
  const camel = { [`${prefix}behavior`]: JSON.stringify(behavior) };
  expect(hpaFromV1(hpa({}, camel))).toEqual(hpa({ behavior }));
});

test.each(metrics)('a metric of %s is read from an annotation with names in any case', (_, one, text) => {
  const loud = text.replace(/"(\w+)":/g, (all, name) => (name === 'a' ? all : `"${name.toUpperCase()}":`));
  expect(hpaFromV1(hpa({}, { [`${prefix}metrics`]: `[${loud}]` }))).toEqual(hpa({ metrics: [one] }));
});

test('rules without policies have none, whatever is filled in elsewhere', () => {
  const annotation = { [`${prefix}behavior`]: '{"scaleUp":{"stabilizationWindowSeconds":5},"ScaleDown":{}}' };
  const behavior = { scaleUp: { stabilizationWindowSeconds: 5, policies: [] }, scaleDown: { policies: [] } };
  expect(hpaFromV1(hpa({}, annotation))).toEqual(hpa({ behavior }));
});

test.each(['{}', 'null', '[]', 'text', ''])('a behavior %j says nothing', (text) => {
  expect(hpaFromV1(hpa({}, { a: 'b', [`${prefix}behavior`]: text }))).toEqual(hpa({}, { a: 'b' }));
});

test('a status is told in v1 with its conditions and metrics, and back', () => {
  const conditions = [{ type: 'ScalingActive', status: 'True', reason: 'R', message: 'm' }];
  const currentMetrics = [
    { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 7, averageValue: '5m' } } },
    { type: 'Pods', pods: { metric: { name: 'x' }, current: { averageValue: '2' } } },
  ];
  const inV2 = hpa({}, undefined, { currentReplicas: 1, desiredReplicas: 1, currentMetrics, conditions });
  const inV1 = hpaToV1(inV2);
  expect(inV1.status).toEqual({ currentReplicas: 1, desiredReplicas: 1, currentCPUUtilizationPercentage: 7 });
  expect(inV1.metadata.annotations).toEqual({
    [`${prefix}current-metrics`]:
      '[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":7,"currentAverageValue":"5m"}},{"type":"Pods","pods":{"metricName":"x","currentAverageValue":"2"}}]',
    [`${prefix}conditions`]: JSON.stringify(conditions),
  });
  expect(hpaFromV1(inV1)).toEqual(inV2);
});

const pods = { type: 'Pods', pods: { metricName: 'x', targetAverageValue: '1' } };
const memory = (target: object) => [{ type: 'Resource', resource: { name: 'memory', ...target } }];

/** Of these a real kube-apiserver 1.36 keeps nothing: what Go's types do not hold is not read. */
test.each<[string, unknown]>([
  ['metrics', [{ type: 5 }]],
  ['metrics', [5]],
  ['metrics', [pods, { ...pods, pods: 'x' }]],
  ['metrics', [{ ...pods, pods: { ...pods.pods, metricName: { a: 1 } } }]],
  ['metrics', [{ ...pods, pods: { ...pods.pods, targetAverageValue: 'zz' } }]],
  ['metrics', [{ ...pods, pods: { ...pods.pods, selector: 5 } }]],
  ['metrics', memory({ targetAverageUtilization: '5' })],
  ['metrics', memory({ targetAverageUtilization: 5.5 })],
  ['metrics', memory({ targetAverageUtilization: 5_000_000_000 })],
  ['behavior', { ScaleUp: 5 }],
  ['behavior', { ScaleUp: { Policies: {} } }],
  ['behavior', { ScaleUp: { Policies: [5] } }],
  ['behavior', { ScaleUp: { Policies: [{ Type: 5 }] } }],
  ['behavior', { ScaleUp: { StabilizationWindowSeconds: '5' } }],
  ['current-metrics', memory({ currentAverageValue: 'zz' })],
  ['conditions', [5]],
  ['conditions', [{ type: 'ScalingActive', lastTransitionTime: 7 }]],
])('of %s %j nothing is taken', (name, said) => {
  const status = { currentReplicas: 1, desiredReplicas: 1 };
  const given = hpa({}, { [`${prefix}${name}`]: JSON.stringify(said) }, status);
  expect(hpaFromV1(given)).toEqual(hpa({}, undefined, status));
});

test('what is nested deeper than any type is not read', () => {
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  const behavior = `{"ScaleUp":{"SelectPolicy":${deep}}}`;
  expect(hpaFromV1(hpa({}, { [`${prefix}behavior`]: behavior }))).toEqual(hpa({}));
});

test('what no type has is left out, and null says nothing', () => {
  const said = [{ ...pods, zzz: 1, pods: { ...pods.pods, selector: null, foo: 'bar' } }];
  expect(hpaFromV1(hpa({}, { [`${prefix}metrics`]: JSON.stringify(said) }))).toEqual(
    hpa({
      metrics: [
        {
          type: 'Pods',
          pods: { metric: { name: 'x' }, target: { type: 'AverageValue', averageValue: '1' } },
        },
      ],
    }),
  );
});

test.each<[string, string, unknown]>([
  [
    'an integer with an exponent',
    '{"type":"Resource","resource":{"name":"memory","targetAverageUtilization":5e1}}',
    undefined,
  ],
  [
    'an integer with a fraction',
    '{"type":"Resource","resource":{"name":"memory","targetAverageUtilization":1.0}}',
    undefined,
  ],
  [
    'a quantity with an exponent',
    '{"type":"Pods","pods":{"metricName":"m","targetAverageValue":5e1}}',
    [
      {
        type: 'Pods',
        pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '5e1' } },
      },
    ],
  ],
])('%s in an annotation is what Go makes of it', (_, written, read) => {
  const { spec } = hpaFromV1(hpa({}, { [`${prefix}metrics`]: `[${written}]` }));
  expect((spec as { metrics?: unknown }).metrics).toEqual(read);
});
