import { describe, expect, test } from 'vitest';
import { Cache } from '../../../client/cache.ts';
import { Client } from '../../../client/client.ts';
import type { KubeObject, ObjectMeta } from '../../../kube/object.ts';
import { resources } from '../../../sim/resources.ts';
import { controllerRef } from '../../../sim/workloads/children.ts';
import { Family } from '../../../sim/workloads/family.ts';
import { names, workload } from './make.ts';

const set = workload('ReplicaSet', {});
const fits = (labels: Record<string, string>) => labels['app'] === 'web';

function pod(name: string, version: number, metadata: ObjectMeta = {}): KubeObject {
  const ownerReferences = [controllerRef(set)];
  const own = { ownerReferences, ...metadata, name, resourceVersion: String(version) };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'shop', uid: `uid-${name}`, ...own } };
}

/** What is stored, what the cache has heard of that, and what was read. */
function start(...pods: KubeObject[]) {
  const stored = new Map(pods.map((one) => [one.metadata.name, one]));
  const cache = new Cache<KubeObject>((error) => {
    throw error;
  });
  for (const one of pods) cache.put(one);
  const read: string[] = [];
  const client = new Client(async ({ url }) => {
    const name = url.slice(url.lastIndexOf('/') + 1);
    read.push(name);
    const missing = { kind: 'Status', status: 'Failure', reason: 'NotFound', message: 'no', code: 404 };
    const found = stored.get(name);
    return { status: found ? 200 : 404, headers: {}, body: Buffer.from(JSON.stringify(found ?? missing)) };
  });
  const family = new Family(client, resources.pods, cache);
  const versions = async () =>
    (await family.of(set, fits)).map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`);
  return { stored, cache, family, versions, read: () => read.splice(0) };
}

describe('what a workload controls', () => {
  test('is not read again, however much it is', async () => {
    const many = Array.from({ length: 100 }, (_, i) => pod(`pod-${i}`, i + 1));
    const { family, read } = start(...many);
    expect(names(await family.of(set, fits))).toEqual(names(many));
    expect(read()).toEqual([]);
  });

  test('is read while the cache has not shown what was written, whatever else it shows of it', async () => {
    const { stored, cache, family, versions, read } = start(pod('old', 1), pod('other', 2));
    const written = pod('old', 5, { deletionTimestamp: '2030-01-01T00:00:00Z' });
    stored.set('old', written);
    family.wrote(set, 'old', written);
    cache.put(pod('old', 4));
    expect(await versions()).toEqual(['other@2', 'old@5']);
    expect(read()).toEqual(['old']);
    cache.put(pod('old', 12));
    expect((await versions()).sort()).toEqual(['old@12', 'other@2']);
    expect(read()).toEqual([]);
  });

  test('has what was made here before the cache shows it, and no more once it is gone', async () => {
    const { stored, family, versions, read } = start();
    stored.set('new', pod('new', 3));
    family.wrote(set, 'new', pod('new', 3));
    expect(await versions()).toEqual(['new@3']);
    stored.delete('new');
    expect(await versions()).toEqual([]);
    read();
    expect(await versions()).toEqual([]);
    expect(read()).toEqual([]);
  });

  test('has not what was deleted at once, though the cache still shows it', async () => {
    const { stored, cache, family, versions, read } = start(pod('old', 1));
    stored.delete('old');
    family.wrote(set, 'old', { apiVersion: 'v1', kind: 'Status', metadata: {} });
    expect(await versions()).toEqual([]);
    cache.remove(pod('old', 2));
    expect(await versions()).toEqual([]);
    read();
    expect(await versions()).toEqual([]);
    expect(read()).toEqual([]);
  });

  test('may be what nobody controls and its selector fits, as that is now', async () => {
    const orphan = { ownerReferences: [], labels: { app: 'web' } };
    const other = pod('other', 2, { ownerReferences: [], labels: { app: 'db' } });
    const { stored, versions, read } = start(pod('orphan', 1, orphan), other);
    stored.set('orphan', pod('orphan', 9, orphan));
    expect(await versions()).toEqual(['orphan@9']);
    expect(read()).toEqual(['orphan']);
  });
});
