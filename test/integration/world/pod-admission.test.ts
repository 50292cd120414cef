import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Placement } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { at, listAt, textAt } from '../../../kube/untyped.ts';
import {
  deployment,
  find,
  move,
  readyPods,
  resources,
  settled,
  statefulSet,
  until,
} from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';
import { type Hooks, patchOf, startHooks } from '../apiserver/webhook/hooks.ts';

const { configmaps, deployments, events, jobs, placements, pods, replicasets, statefulsets } = resources;
const registration = { group: 'admissionregistration.k8s.io', version: 'v1' };
const mutatingHooks = { ...registration, resource: 'mutatingwebhookconfigurations' };
const policies = { ...registration, resource: 'validatingadmissionpolicies' };
const bindings = { ...registration, resource: 'validatingadmissionpolicybindings' };
const cronjobs = { group: 'batch', version: 'v1', resource: 'cronjobs' };
const annotation = 'atoll.dev/pod-admission';
const inDefault = { namespace: 'default' };

let world: World;
let hooks: Hooks;
/** What the webhook is told to answer; a sidecar unless a test says otherwise. */
let answer: (request: { object: KubeObject }) => object | null;

const sidecar = { name: 'side', image: 'side:1', envFrom: [{ configMapRef: { name: 'side-config' } }] };
const inject = () => patchOf([{ op: 'add', path: '/spec/containers/-', value: sidecar }]);

beforeAll(async () => {
  world = await startWorld();
  hooks = await startHooks({ '/pods': (request) => answer(request) });
  await world.admin.create(
    configmaps,
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'side-config' }, data: { a: 'b' } } as never,
    inDefault,
  );
});
afterAll(async () => {
  await world.stop();
  await hooks.close();
});
afterEach(async () => {
  for (const resource of [mutatingHooks, policies, bindings])
    await world.admin.deleteCollection(resource, {});
});

const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }];

async function hook(
  more: object = {},
  play: typeof answer = inject,
  config: { url: string; caBundle: string } = hooks.config('/pods'),
): Promise<void> {
  answer = play;
  const webhook = {
    name: 'pods.example.com',
    clientConfig: config,
    rules,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...more,
  };
  const metadata = { name: 'inject' };
  await world.admin.create(mutatingHooks, {
    ...kindOf('MutatingWebhookConfiguration'),
    metadata,
    webhooks: [webhook],
  });
}

const kindOf = (kind: string) => ({ apiVersion: 'admissionregistration.k8s.io/v1', kind });

/** No pod whose image says so. */
async function policy(
  name = 'no-bad',
  expression = "!object.spec.containers.exists(c, c.image.contains('bad'))",
  resourceRules: object[] = rules,
): Promise<void> {
  await world.admin.create(policies, {
    ...kindOf('ValidatingAdmissionPolicy'),
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules },
      validations: [{ expression, message: 'no bad images' }],
    },
  });
  await world.admin.create(bindings, {
    ...kindOf('ValidatingAdmissionPolicyBinding'),
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  });
}

const withImage = (object: KubeObject, image: string): KubeObject => {
  const copy = structuredClone(object);
  const [container] = listAt(copy, 'spec', 'template', 'spec', 'containers') as { image: string }[];
  if (container) container.image = image;
  return copy;
};
const setImage = (name: string, image: string) =>
  world.admin.patch(deployments, { ...inDefault, name }, 'strategic', {
    spec: { template: { spec: { containers: [{ name: 'c', image }] } } },
  });
const namesOf = (spec: unknown) => listAt(spec, 'containers').map((one) => textAt(one, 'name'));
const imagesOf = (spec: unknown) => listAt(spec, 'containers').map((one) => textAt(one, 'image'));
const there = async (
  cluster: string,
  name: string,
  resource: (typeof resources)[keyof typeof resources] = deployments,
) => {
  const { items } = await world.physical(cluster).client.list(resource, {});
  return items.find(({ metadata }) => metadata.name === name);
};
const read = (name: string) => world.admin.get(deployments, { ...inDefault, name });
const saidOf = (object: KubeObject) => object.metadata.annotations?.[annotation];
const conditionOf = (object: KubeObject | undefined, type: string) =>
  listAt(object, 'status', 'conditions').find((one) => at(one, 'type') === type);
