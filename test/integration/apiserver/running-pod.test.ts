import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ownUser } from '../../../apiserver/authn/controllers.ts';
import { rewriteObject } from '../../../apiserver/registry/rewrite.ts';
import { placementsStored } from '../../../apiserver/view/places.ts';
import { reflectedAs } from '../../../cluster/reflected.ts';
import { ownResources } from '../../../cluster/resources.ts';
import type { ApiRequest, ApiResponse } from '../../../kube/http.ts';
import type { OwnerReference } from '../../../kube/object.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import { type Api, call, startApi } from './api.ts';

/** What the physical cluster was sent, and what it says next; asked what is there, it says that nobody owns it. */
let sent: { method: string; url: string; type: string | undefined; body: Record<string, unknown> }[] = [];
let answer: { status: number; body: unknown };
/** Goes on before the next answer. */
let meanwhile: (() => Promise<unknown>) | undefined;

/** Of the owners that are asked for: those whose name says so. */
async function ownersThere(owners: readonly OwnerReference[]): Promise<OwnerReference[]> {
  return owners
    .filter(({ name }) => name === 'there')
    .map((owner) => ({ ...owner, uid: `${owner.uid}-there` }));
}

async function transport({ method, url, headers, body }: ApiRequest): Promise<ApiResponse> {
  if (method === 'GET') return { status: 200, headers: {}, body: Buffer.from('{"metadata":{}}') };
  const text = Buffer.from(body ?? new Uint8Array()).toString();
  const type = headers['content-type'];
  sent.push({ method, url, type: String(type), body: JSON.parse(text) });
  const next = meanwhile;
  meanwhile = undefined;
  await next?.();
  const said = Buffer.from(JSON.stringify(answer.body));
  return { status: answer.status, headers: { 'content-type': 'application/json' }, body: said };
}

const pods = '/api/v1/namespaces/default/pods';
const there = '/api/v1/namespaces/there/pods';
const debug = { spec: { ephemeralContainers: [{ name: 'debug', image: 'debug:1' }] } };
const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
const merge = { 'content-type': 'application/merge-patch+json' };
const store = openMemory();
let api: Api;

beforeAll(async () => {
  api = startApi({
    store,
    resources: ownResources,
    connectPod: (_, { metadata: { name = '' } }) =>
      name === 'nowhere' ? undefined : { transport, path: `${there}/${name}`, ownersThere },
  });
  const spec = { containers: [{ name: 'main', image: 'a', resources: { requests: { cpu: '50m' } } }] };
  for (const name of ['reflected', 'placed', 'nowhere']) {
    const metadata = { name, labels: { app: 'web', old: 'x' } };
    const made = await api.call('POST', pods, { apiVersion: 'v1', kind: 'Pod', metadata, spec });
    expect(made.status).toBe(201);
    if (name === 'reflected') await reflect({ group: '', resource: 'pods', name }, ['east']);
  }
});

/** As the view would have written it. */
async function reflect(of: { group: string; resource: string; name: string }, clusters: string[]) {
  const place = {
    resource: { ...of, namespaced: true },
    cluster: 'root',
    namespace: 'default',
    name: of.name,
  };
  await rewriteObject(store, place, (before) => {
    if (!before) throw new Error('it is not there');
    const { metadata } = before;
    const annotations = reflectedAs(metadata.annotations, metadata.uid ?? '', clusters);
    return { ...before, metadata: { ...metadata, annotations } };
  });
}

afterAll(() => api.close());
beforeEach(() => {
  sent = [];
  answer = { status: 200, body: {} };
});

test.each(['reflected', 'placed'])('a %s pod gets its ephemeral containers where it runs', async (name) => {
  const done = await api.call('PATCH', `${pods}/${name}/ephemeralcontainers`, debug, strategic);
  expect(done.status).toBe(200);
  expect(done.body).toMatchObject(debug);
  expect(sent).toMatchObject([
    {
      method: 'PATCH',
      url: `${there}/${name}/ephemeralcontainers`,
      type: strategic['content-type'],
      body: debug,
    },
  ]);
});

test('one that runs nowhere gets them here alone', async () => {
  const done = await api.call('PATCH', `${pods}/nowhere/ephemeralcontainers`, debug, strategic);
  expect([done.status, sent]).toEqual([200, []]);
});

