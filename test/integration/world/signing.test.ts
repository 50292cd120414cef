import 'reflect-metadata';
import { webcrypto, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import * as x509 from '@peculiar/x509';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { transportFromKubeconfig } from '../../../client/kubeconfig.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { at, listAt, textAt } from '../../../kube/untyped.ts';
import { decodeYaml, encodeYaml } from '../../../kube/yaml.ts';
import { resources, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';
import { call } from '../apiserver/api.ts';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const requests = { group: 'certificates.k8s.io', version: 'v1', resource: 'certificatesigningrequests' };
const signerName = 'kubernetes.io/kube-apiserver-client';
const cluster = 'root:a';

x509.cryptoProvider.set(webcrypto as never);
let world: World;
let file: string;
beforeAll(async () => {
  world = await startWorld({ clusters: [] });
  file = await world.listen();
  for (const name of ['a', 'b']) {
    const object = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name } };
    await world.admin.create(resources.workspaces, object);
    await until(`${name} is ready`, async () => {
      const found = await world.admin.get(resources.workspaces, { name });
      return textAt(found, 'status', 'phase') === 'Ready';
    });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
    const subjects = [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'readers' }];
    const binding = { metadata: { name: 'readers' }, roleRef, subjects } as unknown as KubeObject;
    const bindings = { group: roleRef.apiGroup, version: 'v1', resource: 'clusterrolebindings' };
    await world.admin.create(bindings, binding, { cluster: `root:${name}` });
  }
});
afterAll(() => world.stop());

async function keyed(subject: string) {
  const keys = (await webcrypto.subtle.generateKey(algorithm, true, [
    'sign',
    'verify',
  ])) as webcrypto.CryptoKeyPair;
  const pkcs10 = await x509.Pkcs10CertificateRequestGenerator.create({
    name: subject,
    keys: keys as never,
    signingAlgorithm: algorithm,
  });
  const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  const key = x509.PemConverter.encode(pkcs8 as ArrayBuffer, 'PRIVATE KEY');
  return { key, request: Buffer.from(pkcs10.toString('pem')).toString('base64') };
}

async function approved(name: string, request: string, more: object = {}): Promise<KubeObject> {
  const spec = { request, signerName, usages: ['client auth'], expirationSeconds: 3600, ...more };
  const made = await world.admin.create(requests, { metadata: { name }, spec } as never, { cluster });
  const condition = { type: 'Approved', status: 'True', reason: 'Test', message: 'by a test' };
  const wanted = { ...made, status: { conditions: [condition] } };
  return world.admin.update(requests, wanted, { cluster, subresource: 'approval' });
}

async function answered(name: string): Promise<KubeObject> {
  let found: KubeObject | undefined;
  await until(`${name} is answered`, async () => {
    found = await world.admin.get(requests, { cluster, name });
    const isFailed = listAt(found, 'status', 'conditions').some((one) => at(one, 'type') === 'Failed');
    return isFailed || textAt(found, 'status', 'certificate') !== undefined;
  });
  return found as KubeObject;
}

/** As the administrator's, with another certificate, in the logical cluster. */
async function ask(path: string, certificate: string, key: string): Promise<number> {
  const config = decodeYaml(await readFile(file, 'utf8')).value as {
    clusters: { cluster: { server: string } }[];
    users: { user: object }[];
  };
  for (const one of config.clusters)
    one.cluster.server = one.cluster.server.replace(/(\/clusters\/.*)?$/, path);
  for (const one of config.users)
    one.user = {
      'client-certificate-data': certificate,
      'client-key-data': Buffer.from(key).toString('base64'),
    };
  const transport = await transportFromKubeconfig(encodeYaml(config as never));
  const { status } = await call(transport, 'GET', '/api/v1/namespaces/default/configmaps');
  transport.close();
  return status;
}

test('who was approved is somebody in that logical cluster, for as long as was asked', async () => {
  const { key, request } = await keyed('CN=ann, O=readers');
  await approved('ann', request);
  const certificate = textAt(await answered('ann'), 'status', 'certificate') ?? '';
  const { subject, validFrom, validTo } = new X509Certificate(Buffer.from(certificate, 'base64'));
  expect(subject.split('\n')).toEqual(expect.arrayContaining(['CN=ann', 'O=readers']));
  expect(Date.parse(validTo) - Date.parse(validFrom)).toBeLessThanOrEqual(65 * 60_000);
  expect(await ask('/clusters/root:a', certificate, key)).toBe(200);
  expect(await ask('/clusters/root:b', certificate, key)).toBe(403);
  expect(await ask('', certificate, key)).toBe(403);
});

test.each([
  ['system', 'CN=system:kube-controller-manager', {}, 'names that begin with system: are the system’s'],
  ['group', 'CN=ann, O=system:nodes', {}, 'names that begin with system: are the system’s'],
  ['nobody', 'O=readers', {}, 'a user and groups have names'],
  [
    'server',
    'CN=ann',
    { usages: ['client auth', 'server auth'] },
    'invalid usage for client certificate: server auth',
  ],
  [
    'unused',
    'CN=ann',
    { usages: ['digital signature'] },
    'missing required usage for client certificate: client auth',
  ],
])('who is %s gets none, and is told why', async (name, subject, more, why) => {
  const { request } = await keyed(subject);
  await approved(name, request, more);
  const found = await answered(name);
  expect(at(found, 'status', 'certificate')).toBeUndefined();
  expect(JSON.stringify(at(found, 'status', 'conditions')).replaceAll("'", '’')).toContain(why);
});

test('nobody is signed for before that, or for another signer', async () => {
  const { request } = await keyed('CN=bob');
  const spec = { request, signerName, usages: ['client auth'] };
  await world.admin.create(requests, { metadata: { name: 'waits' }, spec } as never, { cluster });
  await approved('foreign', request, { signerName: 'example.com/signer' });
  await approved('later', request);
  await answered('later');
  for (const name of ['waits', 'foreign'])
    expect(at(await world.admin.get(requests, { cluster, name }), 'status', 'certificate')).toBeUndefined();
});

test('what was denied more than an hour ago is taken away', async () => {
  const { request } = await keyed('CN=eve');
  const spec = { request, signerName, usages: ['client auth'] };
  for (const [name, ago] of [
    ['old', 2],
    ['young', 0.5],
  ] as const) {
    const made = await world.admin.create(requests, { metadata: { name }, spec } as never, { cluster });
    const lastUpdateTime = new Date(Date.now() - ago * 3_600_000).toISOString().replace(/\.\d+/, '');
    const condition = { type: 'Denied', status: 'True', reason: 'Test', message: 'no', lastUpdateTime };
    const wanted = { ...made, status: { conditions: [condition] } };
    await world.admin.update(requests, wanted, { cluster, subresource: 'approval' });
  }
  await until('the old one is gone', async () => {
    const { items } = await world.admin.list(requests, { cluster });
    return !items.some(({ metadata }) => metadata.name === 'old');
  });
  const { items } = await world.admin.list(requests, { cluster });
  expect(items.map(({ metadata }) => metadata.name)).toContain('young');
});
