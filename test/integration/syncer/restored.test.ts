import { expect, test } from 'vitest';
import { letGoAnnotation, locatorAnnotation } from '../../../cluster/names.ts';
import { physicalNamespace } from '../../../cluster/placement.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { deployment, resources, until } from '../../world/objects.ts';
import { active, configMap, namespace } from '../../world/upstream.ts';
import { Sides } from './sides.ts';

const sides = Sides.forEach();
const { configmaps, deployments, namespaces, persistentvolumeclaims } = resources;

const claim = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
});

/** Another Namespace, and a ConfigMap and a claim in it, as their users and the splitter would make them. */
async function furnish(name: string): Promise<string> {
  const { upstream } = sides;
  const { metadata } = await upstream.admin.create(namespaces, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
  });
  const home = physicalNamespace(upstream.logical, name, metadata.uid);
  for (const [resource, kind, object] of [
    [configmaps, 'ConfigMap', configMap('settings')],
    [persistentvolumeclaims, 'PersistentVolumeClaim', claim('data')],
  ] as const) {
    const made = await upstream.admin.create(resource, object, { namespace: name });
    const ref = { ...resource, kind, name: made.metadata.name ?? '', uid: made.metadata.uid ?? '' };
    const place = { namespaceUid: metadata.uid ?? '', physicalNamespace: home };
    const spec = { ref, ...place, clusters: ['east'], shares: { east: active }, requires: [] };
    const at = { name: `${ref.name}.${resource.resource}`, namespace: name };
    const placement = { apiVersion: 'atoll.dev/v1alpha1', kind: 'Placement', metadata: at, spec };
    await upstream.splitter.create(resources.placements, placement);
  }
  await until('its claim is there', () => sides.physical.find(persistentvolumeclaims, home, 'data'));
  await until('its settings are there', () => sides.physical.find(configmaps, home, 'settings'));
  return home;
}

const annotationsOf = (object: KubeObject | undefined) => object?.metadata.annotations ?? {};

test("what was made since the backup that was restored stays, and is nobody's; what the backup has goes on", async () => {
  sides.start();
  const { physical, upstream } = sides;
  const old = await upstream.place(configMap('old'), { east: active });
  await sides.untilThere(configmaps, 'old');
  const restore = await upstream.backup();
  const home = await furnish('since');
  const late = await upstream.place(deployment('late', 1), { east: active });
  await sides.untilThere(deployments, late.name);
  await upstream.place(claim('late'), { east: active });
  const before = await sides.untilThere(persistentvolumeclaims, 'late');
  await sides.stop();
  await upstream.close();

  sides.upstream = await restore();
  const running = sides.start();
  await running.ready;
  // Of a Namespace that it knows what it does not know goes, as ever, but for the data.
  await until('what is not known goes', async () => !(await sides.there(deployments, late.name)));
  const kept = await sides.untilThere(persistentvolumeclaims, 'late');
  expect(kept.metadata.uid).toBe(before.metadata.uid);
  expect(annotationsOf(kept)).toHaveProperty([letGoAnnotation]);
  expect(annotationsOf(kept)).not.toHaveProperty([locatorAnnotation]);
  const there = await physical.find(namespaces, '', home);
  expect(there?.metadata.deletionTimestamp).toBeUndefined();
  expect(annotationsOf(there)).toHaveProperty([letGoAnnotation]);
  expect(await physical.find(persistentvolumeclaims, home, 'data')).toBeDefined();
  expect(await physical.find(configmaps, home, 'settings')).toBeDefined();
  expect(await sides.there(configmaps, old.name)).toBeDefined();

  // What is deleted from then on goes, also when another syncer follows.
  await sides.stop();
  sides.start();
  await sides.upstream.admin.delete(namespaces, { name: namespace });
  await sides.upstream.unplace(old);
  await until('what was deleted goes there', async () => !(await sides.there(configmaps, old.name)));
});

test('what the cluster will not have marked is left alone, and all else goes on; the next syncer tries again', async () => {
  sides.start();
  await sides.upstream.place(configMap('old'), { east: active });
  await sides.untilThere(configmaps, 'old');
  const restore = await sides.upstream.backup();
  const home = await furnish('since');
  await sides.upstream.place(claim('late'), { east: active });
  await sides.untilThere(persistentvolumeclaims, 'late');
  await sides.stop();
  await sides.upstream.close();

  sides.upstream = await restore();
  const guarded = [`/api/v1/namespaces/${home}`, sides.path(persistentvolumeclaims, 'late')];
  const refused = new Set<string>();
  const message = 'admission webhook "guard.example.com" denied the request';
  const status = {
    apiVersion: 'v1',
    kind: 'Status',
    status: 'Failure',
    reason: 'Forbidden',
    message,
    code: 403,
  };
  const running = sides.start(async (request) => {
    const [path = ''] = request.url.split('?');
    if (request.method !== 'PATCH' || !guarded.includes(path)) return sides.physical.transport(request);
    refused.add(path);
    return {
      status: 403,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(status)),
    };
  });
  await running.ready;
  expect([...refused].sort()).toEqual(guarded.sort());
  const late = await sides.upstream.place(configMap('new'), { east: active });
  await sides.untilThere(configmaps, late.name);
  await sides.upstream.unplace(late);
  await until('what is deleted goes', async () => !(await sides.there(configmaps, late.name)));
  expect(await sides.physical.find(configmaps, home, 'settings')).toBeDefined();
  expect(await sides.there(persistentvolumeclaims, 'late')).toBeDefined();

  await sides.stop();
  await sides.start().ready;
  expect(annotationsOf(await sides.physical.find(namespaces, '', home))).toHaveProperty([letGoAnnotation]);
  expect(annotationsOf(await sides.there(persistentvolumeclaims, 'late'))).toHaveProperty([letGoAnnotation]);
});

test('a claim that is made again before the cluster is met does not take its data away', async () => {
  sides.start();
  await sides.upstream.place(configMap('old'), { east: active });
  await sides.untilThere(configmaps, 'old');
  const restore = await sides.upstream.backup();
  await sides.upstream.place(claim('late'), { east: active });
  const before = await sides.untilThere(persistentvolumeclaims, 'late');
  await sides.stop();
  await sides.upstream.close();

  sides.upstream = await restore();
  const again = await sides.upstream.place(claim('late'), { east: active });
  sides.start();
  const said = await until('it is said whose it is', async () => {
    const slice = await sides.upstream.slice(again);
    return slice?.error;
  });
  expect(said).toMatchObject({ reason: 'NotOwned' });
  const kept = await sides.there(persistentvolumeclaims, 'late');
  expect(kept?.metadata).toMatchObject({ uid: before.metadata.uid });
  expect(kept?.metadata.deletionTimestamp).toBeUndefined();
});