test('what the cluster refuses is refused, and not done here', async () => {
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Invalid', code: 422 };
  answer = { status: 422, body: status };
  const more = { spec: { ephemeralContainers: [{ name: 'more', image: 'debug:1' }] } };
  const done = await api.call('PATCH', `${pods}/reflected/ephemeralcontainers`, more, strategic);
  expect([done.status, done.body]).toEqual([422, status]);
  const now = await api.call('GET', `${pods}/reflected`);
  expect(JSON.stringify(now.body)).not.toContain('"more"');
});

test('what is refused here is not asked there; a dry run neither', async () => {
  const bad = { spec: { ephemeralContainers: [{ name: 'Bad_Name', image: 'debug:1' }] } };
  const refused = await api.call('PATCH', `${pods}/reflected/ephemeralcontainers`, bad, strategic);
  const dry = await api.call(
    'PATCH',
    `${pods}/reflected?dryRun=All`,
    { metadata: { labels: { a: 'b' } } },
    merge,
  );
  expect([refused.status, dry.status, sent]).toEqual([422, 200, []]);
});

test('labels of a reflected pod are changed where it runs; those of a placed one go with its manifest', async () => {
  const labels = { app: 'aside', old: null };
  for (const name of ['reflected', 'placed']) {
    const done = await api.call('PATCH', `${pods}/${name}`, { metadata: { labels } }, merge);
    expect([done.status, (done.body as { metadata: { labels: object } }).metadata.labels]).toEqual([
      200,
      { app: 'aside' },
    ]);
  }
  expect(sent.map(({ url, body }) => [url, body])).toEqual([
    [`${there}/reflected`, { metadata: { labels } }],
  ]);
});

test('an owner that a pod is given owns it where it runs, if it is there, and no more when it is taken away', async () => {
  const of = (name: string, more: object = {}) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name,
    uid: `uid-of-${name}`,
    ...more,
  });
  const controller = of('controls', { controller: true });
  const patch = async (name: string, ...ownerReferences: object[]) => {
    sent = [];
    const done = await api.call('PATCH', `${pods}/${name}`, { metadata: { ownerReferences } }, merge);
    expect([done.status, done.body.metadata.ownerReferences]).toEqual([200, ownerReferences]);
    return sent.map(({ url, type, body }) => [url, type, body.metadata]);
  };
  const noted = 'atoll.dev/given-owners';
  const [there, absent] = [of('there', { blockOwnerDeletion: true }), of('absent')];
  expect(await patch('reflected', controller)).toEqual([]);
  const path = [`/api/v1/namespaces/there/pods/reflected`, strategic['content-type']];
  const uid = 'uid-of-there-there';
  expect(await patch('reflected', controller, there, absent)).toEqual([
    [
      ...path,
      { annotations: { [noted]: JSON.stringify([there, absent]) }, ownerReferences: [{ ...there, uid }] },
    ],
  ]);
  expect(await patch('reflected', controller, absent)).toEqual([
    [
      ...path,
      { annotations: { [noted]: JSON.stringify([absent]) }, ownerReferences: [{ $patch: 'delete', uid }] },
    ],
  ]);
  expect(await patch('reflected', controller)).toEqual([[...path, { annotations: { [noted]: null } }]]);
  expect(await patch('placed', there)).toEqual([]);
  expect(await patch('nowhere', there)).toEqual([]);
});

