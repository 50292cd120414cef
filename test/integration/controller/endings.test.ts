import { afterEach, beforeEach, expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import { InformerSet } from '../../../client/informers.ts';
import { ownResources } from '../../../cluster/resources.ts';
import { startGenericControllers } from '../../../controller/generic.ts';
import { silentLogger } from '../../../kube/log.ts';
import { eventually } from '../../eventually.ts';
import { type Api, definitions, startApi, thingsDefinition } from '../apiserver/api.ts';

let api: Api;
let stop: AbortController;
let done: Promise<void>;

beforeEach(() => {
  // An orphan's Placement is asked for: not served is no answer to that.
  api = startApi({ resources: ownResources.map((one) => ({ ...one, custom: true })) });
  stop = new AbortController();
  const user = { name: 'controllers', groups: ['system:masters'] };
  const client = new Client(api.server.transport(user), { cluster: '*' });
  const { signal } = stop;
  const informers = new InformerSet(client, { cluster: '*', signal });
  done = startGenericControllers({ client, informers, signal, logger: silentLogger });
});
afterEach(async () => {
  stop.abort();
  await done;
  await api.close();
});

const gone = (path: string) =>
  eventually(async () => expect((await api.call('GET', path)).status, path).toBe(404));
const core = '/api/v1/namespaces/default';
const claims = `${core}/persistentvolumeclaims`;
const pods = `${core}/pods`;

const claim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};

test('a claim stays until no pod uses it', async () => {
  const { body } = await api.call('POST', claims, claim);
  expect(body.metadata.finalizers).toEqual(['kubernetes.io/pvc-protection']);
  await api.call('POST', pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'user' },
    spec: {
      nodeName: 'n',
      containers: [{ name: 'c', image: 'i' }],
      volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }],
    },
  });
  const deleted = await api.call('DELETE', `${claims}/data`);
  expect(deleted.body.metadata.deletionTimestamp).toBeDefined();
  // The next one that was deleted is gone: this one was looked at, and stayed.
  await api.call('POST', claims, { ...claim, metadata: { name: 'unused' } });
  await api.call('DELETE', `${claims}/unused`);
  await gone(`${claims}/unused`);
  expect((await api.call('GET', `${claims}/data`)).status).toBe(200);
  // It ends, and keeps the claim all the same: the next one that is deleted is looked at after that.
  const ended = await api.call('GET', `${pods}/user`);
  await api.call('PUT', `${pods}/user/status`, { ...ended.body, status: { phase: 'Succeeded' } });
  await api.call('POST', claims, { ...claim, metadata: { name: 'late' } });
  await api.call('DELETE', `${claims}/late`);
  await gone(`${claims}/late`);
  expect((await api.call('GET', `${claims}/data`)).status).toBe(200);
  await api.call('DELETE', `${pods}/user?gracePeriodSeconds=0`);
  await gone(`${claims}/data`);
});

test('volumes and their classes are let go, bound ones are not', async () => {
  const volumes = '/api/v1/persistentvolumes';
  const classes = '/apis/storage.k8s.io/v1/volumeattributesclasses';
  const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/d' } };
  const volume = (name: string) => ({ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name }, spec });
  for (const name of ['bound', 'free']) await api.call('POST', volumes, volume(name));
  const { body } = await api.call('GET', `${volumes}/bound`);
  await api.call('PUT', `${volumes}/bound/status`, { ...body, status: { phase: 'Bound' } });
  await api.call('POST', classes, {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttributesClass',
    metadata: { name: 'fast' },
    driverName: 'example.com',
    parameters: { a: 'b' },
  });
  await api.call('DELETE', `${volumes}/bound`);
  await api.call('DELETE', `${volumes}/free`);
  await api.call('DELETE', `${classes}/fast`);
  await gone(`${volumes}/free`);
  await gone(`${classes}/fast`);
  expect((await api.call('GET', `${volumes}/bound`)).body.metadata.finalizers).toEqual([
    'kubernetes.io/pv-protection',
  ]);
});

const things = '/apis/example.com/v1/namespaces/default/things';

