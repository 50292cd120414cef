import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { syncerUser } from '../../../apiserver/view/view.ts';
import { Client } from '../../../client/client.ts';
import { transportFromKubeconfig } from '../../../client/kubeconfig.ts';
import type { Transport } from '../../../kube/http.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { at, listAt, textAt } from '../../../kube/untyped.ts';
import { decodeYaml, encodeYaml } from '../../../kube/yaml.ts';
import {
  deployment,
  find,
  move,
  readyPods,
  resources,
  settled,
  template,
  until,
} from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';
import { call } from '../apiserver/api.ts';

const { deployments, jobs, physicalclusters, pods, secrets, serviceaccounts } = resources;
const inDefault = { namespace: 'default' };
const directory = '/var/run/secrets/kubernetes.io/serviceaccount';
let world: World;
let kubeconfig: string;
let server: string;

beforeEach(async () => {
  world = await startWorld();
  kubeconfig = await readFile(await world.listen(), 'utf8');
  const { clusters } = decodeYaml(kubeconfig).value as { clusters: { cluster: { server: string } }[] };
  server = new URL(clusters[0]?.cluster.server ?? '').origin;
});
afterEach(() => world.stop());

const reach = (name: string, config: object | null) =>
  world.admin.patch(physicalclusters, { name }, 'merge', { spec: { inClusterConfig: config } });

const account = (name: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name, ...inDefault },
  ...more,
});

function running(name: string, replicas: number, clusters: string, spec: object): KubeObject {
  const object = deployment(name, replicas, clusters);
  const { spec: pod, ...rest } = template(name) as { spec: object };
  return {
    ...object,
    spec: { ...(object.spec as object), template: { ...rest, spec: { ...pod, ...spec } } },
  };
}

const there = async (cluster: string, name: string) =>
  await find(world.physical(cluster).client, deployments, name, await home(cluster));
const home = async (cluster: string) => {
  const { items } = await world.physical(cluster).client.list(deployments);
  return items[0]?.metadata.namespace ?? '';
};
const podOf = (object: unknown) => at(object, 'spec', 'template', 'spec');
const envOf = (pod: unknown) =>
  Object.fromEntries(
    listAt(listAt(pod, 'containers')[0], 'env').map((one) => [textAt(one, 'name'), textAt(one, 'value')]),
  );
const tokenThere = async (cluster: string, name: string) => {
  const { items } = await world
    .physical(cluster)
    .client.list<KubeObject & { data?: Record<string, string> }>(secrets);
  return items.find(({ metadata }) => metadata.name === `atoll-token-${name}`);
};
const plain = (of: { data?: Record<string, string> } | undefined, key: string) =>
  Buffer.from(of?.data?.[key] ?? '', 'base64').toString();

/** As a program in a pod would ask: the address of the variables, the files of the volume, no path. */
async function fromPod(cluster: string, name: string): Promise<Transport> {
  const secret = await tokenThere(cluster, name);
  const config = decodeYaml(kubeconfig).value as {
    clusters: { cluster: object }[];
    users: { user: object }[];
  };
  const authority = Buffer.from(plain(secret, 'ca.crt')).toString('base64');
  for (const one of config.clusters) one.cluster = { server, 'certificate-authority-data': authority };
  for (const one of config.users) one.user = { token: plain(secret, 'token') };
  return await transportFromKubeconfig(encodeYaml(config));
}

const whoami = async (transport: Transport) => {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const { status, body } = await call(
    transport,
    'POST',
    '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    review,
  );
  return status === 201 ? body.status.userInfo.username : status;
};

test('a pod finds its own logical cluster, as its ServiceAccount there, and nothing of the cluster that runs it', async () => {
  const { admin } = world;
  await reach('east', { server });
  await admin.create(serviceaccounts, account('robot'));
  await admin.create(deployments, running('web', 1, 'east', { serviceAccountName: 'robot' }), inDefault);
  await settled(admin, 'web.deployments.apps');
  const pod = podOf(await there('east', 'web'));
  const { hostname, port } = new URL(server);
  expect(envOf(pod)).toEqual({
    KUBERNETES_SERVICE_HOST: hostname,
    KUBERNETES_SERVICE_PORT: port,
    KUBERNETES_SERVICE_PORT_HTTPS: port,
  });
  const [mount] = listAt(listAt(pod, 'containers')[0], 'volumeMounts');
  expect(mount).toMatchObject({ mountPath: directory, readOnly: true });
  expect(textAt(listAt(listAt(pod, 'volumes')[0], 'projected', 'sources')[0], 'secret', 'name')).toBe(
    'atoll-token-robot',
  );
  const secret = await tokenThere('east', 'robot');
  expect(plain(secret, 'namespace')).toBe('default');
  expect(await whoami(await fromPod('east', 'robot'))).toBe('system:serviceaccount:default:robot');
  // What it may is what the roles of the logical cluster let it.
  const asRobot = new Client(await fromPod('east', 'robot'));
  await expect(asRobot.list(secrets, inDefault)).rejects.toMatchObject({ reason: 'Forbidden' });
  // The user's own object says nothing of it.
  expect(envOf(podOf(await find(admin, deployments, 'web')))).toEqual({});
});