test('what may change of a running pod is changed where it runs', async () => {
  const nodeAffinity = (zone: string[]) => ({
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: zone }] }],
    },
  });
  const spec = {
    containers: [
      { name: 'main', image: 'a' },
      { name: 'side', image: 'b' },
    ],
    initContainers: [{ name: 'first', image: 'c' }],
    schedulingGates: [{ name: 'example.com/a' }, { name: 'example.com/b' }],
    nodeSelector: { disk: 'fast' },
  };
  const metadata = { name: 'gated', labels: { old: 'y' } };
  const { body: made } = await api.call('POST', pods, { apiVersion: 'v1', kind: 'Pod', metadata, spec });
  expect(made.status.conditions[0]).toMatchObject({
    reason: 'SchedulingGated',
    lastTransitionTime: made.metadata.creationTimestamp,
  });
  await reflect({ group: '', resource: 'pods', name: 'gated' }, ['east']);
  const { body } = await api.call('GET', `${pods}/gated`);
  const done = await api.call('PUT', `${pods}/gated`, {
    ...body,
    spec: {
      ...body.spec,
      containers: [{ ...body.spec.containers[0], image: 'a:2' }, body.spec.containers[1]],
      initContainers: [{ ...body.spec.initContainers[0], image: 'c:2' }],
      schedulingGates: [{ name: 'example.com/b' }],
      nodeSelector: { disk: 'fast', zone: 'a' },
      affinity: { nodeAffinity: nodeAffinity(['a']) },
      activeDeadlineSeconds: 60,
      tolerations: [...body.spec.tolerations, { key: 'k', operator: 'Exists' }],
    },
  });
  expect(done.status).toBe(200);
  expect(sent).toEqual([
    {
      method: 'PATCH',
      url: `${there}/gated`,
      type: strategic['content-type'],
      body: {
        spec: {
          containers: [{ name: 'main', image: 'a:2' }],
          initContainers: [{ name: 'first', image: 'c:2' }],
          schedulingGates: [{ $patch: 'replace' }, { name: 'example.com/b' }],
          nodeSelector: { zone: 'a' },
          affinity: { nodeAffinity: { ...nodeAffinity(['a']), $patch: 'replace' } },
          activeDeadlineSeconds: 60,
          tolerations: [...body.spec.tolerations, { key: 'k', operator: 'Exists' }],
        },
      },
    },
  ]);
  sent = [];
  const free = await api.call('PATCH', `${pods}/gated`, { spec: { schedulingGates: null } }, merge);
  expect([free.status, free.body.spec.schedulingGates]).toEqual([200, undefined]);
  expect(sent.map((one) => one.body)).toEqual([{ spec: { schedulingGates: [{ $patch: 'replace' }] } }]);
});

test('new resources are asked for where it runs', async () => {
  const resources = { requests: { cpu: '100m' } };
  const resize = { spec: { containers: [{ name: 'main', resources }] } };
  const done = await api.call('PATCH', `${pods}/reflected/resize`, resize, strategic);
  expect(done.status).toBe(200);
  expect(sent.map(({ url, body }) => [url, body])).toEqual([[`${there}/reflected/resize`, resize]]);
});

const sets = '/apis/apps/v1/namespaces/default/replicasets';
async function replicaSet(name: string, ownerReferences: object[] = []): Promise<void> {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'a' }] } };
  const metadata = { name, ownerReferences };
  const spec = { selector: { matchLabels: labels }, template };
  const made = await api.call('POST', sets, { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata, spec });
  expect(made.status).toBe(201);
  await reflect({ group: 'apps', resource: 'replicasets', name }, ['east', 'west']);
}

test('a ReplicaSet that an orphaned workload left behind is deleted wherever it is', async () => {
  await replicaSet('left');
  const dry = await api.call('DELETE', `${sets}/left?dryRun=All`);
  expect([dry.status, sent]).toEqual([200, []]);
  const done = await api.call('DELETE', `${sets}/left?propagationPolicy=Orphan`);
  expect(done.body).toMatchObject({ status: 'Success', details: { name: 'left', kind: 'replicasets' } });
  expect(sent.map(({ method, body }) => [method, body])).toEqual(
    ['east', 'west'].map(() => ['DELETE', expect.objectContaining({ propagationPolicy: 'Orphan' })]),
  );
  // Its syncers take it away.
  expect((await api.call('GET', `${sets}/left`)).status).toBe(200);
  answer = { status: 403, body: { kind: 'Status', code: 403 } };
  expect((await api.call('DELETE', `${sets}/left`)).status).toBe(403);
  answer = { status: 404, body: { kind: 'Status', code: 404 } };
  expect((await api.call('DELETE', `${sets}/left`)).status, 'not served is not gone').toBe(404);
  expect((await api.call('GET', `${sets}/left`)).status).toBe(200);
  answer = { status: 404, body: { details: { name: 'left' } } };
  expect((await api.call('DELETE', `${sets}/left`)).status).toBe(200);
  expect((await api.call('GET', `${sets}/left`)).status).toBe(404);
});

