import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PhysicalCluster, Placement } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { at, listAt, numberAt, textAt } from '../../../kube/untyped.ts';
import { adminUser } from '../../../server/identity.ts';
import {
  cloneSetDefinition,
  clonesets,
  custom,
  rolloutDefinition,
  rollouts,
  runOperators,
} from '../../world/custom.ts';
import { find, readyPods, resources, settled, template, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const placedresources = { group: 'atoll.dev', version: 'v1alpha1', resource: 'placedresources' } as const;
const shop = { namespace: 'default' };
const names = ['east', 'west', 'bare'] as const;

let world: World;
const life = new AbortController();
beforeAll(async () => {
  world = await startWorld({ clusters: [...names] });
  for (const name of ['east', 'west']) {
    const { client } = world.physical(name);
    for (const crd of [cloneSetDefinition, rolloutDefinition])
      await client.create(resources.customresourcedefinitions, crd);
    runOperators(client, life.signal).catch(() => {});
  }
  for (const crd of [cloneSetDefinition, rolloutDefinition])
    await world.admin.create(resources.customresourcedefinitions, crd);
  await world.admin.create(placedresources, rule('clonesets', { specReplicasPath: '.spec.replicas' }));
  await world.admin.create(
    placedresources,
    rule('rollouts', {
      specReplicasPath: '.spec.size',
      templatePath: '.spec.workload.template',
      references: [{ resource: 'services', path: '.spec.canary.service' }],
      status: {
        availableReplicasPath: '.status.pods.ready',
        sums: ['.status.pods.ready', '.status.pods.all'],
        worst: [{ path: '.status.phase', values: ['Progressing', 'Healthy'] }],
      },
      ready: 'has(self.status.pods) && self.status.pods.ready >= self.spec.size',
    }),
  );
  for (const name of ['east', 'west'])
    await until(`${name} says what it serves`, async () => {
      const found = await find<PhysicalCluster>(world.admin, resources.physicalclusters, name, '');
      return found?.status?.serves?.includes('clonesets.fleet.example.com/v1alpha1');
    });
});
afterAll(async () => {
  life.abort(new Error('the test ends'));
  await world.stop();
});

function rule(resource: string, spec: object): KubeObject {
  const group = 'fleet.example.com';
  return {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'PlacedResource',
    metadata: { name: `${resource}.${group}` },
    spec: { group, version: 'v1alpha1', resource, ...spec },
  };
}

const record = (name: string) => find<Placement>(world.admin, resources.placements, name);
const cloneSet = (name: string, replicas: number, clusters?: string) =>
  custom('CloneSet', name, { replicas, template: template(name) }, clusters);

async function counts(app: string): Promise<Record<string, number>> {
  const all = names.map(async (c) => [c, (await readyPods(world.physical(c), app)).length] as const);
  return Object.fromEntries((await Promise.all(all)).filter(([, n]) => n > 0));
}

/** Until its ready pods are there and nothing is under way; how few there were before. */
async function comesTo(name: string, app: string, expected: Record<string, number>): Promise<number> {
  let fewest = Infinity;
  await until(`${app} is ${JSON.stringify(expected)}`, async () => {
    const found = await counts(app);
    fewest = Math.min(
      fewest,
      Object.values(found).reduce((sum, n) => sum + n, 0),
    );
    const conditions = (await record(name))?.status?.conditions ?? [];
    const isSettled = conditions.some(({ type, status }) => type === 'Settled' && status === 'True');
    return isSettled && JSON.stringify(found) === JSON.stringify(expected);
  });
  return fewest;
}

const move = (resource: typeof clonesets | typeof rollouts, name: string, clusters: string) =>
  world.admin.patch(resource, { ...shop, name }, 'merge', {
    metadata: { annotations: { 'atoll.dev/clusters': clusters } },
  });

test('a CloneSet is split, scaled, moved without a dip, and drained; its status is one', async () => {
  const name = 'web.clonesets.fleet.example.com';
  await world.admin.create(resources.configmaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'settings', namespace: 'default' },
    data: { a: '1' },
  });
  const made = cloneSet('web', 4, 'east,west');
  const pod = {
    containers: [{ name: 'c', image: 'web:1', envFrom: [{ configMapRef: { name: 'settings' } }] }],
  };
  (made.spec as Record<string, unknown>)['template'] = { metadata: { labels: { app: 'web' } }, spec: pod };
  await world.admin.create(clonesets, made);
  await comesTo(name, 'web', { east: 2, west: 2 });
  const status = async () => (await world.admin.get(clonesets, { ...shop, name: 'web' })).status;
  await until('its status is that of the whole', async () => numberAt(await status(), 'readyReplicas') === 4);
  expect(await status()).toMatchObject({
    replicas: 4,
    availableReplicas: 4,
    updatedReplicas: 4,
    phase: 'Healthy',
  });
  const web = await world.admin.get(clonesets, { ...shop, name: 'web' });
  expect(numberAt(web.status, 'observedGeneration')).toBe(web.metadata.generation);
  expect((await record(name))?.spec?.requires).toContainEqual({
    group: '',
    resource: 'configmaps',
    name: 'settings',
  });
  const items = await until('its four pods are shown', async () => {
    const shown = await world.admin.list(resources.pods, { ...shop, labelSelector: 'app=web' });
    return shown.items.length === 4 ? shown.items : undefined;
  });
  expect(items.map(({ metadata }) => metadata.ownerReferences?.[0])).toEqual(
    Array.from({ length: 4 }, () =>
      expect.objectContaining({ kind: 'CloneSet', name: 'web', uid: web.metadata.uid }),
    ),
  );

  await world.admin.patch(clonesets, { ...shop, name: 'web' }, 'merge', { spec: { replicas: 6 } });
  await comesTo(name, 'web', { east: 3, west: 3 });
  await move(clonesets, 'web', 'west');
  expect(await comesTo(name, 'web', { west: 6 })).toBeGreaterThanOrEqual(6);
  const drain = (is: boolean) =>
    world.admin.patch(resources.physicalclusters, { name: 'west' }, 'merge', {
      spec: { drain: is, unschedulable: is },
    });
  await move(clonesets, 'web', '!bare');
  await drain(true);
  expect(await comesTo(name, 'web', { east: 6 })).toBeGreaterThanOrEqual(6);
  await drain(false);

  await world.admin.delete(clonesets, { ...shop, name: 'web' });
  await until('nothing of it is left', async () => {
    const left = (await world.physical('east').client.list(clonesets)).items.find(
      ({ metadata }) => metadata.name === 'web',
    );
    return (
      left === undefined && (await record(name)) === undefined && JSON.stringify(await counts('web')) === '{}'
    );
  });
});

