import { afterEach, beforeEach, expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { type Api, startApi } from './api.ts';

let api: Api;
beforeEach(() => {
  api = startApi();
});
afterEach(() => api.close());

const namespace = '/api/v1/namespaces/default';
const pod = (spec: object = {}, resources?: object) =>
  api.call('POST', `${namespace}/pods`, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { generateName: 'p-' },
    spec: { containers: [{ name: 'c', image: 'nginx', ...(resources && { resources }) }], ...spec },
  });
const create = async (path: string, object: object) => {
  const { status, body } = await api.call('POST', path, object);
  expect([status, body.message]).toEqual([201, undefined]);
};

test('a pod runs as default, with priority 0, unless it says otherwise', async () => {
  const { body } = await pod();
  expect(body.spec).toMatchObject({
    serviceAccountName: 'default',
    serviceAccount: 'default',
    priority: 0,
    preemptionPolicy: 'PreemptLowerPriority',
  });
  expect((await pod({ serviceAccountName: 'nobody' })).body.message).toMatch(
    /is forbidden: error looking up service account default\/nobody: serviceaccount "nobody" not found/,
  );
});

test.each([
  ['default', undefined, true],
  ['yes', undefined, true],
  ['no', undefined, false],
  ['default', true, true],
  ['no', true, true],
  ['default', false, false],
  ['yes', false, false],
])('a pod of account %s that says %s: a token is mounted is %s', async (account, own, expected) => {
  for (const [name, automountServiceAccountToken] of [['yes', true] as const, ['no', false] as const]) {
    const kind = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } };
    await create(`${namespace}/serviceaccounts`, { ...kind, automountServiceAccountToken });
  }
  const automount = own === undefined ? {} : { automountServiceAccountToken: own };
  const { body } = await pod({ serviceAccountName: account, ...automount });
  const [mount] = body.spec.containers[0].volumeMounts ?? [];
  const [volume] = body.spec.volumes ?? [];
  expect(mount?.name).toBe(volume?.name);
  expect(mount?.mountPath).toBe(expected ? '/var/run/secrets/kubernetes.io/serviceaccount' : undefined);
  // Field managers own what they sent.
  expect(JSON.stringify(body.metadata.managedFields)).not.toContain('f:volumes');
});

test('a pod has the pull secrets of its account, and what it mounts itself it keeps', async () => {
  const metadata = { name: 'puller' };
  const imagePullSecrets = [{ name: 'registry' }];
  await create(`${namespace}/serviceaccounts`, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata,
    imagePullSecrets,
  });
  const volumeMounts = [{ name: 'mine', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }];
  const { body } = await pod({
    serviceAccountName: 'puller',
    containers: [{ name: 'c', image: 'nginx', volumeMounts }],
    volumes: [{ name: 'mine', emptyDir: {} }],
  });
  expect(body.spec).toMatchObject({ imagePullSecrets, containers: [{ volumeMounts }] });
  expect(body.spec.volumes).toHaveLength(1);
});

test('priority classes', async () => {
  const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
  const of = (name: string, more: object) => ({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name },
    value: 10,
    ...more,
  });
  await create(classes, of('high', { value: 1000, preemptionPolicy: 'Never' }));
  await create(classes, of('usual', { globalDefault: true }));
  expect((await pod({ priorityClassName: 'high' })).body.spec).toMatchObject({
    priority: 1000,
    preemptionPolicy: 'Never',
  });
  expect((await pod()).body.spec).toMatchObject({ priority: 10, priorityClassName: 'usual' });
  expect((await pod({ priorityClassName: 'system-node-critical' })).body.spec.priority).toBe(2_000_001_000);
  expect((await pod({ priorityClassName: 'none' })).body.message).toMatch(
    /no PriorityClass with name none was found/,
  );
  expect((await pod({ priority: 5 })).body.message).toMatch(
    /the integer value of priority \(5\) must not be provided in pod spec/,
  );
  const second = await api.call('POST', classes, of('other', { globalDefault: true }));
  expect(second.body.message).toBe(
    'priorityclasses.scheduling.k8s.io "other" is forbidden: PriorityClass usual is already marked as default. Only one default can exist',
  );
});