test('one that a workload owns is deleted where it is, too; by our own controllers its record alone', async () => {
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'u', controller: true };
  await replicaSet('owned', [owner]);
  expect((await api.call('DELETE', `${sets}/owned`)).status).toBe(200);
  expect(sent).toHaveLength(2);
  expect((await api.call('GET', `${sets}/owned`)).status).toBe(200);
  const controller = ownUser('system:atoll:controllers');
  await call(api.server.transport(controller), 'DELETE', `${sets}/owned`);
  expect(sent).toHaveLength(2);
  expect((await api.call('GET', `${sets}/owned`)).status).toBe(404);
});

const place = async (kind: string, resource: string, shares: object) => {
  const name = `moves.${resource}.${kind === 'CronJob' ? 'batch' : 'apps'}`;
  const ref = {
    group: kind === 'CronJob' ? 'batch' : 'apps',
    version: 'v1',
    resource,
    kind,
    name: 'moves',
    uid: 'm',
  };
  const spec = { ref, clusters: ['west'], shares };
  const placement = { apiVersion: 'atoll.dev/v1alpha1', kind: 'Placement', spec };
  const at = { resource: placementsStored, cluster: 'root', namespace: 'default', name };
  await rewriteObject(store, at, (old) => ({
    ...placement,
    metadata: { name, namespace: 'default', uid: 'p', ...old?.metadata },
  }));
};
const orphaned = async (path: string) => {
  sent = [];
  expect((await api.call('DELETE', `${path}?propagationPolicy=Orphan`)).status).toBe(200);
  return sent.map(({ body }) => body['propagationPolicy']);
};

test('orphaned, its pods go where the workload that owns it is leaving: nothing would adopt them there', async () => {
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'moves', uid: 'm', controller: true };
  await replicaSet('moving', [owner]);
  const moves = (east: string, west: string) =>
    place('Deployment', 'deployments', { east: { phase: east }, west: { phase: west } });
  const policies = () => orphaned(`${sets}/moving`);
  await moves('Active', 'Joining');
  expect(await policies()).toEqual(['Orphan', 'Orphan']);
  await moves('Leaving', 'Active');
  expect(await policies()).toEqual(['Background', 'Orphan']);
  await moves('Leaving', 'Leaving');
  expect(await policies(), 'that is orphaned itself').toEqual(['Orphan', 'Orphan']);
  await moves('Active', 'Joining');
  meanwhile = () => moves('Active', 'Leaving');
  expect(await policies(), 'that begins to leave meanwhile').toEqual(['Orphan', 'Background']);
});

test('a Job that is orphaned keeps its pods where the CronJob that made it is leaving: they are nowhere else', async () => {
  const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'moves', uid: 'm', controller: true };
  const metadata = { name: 'run', ownerReferences: [owner] };
  const spec = { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'a' }] } } };
  const jobs = '/apis/batch/v1/namespaces/default/jobs';
  const made = await api.call('POST', jobs, { apiVersion: 'batch/v1', kind: 'Job', metadata, spec });
  expect(made.status).toBe(201);
  await reflect({ group: 'batch', resource: 'jobs', name: 'run' }, ['east']);
  await place('CronJob', 'cronjobs', { east: { phase: 'Leaving' }, west: { phase: 'Active' } });
  expect(await orphaned(`${jobs}/run`)).toEqual(['Orphan']);
});

test('one that is nowhere is deleted here', async () => {
  await replicaSet('nowhere');
  expect((await api.call('DELETE', `${sets}/nowhere`)).status).toBe(200);
  expect((await api.call('GET', `${sets}/nowhere`)).status).toBe(404);
  expect(sent).toEqual([]);
});

test('pods that are deleted as a collection are deleted where they run', async () => {
  const done = await api.call('DELETE', `${pods}?labelSelector=old!=y`);
  expect([done.status, done.body.items.length]).toEqual([200, 3]);
  expect(sent.map(({ method, url }) => [method, url]).sort()).toEqual(
    ['placed', 'reflected'].map((name) => ['DELETE', `${there}/${name}`]),
  );
  expect((await api.call('GET', `${pods}/reflected`)).status, 'its syncer takes it away').toBe(200);
  expect((await api.call('GET', `${pods}/nowhere`)).status).toBe(404);
});
