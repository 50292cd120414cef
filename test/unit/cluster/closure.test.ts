import { describe, expect, it } from 'vitest';
import { closureOf, indexNamespace, isUsersEndpoints, refKey, refOf } from '../../../cluster/closure.ts';
import { isPlaceable } from '../../../cluster/placeable.ts';
import { reflectedAs } from '../../../cluster/reflected.ts';
import { deployment, placed } from './objects.ts';

const names = (workload: ReturnType<typeof placed>, ...others: ReturnType<typeof placed>[]) =>
  closureOf(workload.object, indexNamespace([workload, ...others])).map(refKey);

describe('closureOf', () => {
  it.each<[string, object, [string, string][]]>([
    [
      'volumes',
      { volumes: [{ configMap: { name: 'x' } }, { secret: { secretName: 'y' } }] },
      [
        ['ConfigMap', 'x'],
        ['Secret', 'y'],
      ],
    ],
    [
      'projected volumes',
      { volumes: [{ projected: { sources: [{ configMap: { name: 'x' } }, { secret: { name: 'y' } }] } }] },
      [
        ['ConfigMap', 'x'],
        ['Secret', 'y'],
      ],
    ],
    [
      'environment',
      {
        containers: [
          {
            env: [
              { valueFrom: { configMapKeyRef: { name: 'x' } } },
              { valueFrom: { secretKeyRef: { name: 'y' } } },
            ],
          },
        ],
      },
      [
        ['ConfigMap', 'x'],
        ['Secret', 'y'],
      ],
    ],
    [
      'environment from, in init containers',
      { initContainers: [{ envFrom: [{ configMapRef: { name: 'x' } }, { secretRef: { name: 'y' } }] }] },
      [
        ['ConfigMap', 'x'],
        ['Secret', 'y'],
      ],
    ],
    [
      'the token that admission added',
      { volumes: [{ name: 'kube-api-access-x', projected: { sources: [{ configMap: { name: 'x' } }] } }] },
      [],
    ],
    ['pull secrets', { imagePullSecrets: [{ name: 'y' }] }, [['Secret', 'y']]],
    [
      'claims',
      { volumes: [{ persistentVolumeClaim: { claimName: 'p' } }] },
      [['PersistentVolumeClaim', 'p']],
    ],
    ['CSI secrets', { volumes: [{ csi: { nodePublishSecretRef: { name: 'y' } } }] }, [['Secret', 'y']]],
  ])('%s', (_name, podSpec, expected) => {
    const others = expected.map(([kind, name]) => placed(kind, name));
    const wanted = others.map((o) => refKey(refOf(o))).sort();
    expect(names(deployment('web', { podSpec }), ...others, placed('Secret', 'unrelated'))).toEqual(wanted);
    expect(names(deployment('web', { podSpec })), 'what does not exist').toEqual([]);
  });

  it('follows a service account to its secrets, but pushes no tokens and no defaults', () => {
    const account = placed('ServiceAccount', 'sa', {
      secrets: [{ name: 'own' }, { name: 'token' }],
      imagePullSecrets: [{ name: 'pull' }],
    });
    const secrets = [
      placed('Secret', 'own'),
      placed('Secret', 'pull'),
      placed('Secret', 'token', { type: 'kubernetes.io/service-account-token' }),
    ];
    const web = deployment('web', { podSpec: { serviceAccountName: 'sa' } });
    expect(names(web, account, ...secrets)).toEqual(['secrets/own', 'secrets/pull', 'serviceaccounts/sa']);
    const plain = deployment('web', { podSpec: { serviceAccountName: 'default' } });
    expect(names(plain, placed('ServiceAccount', 'default'))).toEqual([]);
  });

  it('takes what selects, routes to and scales it', () => {
    const selector = { matchLabels: { app: 'web' } };
    const backend = (name: string) => ({ http: { paths: [{ backend: { service: { name } } }] } });
    const found = names(
      deployment('web'),
      placed('Service', 'web', { spec: { selector: { app: 'web' } } }),
      placed('Service', 'other', { spec: { selector: { app: 'other' } } }),
      placed('Ingress', 'front', { spec: { rules: [backend('web')], tls: [{ secretName: 'cert' }] } }),
      placed('Ingress', 'elsewhere', { spec: { rules: [backend('other')] } }),
      placed('Secret', 'cert'),
      placed('HorizontalPodAutoscaler', 'scale', {
        spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' } },
      }),
      placed('PodDisruptionBudget', 'budget', { spec: { selector } }),
      placed('NetworkPolicy', 'all', { spec: { podSelector: {} } }),
      placed('LimitRange', 'defaults', { spec: { limits: [] } }),
      placed('NetworkPolicy', 'others', { spec: { podSelector: { matchLabels: { app: 'other' } } } }),
    );
    expect(found).toEqual([
      'horizontalpodautoscalers.autoscaling/scale',
      'ingresses.networking.k8s.io/front',
      'limitranges/defaults',
      'networkpolicies.networking.k8s.io/all',
      'poddisruptionbudgets.policy/budget',
      'secrets/cert',
      'services/web',
    ]);
  });

  it('takes what selects one pod of a StatefulSet, by its name or index, also one that it has not now', () => {
    const labels = { app: 'db' };
    const set = placed('StatefulSet', 'db', {
      spec: { replicas: 1, template: { metadata: { labels }, spec: { containers: [] } } },
    });
    const [name, index] = ['statefulset.kubernetes.io/pod-name', 'apps.kubernetes.io/pod-index'];
    const service = (called: string, selector: object) => placed('Service', called, { spec: { selector } });
    const policy = (called: string, podSelector: object) =>
      placed('NetworkPolicy', called, { spec: { podSelector } });
    const oneOf = (values: string[]) => ({ matchExpressions: [{ key: name, operator: 'In', values }] });
    const others = [
      service('first', { [name]: 'db-0' }),
      service('second', { ...labels, [name]: 'db-1' }),
      service('of-another', { [name]: 'db-x-0' }),
      service('of-another-app', { app: 'x', [name]: 'db-0' }),
      service('of-no-pod', { ...labels, [name]: 'db' }),
      policy('by-index', { matchLabels: { ...labels, [index]: '0' } }),
      policy('by-names', oneOf(['x-0', 'db-0'])),
      policy('by-others', oneOf(['x-0'])),
      policy('by-the-label', { matchExpressions: [{ key: name, operator: 'Exists' }] }),
    ];
    expect(names(set, ...others)).toEqual([
      'networkpolicies.networking.k8s.io/by-index',
      'networkpolicies.networking.k8s.io/by-names',
      'networkpolicies.networking.k8s.io/by-the-label',
      'services/first',
      'services/second',
    ]);
    const deployed = deployment('db');
    expect(names(deployed, ...others)).toEqual([]);
  });

  it('takes Services without selector, with the endpoints a user wrote, and a governing Service', () => {
    const made = placed('EndpointSlice', 'web-1', {
      metadata: { labels: { 'kubernetes.io/service-name': 'web' } },
    });
    const set = placed('StatefulSet', 'db', {
      spec: { serviceName: 'peers', template: { metadata: { labels: { app: 'web' } } } },
    });
    const objects = [
      set,
      placed('Service', 'peers', { spec: { selector: { some: 'thing' } } }),
      placed('Service', 'outside', { spec: {} }),
      placed('Service', 'alias', { spec: { type: 'ExternalName', externalName: 'x.example' } }),
      placed('Service', 'web', { spec: { selector: { app: 'web' } } }),
      placed('Endpoints', 'outside'),
      placed('Endpoints', 'web'),
      made,
    ];
    expect(closureOf(set.object, indexNamespace(objects)).map(refKey)).toEqual([
      'endpoints/outside',
      'services/alias',
      'services/outside',
      'services/peers',
      'services/web',
    ]);
    expect(isUsersEndpoints(made.object, indexNamespace(objects))).toBe(false);
  });
});

