import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { syncerUser } from '../../../apiserver/view/view.ts';
import { Client } from '../../../client/client.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { adminUser } from '../../../server/identity.ts';
import { resources, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const { configmaps, namespaces, persistentvolumeclaims, secrets, services } = resources;
const endpointslices = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' };
const logicalClusters = { group: 'core.kcp.io', version: 'v1alpha1', resource: 'logicalclusters' };

let world: World;
beforeAll(async () => {
  world = await startWorld({ clusters: ['east'] });
});
afterAll(() => world.stop());

/** Whoever has the credentials of east's syncer, and says what they like. */
const liar = () =>
  new Client(world.server.transport(syncerUser('east')), { prefix: '/syncers/east', userAgent: 'liar' });

async function namespace(name: string): Promise<KubeObject> {
  return await world.admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
}

describe('a physical cluster in a namespace where it has nothing', () => {
  const claim = (name: string, more: object) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'mine', namespace: name },
    ...more,
  });

  test.each([
    {},
    { namespaceUid: '' },
    { namespaceUid: null },
    { namespaceUid: 0 },
    { namespaceUid: 'guess' },
  ])('plants no claim, with %j', async (more) => {
    const name = `n${JSON.stringify(more)
      .replace(/[^a-zA-Z0-9]/g, '')
      .toLowerCase()}`;
    await namespace(name);
    const planted = liar().update(persistentvolumeclaims, claim(name, more), { cluster: 'root' });
    await expect(planted).rejects.toMatchObject({ reason: expect.stringMatching(/Forbidden|NotFound/) });
    expect((await world.admin.list(persistentvolumeclaims, { namespace: name })).items).toEqual([]);
  });

  test('is not told its uid, with which it could plant one; only whether it is the one it knows', async () => {
    const { metadata } = await namespace('unknown');
    const path = '/clusters/root/api/v1/namespaces/unknown';
    for (const asked of ['', '?uid=', '?uid=guess']) {
      const answer = await liar()
        .json(`${path}${asked}`)
        .then(JSON.stringify, (error: Error) => error.message);
      expect(answer).not.toContain(metadata.uid);
    }
    const known = (await liar().json(`${path}?uid=${metadata.uid}`)) as KubeObject;
    expect(known.metadata).toEqual({ name: 'unknown', uid: metadata.uid });
    await expect(liar().json(`${path}?uid=guess`)).rejects.toMatchObject({
      reason: 'NotFound',
      details: { kind: 'namespaces' },
    });
  });
});

test('a physical cluster gets no release of helm where somebody means all of a Namespace', async () => {
  const at = { namespace: 'released' };
  await world.admin.create(namespaces, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: at.namespace, annotations: { 'atoll.dev/clusters': 'east' } },
  });
  const secret = (name: string, type: string) =>
    world.admin.create(
      secrets,
      { apiVersion: 'v1', kind: 'Secret', metadata: { name }, type, data: { release: 'eA==' } },
      at,
    );
  await secret('sh.helm.release.v1.web.v1', 'helm.sh/release.v1');
  await secret('web', 'Opaque');
  const there = async () =>
    (await world.physical('east').client.list(secrets)).items.map(({ metadata }) => metadata.name);
  await until('the other is there', async () => (await there()).includes('web'));
  expect(await there()).not.toContain('sh.helm.release.v1.web.v1');
  const { items } = await world.admin.list(resources.placements, at);
  expect(items.map(({ metadata }) => metadata.name)).not.toContain('sh.helm.release.v1.web.v1.secrets');
});

test('a physical cluster that nests without end what it says of its objects is not taken by its word', async () => {
  const { metadata } = await namespace('deep');
  const deep = { namespace: 'deep' };
  const put = (depth: number) => {
    let spec: object = {};
    for (let level = 0; level < depth; level++) spec = { a: spec };
    const head = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'mine', ...deep } };
    const claim = { ...head, namespaceUid: metadata.uid, spec };
    return liar().update(persistentvolumeclaims, claim, { cluster: 'root' });
  };
  await expect(put(9000)).rejects.toMatchObject({ code: 422, message: 'the object is nested too deeply' });
  await put(50);
  // Whoever lists in YAML reads all of it.
  const { status } = await world.transport(adminUser)({
    method: 'GET',
    url: '/api/v1/namespaces/deep/persistentvolumeclaims',
    headers: { accept: 'application/yaml' },
  });
  expect(status).toBe(200);
});

test('a physical cluster says what is behind the Services that it has, and behind no other', async () => {
  const shop = { namespace: 'shop' };
  await namespace('shop');
  const service = (name: string, more: object) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, ...shop, ...more },
    spec: { selector: { app: name }, ports: [{ port: 80 }] },
  });
  const here = { annotations: { 'atoll.dev/clusters': 'east' } };
  const own = await world.admin.create(services, service('own', here), shop);
  const other = await world.admin.create(services, service('other', {}), shop);
  const put = async (serviceName: string, uid = '') => {
    const owner = { apiVersion: 'v1', kind: 'Service', name: serviceName, uid, controller: true };
    const labels = { 'kubernetes.io/service-name': serviceName };
    const slice = {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      addressType: 'IPv4',
      metadata: { name: `${serviceName}-x`, ...shop, labels, ownerReferences: [owner] },
      endpoints: [{ addresses: ['192.0.2.1'] }],
    };
    return await liar().update(endpointslices, slice, { cluster: 'root' });
  };
  await until('it has the one', () => put('own', own.metadata.uid).catch(() => undefined));
  for (const uid of [own.metadata.uid, other.metadata.uid, '']) {
    await expect(put('other', uid)).rejects.toMatchObject({ reason: 'NotFound' });
  }
});

describe('a LogicalCluster', () => {
  const called = (name: string) => ({
    apiVersion: 'core.kcp.io/v1alpha1',
    kind: 'LogicalCluster',
    metadata: { name },
  });

  test.each(['other', 'cluster'])('called %s in root takes nothing of root with it', async (name) => {
    const map = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `kept-${name}`, namespace: 'default' },
    };
    await world.admin.create(configmaps, map);
    await expect(world.admin.create(logicalClusters, called(name))).rejects.toMatchObject({ code: 422 });
    await world.admin.delete(logicalClusters, { name }).catch(() => undefined);
    const found = await world.admin.get(configmaps, { namespace: 'default', name: `kept-${name}` });
    expect(found.metadata.name).toBe(`kept-${name}`);
  });

  test('that somebody made beside it in an earlier version takes nothing with it', async () => {
    const uid = 'e0d8201c-df7e-492e-b8e4-9e0927113abf';
    const made = { ...called('old'), metadata: { name: 'old', uid } };
    await world.store.create('/core.kcp.io/logicalclusters/root/old', Buffer.from(JSON.stringify(made)));
    await world.admin.delete(logicalClusters, { name: 'old' });
    const found = await world.admin.get(namespaces, { name: 'default' });
    expect(found.metadata.name).toBe('default');
  });
});