const refused = (name: string) =>
  until(`${name} says that its pods are refused`, async () => {
    const found = await read(name);
    return at(conditionOf(found, 'ReplicaFailure'), 'status') === 'True' ? found : undefined;
  });

test('a sidecar is in the pods on every cluster with what it needs, and the workload is as it was written', async () => {
  await hook();
  await world.admin.create(deployments, deployment('web', 2, 'east,west'), inDefault);
  await settled(world.admin, 'web.deployments.apps');
  for (const cluster of ['east', 'west']) {
    const physical = await there(cluster, 'web');
    expect(namesOf(at(physical, 'spec', 'template', 'spec'))).toEqual(['c', 'side']);
    expect(physical?.metadata.annotations).not.toHaveProperty([annotation]);
    expect(await there(cluster, 'side-config', configmaps)).toBeDefined();
  }
  const own = await read('web');
  expect(namesOf(at(own, 'spec', 'template', 'spec'))).toEqual(['c']);
  expect(JSON.parse(saidOf(own) ?? '')).toEqual({
    patch: [{ op: 'add', path: '/spec/containers/1', value: expect.objectContaining(sidecar) }],
  });
  const seen = await until('its pods are shown', async () => {
    const { items } = await world.admin.list(pods, { ...inDefault, labelSelector: 'app=web' });
    return items.length === 2 ? items : undefined;
  });
  for (const pod of seen) expect(namesOf(pod.spec)).toContain('side');
  const set = await until('its ReplicaSet is shown with a template', async () => {
    const { items } = await world.admin.list(replicasets, { ...inDefault, labelSelector: 'app=web' });
    return items.find(({ spec }) => at(spec, 'template') !== undefined);
  });
  expect(namesOf(at(set, 'spec', 'template', 'spec'))).toEqual(['c']);
});

test('whoever is asked sees a pod as the controller of its kind makes it', async () => {
  const before = hooks.asked.length;
  await hook({}, () => ({ allowed: true }));
  await world.admin.create(deployments, deployment('asked', 1, 'east'), inDefault);
  await world.admin.create(statefulsets, statefulSet('asked', 1, 'east'), inDefault);
  const [first, second, ...others] = hooks.asked.slice(before).map(({ request }) => request);
  expect(others).toEqual([]);
  expect(first.userInfo.username).toBe('system:serviceaccount:kube-system:replicaset-controller');
  expect(first.operation).toBe('CREATE');
  const { metadata, spec } = first.object;
  const hash = metadata.labels['pod-template-hash'];
  expect(metadata.generateName).toBe(`asked-${hash}-`);
  expect(metadata.ownerReferences).toEqual([
    expect.objectContaining({ kind: 'ReplicaSet', name: `asked-${hash}`, controller: true }),
  ]);
  expect(spec.serviceAccountName).toBe('default');
  expect(JSON.stringify(spec)).toContain('/var/run/secrets/kubernetes.io/serviceaccount');
  expect(second.object.metadata).toMatchObject({ name: 'asked-0', generateName: 'asked-' });
  expect(second.object.metadata.ownerReferences).toEqual([
    expect.objectContaining({ kind: 'StatefulSet', name: 'asked', controller: true }),
  ]);
  expect(saidOf(await read('asked'))).toBeUndefined();
});

