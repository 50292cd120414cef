import { describe, expect, it } from 'vitest';
import { markOf } from '../../../cluster/namespace-labels.ts';
import { shapeFor } from '../../../cluster/shape.ts';
import type { Share } from '../../../cluster/types.ts';
import { deployment, placed } from './objects.ts';

const locator = { syncer: 's', cluster: 'root', namespace: 'shop', resource: 'x', name: 'web', uid: 'u' };
const target = { physicalNamespace: 'root-shop-1', locator };
const active: Share = { phase: 'Active' };
type Fields = Parameters<typeof placed>[2];
const shapedSpec = (kind: string, spec: object, share: Partial<Share> = {}) =>
  shapeFor(placed(kind, 'web', { spec }).object, { ...active, ...share }, target).spec;
/** Said though it is the default: else whoever paused it on a cluster would keep it from its user's rollouts. */
const rolls = (kind: string) => (kind === 'Deployment' ? { paused: false } : {});

describe('shapeFor', () => {
  it('keeps of the metadata what is the user’s, and adds proof of ownership', () => {
    const metadata = {
      labels: { app: 'web' },
      annotations: {
        note: 'kept',
        'atoll.dev/clusters': 'a',
        'atoll.dev/placed-by': 'me',
        'kcp.io/cluster': 'root',
        'kubectl.kubernetes.io/last-applied-configuration': '{}',
        'deployment.kubernetes.io/revision': '3',
      },
      ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'x' }],
      finalizers: ['f'],
      resourceVersion: '7',
      generation: 2,
    };
    const root = deployment('web', { metadata, status: { replicas: 1 } }).object;
    const before = structuredClone(root);
    const shaped = shapeFor(root, active, target);
    expect(shaped.metadata).toEqual({
      name: 'web',
      namespace: 'root-shop-1',
      labels: { app: 'web', 'atoll.dev/managed-by': 'atoll' },
      annotations: { note: 'kept', 'atoll.dev/locator': JSON.stringify(locator) },
    });
    expect(shaped).not.toHaveProperty('status');
    expect(shaped.spec).toEqual({ ...rolls('Deployment'), ...(root.spec as object) });
    expect(root, 'the root is not touched').toEqual(before);
  });

  it.each(['Deployment', 'CronJob'])('a %s’s pods bear none of our marks by their template', (kind) => {
    const template = (annotations: object) => ({ metadata: { annotations }, spec: {} });
    const spec = (annotations: object) =>
      kind === 'CronJob'
        ? { jobTemplate: { metadata: { annotations }, spec: { template: template(annotations) } } }
        : { template: template(annotations) };
    const forged = { 'atoll.dev/locator': '{}', 'internal.atoll.dev/parts': '{}', 'kcp.io/cluster': 'x' };
    expect(shapedSpec(kind, spec({ note: 'n', ...forged }))).toEqual({
      ...rolls(kind),
      ...spec({ note: 'n' }),
    });
  });

  it('nor do a StatefulSet’s claims', () => {
    const claims = (annotations: object) => ({
      volumeClaimTemplates: [{ metadata: { name: 'data', annotations }, spec: {} }],
    });
    const forged = { 'atoll.dev/locator': '{}', 'atoll.dev/claim-of': '{}' };
    expect(shapedSpec('StatefulSet', claims({ note: 'n', ...forged }))).toMatchObject(claims({ note: 'n' }));
    expect(JSON.stringify(shapedSpec('StatefulSet', claims(forged)))).not.toContain('atoll.dev');
  });

  it('nor are they owned there by who owns them in their logical cluster', () => {
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x', controller: true };
    const claims = (more: object) => ({
      volumeClaimTemplates: [{ metadata: { name: 'data', ...more }, spec: {} }],
    });
    expect(shapedSpec('StatefulSet', claims({ ownerReferences: [owner] }))).toEqual(
      shapedSpec('StatefulSet', claims({})),
    );
  });

  it('a NetworkPolicy never speaks of another logical cluster’s namespaces, and of its own by their own labels', () => {
    const own = { key: 'atoll.dev/logical-cluster', operator: 'In', values: [markOf(locator)] };
    const nobodys = [
      { key: 'atoll.dev/logical-cluster', operator: 'DoesNotExist' },
      { key: 'atoll.dev/managed-by', operator: 'DoesNotExist' },
    ];
    const podSelector = { matchLabels: { app: 'a' } };
    const isX = { key: 'x.example/y', operator: 'Exists' };
    const named = {
      matchLabels: { team: 'a', 'kubernetes.io/metadata.name': 'db' },
      matchExpressions: [isX, { key: 'kubernetes.io/metadata.name', operator: 'In', values: ['db', 'shop'] }],
    };
    const spec = {
      podSelector: {},
      ingress: [{ from: [{ namespaceSelector: {}, podSelector }, { podSelector }] }, {}],
      egress: [{ to: [{ namespaceSelector: named }, { ipBlock: { cidr: '10.0.0.0/8' } }] }],
    };
    const ownNamed = {
      matchLabels: { 'labels.atoll.dev/team': 'a', 'atoll.dev/namespace': 'db' },
      matchExpressions: [
        { ...isX, key: 'x.example.labels.atoll.dev/y' },
        { key: 'atoll.dev/namespace', operator: 'In', values: ['db', 'shop'] },
        own,
      ],
    };
    const nobodysNamed = { ...named, matchExpressions: [...named.matchExpressions, ...nobodys] };
    expect(shapedSpec('NetworkPolicy', spec)).toEqual({
      podSelector: {},
      ingress: [
        {
          from: [
            { namespaceSelector: { matchExpressions: [own] }, podSelector },
            { namespaceSelector: { matchExpressions: nobodys }, podSelector },
            { podSelector },
          ],
        },
        {},
      ],
      egress: [
        {
          to: [
            { namespaceSelector: ownNamed },
            { namespaceSelector: nobodysNamed },
            { ipBlock: { cidr: '10.0.0.0/8' } },
          ],
        },
      ],
    });
  });

  const own = { key: 'atoll.dev/logical-cluster', operator: 'In', values: [markOf(locator)] };
  const called = (...values: string[]) => ({ key: 'atoll.dev/namespace', operator: 'In', values });
  const pods = { labelSelector: { matchLabels: { app: 'db' } }, topologyKey: 'kubernetes.io/hostname' };
  const labelled = { namespaceSelector: { matchLabels: { team: 'a' } } };
  const labelledThere = {
    namespaceSelector: { matchLabels: { 'labels.atoll.dev/team': 'a' }, matchExpressions: [own] },
  };
  const calledThere = (...names: string[]) => ({
    namespaceSelector: { matchExpressions: [called(...names), own] },
  });
  /** A term that keeps a pod near others, and one that keeps it away from others. */
  it.each<[string, object, object[], object[]]>([
    ['its own namespace', {}, [{}], [{}]],
    [
      'its own namespace, said by an empty list',
      { namespaces: [] },
      [{ namespaces: [] }],
      [{ namespaces: [] }],
    ],
    [
      'its own namespace, by name',
      { namespaces: ['shop'] },
      [{ namespaces: ['root-shop-1'] }],
      [{ namespaces: ['root-shop-1'] }],
    ],
    [
      'all namespaces',
      { namespaceSelector: {} },
      [{ namespaceSelector: { matchExpressions: [own] } }],
      [{ namespaceSelector: { matchExpressions: [own] } }],
    ],
    ['labelled ones', labelled, [labelledThere], [labelledThere]],
    ['named ones', { namespaces: ['db', 'x'] }, [calledThere('db', 'x')], [calledThere('db', 'x')]],
    [
      'named ones and all',
      { namespaces: ['db'], namespaceSelector: {} },
      [{ namespaceSelector: { matchExpressions: [own] } }],
      [{ namespaceSelector: { matchExpressions: [own] } }],
    ],
    [
      'its own and labelled ones',
      { namespaces: ['shop'], ...labelled },
      [{ namespaces: ['root-shop-1'], ...labelledThere }],
      [{ namespaces: ['root-shop-1'], ...labelledThere }],
    ],
    // Terms all hold at once: what may be in either cannot be two where it is to be near, and is the narrower.
    [
      'named and labelled ones',
      { namespaces: ['shop', 'db'], ...labelled },
      [{ namespaces: ['root-shop-1'], ...labelledThere }],
      [labelledThere, calledThere('shop', 'db')],
    ],
    [
      'another named one and labelled ones',
      { namespaces: ['db'], ...labelled },
      [labelledThere],
      [labelledThere, calledThere('db')],
    ],
  ])(
    'a pod is kept near to, and away from, pods of its own logical cluster only: %s',
    (_, term, near, away) => {
      const weighed = (terms: object[]) => terms.map((podAffinityTerm) => ({ weight: 7, podAffinityTerm }));
      const affinity = (required: object[], preferred: object[]) => ({
        requiredDuringSchedulingIgnoredDuringExecution: required.map((one) => ({ ...pods, ...one })),
        preferredDuringSchedulingIgnoredDuringExecution: weighed(
          preferred.map((one) => ({ ...pods, ...one })),
        ),
      });
      const spec = (near: object[], away: object[], soft: object[]) => ({
        affinity: {
          nodeAffinity: { kept: true },
          podAffinity: affinity(near, soft),
          podAntiAffinity: affinity(away, soft),
        },
      });
      const [given, there] = [spec([term], [term], [term]), spec(near, away, away)];
      const template = (of: object) => ({ template: { metadata: { labels: { a: 'b' } }, spec: of } });
      expect(shapedSpec('Pod', given)).toEqual(there);
      expect(shapedSpec('Deployment', template(given))).toEqual({
        ...rolls('Deployment'),
        ...template(there),
      });
      expect(shapedSpec('CronJob', { jobTemplate: { spec: template(given) } })).toEqual({
        jobTemplate: { spec: template(there) },
      });
    },
  );

  it.each<[string, string, object, Partial<Share>, object]>([
    ['replicas', 'Deployment', { replicas: 5 }, { replicas: 2 }, { replicas: 2 }],
    ['a rollout that its user has paused', 'Deployment', { paused: true }, {}, { paused: true }],
    [
      'a budget',
      'Deployment',
      { replicas: 5 },
      { replicas: 2, maxSurge: 0, maxUnavailable: 1 },
      { replicas: 2, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } },
    ],
    [
      'what is written, where it comes to the same there',
      'Deployment',
      { replicas: 5 },
      { replicas: 2, maxSurge: 1, maxUnavailable: 0 },
      { replicas: 2 },
    ],
    [
      'a budget all the same, where an autoscaler says what it comes to',
      'Deployment',
      { replicas: 5 },
      { replicas: 2, scaled: 3, maxSurge: 1, maxUnavailable: 0 },
      { replicas: 2, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } },
    ],
    [
      'a budget all the same, of what has no turn',
      'Deployment',
      { replicas: 5 },
      { replicas: 2, maxSurge: 1, maxUnavailable: 0, paused: true },
      {
        replicas: 2,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
        paused: true,
      },
    ],
    [
      'no budget for Recreate',
      'Deployment',
      { strategy: { type: 'Recreate' } },
      { maxSurge: 1 },
      { strategy: { type: 'Recreate' } },
    ],
    [
      'ordinals and partition',
      'StatefulSet',
      { replicas: 5, updateStrategy: { rollingUpdate: { partition: 4 } } },
      { replicas: 2, ordinalsStart: 3 },
      { replicas: 2, ordinals: { start: 3 }, updateStrategy: { rollingUpdate: { partition: 1 } } },
    ],
    [
      'the first ordinals',
      'StatefulSet',
      { replicas: 5 },
      { replicas: 3, ordinalsStart: 0 },
      { replicas: 3 },
    ],
    [
      'what becomes of claims when they are scaled down, of a whole set',
      'StatefulSet',
      { replicas: 2, persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' } },
      { replicas: 2 },
      { replicas: 2, persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Delete' } },
    ],
    [
      'all claims, of a part of a set',
      'StatefulSet',
      { replicas: 3, persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Delete' } },
      { replicas: 2 },
      { replicas: 2, persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' } },
    ],
    [
      'a Job’s part',
      'Job',
      {
        completions: 5,
        parallelism: 2,
        selector: {},
        template: {
          metadata: { labels: { a: 'b', 'controller-uid': 'x', 'batch.kubernetes.io/job-name': 'y' } },
        },
      },
      { completions: 3, parallelism: 1 },
      { completions: 3, parallelism: 1, template: { metadata: { labels: { a: 'b' } } } },
    ],
    [
      'a Job’s own selector',
      'Job',
      { manualSelector: true, selector: { matchLabels: { a: 'b' } } },
      {},
      { manualSelector: true, selector: { matchLabels: { a: 'b' } } },
    ],
    [
      'a Job’s time to go',
      'Job',
      { manualSelector: true, ttlSecondsAfterFinished: 5 },
      {},
      { manualSelector: true },
    ],
    ['a waiting CronJob', 'CronJob', { suspend: false }, { suspend: true }, { suspend: true }],
    ['a CronJob that the user suspended', 'CronJob', { suspend: true }, {}, { suspend: true }],
    [
      'a Service’s addresses',
      'Service',
      {
        clusterIP: '10.0.0.1',
        clusterIPs: ['10.0.0.1'],
        externalTrafficPolicy: 'Local',
        healthCheckNodePort: 3,
        ports: [{ port: 80, nodePort: 30000 }],
      },
      {},
      { externalTrafficPolicy: 'Local', ports: [{ port: 80 }] },
    ],
    [
      'a headless Service',
      'Service',
      { clusterIP: 'None', clusterIPs: ['None'] },
      {},
      { clusterIP: 'None', clusterIPs: ['None'] },
    ],
    [
      'an autoscaler’s part',
      'HorizontalPodAutoscaler',
      { minReplicas: 4, maxReplicas: 9 },
      { replicas: 2, maxReplicas: 5 },
      { minReplicas: 2, maxReplicas: 5 },
    ],
    [
      'an autoscaler’s empty part',
      'HorizontalPodAutoscaler',
      { maxReplicas: 9 },
      { replicas: 0, maxReplicas: 0 },
      { minReplicas: 1, maxReplicas: 1 },
    ],
    [
      'an autoscaler that is to leave its target as it is',
      'HorizontalPodAutoscaler',
      {
        minReplicas: 4,
        maxReplicas: 9,
        behavior: { scaleDown: { stabilizationWindowSeconds: 5, selectPolicy: 'Min' } },
      },
      { replicas: 0, maxReplicas: 9, suspend: true },
      {
        minReplicas: 1,
        maxReplicas: 9,
        behavior: {
          scaleUp: { selectPolicy: 'Disabled' },
          scaleDown: { stabilizationWindowSeconds: 5, selectPolicy: 'Disabled' },
        },
      },
    ],
    [
      'an autoscaler that may scale to nothing',
      'HorizontalPodAutoscaler',
      { minReplicas: 0, maxReplicas: 9 },
      { replicas: 0, maxReplicas: 5 },
      { minReplicas: 0, maxReplicas: 5 },
    ],
    [
      'an autoscaler not yet shared out',
      'HorizontalPodAutoscaler',
      { minReplicas: 4, maxReplicas: 9 },
      {},
      { minReplicas: 4, maxReplicas: 9 },
    ],
    [
      'a claim',
      'PersistentVolumeClaim',
      { volumeName: 'v', storageClassName: 'fast' },
      {},
      { storageClassName: 'fast' },
    ],
    [
      'a Pod',
      'Pod',
      {
        nodeName: 'n',
        volumes: [{ name: 'kube-api-access-x' }, { name: 'mine' }],
        containers: [{ name: 'c', volumeMounts: [{ name: 'kube-api-access-x' }, { name: 'mine' }] }],
      },
      {},
      { volumes: [{ name: 'mine' }], containers: [{ name: 'c', volumeMounts: [{ name: 'mine' }] }] },
    ],
  ])('%s', (_name, kind, spec, share, expected) => {
    expect(shapedSpec(kind, spec, share)).toEqual({ ...rolls(kind), ...expected });
  });

  it('leaves what is bound to one cluster behind', () => {
    const annotations = { 'pv.kubernetes.io/bind-completed': 'yes', mine: 'x' };
    const claim: Fields = { metadata: { annotations } };
    const shaped = shapeFor(placed('PersistentVolumeClaim', 'p', claim).object, active, target);
    expect(Object.keys(shaped.metadata.annotations ?? {}).sort()).toEqual(['atoll.dev/locator', 'mine']);
    const account = shapeFor(
      placed('ServiceAccount', 's', { secrets: [{ name: 't' }] }).object,
      active,
      target,
    );
    expect(account).not.toHaveProperty('secrets');
    const map = shapeFor(placed('ConfigMap', 'm', { data: { a: 'b' } }).object, active, target);
    expect(map['data']).toEqual({ a: 'b' });
  });
});
