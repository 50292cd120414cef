import { beforeEach, expect, test } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { active, deployment, keys, logical, namespace, Upstream } from './upstream.ts';

const sets = { group: 'apps', version: 'v1', resource: 'replicasets' };
const pods = { group: '', version: 'v1', resource: 'pods' };
const [web, ref] = deployment('web');
const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: ref.uid };
const under = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-5d', uid: '' };

let upstream: Upstream;
beforeEach(async () => {
  upstream = await Upstream.make('east', 'west');
  await upstream.place(web, ref, { east: active, west: active });
});

/** As its syncer says it, which knows it here by `shownUid`. */
const put = (cluster: string, sourceUid: string, shownUid?: string): Promise<KubeObject> =>
  upstream.client(cluster).update(
    sets,
    {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'web-5d', namespace, ownerReferences: [owner] },
      spec: { replicas: 1, template: { spec: { containers: [{ image: 'shop:1' }] } } },
      sourceUid,
      ...(shownUid && { shownUid }),
    } as KubeObject,
    { cluster: logical },
  );

async function putPod(cluster: string): Promise<void> {
  const metadata = { name: `web-${cluster}`, namespace, ownerReferences: [under, owner] };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [] } };
  await upstream.client(cluster).update(pods, pod, { cluster: logical });
}

const controllers = async () => {
  const found = ['web-east', 'web-west'].map((name) => upstream.read(keys.pod(logical, namespace, name)));
  return (await Promise.all(found)).map((pod) => pod?.metadata.ownerReferences?.[0]?.uid);
};

async function bothPut(): Promise<string> {
  await put('east', 'e1');
  const { metadata } = await put('west', 'w1');
  for (const cluster of ['east', 'west']) await putPod(cluster);
  expect(await controllers()).toEqual([metadata.uid, metadata.uid]);
  return metadata.uid ?? '';
}

/** The server stops at the next such write of such a key. */
function stopAt(key: string, method: 'create' | 'update'): void {
  const { store } = upstream;
  const write = store[method].bind(store) as (...args: unknown[]) => Promise<never>;
  store[method] = async (...args: unknown[]) => {
    if (!String(args[0]).includes(key)) return await write(...args);
    store[method] = write;
    throw new Error('it stops here');
  };
}

test.each([
  ['when the former has gone', '/replicasets/', 'create'],
  ['before its pods are under it', '/pods/', 'update'],
] as const)(
  'what stops %s is made another one when its clusters say again what they have',
  async (_when, key, method) => {
    const former = await bothPut();
    await put('east', 'e2', former);
    stopAt(key, method);
    await expect(put('west', 'w2', former)).rejects.toThrow();
    const { uid } = (await put('west', 'w2', former)).metadata;
    expect(uid).not.toBe(former);
    const { metadata } = await put('east', 'e2', former);
    expect(metadata).toMatchObject({ uid, annotations: { 'atoll.dev/physical-cluster': 'east,west' } });
    expect(await controllers()).toEqual([uid, uid]);
  },
);

test('what somebody holds here is another one once it is let go', async () => {
  const former = await bothPut();
  const at = keys.object({ ...sets, name: 'web-5d' }, logical, namespace);
  const set = (await upstream.read(at)) as KubeObject;
  await upstream.write(at, { ...set, metadata: { ...set.metadata, finalizers: ['example.com/held'] } });
  await put('east', 'e2', former);
  await expect(put('west', 'w2', former)).rejects.toThrow('hold');
  await upstream.remove(at);
  const { uid } = (await put('west', 'w2', former)).metadata;
  expect(await controllers()).toEqual([uid, uid]);
});

test('no pods of another come under it, whatever a cluster says that it was', async () => {
  const former = await bothPut();
  const { metadata } = await upstream.client('west').update(
    sets,
    {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'web-77', namespace, ownerReferences: [owner] },
      spec: { replicas: 1, template: { spec: { containers: [{ image: 'shop:1' }] } } },
      shownUid: former,
    } as KubeObject,
    { cluster: logical },
  );
  expect(metadata.uid).not.toBe(former);
  expect(await controllers()).toEqual([former, former]);
});
