import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { historyMs } from '../../../apiserver/handlers/lists/history.ts';
import type { ObjectRef } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { listAt, textAt } from '../../../kube/untyped.ts';
import { deployment, resources, template } from '../../world/objects.ts';
import { active, namespace, Upstream } from '../../world/upstream.ts';

const { deployments, replicasets } = resources;
let upstream: Upstream;
let web: ObjectRef;
beforeEach(async () => {
  // Nothing is late until the test says so.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  upstream = await Upstream.start('east');
  web = await upstream.place(deployment('web', 1), { east: active });
  await tell('web-1', 1, 'web:1');
});
afterEach(async () => {
  vi.useRealTimers();
  await upstream.close();
});

/** As east's syncer does. */
async function tell(name: string, revision: number, image: string): Promise<void> {
  const { apiVersion, kind } = deployment('web', 1);
  const ownerReferences = [{ apiVersion, kind, name: 'web', uid: web.uid, controller: true }];
  const annotations = { 'deployment.kubernetes.io/revision': String(revision) };
  const spec = { replicas: 1, template: template('web', image) };
  const metadata = { name, namespace, labels: { app: 'web' }, ownerReferences, annotations };
  const set = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata, spec };
  await upstream.view('east').update(replicasets, set, { cluster: upstream.logical });
}

const patch = (patch: object) =>
  upstream.admin.patch(deployments, { namespace, name: 'web' }, 'merge', patch);
const change = (image: string) => patch({ spec: { template: template('web', image) } });
/** As `kubectl rollout history` asks. */
const history = async (options: object = {}) => {
  const { items } = await upstream.admin.list(replicasets, {
    namespace,
    labelSelector: 'app=web',
    ...options,
  });
  return items.map(imageOf);
};
const imageOf = ({ spec }: KubeObject) => textAt(listAt(spec, 'template', 'spec', 'containers')[0], 'image');
/** What is answered before anything else happens in the world. */
const soon = async (asked: Promise<unknown>) => {
  let answered = false;
  void asked.then(() => {
    answered = true;
  });
  for (let n = 0; n < 5; n++) await upstream.admin.get(deployments, { namespace, name: 'web' });
  return answered;
};

test('who asks for the history right after a change is answered once the change is in it', async () => {
  await change('web:2');
  const asked = history();
  expect(await soon(asked)).toBe(false);
  await tell('web-2', 2, 'web:2');
  expect(await asked).toEqual(['web:1', 'web:2']);
  // Back again: the first is to be the newest.
  await change('web:1');
  const again = history();
  expect(await soon(again)).toBe(false);
  await tell('web-1', 3, 'web:1');
  expect(await again).toEqual(['web:1', 'web:2']);
});

test('what does not come is not waited for any longer', async () => {
  await change('web:2');
  const asked = history();
  expect(await soon(asked)).toBe(false);
  vi.setSystemTime(Date.now() + historyMs);
  expect(await asked).toEqual(['web:1']);
  // Whoever asks next is not kept either, until it is changed again.
  expect(await history()).toEqual(['web:1']);
  await change('web:3');
  const again = history();
  expect(await soon(again)).toBe(false);
  await tell('web-3', 2, 'web:3');
  expect(await again).toEqual(['web:1', 'web:3']);
});

test('nobody waits who has a cache to keep, nor where nothing is to come', async () => {
  await change('web:2');
  expect(await history({ resourceVersion: '0' })).toEqual(['web:1']);
  await patch({ spec: { paused: true } });
  expect(await history()).toEqual(['web:1']);
  await patch({ spec: { paused: false } });
  await upstream.shares(web, {});
  expect(await history()).toEqual(['web:1']);
});

test('another change of a workload makes nobody wait', async () => {
  await patch({ spec: { replicas: 3 }, metadata: { labels: { a: 'b' } } });
  expect(await history()).toEqual(['web:1']);
});