test('its autoscaler scales it where it is, in the logical cluster, whichever clusters run it', async () => {
  const name = 'own.clonesets.fleet.example.com';
  await world.admin.create(clonesets, cloneSet('own', 2, 'east,west'));
  await comesTo(name, 'own', { east: 1, west: 1 });
  // Each of its containers pretends to use 8 MiB.
  const memory = { name: 'memory', target: { type: 'AverageValue', averageValue: '4Mi' } };
  const { horizontalpodautoscalers } = resources;
  await world.admin.create(horizontalpodautoscalers, {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'own', ...shop },
    spec: {
      scaleTargetRef: { apiVersion: 'fleet.example.com/v1alpha1', kind: 'CloneSet', name: 'own' },
      maxReplicas: 4,
      metrics: [{ type: 'Resource', resource: memory }],
    },
  });
  await comesTo(name, 'own', { east: 2, west: 2 });
  await move(clonesets, 'own', 'west');
  expect(await comesTo(name, 'own', { west: 4 })).toBeGreaterThanOrEqual(4);
  const hpa = await find(world.admin, horizontalpodautoscalers, 'own');
  expect(hpa?.status).toMatchObject({ currentReplicas: 4, desiredReplicas: 4 });
  for (const cluster of ['east', 'west'])
    expect((await world.physical(cluster).client.list(horizontalpodautoscalers)).items).toEqual([]);
});