test('it is asked once for each template: a scale asks nobody, a restart does', async () => {
  await hook();
  await world.admin.create(deployments, deployment('often', 1, 'east'), inDefault);
  const before = hooks.asked.length;
  const at = { ...inDefault, name: 'often' };
  await world.admin.patch(deployments, at, 'merge', { spec: { replicas: 2 } });
  await world.admin.patch(deployments, at, 'merge', { metadata: { labels: { some: 'label' } } });
  await settled(world.admin, 'often.deployments.apps');
  expect(hooks.asked.length).toBe(before);
  const restart = {
    spec: { template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } } } },
  };
  const dry = await world.admin.patch(deployments, at, 'merge', restart, { dryRun: true });
  expect(saidOf(dry)).toBe(saidOf(await read('often')));
  expect(hooks.asked.length).toBe(before);
  await world.admin.patch(deployments, at, 'merge', restart);
  expect(hooks.asked.length).toBeGreaterThan(before);
  expect(JSON.parse(saidOf(await read('often')) ?? '').patch).toHaveLength(1);
});

test('what is refused is accepted and not made, says why, and is made once the policy goes', async () => {
  await policy();
  await world.admin.create(deployments, withImage(deployment('denied', 1, 'east'), 'bad:1'), inDefault);
  const found = await refused('denied');
  expect(textAt(conditionOf(found, 'ReplicaFailure'), 'message')).toMatch(/no bad images/);
  expect(textAt(conditionOf(found, 'ReplicaFailure'), 'reason')).toBe('FailedCreate');
  expect(at(found, 'status', 'unavailableReplicas')).toBe(1);
  const placement = await until('its Placement says so', async () => {
    const one = await find<Placement>(world.admin, placements, 'denied.deployments.apps');
    return one?.status?.conditions?.some(({ reason }) => reason === 'PodsRefused') ? one : undefined;
  });
  expect(placement.spec?.clusters).toEqual(['east']);
  const event = await until('an Event says so', async () => {
    const { items } = await world.admin.list<KubeObject & { reason?: string; message?: string }>(
      events,
      inDefault,
    );
    return items.find(({ reason, message }) => reason === 'FailedCreate' && message?.includes('denied-'));
  });
  expect(event.message).toMatch(/^Error creating: pods "denied-.*no bad images/);
  expect(await there('east', 'denied')).toBeUndefined();
  await world.admin.delete(bindings, { name: 'no-bad' });
  await settled(world.admin, 'denied.deployments.apps');
  const now = await until('its status says nothing of it any more', async () => {
    const one = await read('denied');
    return conditionOf(one, 'ReplicaFailure') === undefined && at(one, 'status', 'readyReplicas') === 1
      ? one
      : undefined;
  });
  expect(saidOf(now)).toBeUndefined();
});

test('a StatefulSet whose pods are refused waits, and a Job does; each comes when it may', async () => {
  await policy();
  await world.admin.create(statefulsets, withImage(statefulSet('set', 2, 'east'), 'bad:1'), inDefault);
  const { template } = withImage(deployment('batch', 1), 'bad:1').spec as { template: { spec: object } };
  const spec = { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } };
  const metadata = { name: 'batch', annotations: { 'atoll.dev/clusters': 'east' } };
  await world.admin.create(jobs, { apiVersion: 'batch/v1', kind: 'Job', metadata, spec }, inDefault);
  const told = async (start: string) => {
    const { items } = await world.admin.list<KubeObject & { message?: string }>(events, inDefault);
    return items.some(({ message }) => message?.startsWith(start));
  };
  await until(
    'it is told of both',
    async () =>
      (await told('Create Pod set-0 in StatefulSet set failed error: pods "set-0" is forbidden')) &&
      (await told('Error creating: pods "batch-')),
  );
  await until('the set’s status is of this template', async () => {
    const set = await world.admin.get(statefulsets, { ...inDefault, name: 'set' });
    return at(set, 'status', 'observedGeneration') === set.metadata.generation;
  });
  expect(await there('east', 'set', statefulsets)).toBeUndefined();
  expect(await there('east', 'batch', jobs)).toBeUndefined();
  await world.admin.delete(policies, { name: 'no-bad' });
  await settled(world.admin, 'set.statefulsets.apps');
  expect(await readyPods(world.physical('east'), 'set')).toEqual(['set-0', 'set-1']);
  await until(
    'the Job has run',
    async () =>
      at(await world.admin.get(jobs, { ...inDefault, name: 'batch' }), 'status', 'succeeded') === 1 ||
      (await there('east', 'batch', jobs)),
  );
});