test('who wants no token gets none, and who asks for one by a volume gets that of the logical cluster', async () => {
  const { admin } = world;
  await reach('east', { server });
  await admin.create(serviceaccounts, account('quiet', { automountServiceAccountToken: false }));
  await admin.create(deployments, running('none', 1, 'east', { serviceAccountName: 'quiet' }), inDefault);
  const yes = { serviceAccountName: 'quiet', automountServiceAccountToken: true };
  await admin.create(deployments, running('some', 1, 'east', yes), inDefault);
  const sources = [
    { serviceAccountToken: { path: 'mine' } },
    { serviceAccountToken: { path: 'vault', audience: 'vault' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'authority' }] } },
  ];
  const volumes = [{ name: 'own', projected: { sources } }];
  const own = { automountServiceAccountToken: false, volumes };
  await admin.create(deployments, running('own', 1, 'east', own), inDefault);
  for (const name of ['none', 'some', 'own']) await settled(admin, `${name}.deployments.apps`);
  expect(listAt(podOf(await there('east', 'none')), 'volumes')).toEqual([]);
  expect(envOf(podOf(await there('east', 'none')))).toEqual({});
  expect(listAt(podOf(await there('east', 'some')), 'volumes')).toHaveLength(1);
  const name = 'atoll-token-default';
  expect(
    listAt(listAt(podOf(await there('east', 'own')), 'volumes')[0], 'projected', 'sources'),
  ).toMatchObject([
    { secret: { name, items: [{ key: 'token', path: 'mine' }] } },
    { serviceAccountToken: { path: 'vault', audience: 'vault' } },
    { secret: { name, items: [{ key: 'ca.crt', path: 'authority' }] } },
  ]);
  expect(envOf(podOf(await there('east', 'own')))).toMatchObject({
    KUBERNETES_SERVICE_PORT: new URL(server).port,
  });
});

test('an account that is made anew is another: what is applied next, and what runs, gets its token', async () => {
  const { admin } = world;
  await reach('east', { server });
  await admin.create(serviceaccounts, account('robot'));
  await admin.create(deployments, running('web', 1, 'east', { serviceAccountName: 'robot' }), inDefault);
  await settled(admin, 'web.deployments.apps');
  const before = plain(await tokenThere('east', 'robot'), 'token');
  await admin.delete(serviceaccounts, { ...inDefault, name: 'robot' });
  await admin.create(serviceaccounts, account('robot'));
  await until('there is another', async () => {
    const now = plain(await tokenThere('east', 'robot'), 'token');
    return now !== before && (await whoami(await fromPod('east', 'robot'))) !== 401;
  });
  expect(await whoami(await fromPod('east', 'robot'))).toBe('system:serviceaccount:default:robot');
});

test('a move takes it along: the token comes before the pods and goes after them', async () => {
  const { admin } = world;
  await reach('east', { server });
  await reach('west', { server });
  await admin.create(serviceaccounts, account('robot'));
  await admin.create(deployments, running('web', 2, 'east', { serviceAccountName: 'robot' }), inDefault);
  await settled(admin, 'web.deployments.apps');
  await move(admin, deployments, 'web', 'west');
  await until('it is there alone', async () => {
    const ready = await readyPods(world.physical('west'), 'web');
    return ready.length === 2 && (await world.physical('east').client.list(deployments)).items.length === 0;
  });
  expect(await whoami(await fromPod('west', 'robot'))).toBe('system:serviceaccount:default:robot');
  await until('its token is gone', async () => (await tokenThere('east', 'robot')) === undefined);
});

