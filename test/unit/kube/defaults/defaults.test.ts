import { describe, expect, it } from 'vitest';
import { applyDefaults } from '../../../../kube/defaults/index.ts';
import type { JsonObject, KubeObject } from '../../../../kube/object.ts';
import { infoOf, named, podTemplate } from '../kinds.ts';

const defaulted = (object: KubeObject) => applyDefaults(structuredClone(object), infoOf(object));
const specOf = (object: KubeObject) => defaulted(object).spec;

describe('defaults', () => {
  it('fills a Deployment down to its containers', () => {
    const object = named('apps/v1', 'Deployment', {
      spec: { selector: { matchLabels: { app: 'tide' } }, template: podTemplate() },
    });
    expect(specOf(object)).toEqual({
      replicas: 1,
      selector: { matchLabels: { app: 'tide' } },
      template: {
        metadata: { labels: { app: 'tide' } },
        spec: {
          containers: [
            {
              name: 'web',
              image: 'tide:1',
              resources: {},
              terminationMessagePath: '/dev/termination-log',
              terminationMessagePolicy: 'File',
              imagePullPolicy: 'IfNotPresent',
            },
          ],
          restartPolicy: 'Always',
          terminationGracePeriodSeconds: 30,
          dnsPolicy: 'ClusterFirst',
          securityContext: {},
          schedulerName: 'default-scheduler',
        },
      },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    });
  });

  it.each([
    ['tide', 'Always'],
    ['tide:latest', 'Always'],
    ['reef.example:5000/tide', 'Always'],
    ['reef.example:5000/tide:1', 'IfNotPresent'],
    [`tide@sha256:${'a'.repeat(64)}`, 'IfNotPresent'],
    ['Not An Image', 'IfNotPresent'],
  ])('pulls %s %s', (image, policy) => {
    const pod = named('v1', 'Pod', { spec: { containers: [{ name: 'web', image }] } });
    expect(specOf(pod)).toMatchObject({ containers: [{ imagePullPolicy: policy }] });
  });

  it.each([
    [' 1000 ', '1k'],
    [9_007_199_254_740_993n, '9007199254740993'],
    [2n ** 70n, '1180591620717411303424'],
  ])('writes the amount %s as quotas count it', (cpu, written) => {
    const resources = { requests: { cpu } } as unknown as JsonObject;
    const pod = named('v1', 'Pod', { spec: { containers: [{ name: 'web', resources }] } });
    expect(specOf(pod)).toMatchObject({ containers: [{ resources: { requests: { cpu: written } } }] });
  });

  it('takes a negative grace period of a Pod for a second, and leaves that of a template', () => {
    const spec = { terminationGracePeriodSeconds: -5, containers: [] };
    expect(specOf(named('v1', 'Pod', { spec }))).toMatchObject({ terminationGracePeriodSeconds: 1 });
    const deployment = named('apps/v1', 'Deployment', { spec: { template: { spec } } });
    expect(specOf(deployment)).toMatchObject({ template: { spec: { terminationGracePeriodSeconds: -5 } } });
  });

  it("takes a Pod's missing requests from its limits, in canonical amounts", () => {
    const resources = { limits: { cpu: '1000m', memory: '1024Mi' }, requests: { cpu: 0.5 } };
    const pod = named('v1', 'Pod', { spec: { containers: [{ name: 'web', image: 'tide:1', resources }] } });
    expect(specOf(pod)).toMatchObject({
      enableServiceLinks: true,
      containers: [
        { resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m', memory: '1Gi' } } },
      ],
    });
  });

  it('leaves the requests of a template alone', () => {
    const containers = [{ name: 'web', image: 'tide:1', resources: { limits: { cpu: '1' } } }];
    const set = named('apps/v1', 'ReplicaSet', { spec: { template: podTemplate({ containers }) } });
    expect(specOf(set)).toMatchObject({
      template: { spec: { containers: [{ resources: { limits: { cpu: '1' } } }] } },
    });
    expect(JSON.stringify(specOf(set))).not.toContain('requests');
  });

  it.each([
    ['ClusterIP', { internalTrafficPolicy: 'Cluster' }],
    ['NodePort', { internalTrafficPolicy: 'Cluster', externalTrafficPolicy: 'Cluster' }],
    [
      'LoadBalancer',
      {
        internalTrafficPolicy: 'Cluster',
        externalTrafficPolicy: 'Cluster',
        allocateLoadBalancerNodePorts: true,
      },
    ],
    ['ExternalName', {}],
  ])('a Service of type %s', (type, extra) => {
    const service = named('v1', 'Service', { spec: { type, ports: [{ port: 80 }] } });
    expect(specOf(service)).toEqual({
      type,
      sessionAffinity: 'None',
      ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
      ...extra,
    });
  });

  it("folds a Secret's stringData into data, over what was there", () => {
    const secret = named('v1', 'Secret', { data: { a: 'b2xk', b: 'Yg==' }, stringData: { a: 'new' } });
    const { type, data, stringData } = defaulted(secret);
    expect({ type, data, stringData }).toEqual({ type: 'Opaque', data: { a: 'bmV3', b: 'Yg==' } });
  });

  it('keeps a hostile key what it is', () => {
    const map = named('v1', 'ConfigMap', { data: JSON.parse('{"__proto__":"x","a":"b"}') });
    expect(JSON.stringify(defaulted(map)['data'])).toBe('{"__proto__":"x","a":"b"}');
  });

  it('drops nulls, zeros and unknown fields, and writes what is always written', () => {
    const spec = {
      hostNetwork: false,
      nodeSelector: {},
      nodeName: null,
      seaLevel: 3,
      containers: [
        {
          name: 'web',
          image: 'tide:1',
          env: [],
          volumeMounts: [{ name: 'v', mountPath: '/v', readOnly: false }],
        },
      ],
      volumes: [{ name: 'v' }],
    };
    const written = specOf(named('v1', 'Pod', { spec })) as Record<string, unknown>;
    expect(written).not.toHaveProperty('hostNetwork');
    expect(written).not.toHaveProperty('nodeSelector');
    expect(written).not.toHaveProperty('nodeName');
    expect(written).not.toHaveProperty('seaLevel');
    expect(written['volumes']).toEqual([{ name: 'v', emptyDir: {} }]);
    expect(written['containers']).toMatchObject([
      { resources: {}, volumeMounts: [{ name: 'v', mountPath: '/v' }] },
    ]);
  });

  const kinds: [string, KubeObject, object][] = [
    ['a Role without rules', named('rbac.authorization.k8s.io/v1', 'Role', { rules: [] }), { rules: null }],
    [
      'a RoleBinding',
      named('rbac.authorization.k8s.io/v1', 'RoleBinding', {
        roleRef: { kind: 'Role', name: 'r' },
        subjects: [
          { kind: 'User', name: 'u' },
          { kind: 'ServiceAccount', name: 's' },
        ],
      }),
      {
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
        subjects: [
          { kind: 'User', name: 'u', apiGroup: 'rbac.authorization.k8s.io' },
          { kind: 'ServiceAccount', name: 's' },
        ],
      },
    ],
    [
      'a StatefulSet',
      named('apps/v1', 'StatefulSet', {
        spec: { template: podTemplate(), volumeClaimTemplates: [{ metadata: { name: 'data' } }] },
      }),
      {
        spec: {
          replicas: 1,
          podManagementPolicy: 'OrderedReady',
          updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
          persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
          volumeClaimTemplates: [
            {
              apiVersion: 'v1',
              kind: 'PersistentVolumeClaim',
              spec: { volumeMode: 'Filesystem' },
              status: { phase: 'Pending' },
            },
          ],
        },
      },
    ],
    [
      'a CronJob',
      named('batch/v1', 'CronJob', {
        spec: { schedule: '@daily', jobTemplate: { spec: { template: podTemplate() } } },
      }),
      {
        spec: {
          concurrencyPolicy: 'Allow',
          suspend: false,
          successfulJobsHistoryLimit: 3,
          failedJobsHistoryLimit: 1,
        },
      },
    ],
    [
      'a NetworkPolicy',
      named('networking.k8s.io/v1', 'NetworkPolicy', { spec: { egress: [{ ports: [{ port: 53 }] }] } }),
      {
        spec: {
          podSelector: {},
          policyTypes: ['Ingress', 'Egress'],
          egress: [{ ports: [{ protocol: 'TCP', port: 53 }] }],
        },
      },
    ],
    [
      'an autoscaler',
      named('autoscaling/v2', 'HorizontalPodAutoscaler', {
        spec: { maxReplicas: 3, behavior: { scaleUp: {} } },
      }),
      {
        spec: {
          minReplicas: 1,
          metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { averageUtilization: 80 } } }],
          behavior: {
            scaleUp: { stabilizationWindowSeconds: 0, selectPolicy: 'Max' },
            scaleDown: { selectPolicy: 'Max' },
          },
        },
      },
    ],
    [
      'a Namespace',
      named('v1', 'Namespace'),
      { metadata: { labels: { 'kubernetes.io/metadata.name': 'tide' } } },
    ],
    [
      'a CustomResourceDefinition',
      named('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {
        spec: { names: { kind: 'Tide', plural: 'tides' }, versions: [{ name: 'v1', storage: true }] },
      }),
      {
        spec: { names: { singular: 'tide', listKind: 'TideList' }, conversion: { strategy: 'None' } },
        status: { storedVersions: ['v1'] },
      },
    ],
  ];
  it.each(kinds)('%s', (_what, object, expected) => {
    expect(defaulted(object)).toMatchObject(expected);
  });

  it('does not touch a custom resource', () => {
    const custom = named('sea.example/v1', 'Tide', { spec: { level: null, list: [] } });
    expect(defaulted(custom)).toEqual(custom);
  });

  it('is idempotent', () => {
    const pod = named('v1', 'Pod', {
      spec: { serviceAccount: 'sa', containers: [{ name: 'web', image: 'tide' }] },
    });
    const once = defaulted(pod);
    expect(defaulted(once)).toEqual(once);
    expect(once.spec).toMatchObject({ serviceAccount: 'sa', serviceAccountName: 'sa' });
  });
});