test('the classes that every cluster has are there for whoever looks, and cannot be deleted by name', async () => {
  const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
  const one = `${classes}/system-node-critical`;
  expect((await api.call('GET', one)).body).toMatchObject({
    metadata: { generation: 1, resourceVersion: expect.stringMatching(/^[1-9]/) },
    value: 2_000_001_000,
    preemptionPolicy: 'PreemptLowerPriority',
  });
  const names = async () =>
    (await api.call('GET', classes)).body.items.map((item: KubeObject) => item.metadata.name).sort();
  expect(await names()).toEqual(['system-cluster-critical', 'system-node-critical']);
  const refused = await api.call('DELETE', one);
  expect([refused.status, refused.body.message]).toEqual([
    403,
    'priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a system priority class and cannot be deleted',
  ]);
  const again = {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'system-node-critical' },
  };
  expect((await api.call('POST', classes, { ...again, value: 2_000_001_000 })).status).toBe(409);
  const asDefault = await api.call('POST', classes, { ...again, value: 2_000_001_000, globalDefault: true });
  expect(asDefault.body.message).toMatch(/globalDefault of system-node-critical PriorityClass must be false/);
  // As kube-apiserver, whose collections are not asked.
  expect((await api.call('DELETE', classes)).status).toBe(200);
  expect(await names()).toEqual([]);
});

test('a claim without a class gets the default one; an empty one is a choice', async () => {
  await create('/apis/storage.k8s.io/v1/storageclasses', {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    provisioner: 'example.com/disk',
    metadata: { name: 'fast', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  });
  const claim = (name: string, spec: object) =>
    api.call('POST', `${namespace}/persistentvolumeclaims`, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
    });
  expect((await claim('a', {})).body.spec.storageClassName).toBe('fast');
  expect((await claim('b', { storageClassName: '' })).body.spec.storageClassName).toBe('');
});

test('limit ranges give defaults and refuse what is beyond them', async () => {
  await create(`${namespace}/limitranges`, {
    apiVersion: 'v1',
    kind: 'LimitRange',
    metadata: { name: 'l' },
    spec: {
      limits: [
        {
          type: 'Container',
          default: { cpu: '500m' },
          defaultRequest: { cpu: '100m' },
          min: { cpu: '50m' },
          max: { cpu: '1' },
        },
      ],
    },
  });
  const { body } = await pod();
  expect(body.spec.containers[0].resources).toEqual({ limits: { cpu: '500m' }, requests: { cpu: '100m' } });
  expect(body.metadata.annotations['kubernetes.io/limit-ranger']).toBe(
    'LimitRanger plugin set: cpu request for container c; cpu limit for container c',
  );
  const refused = await pod({}, { limits: { cpu: '2' }, requests: { cpu: '10m' } });
  expect(refused.status).toBe(403);
  expect(refused.body.message).toMatch(
    /is forbidden: \[minimum cpu usage per Container is 50m, but request is 10m, maximum cpu usage per Container is 1, but limit is 2\]/,
  );
});

test('a limit of whole pods counts init containers and what the pod says itself, also when it is resized', async () => {
  const both = (cpu: string) => ({ limits: { cpu }, requests: { cpu } });
  await create(`${namespace}/limitranges`, {
    apiVersion: 'v1',
    kind: 'LimitRange',
    metadata: { name: 'l' },
    spec: { limits: [{ type: 'Pod', max: { cpu: '2' } }] },
  });
  const before = (resources: object, more: object = {}) => ({
    initContainers: [{ name: 'i', image: 'i', resources, ...more }],
  });
  const sidecar = before(both('1500m'), { restartPolicy: 'Always' });
  const over = (limit: string) =>
    expect.stringContaining(`maximum cpu usage per Pod is 2, but limit is ${limit}`);
  expect((await pod(before(both('3')), both('1'))).body.message).toEqual(over('3'));
  expect((await pod(sidecar, both('1'))).body.message).toEqual(over('2500m'));
  expect((await pod({ resources: both('3') }, both('1'))).body.message).toEqual(over('3'));
  const { body } = await pod({}, both('1'));
  const resize = (cpu: string) =>
    api.call('PATCH', `${namespace}/pods/${body.metadata.name}/resize`, {
      spec: { containers: [{ ...body.spec.containers[0], resources: both(cpu) }] },
    });
  expect((await resize('3')).body.message).toEqual(over('3'));
  expect((await resize('2')).status).toBe(200);
});

const runtimeClass = (name: string, more: object = {}) =>
  api.call('POST', '/apis/node.k8s.io/v1/runtimeclasses', {
    apiVersion: 'node.k8s.io/v1',
    kind: 'RuntimeClass',
    metadata: { name },
    handler: 'runc',
    ...more,
  });

test('who makes a RuntimeClass is told that it stays in the logical cluster', async () => {
  const { status, headers } = await runtimeClass('x');
  expect([status, String(headers['warning'])]).toEqual([
    201,
    expect.stringContaining('a pod that names x runs where the physical cluster has one of that name'),
  ]);
});

test('who makes a PriorityClass is told that it stays in the logical cluster', async () => {
  const { status, headers } = await api.call('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'high' },
    value: 7,
  });
  expect([status, String(headers['warning'])]).toEqual([
    201,
    expect.stringContaining('a pod that names high runs where the physical cluster has one of that name'),
  ]);
});