test('a refused update leaves what runs, which is still scaled and moved; what is allowed again comes', async () => {
  await world.admin.create(deployments, deployment('update', 1, 'east'), inDefault);
  await settled(world.admin, 'update.deployments.apps');
  await policy();
  await setImage('update', 'bad:2');
  const found = await refused('update');
  expect(at(found, 'status', 'updatedReplicas')).toBeUndefined();
  expect(at(found, 'status', 'readyReplicas')).toBe(1);
  await world.admin.patch(deployments, { ...inDefault, name: 'update' }, 'merge', { spec: { replicas: 2 } });
  await until('it is scaled', async () => (await readyPods(world.physical('east'), 'update')).length === 2);
  await move(world.admin, deployments, 'update', 'west');
  await until(
    'it is on the other one',
    async () => (await readyPods(world.physical('west'), 'update')).length === 2,
  );
  await until('it has left', async () => (await there('east', 'update')) === undefined);
  expect(imagesOf(at(await there('west', 'update'), 'spec', 'template', 'spec'))).toEqual(['update:1']);
  expect(imagesOf(at(await read('update'), 'spec', 'template', 'spec'))).toEqual(['bad:2']);
  await setImage('update', 'good:3');
  await settled(world.admin, 'update.deployments.apps');
  await until('the allowed one runs', async () =>
    imagesOf(at(await there('west', 'update'), 'spec', 'template', 'spec')).includes('good:3'),
  );
  expect(saidOf(await read('update'))).toBeUndefined();
});

test('a move carries what was answered, though nobody is there to be asked any more', async () => {
  await hook();
  await world.admin.create(deployments, deployment('mover', 1, 'east'), inDefault);
  await settled(world.admin, 'mover.deployments.apps');
  await world.admin.delete(mutatingHooks, { name: 'inject' });
  await move(world.admin, deployments, 'mover', 'west');
  await until('it has left', async () => (await there('east', 'mover')) === undefined);
  await settled(world.admin, 'mover.deployments.apps');
  expect(namesOf(at(await there('west', 'mover'), 'spec', 'template', 'spec'))).toEqual(['c', 'side']);
  await until('what its sidecar needs is there', () => there('west', 'side-config', configmaps));
});

test('nobody forges it, and nobody takes it away', async () => {
  const forged = deployment('forged', 1, 'east');
  const said = JSON.stringify({ patch: [{ op: 'add', path: '/spec/nodeName', value: 'there' }] });
  forged.metadata.annotations = { ...forged.metadata.annotations, [annotation]: said };
  expect(saidOf(await world.admin.create(deployments, forged, inDefault))).toBeUndefined();
  await hook();
  await setImage('forged', 'forged:2');
  const before = await read('forged');
  const target = { ...inDefault, name: 'forged' };
  const kept = saidOf(before);
  expect(kept).toContain('side');
  for (const value of [null, said, '{}']) {
    const metadata = { annotations: { [annotation]: value } };
    expect(saidOf(await world.admin.patch(deployments, target, 'merge', { metadata }))).toBe(kept);
  }
  const { annotations: _gone, ...metadata } = before.metadata;
  const { resourceVersion: _any, ...unconditional } = metadata;
  expect(saidOf(await world.admin.update(deployments, { ...before, metadata: unconditional }))).toBe(kept);
  const applied = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'forged' },
    spec: before.spec,
  };
  const options = { fieldManager: 'somebody', force: true };
  expect(saidOf(await world.admin.patch(deployments, target, 'apply', applied, options))).toBe(kept);
});

