import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import { InformerSet } from '../../../client/informers.ts';
import { runQuotaController } from '../../../controller/quota/controller.ts';
import { silentLogger } from '../../../kube/log.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { eventually } from '../../eventually.ts';
import { type Api, startApi } from '../apiserver/api.ts';

const core = (resource: string) => ({ group: '', version: 'v1', resource });
const quotas = core('resourcequotas');
const maps = core('configmaps');
let server: Api;
let client: Client;
let stop: AbortController;
let done: Promise<void>;
const user = { name: 'controllers', groups: ['system:masters'] };

beforeEach(async () => {
  server = startApi();
  client = new Client(server.server.transport(user), { cluster: 'root' });
  stop = new AbortController();
  for (const cluster of ['root:a', 'root:b']) await server.addCluster(cluster);
  const informers = new InformerSet(client, { cluster: '*', signal: stop.signal });
  done = runQuotaController({ client, informers, signal: stop.signal, logger: silentLogger });
});
afterEach(async () => {
  stop.abort();
  await done;
  await server.close();
});

const at = (cluster: string, name?: string) => ({ cluster, namespace: 'default', ...(name && { name }) });
const quota = (hard: object, spec: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'q' },
  spec: { hard, ...spec },
});
const map = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
const pod = (name: string, requests: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i', resources: { requests } }] },
});

async function told(cluster: string, status: unknown): Promise<void> {
  await eventually(async () =>
    expect((await client.get(quotas, { ...at(cluster), name: 'q' })).status).toEqual(status),
  );
}

test('what is bounded and used is counted in each logical cluster, and follows what comes, changes and goes', async () => {
  await client.create(maps, map('before'), at('root:a'));
  const hard = { configmaps: '5', 'count/services': '1' };
  await client.create(quotas, quota(hard), at('root:a'));
  await client.create(quotas, quota({ configmaps: '1' }), at('root:b'));
  await told('root:a', { hard, used: { configmaps: '1', 'count/services': '0' } });
  await told('root:b', { hard: { configmaps: '1' }, used: { configmaps: '0' } });
  await client.create(maps, map('one'), at('root:a'));
  await told('root:a', { hard, used: { configmaps: '2', 'count/services': '0' } });
  await client.delete(maps, { ...at('root:a'), name: 'before' });
  await told('root:a', { hard, used: { configmaps: '1', 'count/services': '0' } });
  const now = { configmaps: '7', secrets: '2' };
  await client.patch(quotas, { ...at('root:a'), name: 'q' }, 'merge', {
    spec: { hard: { ...now, 'count/services': null } },
  });
  await told('root:a', { hard: now, used: { configmaps: '1', secrets: '0' } });
});

test('pods that have ended no longer count but as objects, and amounts are written as upstream writes them', async () => {
  const hard = { pods: '5', 'count/pods': '5', 'requests.cpu': '2', memory: '2Gi' };
  await client.create(quotas, quota(hard), at('root:a'));
  const none = { pods: '0', 'count/pods': '0', 'requests.cpu': '0', memory: '0' };
  await told('root:a', { hard, used: none });
  for (const name of ['a', 'b']) {
    await client.create(core('pods'), pod(name, { cpu: '500m', memory: '512Mi' }), at('root:a'));
  }
  await told('root:a', { hard, used: { pods: '2', 'count/pods': '2', 'requests.cpu': '1', memory: '1Gi' } });
  const ended = { status: { phase: 'Succeeded' } };
  const path = { ...at('root:a'), name: 'a', subresource: 'status' };
  await client.patch(core('pods'), path, 'merge', ended);
  const used = { pods: '1', 'count/pods': '2', 'requests.cpu': '500m', memory: '512Mi' };
  await told('root:a', { hard, used });
});

const definitions = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' };
const defined = (version: string): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      { name: version, served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
    ],
  },
});

