import { describe, expect, it } from 'vitest';
import { applyDefaults } from '../../../../kube/defaults/index.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { strategyFor } from '../../../../kube/strategy/index.ts';
import { scheduleError } from '../../../../kube/validation/cron.ts';
import { validateCreate, validateUpdate } from '../../../../kube/validation/index.ts';
import { infoOf, named, podTemplate } from '../kinds.ts';

function prepared(object: KubeObject): KubeObject {
  const whole = applyDefaults(structuredClone(object), infoOf(object));
  whole.metadata.uid = 'u-1';
  strategyFor(infoOf(object)).prepareForCreate(whole);
  return whole;
}

/** `reason field: message` of each cause. */
function causes(object: KubeObject): string[] {
  const found = validateCreate(prepared(object), infoOf(object));
  return found.map((cause) => `${cause.reason} ${cause.field}: ${cause.message}`);
}

const deployment = (spec: object = {}, template: object = podTemplate()) =>
  named('apps/v1', 'Deployment', { spec: { selector: { matchLabels: { app: 'tide' } }, template, ...spec } });
const pod = (container: object, spec: object = {}) =>
  named('v1', 'Pod', { spec: { containers: [{ name: 'web', image: 'tide:1', ...container }], ...spec } });
const service = (spec: object) => named('v1', 'Service', { spec });
const at = 'spec.containers[0]';

const refused: [string, KubeObject, string[]][] = [
  [
    'an unmatched selector',
    deployment({ selector: { matchLabels: { app: 'wind' } } }),
    [
      'FieldValueInvalid spec.template.metadata.labels: Invalid value: {"app":"tide"}: `selector` does not match template `labels`',
    ],
  ],
  [
    'a negative count',
    deployment({ replicas: -1 }),
    ['FieldValueInvalid spec.replicas: Invalid value: -1: must be greater than or equal to 0'],
  ],
  [
    'templates that do not restart',
    deployment({}, podTemplate({ restartPolicy: 'Never' })),
    [
      'FieldValueNotSupported spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
    ],
  ],
  ['no containers', named('v1', 'Pod', { spec: {} }), ['FieldValueRequired spec.containers: Required value']],
  [
    'containers of one name',
    pod(
      {},
      {
        containers: [
          { name: 'web', image: 'a:1' },
          { name: 'web', image: 'b:1' },
        ],
      },
    ),
    ['FieldValueDuplicate spec.containers[1].name: Duplicate value: "web"'],
  ],
  [
    'an unknown volume',
    pod({ volumeMounts: [{ name: 'v', mountPath: '/v' }] }),
    [`FieldValueNotFound ${at}.volumeMounts[0].name: Not found: "v"`],
  ],
  [
    'two sources in one volume',
    pod({}, { volumes: [{ name: 'v', emptyDir: {}, hostPath: { path: '/v' } }] }),
    ['FieldValueForbidden spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type'],
  ],
  [
    'more requested than allowed',
    pod({ resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }),
    [
      `FieldValueInvalid ${at}.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`,
    ],
  ],
  [
    'a probe that does nothing',
    pod({ livenessProbe: {} }),
    [`FieldValueRequired ${at}.livenessProbe: Required value: must specify a handler type`],
  ],
  [
    'a port out of range',
    pod({ ports: [{ containerPort: 70000 }] }),
    [
      `FieldValueInvalid ${at}.ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive`,
    ],
  ],
  [
    'a toleration without key',
    pod({}, { tolerations: [{ operator: 'Equal', value: 'x' }] }),
    [
      'FieldValueInvalid spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
    ],
  ],
  ['a Service without ports', service({}), ['FieldValueRequired spec.ports: Required value']],
  [
    'unnamed ports',
    service({ ports: [{ port: 80 }, { port: 81, name: 'b' }] }),
    ['FieldValueRequired spec.ports[0].name: Required value'],
  ],
  [
    'a headless NodePort',
    service({ type: 'NodePort', clusterIP: 'None', ports: [{ port: 80 }] }),
    [
      'FieldValueInvalid spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for NodePort services',
    ],
  ],
  [
    'a bad config key',
    named('v1', 'ConfigMap', { data: { 'a/b': 'c' } }),
    [
      "FieldValueInvalid data[a/b]: Invalid value: \"a/b\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    ],
  ],
  [
    'a TLS secret without key',
    named('v1', 'Secret', { type: 'kubernetes.io/tls', data: { 'tls.crt': 'YQ==' } }),
    ['FieldValueRequired data[tls.key]: Required value'],
  ],
  [
    'a rule without verbs',
    named('rbac.authorization.k8s.io/v1', 'Role', { rules: [{ apiGroups: [''], resources: ['pods'] }] }),
    ['FieldValueRequired rules[0].verbs: Required value: verbs must contain at least one value'],
  ],
  [
    'a claim of nothing',
    named('v1', 'PersistentVolumeClaim', { spec: { accessModes: ['ReadWriteOnce'] } }),
    ['FieldValueRequired spec.resources[storage]: Required value'],
  ],
  [
    'an Ingress without rules',
    named('networking.k8s.io/v1', 'Ingress', { spec: {} }),
    ['FieldValueInvalid spec: Invalid value: null: either `defaultBackend` or `rules` must be specified'],
  ],
  [
    'an exception outside its block',
    named('networking.k8s.io/v1', 'NetworkPolicy', {
      spec: { ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/16', except: ['10.1.0.0/24'] } }] }] },
    }),
    [
      'FieldValueInvalid spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "10.1.0.0/24": must be a strict subset of `cidr`',
    ],
  ],
  [
    'both bounds of a budget',
    named('policy/v1', 'PodDisruptionBudget', { spec: { minAvailable: '150%' } }),
    ['FieldValueInvalid spec.minAvailable: Invalid value: "150%": must not be greater than 100%'],
  ],
  [
    'an inverted autoscaler',
    named('autoscaling/v2', 'HorizontalPodAutoscaler', {
      spec: {
        minReplicas: 3,
        maxReplicas: 2,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
      },
    }),
    ['FieldValueInvalid spec.maxReplicas: Invalid value: 2: must be greater than or equal to `minReplicas`'],
  ],
  [
    'a Job that always restarts',
    named('batch/v1', 'Job', { spec: { template: podTemplate() } }),
    [
      'FieldValueRequired spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
    ],
  ],
];

describe('validateCreate', () => {
  it.each(refused)('refuses %s', (_what, object, expected) => {
    expect(causes(object)).toEqual(expected);
  });

  it.each([
    ['a Deployment', deployment()],
    [
      'a Pod',
      pod({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } }] }),
    ],
    ['a Service', service({ ports: [{ port: 80, targetPort: 'http' }], selector: { app: 'tide' } })],
    ['a selectorless headless Service', service({ clusterIP: 'None' })],
    ['a Job', named('batch/v1', 'Job', { spec: { template: podTemplate({ restartPolicy: 'Never' }) } })],
    [
      'a Role of any name',
      named('rbac.authorization.k8s.io/v1', 'Role', { metadata: { name: 'system:Tide' } }),
    ],
    ['a custom resource', named('sea.example/v1', 'Tide', { spec: { containers: [] } })],
  ])('accepts %s', (_what, object) => {
    expect(causes(object)).toEqual([]);
  });

  it.each([
    [{ name: '' }, ['metadata.name']],
    [{ name: 'Tide' }, ['metadata.name']],
    [{ labels: { 'a b': 'c', d: '-' } }, ['metadata.labels', 'metadata.labels']],
    [{ annotations: { a: 'x'.repeat(300_000) } }, ['metadata.annotations']],
    [{ finalizers: ['mine'] }, ['metadata.finalizers[0]']],
    [
      { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: '', uid: 'u' }] },
      ['metadata.ownerReferences.name'],
    ],
    [
      { ownerReferences: [{ apiVersion: 'a/b/c', kind: 'Pod', name: 'p', uid: 'u' }] },
      ['metadata.ownerReferences.apiVersion'],
    ],
  ])('metadata %o', (metadata, fields) => {
    const object = named('v1', 'ConfigMap', { metadata });
    expect(validateCreate(prepared(object), infoOf(object)).map((cause) => cause.field)).toEqual(fields);
  });
});