test('a Rollout whose fields are elsewhere, its pods made by ReplicaSets; what it names goes along', async () => {
  const name = 'api.rollouts.fleet.example.com';
  await world.admin.create(resources.services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'api-canary', namespace: 'default' },
    spec: { selector: { nobody: 'yet' }, ports: [{ port: 80 }] },
  });
  await world.admin.create(
    rollouts,
    custom(
      'Rollout',
      'api',
      { size: 3, workload: { template: template('api') }, canary: { service: 'api-canary' } },
      'east,west',
    ),
  );
  await comesTo(name, 'api', { east: 2, west: 1 });
  await until('all that it says is of the whole', async () => {
    const { status, metadata } = await world.admin.get(rollouts, { ...shop, name: 'api' });
    return (
      numberAt(status, 'pods', 'ready') === 3 &&
      textAt(status, 'phase') === 'Healthy' &&
      textAt(status, 'observedGeneration') === String(metadata.generation) &&
      listAt(status, 'conditions').some((c) => at(c, 'type') === 'Available' && at(c, 'status') === 'True')
    );
  });
  expect((await record(name))?.spec?.requires).toContainEqual({
    group: '',
    resource: 'services',
    name: 'api-canary',
  });
  const { items } = await world.admin.list(resources.replicasets, shop);
  expect(items.map(({ metadata }) => metadata.ownerReferences?.[0]?.kind)).toEqual(['Rollout']);
  await move(rollouts, 'api', 'west');
  expect(await comesTo(name, 'api', { west: 3 })).toBeGreaterThanOrEqual(3);
});

test('nothing is placed where it is not served, with the reason', async () => {
  const known = await find<PhysicalCluster>(world.admin, resources.physicalclusters, 'east', '');
  expect(known?.status?.serves).toEqual([
    'clonesets.fleet.example.com/v1alpha1',
    'rollouts.fleet.example.com/v1alpha1',
  ]);
  await world.admin.create(clonesets, cloneSet('lonely', 1, 'bare'));
  const found = await until('it is refused', async () => await record('lonely.clonesets.fleet.example.com'));
  expect(found.spec).toMatchObject({
    clusters: [],
    reasons: { bare: 'it does not serve clonesets.fleet.example.com/v1alpha1' },
  });
});

test('what a cluster says of one is told on the one that its user has', async () => {
  await world.admin.create(clonesets, cloneSet('told', 1, 'east'));
  const { spec } = await settled(world.admin, 'told.clonesets.fleet.example.com');
  const namespace = spec?.physicalNamespace ?? '';
  const { client } = world.physical('east');
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    type: 'Normal',
    reason: 'Healthy',
    message: 'All are updated',
    metadata: { name: 'told.healthy' },
    involvedObject: { apiVersion: 'fleet.example.com/v1alpha1', kind: 'CloneSet', namespace, name: 'told' },
  };
  await client.create(resources.events, event as KubeObject, { namespace });
  const { metadata } = await world.admin.get(clonesets, { ...shop, name: 'told' });
  await until('it is told', async () => {
    const fieldSelector = `involvedObject.uid=${metadata.uid}`;
    const { items } = await world.admin.list<KubeObject>(resources.events, { ...shop, fieldSelector });
    return items.some((one) => one['message'] === '[east] All are updated');
  });
});

test('what was placed stays, scales and goes when its rule has gone; nothing new is placed', async () => {
  const name = 'kept.clonesets.fleet.example.com';
  await world.admin.create(clonesets, cloneSet('kept', 2, 'east'));
  await settled(world.admin, name);
  await world.admin.delete(placedresources, { name: 'clonesets.fleet.example.com' });
  await world.restartControllers();
  await world.admin.patch(clonesets, { ...shop, name: 'kept' }, 'merge', { spec: { replicas: 3 } });
  await comesTo(name, 'kept', { east: 3 });
  const { status, headers } = await world.transport(adminUser)({
    method: 'POST',
    url: '/apis/fleet.example.com/v1alpha1/namespaces/default/clonesets',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(cloneSet('new', 1, 'east'))),
  });
  expect([status, String(headers['warning'])]).toEqual([
    201,
    expect.stringContaining('it has no effect: no PlacedResource says that a CloneSet runs'),
  ]);
  await move(clonesets, 'kept', 'west');
  expect(await comesTo(name, 'kept', { west: 3 })).toBeGreaterThanOrEqual(3);
  expect(await record('new.clonesets.fleet.example.com')).toBeUndefined();
  await world.admin.create(placedresources, rule('clonesets', { specReplicasPath: '.spec.replicas' }));
  await settled(world.admin, 'new.clonesets.fleet.example.com');
});

