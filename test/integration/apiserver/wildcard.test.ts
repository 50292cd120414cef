import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { syncerUser, syncerView } from '../../../apiserver/view/view.ts';
import { ownResources } from '../../../cluster/resources.ts';
import { decodeJson } from '../../../kube/json.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { decodeProtobuf } from '../../../kube/protobuf/codec.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import { type Api, admin, call, startApi } from './api.ts';

const store = () => openMemory();
let bytes: ReturnType<typeof store>;
let api: Api;
const path = 'root:team';
const home = `/clusters/${path}`;
let id: string;
const sets = `${home}/apis/apps/v1/namespaces/default/deployments`;
const mine = () => `/syncers/east/clusters/${id}`;
const placements = `${home}/apis/atoll.dev/v1alpha1/namespaces/default/placements`;

beforeEach(async () => {
  bytes = store();
  const resources = ownResources.map((resource) => ({
    ...resource,
    custom: true,
    subresources: { status: true },
  }));
  api = startApi({ store: bytes, views: [syncerView()], resources });
  id = await api.addCluster(path);
  const east = {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'PhysicalCluster',
    metadata: { name: 'east' },
    spec: { kubeconfigSecretRef: { namespace: 'atoll-system', name: 'east' } },
  };
  const made = await api.call('POST', '/apis/atoll.dev/v1alpha1/physicalclusters', east);
  expect(made.status, JSON.stringify(made.body)).toBe(201);
});
afterEach(() => api.close());

type Annotations = Record<string, string> | undefined;
const forged = { 'kcp.io/cluster': 'root', 'internal.atoll.dev/parts': '{"annotations":{}}' };
const annotationsOf = fc.option(
  fc.record({ a: fc.constantFrom('b', '"annotations":{', '}'), ...mapped(forged) }, { requiredKeys: [] }),
  { nil: undefined },
);

function mapped(values: Record<string, string>): Record<string, fc.Arbitrary<string>> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, fc.constant(value)]));
}

const template = (annotations: Annotations) => ({
  metadata: { labels: { app: 'x' }, ...(annotations && { annotations }) },
  spec: { containers: [{ name: 'c', image: 'i' }] },
});
const deployment = (name: string, annotations: Annotations, inside: Annotations) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, ...(annotations && { annotations }) },
  spec: { replicas: 1, selector: { matchLabels: { app: 'x' } }, template: template(inside) },
});

const patched = (url: string, type: string) => async (annotations: Annotations, inside: Annotations) => {
  await api.call('POST', sets, deployment('d', undefined, inside));
  const body = { ...deployment('d', annotations, inside) };
  const headers = { 'content-type': `application/${type}` };
  return (await api.call('PATCH', url, body, headers)).status;
};

async function place(owner: string): Promise<void> {
  const { body } = await api.call('GET', `${sets}/${owner}`);
  const ref = { group: 'apps', version: 'v1', resource: 'deployments', kind: 'Deployment', name: owner };
  await api.call('POST', placements, {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'Placement',
    metadata: { name: `${owner}.deployments.apps` },
    spec: {
      ref: { ...ref, uid: body.metadata.uid },
      clusters: ['east'],
      shares: { east: { phase: 'Active', replicas: 1 } },
    },
  });
}

/** All that writes objects: each as a user, a controller or a physical cluster would, with what they may say. */
const writers: Record<string, (annotations: Annotations, inside: Annotations) => Promise<number>> = {
  create: async (a, b) => (await api.call('POST', sets, deployment('d', a, b))).status,
  update: async (a, b) => {
    await api.call('POST', sets, deployment('d', undefined, b));
    return (await api.call('PUT', `${sets}/d`, deployment('d', a, b))).status;
  },
  'merge patch': patched(`${sets}/d`, 'merge-patch+json'),
  'strategic patch': patched(`${sets}/d`, 'strategic-merge-patch+json'),
  apply: patched(`${sets}/d?fieldManager=m&force=true`, 'apply-patch+yaml'),
  'patch of the status': patched(`${sets}/d/status`, 'merge-patch+json'),
  scale: async (a, b) => {
    await api.call('POST', sets, deployment('d', a, b));
    return (await api.call('PATCH', `${sets}/d/scale`, { spec: { replicas: 3 } })).status;
  },
  'mark as deleted': async (a, b) => {
    const object = deployment('d', a, b);
    await api.call('POST', sets, { ...object, metadata: { ...object.metadata, finalizers: ['x/y'] } });
    return (await api.call('DELETE', `${sets}/d`)).status;
  },
  'reflection of a pod': async (a, b) => {
    await api.call('POST', sets, deployment('d', undefined, b));
    await place('d');
    const pod = { apiVersion: 'v1', kind: 'Pod', ...template(b) };
    const metadata = { name: 'p', labels: { app: 'x' }, ...(a && { annotations: a }) };
    return (await asEast('PUT', `${mine()}/api/v1/namespaces/default/pods/p`, { ...pod, metadata })).status;
  },
  'reflection of a ReplicaSet, which notes its revision': async (a, b) => {
    await api.call('POST', sets, deployment('d', undefined, b));
    await place('d');
    const { uid } = (await api.call('GET', `${sets}/d`)).body.metadata;
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', uid, controller: true };
    const annotations = { ...a, 'deployment.kubernetes.io/revision': '7' };
    const body = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      spec: { replicas: 1, template: template(b) },
      metadata: { name: 'd-1', labels: { app: 'x' }, annotations, ownerReferences: [owner] },
    };
    return (await asEast('PUT', `${mine()}/apis/apps/v1/namespaces/default/replicasets/d-1`, body)).status;
  },
  slice: async (a, b) => {
    await api.call('POST', sets, deployment('d', a, b));
    await place('d');
    const status = { present: true, status: { annotations: {} } };
    const url = `${mine()}/apis/atoll.dev/v1alpha1/namespaces/default/shares/d.deployments.apps/status`;
    return (await asEast('PATCH', url, { status })).status;
  },
  'an older server, which put annotations anywhere': async (a, b) => {
    const { metadata, ...rest } = deployment('d', undefined, b);
    const object = {
      ...rest,
      metadata: { ...metadata, namespace: 'default', uid: 'u', ...(a && { annotations: a }) },
    };
    const { kind, apiVersion, metadata: meta, spec } = object;
    const value = JSON.stringify({ kind, apiVersion, metadata: meta, spec });
    await bytes.create(`/apps/deployments/${id}/default/d`, Buffer.from(value));
    return 200;
  },
};