test('a webhook that does not answer refuses by its failurePolicy, and is asked again until it does', async () => {
  await hook({ timeoutSeconds: 1 }, inject, { ...hooks.config('/pods'), url: 'https://127.0.0.1:1/pods' });
  await world.admin.create(deployments, deployment('down', 1, 'east'), inDefault);
  const found = await refused('down');
  expect(textAt(conditionOf(found, 'ReplicaFailure'), 'message')).toMatch(
    /failed calling webhook "pods.example.com"/,
  );
  const webhooks = [
    { op: 'replace', path: '/webhooks/0/clientConfig/url', value: hooks.config('/pods').url },
  ];
  await world.admin.patch(mutatingHooks, { name: 'inject' }, 'json', webhooks);
  await settled(world.admin, 'down.deployments.apps');
  expect(namesOf(at(await there('east', 'down'), 'spec', 'template', 'spec'))).toEqual(['c', 'side']);
});

test('what makes no template, or one that its selector does not find, is a refusal', async () => {
  await hook({}, () => patchOf([{ op: 'remove', path: '/metadata/labels/app' }]));
  await world.admin.create(deployments, deployment('unlabelled', 1, 'east'), inDefault);
  const found = await refused('unlabelled');
  expect(textAt(conditionOf(found, 'ReplicaFailure'), 'message')).toMatch(/selector/);
});

test('each ReplicaSet of its history shows its template as it was written', async () => {
  await hook();
  await world.admin.create(deployments, deployment('history', 1, 'east'), inDefault);
  await settled(world.admin, 'history.deployments.apps');
  await setImage('history', 'history:2');
  const sets = async () => {
    const { items } = await world.admin.list(replicasets, { ...inDefault, labelSelector: 'app=history' });
    const made = items.filter(({ metadata }) => metadata.annotations?.['atoll.dev/refused'] === undefined);
    return made.map(({ spec }) => [
      namesOf(at(spec, 'template', 'spec')),
      imagesOf(at(spec, 'template', 'spec')),
    ]);
  };
  const isBoth = async () => {
    const found = JSON.stringify((await sets()).sort());
    return found === JSON.stringify([1, 2].map((n) => [['c'], [`history:${n}`]]));
  };
  await until('both are shown', isBoth);
  await policy();
  await setImage('history', 'bad:3');
  await refused('history');
  await world.admin.patch(deployments, { ...inDefault, name: 'history' }, 'merge', { spec: { replicas: 2 } });
  await until('it is scaled', async () => (await readyPods(world.physical('east'), 'history')).length === 2);
  expect(await isBoth()).toBe(true);
  await world.admin.patch(deployments, { ...inDefault, name: 'history' }, 'merge', {
    metadata: { annotations: { 'atoll.dev/clusters': 'east,west' } },
  });
  await until('it is on both', async () => (await readyPods(world.physical('west'), 'history')).length === 1);
  await until('and so is its history', isBoth);
});

test('what is not placed as long as another owns it is asked about once it is nobody’s', async () => {
  const owner = await world.admin.create(deployments, deployment('owner', 1, 'east'), inDefault);
  await policy();
  const { spec } = withImage(deployment('owned', 1), 'bad:1');
  const { name = '', uid = '' } = owner.metadata;
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'Deployment', name, uid, controller: true }];
  const metadata = { name: 'owned', annotations: { 'atoll.dev/clusters': 'east' }, ownerReferences };
  const set = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata, spec };
  expect(saidOf(await world.admin.create(replicasets, set, inDefault))).toBeUndefined();
  const target = { ...inDefault, name: 'owned' };
  const free = await world.admin.patch(replicasets, target, 'merge', { metadata: { ownerReferences: null } });
  expect(JSON.parse(saidOf(free) ?? '{}')).toEqual({ refused: expect.stringContaining('no bad images') });
  await until('it says so', async () =>
    conditionOf(await world.admin.get(replicasets, target), 'ReplicaFailure'),
  );
  expect(await there('east', 'owned', replicasets)).toBeUndefined();
});