test('what says nothing that could be meant is refused, each with its field', async () => {
  const refused = async (spec: object, message: string, resource = 'odd') =>
    await expect(world.admin.create(placedresources, rule(resource, spec))).rejects.toMatchObject({
      code: 422,
      message: expect.stringContaining(message),
    });
  await refused({ ready: 'self.' }, 'spec.ready: Invalid value: "self.": compilation failed');
  await refused(
    { specReplicasPath: 'replicas' },
    'spec.specReplicasPath: Invalid value: "replicas": must be a path',
  );
  await refused({ strategy: 'Often' }, 'spec.strategy: Unsupported value: "Often"');
  await refused(
    { references: [{ resource: 'pods', path: '.spec.a' }] },
    'spec.references[0].resource: Unsupported value: "pods"',
  );
  await refused({ status: { sums: ['.spec.a'] } }, 'spec.status.sums[0]: Invalid value: ".spec.a"');
  await refused(
    { group: 'apps' },
    'spec.group: Invalid value: "apps": must be the group of a custom resource',
  );
});

test('policies about pods hold for those of a kind by rule, wherever it says that its template is', async () => {
  const registration = 'admissionregistration.k8s.io';
  const at1 = (resource: string) => ({ group: registration, version: 'v1', resource });
  const make = (resource: string, kind: string, spec: object) =>
    world.admin.create(at1(resource), {
      apiVersion: `${registration}/v1`,
      kind,
      metadata: { name: 'pods' },
      spec,
    });
  const resourceRules = [
    { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
  ];
  const only = [{ name: 'only', expression: "object.metadata.labels.app.startsWith('ruled-')" }];
  const expression = "[JSONPatch{op: 'add', path: '/metadata/labels/seen', value: 'yes'}]";
  await make('mutatingadmissionpolicies', 'MutatingAdmissionPolicy', {
    matchConstraints: { resourceRules },
    matchConditions: only,
    reinvocationPolicy: 'Never',
    mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }],
  });
  await make('mutatingadmissionpolicybindings', 'MutatingAdmissionPolicyBinding', { policyName: 'pods' });
  await make('validatingadmissionpolicies', 'ValidatingAdmissionPolicy', {
    matchConstraints: { resourceRules },
    matchConditions: only,
    validations: [{ expression: "!object.metadata.labels.app.endsWith('-bad')", message: 'none of these' }],
  });
  await make('validatingadmissionpolicybindings', 'ValidatingAdmissionPolicyBinding', {
    policyName: 'pods',
    validationActions: ['Deny'],
  });
  const rollout = (name: string) =>
    custom('Rollout', name, { size: 1, workload: { template: template(name) } }, 'east');
  await world.admin.create(rollouts, rollout('ruled-good'), shop);
  await comesTo('ruled-good.rollouts.fleet.example.com', 'ruled-good', { east: 1 });
  const { items } = await world
    .physical('east')
    .client.list(resources.pods, { labelSelector: 'app=ruled-good' });
  expect(items.map(({ metadata }) => metadata.labels?.['seen'])).toEqual(['yes']);
  const refused = (name: string) =>
    until(`the Placement of ${name} says that its pods are refused`, async () => {
      const conditions = (await record(`${name}.clonesets.fleet.example.com`))?.status?.conditions ?? [];
      return conditions.some(
        ({ reason, message }) => reason === 'PodsRefused' && message.includes('none of these'),
      );
    });
  await world.admin.create(clonesets, cloneSet('ruled-bad', 1, 'east'), shop);
  await refused('ruled-bad');
  expect(await counts('ruled-bad')).toEqual({});
  // What was placed is asked about though the rule be gone.
  await world.admin.create(clonesets, cloneSet('ruled-kept', 1, 'east'), shop);
  await comesTo('ruled-kept.clonesets.fleet.example.com', 'ruled-kept', { east: 1 });
  await world.admin.delete(placedresources, { name: 'clonesets.fleet.example.com' });
  const become = (app: string) =>
    world.admin.patch(clonesets, { ...shop, name: 'ruled-kept' }, 'merge', {
      spec: { template: template(app) },
    });
  await become('ruled-kept-bad');
  await refused('ruled-kept');
  const isThere = (app: string) =>
    until(`${app} is on east`, async () => {
      const { items } = await world.physical('east').client.list(clonesets, {});
      return items.some(({ spec }) => textAt(spec, 'template', 'metadata', 'labels', 'app') === app);
    });
  await become('ruled-kept-too');
  await isThere('ruled-kept-too');
  await become('ruled-kept-bad');
  await refused('ruled-kept');
  await world.admin.delete(at1('validatingadmissionpolicybindings'), { name: 'pods' });
  await comesTo('ruled-bad.clonesets.fleet.example.com', 'ruled-bad', { east: 1 });
  await isThere('ruled-kept-bad');
  await world.admin.create(placedresources, rule('clonesets', { specReplicasPath: '.spec.replicas' }));
});