const asEast = (method: string, url: string, body: unknown) =>
  call(api.server.transport(syncerUser('east')), method, url, body);

const kinds = [
  ['/api/v1', 'pods'],
  ['/apis/apps/v1', 'deployments'],
  ['/apis/apps/v1', 'replicasets'],
  ['/apis/atoll.dev/v1alpha1', 'placements'],
] as const;

async function read(url: string, accept: string): Promise<Uint8Array> {
  const response = await api.server.transport(admin)({ method: 'GET', url, headers: { accept } });
  const chunks: Uint8Array[] = [];
  if (response.body instanceof Uint8Array) return response.body;
  for await (const chunk of response.body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function firstLines(url: string, count: number): Promise<string[]> {
  const { body } = await api.server.transport(admin)({ method: 'GET', url, headers: {} });
  let text = '';
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString();
    const lines = text.split('\n').slice(0, -1);
    if (lines.length >= count) return lines;
  }
  throw new Error(`the watch ended after ${text}`);
}

/** Fails where a key stands twice in one object. */
function parsed<T>(text: Uint8Array): T {
  const { value, duplicates } = decodeJson(text, { strict: true });
  expect(duplicates).toEqual([]);
  return value as T;
}

interface Table {
  rows: { object: KubeObject }[];
}

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

async function shown(): Promise<Record<string, KubeObject[]>> {
  const found: Record<string, KubeObject[]> = {};
  for (const [api, resource] of kinds) {
    const url = `/clusters/*${api}/${resource}`;
    const list = parsed<{ items: KubeObject[] }>(await read(url, 'application/json')).items;
    if (list.length === 0) continue;
    const lines = await firstLines(`${url}?watch=true`, list.length);
    const watched = lines.map((line) => parsed<{ object: KubeObject }>(Buffer.from(line)).object);
    const rows = parsed<Table>(await read(`${url}?includeObject=Object`, table)).rows;
    found[resource] = [...list, ...watched, ...rows.map(({ object }) => object)];
    expect(rows).toHaveLength(list.length);
    if (api.includes('atoll.dev')) continue;
    const binary = decodeProtobuf(await read(url, 'application/vnd.kubernetes.protobuf'));
    found[resource]?.push(...(binary['items'] as KubeObject[]));
  }
  return found;
}

describe('an item read across logical clusters says once which one it is in, whoever wrote it', () => {
  test.each(Object.keys(writers))(
    '%s',
    async (name) => {
      await fc.assert(
        fc.asyncProperty(annotationsOf, annotationsOf, async (annotations, inside) => {
          await clear();
          expect(await writers[name]!(annotations, inside)).toBeLessThan(300);
          const all = Object.values(await shown()).flat();
          expect(all.length).toBeGreaterThan(0);
          for (const { metadata } of all) expect(metadata.annotations?.['kcp.io/cluster']).toBe(id);
          if (name.includes('older')) return;
          const { body } = await api.call('GET', `${sets}/d`);
          expect(body.metadata.annotations ?? {}).not.toHaveProperty(['internal.atoll.dev/parts']);
        }),
        { numRuns: 6 },
      );
    },
    60_000,
  );
});

async function clear(): Promise<void> {
  for (const key of ['/core/pods/', '/apps/deployments/', '/apps/replicasets/', '/atoll.dev/placements/']) {
    const { entries } = await bytes.list({ start: key, end: `${key}~` });
    for (const { key, revision } of entries) await bytes.delete(key, revision);
  }
}