test('what is never changed keeps the way that it has when another is told; all else follows', async () => {
  const { admin } = world;
  const pod = { ...(template('one') as { spec: object }).spec, restartPolicy: 'Never' };
  const on = (name: string) => ({ name, ...inDefault, annotations: { 'atoll.dev/clusters': 'east' } });
  const env = [{ name: 'A' }, { name: 'KUBERNETES_SERVICE_PORT', value: '1' }, { name: 'B' }];
  const saying = { ...pod, containers: [{ name: 'c', image: 'i', env }] };
  await admin.create(pods, { apiVersion: 'v1', kind: 'Pod', metadata: on('alone'), spec: pod });
  await admin.create(pods, { apiVersion: 'v1', kind: 'Pod', metadata: on('saying'), spec: saying });
  const job = { template: { spec: pod } };
  await admin.create(jobs, { apiVersion: 'batch/v1', kind: 'Job', metadata: on('work'), spec: job });
  await admin.create(deployments, running('web', 1, 'east', {}), inDefault);
  const all = ['alone.pods', 'saying.pods', 'work.jobs.batch', 'web.deployments.apps'];
  for (const name of all) await settled(admin, name);
  await reach('east', { server });
  await until(
    'it follows',
    async () => 'KUBERNETES_SERVICE_HOST' in envOf(podOf(await there('east', 'web'))),
  );
  for (const name of all) {
    const { status } = await settled(admin, name);
    expect([name, status?.clusters?.['east']?.error]).toEqual([name, undefined]);
  }
  const { client } = world.physical('east');
  expect(envOf((await client.get(pods, { namespace: await home('east'), name: 'alone' })).spec)).toEqual({});
  await reach('east', null);
  await until(
    'it follows',
    async () => !('KUBERNETES_SERVICE_HOST' in envOf(podOf(await there('east', 'web')))),
  );
});

test('the history of a workload is what its user wrote: going back takes nothing of ours along', async () => {
  const { admin } = world;
  await reach('east', { server });
  const env = [{ name: 'MINE', value: 'yes' }];
  const pods = (image: string) => ({ containers: [{ name: 'c', image, env }] });
  await admin.create(deployments, running('web', 1, 'east', pods('web:1')), inDefault);
  await settled(admin, 'web.deployments.apps');
  const change = { spec: { template: { spec: pods('web:2') } } };
  await admin.patch(deployments, { ...inDefault, name: 'web' }, 'merge', change);
  const shown = await until('both are shown', async () => {
    const { items } = await admin.list(resources.replicasets, inDefault);
    const found = items.map((one) => podOf(one)).filter((pod) => pod !== undefined);
    return found.length === 2 ? found : undefined;
  });
  for (const pod of shown) {
    expect(listAt(listAt(pod, 'containers')[0], 'env')).toEqual(env);
    expect(at(pod, 'volumes')).toBeUndefined();
  }
});

test('a token is given for no account but those whose pods run there, and goes with the last of these', async () => {
  const { admin } = world;
  await reach('east', { server });
  for (const name of ['robot', 'other']) await admin.create(serviceaccounts, account(name));
  await admin.create(deployments, running('web', 1, 'east', { serviceAccountName: 'robot' }), inDefault);
  await settled(admin, 'web.deployments.apps');
  const view = world.transport(syncerUser('east'));
  const ask = async (name: string) => {
    const path = `/syncers/east/clusters/root/api/v1/namespaces/default/serviceaccounts/${name}/token`;
    return (await call(view, 'POST', path, { kind: 'TokenRequest', metadata: {} })).status;
  };
  expect([await ask('robot'), await ask('other'), await ask('default')]).toEqual([201, 404, 404]);
  const slow = { spec: { paused: true, template: { spec: { serviceAccountName: 'other' } } } };
  await admin.patch(deployments, { ...inDefault, name: 'web' }, 'merge', slow);
  await until(
    'it is there',
    async () => textAt(podOf(await there('east', 'web')), 'serviceAccountName') === 'other',
  );
  // What runs is of the former template.
  expect((await tokenThere('east', 'robot'))?.metadata.name).toBe('atoll-token-robot');
  await admin.patch(deployments, { ...inDefault, name: 'web' }, 'merge', { spec: { paused: false } });
  await until('it goes with the last pod', async () => (await tokenThere('east', 'robot')) === undefined);
  expect((await tokenThere('east', 'other'))?.metadata.name).toBe('atoll-token-other');
});

test('what it says must be an address of a server', async () => {
  for (const wrong of ['http://a:1', 'https://a/path', 'a:6443', 'https://u:p@a', ''])
    await expect(reach('east', { server: wrong })).rejects.toMatchObject({ reason: 'Invalid' });
  await expect(reach('east', { server, certificateAuthorityData: 'eA==' })).rejects.toMatchObject({
    reason: 'Invalid',
  });
  await reach('east', { server: 'https://[::1]:6443' });
});