test('a CronJob’s pods are asked about by its own template', async () => {
  await hook();
  const { template } = deployment('cron', 1).spec as { template: { spec: object } };
  const jobTemplate = {
    spec: { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } },
  };
  const metadata = { name: 'cron', annotations: { 'atoll.dev/clusters': 'east' } };
  const spec = { schedule: '0 0 1 1 *', jobTemplate };
  await world.admin.create(cronjobs, { apiVersion: 'batch/v1', kind: 'CronJob', metadata, spec }, inDefault);
  const physical = await until('it is there', async () => {
    const { items } = await world.physical('east').client.list(cronjobs, {});
    return items.find((one) => one.metadata.name === 'cron');
  });
  expect(namesOf(at(physical, 'spec', 'jobTemplate', 'spec', 'template', 'spec'))).toEqual(['c', 'side']);
});

test('what is being deleted has no template of its own way', async () => {
  await policy();
  const kept = deployment('deleting', 1, 'east');
  kept.metadata.finalizers = ['example.com/keep'];
  const target = { ...inDefault, name: 'deleting' };
  await world.admin.create(deployments, kept, inDefault);
  await settled(world.admin, 'deleting.deployments.apps');
  await world.admin.delete(deployments, target);
  await setImage('deleting', 'bad:1');
  const said = saidOf(await read('deleting'));
  await world.admin.patch(deployments, target, 'merge', { spec: { replicas: 2 } });
  await until('it is scaled', async () => (await readyPods(world.physical('east'), 'deleting')).length === 2);
  const { items } = await world.physical('east').client.list(pods, { labelSelector: 'app=deleting' });
  await world.admin.patch(deployments, target, 'merge', { metadata: { finalizers: null } });
  expect(items.flatMap(({ spec }) => imagesOf(spec))).not.toContain('bad:1');
  expect(said).toContain('no bad images');
});

test('where its own users may not update it, it is asked about again all the same', async () => {
  await policy();
  await world.admin.create(deployments, withImage(deployment('touch', 1, 'east'), 'bad:1'), inDefault);
  await refused('touch');
  const name = 'only-cd';
  const resources = ['deployments'];
  const workloads = [{ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['UPDATE'], resources }];
  await policy(name, "request.userInfo.username == 'cd'", workloads);
  await world.admin.delete(bindings, { name: 'no-bad' });
  await until('it is made', () => there('east', 'touch'));
});

test('a Job gets a label with the first answer', async () => {
  await hook({}, () => patchOf([{ op: 'add', path: '/metadata/labels/team', value: 'x' }]));
  const metadata = { name: 'label', annotations: { 'atoll.dev/clusters': 'east' } };
  const spec = { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'x' }] } } };
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata, spec };
  const made = await world.admin.create(jobs, job, inDefault);
  expect(JSON.parse(saidOf(made) ?? '{}')).not.toHaveProperty('refused');
  const physical = await until('it is there', () => there('east', 'label', jobs));
  const labels = at(physical, 'spec', 'template', 'metadata', 'labels');
  expect(labels).toMatchObject({ team: 'x', 'job-name': 'label' });
});

test('what is moved while it is refused is never where it was', async () => {
  await policy();
  await world.admin.create(deployments, withImage(deployment('held', 1, 'east'), 'bad:1'), inDefault);
  await refused('held');
  await move(world.admin, deployments, 'held', 'west');
  const sharesOf = async () =>
    (await find<Placement>(world.admin, placements, 'held.deployments.apps'))?.spec?.shares;
  await until('it is bound for west alone', async () => {
    const shares = await sharesOf();
    return shares?.['west'] !== undefined && shares['east'] === undefined;
  });
});

test('who goes back to what runs from before a policy is refused nothing', async () => {
  await world.admin.create(deployments, withImage(deployment('back', 1, 'east'), 'bad:1'), inDefault);
  await settled(world.admin, 'back.deployments.apps');
  await policy();
  await setImage('back', 'bad:2');
  await refused('back');
  expect(saidOf(await setImage('back', 'bad:1'))).toBeUndefined();
  await until('nothing is said of a failure any more', async () => {
    return conditionOf(await read('back'), 'ReplicaFailure') === undefined;
  });
});

