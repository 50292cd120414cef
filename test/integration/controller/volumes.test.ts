import { afterEach, beforeEach, expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import { InformerSet } from '../../../client/informers.ts';
import { runProtectionController } from '../../../controller/protection/controller.ts';
import { runVolumesController } from '../../../controller/volumes/controller.ts';
import { silentLogger } from '../../../kube/log.ts';
import { eventually } from '../../eventually.ts';
import { type Api, startApi } from '../apiserver/api.ts';

let api: Api;
let stop: AbortController;
let done: Promise<unknown>;

beforeEach(() => {
  api = startApi();
  stop = new AbortController();
  const client = new Client(api.server.transport({ name: 'controllers', groups: ['system:masters'] }), {
    cluster: '*',
  });
  const { signal } = stop;
  const informers = new InformerSet(client, { cluster: '*', signal });
  const options = { client, informers, signal, logger: silentLogger };
  done = Promise.all([runVolumesController(options), runProtectionController(options)]);
});
afterEach(async () => {
  stop.abort();
  await done;
  await api.close();
});

const volumes = '/api/v1/persistentvolumes';
const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
const amount = { storage: '1Gi' };
const accessModes = ['ReadWriteOnce'];
const volume = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name },
  spec: { capacity: amount, accessModes, hostPath: { path: '/d' }, ...spec },
});
const becomes = (name: string, phase: string) =>
  eventually(async () => {
    const { body } = await api.call('GET', `${volumes}/${name}`);
    expect(body.status.phase, name).toBe(phase);
    return body;
  });

test('a volume that nobody has is available, and goes when it is deleted', async () => {
  const { body } = await api.call('POST', volumes, volume('free'));
  expect(body.status.phase).toBe('Pending');
  const available = await becomes('free', 'Available');
  expect(available.status.lastPhaseTransitionTime).toMatch(/^\d{4}-/);
  await api.call('DELETE', `${volumes}/free`);
  await eventually(async () => expect((await api.call('GET', `${volumes}/free`)).status).toBe(404));
});

test('a volume and a claim that name each other are bound, and it is released with the claim', async () => {
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data' },
    spec: { accessModes, volumeName: 'v', resources: { requests: amount } },
  };
  const { body } = await api.call('POST', claims, claim);
  const { uid, resourceVersion } = body.metadata;
  await api.call('POST', volumes, volume('v', { claimRef: { namespace: 'default', name: 'data', uid } }));
  await becomes('v', 'Bound');
  expect((await api.call('GET', `${claims}/data`)).body.metadata.resourceVersion).toBe(resourceVersion);
  await api.call('DELETE', `${volumes}/v`);
  await becomes('v', 'Bound');
  await api.call('DELETE', `${claims}/data`);
  await eventually(async () => expect((await api.call('GET', `${volumes}/v`)).status).toBe(404));
});

test('a volume of one logical cluster is nobody’s by the claim of another', async () => {
  const { body } = await api.call('POST', claims, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data' },
    spec: { accessModes, volumeName: 'v', resources: { requests: amount } },
  });
  const { uid } = body.metadata;
  await api.addCluster('root:other');
  const elsewhere = `/clusters/root:other${volumes}`;
  const made = await api.call(
    'POST',
    elsewhere,
    volume('v', { claimRef: { namespace: 'default', name: 'data', uid } }),
  );
  expect(made.status).toBe(201);
  await eventually(async () => {
    const found = await api.call('GET', `${elsewhere}/v`);
    expect(found.body.status.phase).toBe('Released');
  });
});