test('a pod takes its overhead and its nodes from its RuntimeClass, as long as there is one', async () => {
  await runtimeClass('light', {
    overhead: { podFixed: { cpu: '10m', memory: '1Mi' } },
    scheduling: {
      nodeSelector: { kind: 'vm' },
      tolerations: [{ key: 'vm', operator: 'Exists', effect: 'NoSchedule' }],
    },
  });
  await runtimeClass('plain', { overhead: {} });
  const light = await pod({
    runtimeClassName: 'light',
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ key: 'vm', operator: 'Equal', value: 'a', effect: 'NoSchedule' }],
  });
  expect(light.body.spec).toMatchObject({
    overhead: { cpu: '10m', memory: '1Mi' },
    nodeSelector: { disk: 'ssd', kind: 'vm' },
  });
  expect(light.body.spec.tolerations.slice(-1)).toEqual([
    { key: 'vm', operator: 'Exists', effect: 'NoSchedule' },
  ]);
  expect(JSON.stringify(light.body.spec.tolerations)).not.toContain('Equal');
  expect((await pod({ runtimeClassName: 'light', overhead: { cpu: '0.01', memory: '1024Ki' } })).status).toBe(
    201,
  );
  for (const overhead of [undefined, null, {}]) {
    const plain = await pod({ runtimeClassName: 'plain', overhead });
    expect([plain.status, plain.body.spec.overhead]).toEqual([201, undefined]);
  }
  expect((await api.call('DELETE', '/apis/node.k8s.io/v1/runtimeclasses/light')).status).toBe(200);
  expect((await pod({ runtimeClassName: 'light' })).body.message).toMatch(
    /is forbidden: pod rejected: RuntimeClass "light" not found$/,
  );
});

test.each([
  ['', 'resource name may not be empty'],
  ['a/b%c', `invalid resource name "a/b%c": [may not contain '/' may not contain '%']`],
  ['..', `invalid resource name "..": [may not be '..']`],
])('a pod of a class named %j is an error, as of whoever asks for such a path', async (name, why) => {
  const { status, body } = await pod({ runtimeClassName: name });
  expect([status, body.message]).toEqual([500, why]);
});

test.each([
  [
    'of a class that is not there',
    { runtimeClassName: 'nobody' },
    'pod rejected: RuntimeClass "nobody" not found',
  ],
  [
    'with an overhead and no class',
    { overhead: { cpu: '1' } },
    'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
  ],
  [
    'with an empty overhead and no class',
    { overhead: {} },
    'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
  ],
  [
    'with an empty overhead, of a class that says nothing of any',
    { runtimeClassName: 'silent', overhead: {} },
    'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
  ],
  [
    'with another overhead than its class has',
    { runtimeClassName: 'vm', overhead: { cpu: '2' } },
    "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
  ],
  [
    'for other nodes than its class wants',
    { runtimeClassName: 'vm', nodeSelector: { kind: 'bare' } },
    'conflict: runtimeClass.scheduling.nodeSelector[kind] = vm; pod.spec.nodeSelector[kind] = bare',
  ],
])('a pod %s is refused', async (_what, spec, why) => {
  await runtimeClass('vm', {
    overhead: { podFixed: { cpu: '1' } },
    scheduling: { nodeSelector: { kind: 'vm' } },
  });
  await runtimeClass('silent');
  const { status, body } = await pod(spec);
  expect([status, body.message]).toEqual([403, expect.stringContaining(`is forbidden: ${why}`)]);
});

test('labels that a Job wears because its pods do are whose the Job is', async () => {
  const jobs = '/apis/batch/v1/namespaces/default/jobs';
  const spec = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] };
  const job = (labels: object) => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { generateName: 'j-' },
    spec: { template: { metadata: { labels }, spec } },
  });
  const owned = async (labels: object) => {
    const { status, body } = await api.call('POST', jobs, job(labels));
    expect(status).toBe(201);
    expect(body.metadata.labels).toEqual(body.spec.template.metadata.labels);
    expect(body.metadata.labels).toMatchObject({ ...labels, 'job-name': body.metadata.name });
    return { ours: body.metadata.managedFields[0].fieldsV1['f:metadata']?.['f:labels'], body };
  };
  const { ours, body } = await owned({ 'b/c': 'd', a: 'b' });
  // Those that the server made of its name and uid are nobody's.
  expect(ours).toEqual({ '.': {}, 'f:a': {}, 'f:b/c': {} });
  expect((await owned({})).ours).toBeUndefined();
  const { labels: _, managedFields: _fields, ...metadata } = body.metadata;
  const again = await api.call('PUT', `${jobs}/${metadata.name}`, { ...body, metadata });
  expect(again.body.metadata.labels).toEqual(body.metadata.labels);
});