describe('validateUpdate', () => {
  function changed(object: KubeObject, change: object): string[] {
    const old = prepared(object);
    const next = prepared({ ...object, ...change });
    return validateUpdate(next, old, infoOf(object)).map((cause) => `${cause.field}: ${cause.message}`);
  }

  const secret = named('v1', 'Secret', { type: 'Opaque', immutable: true, data: { a: 'YQ==' } });
  const binding = named('rbac.authorization.k8s.io/v1', 'RoleBinding', {
    roleRef: { kind: 'Role', name: 'a' },
  });
  it.each([
    ['what stays', secret, {}, []],
    [
      'immutable data',
      secret,
      { data: { a: 'Yg==' } },
      ['data: Forbidden: field is immutable when `immutable` is set'],
    ],
    ['a type', secret, { type: 'reef' }, ['type: Invalid value: "reef": field is immutable']],
    [
      'a role',
      binding,
      { roleRef: { kind: 'Role', name: 'b' } },
      [
        'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"b"}: cannot change roleRef',
      ],
    ],
    [
      'a selector',
      deployment(),
      deployment(
        { selector: { matchLabels: { app: 'wind' } } },
        { ...podTemplate(), metadata: { labels: { app: 'wind' } } },
      ),
      ['spec.selector: Invalid value: {"matchLabels":{"app":"wind"}}: field is immutable'],
    ],
    ["a Pod's image", pod({}), pod({ image: 'tide:2' }), []],
  ])('%s', (_what, object, change, expected) => {
    expect(changed(object, change)).toEqual(expected);
  });
});

describe('schedules', () => {
  it.each([
    ['*/5 * * * *', undefined],
    ['0 0 * jan-mar mon', undefined],
    ['@every 1h30m', undefined],
    ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
    ['61 * * * *', 'end of range (61) above maximum (59): 61'],
    ['@often', 'unrecognized descriptor: @often'],
  ])('%s', (schedule, error) => {
    expect(scheduleError(schedule)).toBe(error);
  });
});