test('who goes back to what runs with its sidecar gets it as it runs, and nobody is asked', async () => {
  await hook();
  await world.admin.create(deployments, deployment('return', 1, 'east'), inDefault);
  await settled(world.admin, 'return.deployments.apps');
  const kept = saidOf(await read('return'));
  answer = () => ({ allowed: false, status: { message: 'nothing at all' } });
  await setImage('return', 'return:2');
  await setImage('return', 'return:3');
  await refused('return');
  await move(world.admin, deployments, 'return', 'west');
  await until('it has left', async () => (await there('east', 'return')) === undefined);
  const asked = () =>
    hooks.asked.filter(({ request }) => imagesOf(request.object.spec).includes('return:1')).length;
  const before = asked();
  expect(saidOf(await setImage('return', 'return:1'))).toBe(kept);
  await settled(world.admin, 'return.deployments.apps');
  expect(asked()).toBe(before);
  const spec = at(await there('west', 'return'), 'spec', 'template', 'spec');
  expect([namesOf(spec), imagesOf(spec)[0]]).toEqual([['c', 'side'], 'return:1']);
  expect(conditionOf(await read('return'), 'ReplicaFailure')).toBeUndefined();
});

test('of none that are to be made none has failed: it says so as soon as one is', async () => {
  await policy();
  await world.admin.create(deployments, withImage(deployment('none', 0, 'east'), 'bad:1'), inDefault);
  const found = await until('its status is of this one', async () => {
    const one = await read('none');
    return at(one, 'status', 'observedGeneration') === one.metadata.generation ? one : undefined;
  });
  expect(saidOf(found)).toContain('no bad images');
  expect(conditionOf(found, 'Progressing')).toMatchObject({
    status: 'True',
    reason: 'NewReplicaSetAvailable',
  });
  expect(conditionOf(found, 'ReplicaFailure')).toBeUndefined();
  const scale = (replicas: number) =>
    world.admin.patch(deployments, { ...inDefault, name: 'none' }, 'merge', { spec: { replicas } });
  await scale(1);
  await refused('none');
  await until('an Event says so', async () => {
    const { items } = await world.admin.list<KubeObject & { message?: string }>(events, inDefault);
    return items.some(({ message }) => message?.includes('"none-'));
  });
  await scale(0);
  await until('it says so no more', async () => !conditionOf(await read('none'), 'ReplicaFailure'));
});

test('a refusal that has another text each time is written once', async () => {
  let times = 0;
  await hook({}, () => {
    times += 1;
    const message = `request ${randomUUID()} of ${new Date(times).toISOString()} took ${times} ms: no`;
    return { allowed: false, status: { message } };
  });
  await world.admin.create(deployments, deployment('words', 1, 'east'), inDefault);
  const first = await refused('words');
  const target = { ...inDefault, name: 'words' };
  const same = { metadata: { labels: { some: 'label' } } };
  const labelled = await world.admin.patch(deployments, target, 'merge', same);
  expect(saidOf(labelled)).toBe(saidOf(first));
  // Neither by whoever writes it as it is, nor by who asks again.
  const asked = times;
  for (let n = 0; n < 3; n++) await world.admin.patch(deployments, target, 'merge', same);
  await until('it was asked again', () => times > asked + 4);
  const last = await read('words');
  expect([saidOf(last), last.metadata.generation]).toEqual([saidOf(first), labelled.metadata.generation]);
  const { items } = await world.admin.list<KubeObject & { message?: string; count?: number }>(
    events,
    inDefault,
  );
  const told = items.filter(({ message }) =>
    /^Error creating: .*denied the request: request/.test(message ?? ''),
  );
  expect(told.map(({ count }) => count)).toEqual([1]);
  // What says something else is told.
  answer = () => ({ allowed: false, status: { message: 'for another reason' } });
  const other = await world.admin.patch(deployments, target, 'merge', same);
  expect(saidOf(other)).toContain('for another reason');
  await until('its status says so', async () =>
    textAt(conditionOf(await read('words'), 'ReplicaFailure'), 'message')?.includes('for another reason'),
  );
});