describe('isPlaceable', () => {
  const owned = (kind: string, controller: boolean, apiVersion = 'apps/v1') => ({
    metadata: { ownerReferences: [{ apiVersion, kind, name: 'o', uid: 'u', controller }] },
  });
  it.each([
    ['a Deployment', placed('Deployment', 'x'), true],
    ['a ReplicaSet of a Deployment', placed('ReplicaSet', 'x', owned('Deployment', true)), false],
    ['a Job that a user made from a CronJob', placed('Job', 'x', owned('CronJob', true, 'batch/v1')), true],
    ['a Pod of a ReplicaSet', placed('Pod', 'x', owned('ReplicaSet', true)), false],
    ['a Pod of a Job', placed('Pod', 'x', owned('Job', true, 'batch/v1')), false],
    [
      'a Pod of a ReplicationController',
      placed('Pod', 'x', owned('ReplicationController', true, 'v1')),
      false,
    ],
    ['a Pod of a DaemonSet', placed('Pod', 'x', owned('DaemonSet', true)), false],
    [
      'a Pod with an owner that does not control it',
      placed('Pod', 'x', owned('ConfigMap', false, 'v1')),
      true,
    ],
    [
      'a StatefulSet of an operator’s own kind',
      placed('StatefulSet', 'x', owned('Prometheus', true, 'monitoring.coreos.com/v1')),
      true,
    ],
    [
      'a Deployment of an operator’s own kind',
      placed('Deployment', 'x', owned('Argo', true, 'argoproj.io/v1')),
      true,
    ],
    ['a ReplicaSet of a Rollout', placed('ReplicaSet', 'x', owned('Rollout', true, 'argoproj.io/v1')), true],
    ['a Pod of another group’s Job', placed('Pod', 'x', owned('Job', true, 'batch.volcano.sh/v1')), true],
    ['a Pod that another Pod controls', placed('Pod', 'x', owned('Pod', true, 'v1')), true],
    ['a Job that a Deployment controls', placed('Job', 'x', owned('Deployment', true)), true],
    [
      'a reflected Pod',
      placed('Pod', 'x', { metadata: { uid: 'u', annotations: reflectedAs({}, 'u', ['a']) } }),
      false,
    ],
    ['the root CA bundle', placed('ConfigMap', 'kube-root-ca.crt'), false],
    [
      'the API server’s own Service',
      placed('Service', 'kubernetes', { metadata: { namespace: 'default' } }),
      false,
    ],
    ['a Service of that name elsewhere', placed('Service', 'kubernetes'), true],
  ])('%s: %s', (_name, { kind, object }, expected) => {
    expect(isPlaceable(kind, object)).toBe(expected);
  });
});