test('what another logical cluster defines, and no longer, changes no count', async () => {
  const hard = { 'count/widgets.example.com': '5' };
  const used = (n: number) => ({ hard, used: { 'count/widgets.example.com': String(n) } });
  for (const [cluster, version] of [
    ['root:a', 'v1alpha1'],
    ['root:b', 'v1'],
  ] as const) {
    await client.create(definitions, defined(version), { cluster });
    await client.create(quotas, quota(hard), at(cluster));
    await told(cluster, used(0));
  }
  const gone = { cluster: 'root:a', name: 'widgets.example.com' };
  await client.delete(definitions, gone);
  // The controller that would take its objects away is not running here.
  await client.patch(definitions, gone, 'merge', { metadata: { finalizers: null } });
  await eventually(() => expect(client.get(definitions, gone)).rejects.toMatchObject({ code: 404 }));
  const widgets = { group: 'example.com', version: 'v1', resource: 'widgets' };
  for (const name of ['w', 'v']) {
    const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name } };
    await client.create(widgets, widget, at('root:b'));
  }
  await client.delete(widgets, { ...at('root:b'), name: 'w' });
  await told('root:b', used(1));
});

test('a custom resource counts where it is defined, from when it is', async () => {
  const hard = { 'count/widgets.example.com': '1', configmaps: '1' };
  await client.create(quotas, quota(hard), at('root:a'));
  await told('root:a', { hard, used: { configmaps: '0' } });
  await client.create(definitions, defined('v1'), { cluster: 'root:a' });
  await told('root:a', { hard, used: { configmaps: '0', 'count/widgets.example.com': '0' } });
  const widgets = { group: 'example.com', version: 'v1', resource: 'widgets' };
  const widget = (name: string) => ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name } });
  await client.create(widgets, widget('w'), at('root:a'));
  await told('root:a', { hard, used: { configmaps: '0', 'count/widgets.example.com': '1' } });
  await expect(client.create(widgets, widget('v'), at('root:a'))).rejects.toThrow(
    'widgets.example.com "v" is forbidden: exceeded quota: q, requested: count/widgets.example.com=1, used: count/widgets.example.com=1, limited: count/widgets.example.com=1',
  );
});

test('what was charged for nothing is given back', async () => {
  const hard = { configmaps: '5' };
  await client.create(quotas, quota(hard), at('root:a'));
  await told('root:a', { hard, used: { configmaps: '0' } });
  const path = { ...at('root:a'), name: 'q', subresource: 'status' };
  await client.patch(quotas, path, 'merge', { status: { used: { configmaps: '4' } } });
  await told('root:a', { hard, used: { configmaps: '0' } });
});

test('where something comes and goes all the time, what has gone is given back meanwhile', async () => {
  const hard = { configmaps: '3' };
  await client.create(quotas, quota(hard), at('root:a'));
  await told('root:a', { hard, used: { configmaps: '0' } });
  for (let i = 0; i < 12; i++) {
    await client.create(maps, map(`m${i}`), at('root:a'));
    await client.delete(maps, { ...at('root:a'), name: `m${i}` });
    await setTimeout(200);
  }
});

test('whoever counts gives nothing back that is on its way: of many at once none passes', async () => {
  const hard = { configmaps: '11' };
  await client.create(quotas, quota(hard), at('root:a'));
  await told('root:a', { hard, used: { configmaps: '0' } });
  const tries = Array.from({ length: 40 }, (_, i) => client.create(maps, map(`m${i}`), at('root:a')));
  const made = (await Promise.allSettled(tries)).filter(({ status }) => status === 'fulfilled');
  expect(made).toHaveLength(11);
  for (let i = 0; i < 40; i++) {
    await Promise.allSettled(
      Array.from({ length: 5 }, (_, k) => client.create(maps, map(`n${i}-${k}`), at('root:a'))),
    );
    const { items } = await client.list(maps, at('root:a'));
    expect(items.length).toBeLessThanOrEqual(11);
    await client.delete(maps, { ...at('root:a'), name: items[i % items.length]!.metadata.name! });
    await setTimeout(i % 4 === 0 ? 60 : 5);
  }
});