test('a definition goes when the last of its objects is gone', async () => {
  await api.call('POST', definitions, thingsDefinition());
  const thing = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'plain' } };
  await api.call('POST', things, thing);
  const held = { ...thing, metadata: { name: 'held', finalizers: ['example.com/wait'] } };
  await api.call('POST', things, held);
  await api.call('DELETE', `${definitions}/things.example.com`);
  await gone(`${things}/plain`);
  const { body } = await api.call('GET', `${things}/held`);
  expect(body.metadata.deletionTimestamp).toBeDefined();
  body.metadata.finalizers = [];
  await api.call('PUT', `${things}/held`, body);
  await gone(`${definitions}/things.example.com`);
  expect((await api.call('GET', things)).status).toBe(404);
});

test('the pods of a Job stay when nobody says otherwise, and are nobody’s then', async () => {
  const jobs = '/apis/batch/v1/namespaces/default/jobs';
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j' }, spec: { template } };
  const { body } = await api.call('POST', jobs, job);
  const { uid } = body.metadata;
  const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid, controller: true }];
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', ownerReferences },
    spec: template.spec,
  };
  await api.call('POST', pods, pod);
  const deleted = await api.call('DELETE', `${jobs}/j`);
  expect(deleted.headers['warning']).toEqual([expect.stringContaining('child pods are preserved')]);
  expect(deleted.body.metadata.finalizers).toEqual(['orphan']);
  await gone(`${jobs}/j`);
  expect((await api.call('GET', `${pods}/p`)).body.metadata.ownerReferences).toBeUndefined();
});

test('of a namespace that goes the pods and what makes them go first, and none waits for the others', async () => {
  await api.call('POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'ends' },
  });
  const ends = '/api/v1/namespaces/ends';
  const kept = { name: 'kept', finalizers: ['example.com/keeps'] };
  const spec = { containers: [{ name: 'c', image: 'i' }] };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: kept, spec };
  // The account that pods have by default is made by a controller.
  await eventually(async () => expect((await api.call('POST', `${ends}/pods`, pod)).status).toBe(201));
  await api.call('POST', `${ends}/configmaps`, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'map' },
  });
  const labels = { app: 'runs' };
  const template = { metadata: { labels }, spec };
  const made = await api.call('POST', '/apis/apps/v1/namespaces/ends/deployments', {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'runs' },
    spec: { selector: { matchLabels: labels }, template },
  });
  expect(made.status).toBe(201);
  await api.call('DELETE', ends);
  await gone('/apis/apps/v1/namespaces/ends/deployments/runs');
  const remaining = (of: { status?: { conditions?: { type: string; message: string }[] } }) =>
    of.status?.conditions?.find(({ type }) => type === 'NamespaceContentRemaining')?.message;
  await eventually(async () =>
    expect(remaining((await api.call('GET', ends)).body)).toBe(
      'Some resources are remaining: pods. has 1 resource instances',
    ),
  );
  expect((await api.call('GET', `${ends}/pods/kept`)).body.metadata.deletionTimestamp).toBeDefined();
  expect((await api.call('GET', `${ends}/configmaps/map`)).body.metadata.deletionTimestamp).toBeUndefined();
  const free = [{ op: 'remove', path: '/metadata/finalizers' }];
  await api.call('PATCH', `${ends}/pods/kept`, free, { 'content-type': 'application/json-patch+json' });
  await gone(ends);
});

test('a namespace that others hold says that it is empty', async () => {
  await api.call('POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'held', finalizers: ['example.com/keeps'] },
  });
  const held = '/api/v1/namespaces/held';
  await api.call('DELETE', held);
  await eventually(async () => {
    const { body } = await api.call('GET', held);
    expect(body.spec).toEqual({});
    expect(body.status.conditions).toContainEqual(
      expect.objectContaining({
        type: 'NamespaceContentRemaining',
        status: 'False',
        reason: 'ContentRemoved',
      }),
    );
  });
  const free = [{ op: 'remove', path: '/metadata/finalizers' }];
  await api.call('PATCH', held, free, { 'content-type': 'application/json-patch+json' });
  await gone(held);
});
