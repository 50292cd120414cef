import { beforeEach, expect, test } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { active, deployment, keys, logical, namespace, object, Upstream } from './upstream.ts';

const sets = { group: 'apps', version: 'v1', resource: 'replicasets' };
const shares = { group: 'atoll.dev', version: 'v1alpha1', resource: 'shares' };
const annotation = 'deployment.kubernetes.io/revision';
const [web, ref] = deployment('web');
const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: ref.uid };
/** What the conformance specs use: no double is so exact. */
const far = '3546343826724305832';
const afterFar = '3546343826724305833';
const most = String(2n ** 63n - 1n);

let upstream: Upstream;
beforeEach(async () => {
  upstream = await Upstream.make('east', 'west');
  await upstream.place(web, ref, { east: active, west: active });
});

/** A ReplicaSet that somebody has made, placed on both clusters. */
async function own(name: string, revision?: string, image = 'old:1'): Promise<void> {
  const set = object('apps/v1', 'ReplicaSet', name);
  const { template } = deployment('web', 1, image)[0].spec as { template: object };
  const annotations = revision === undefined ? {} : { annotations: { [annotation]: revision } };
  const made = { ...set, metadata: { ...set.metadata, ...annotations }, spec: { replicas: 1, template } };
  const is = { ...sets, kind: 'ReplicaSet', name, uid: `uid-of-${name}` };
  await upstream.place(made, is, { east: active, west: active });
}

const adopted = (cluster: string, name: string, status: object = {}) =>
  upstream
    .client(cluster)
    .patch(
      shares,
      { cluster: logical, namespace, name: `${name}.replicasets.apps`, subresource: 'status' },
      'merge',
      { status: { present: true, owner: { uid: ref.uid }, status } },
    );
const reflected = (cluster: string, name: string, revision: number, image = 'shop:1') =>
  upstream.client(cluster).update(
    sets,
    {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: {
        name,
        namespace,
        ownerReferences: [owner],
        annotations: { [annotation]: String(revision) },
      },
      spec: { replicas: 1, template: { spec: { containers: [{ image }] } } },
    },
    { cluster: logical },
  );
const numberOf = async (of: { group: string; resource: string; name: string }) => {
  const found = await upstream.read<KubeObject>(keys.object(of, logical, namespace));
  return found?.metadata.annotations?.[annotation];
};
const numbers = async (...names: string[]) =>
  await Promise.all([...names.map((name) => numberOf({ ...sets, name })), numberOf(ref)]);

test('a Deployment counts on from what a ReplicaSet says that it has adopted', async () => {
  await own('old', far);
  await adopted('east', 'old');
  await reflected('east', 'web-a', 1);
  expect(await numbers('old', 'web-a')).toEqual([far, afterFar, afterFar]);
  await reflected('west', 'web-a', 1);
  await adopted('west', 'old');
  await reflected('east', 'web-b', 2);
  expect(await numbers('old', 'web-a', 'web-b')).toEqual([
    far,
    afterFar,
    '3546343826724305834',
    '3546343826724305834',
  ]);
});

test('though it is known here only later that it has', async () => {
  await own('old', far);
  await reflected('east', 'web-0', 1);
  await reflected('east', 'web-a', 2);
  await reflected('west', 'web-a', 1);
  expect(await numbers('web-0', 'web-a')).toEqual(['1', '2', '2']);
  await adopted('west', 'old');
  expect(await numbers('web-0', 'web-a')).toEqual(['1', afterFar, afterFar]);
  await adopted('east', 'old');
  await reflected('east', 'web-a', 2);
  await reflected('west', 'web-a', 1);
  expect(await numbers('web-0', 'web-a')).toEqual(['1', afterFar, afterFar]);
});

test('and what was left undone is done with the next word of that ReplicaSet', async () => {
  await own('old', far);
  await reflected('east', 'web-a', 1);
  await adopted('east', 'old');
  const key = keys.object({ ...sets, name: 'web-a' }, logical, namespace);
  const set = (await upstream.read(key)) as KubeObject;
  const annotations = { ...set.metadata.annotations, [annotation]: '1' };
  await upstream.write(key, { ...set, metadata: { ...set.metadata, annotations } });
  await upstream.write(keys.object(ref, logical, namespace), web);
  await adopted('east', 'old', { replicas: 1 });
  expect(await numbers('web-a')).toEqual([afterFar, afterFar]);
});

test.each([
  ['none', undefined, '1'],
  ['no number', 'x', '1'],
  ['a fraction', '7.5', '1'],
  ['a number below nought', '-4', '1'],
  ['more than an int64', String(2n ** 63n), '1'],
  ['the most that there is', most, most],
  ['another one', '7', '8'],
])('where that says %s, from there', async (_, revision, next) => {
  await own('old', revision);
  await adopted('east', 'old');
  await reflected('east', 'web-a', 1);
  expect(await numbers('web-a')).toEqual([next, next]);
});

test.each([
  ['has its number, and the Deployment the same', far, undefined, far],
  ['is numbered where it has none', undefined, undefined, '1'],
  ['is numbered anew where it is gone back to', '2', 'web-a', '6'],
])('an adopted one that is of the present template %s', async (_, revision, beside, next) => {
  await own('old', revision, 'shop:1');
  if (beside) {
    await own('older', '4');
    await adopted('east', 'older');
    await reflected('east', beside, 1, 'shop:0');
    expect(await numbers(beside)).toEqual(['5', '5']);
  }
  await adopted('east', 'old');
  expect(await numbers('old')).toEqual([next, next]);
});

test('one that is nobody’s, or another’s, counts nothing', async () => {
  await own('old', far);
  await reflected('east', 'web-a', 1);
  const path = { cluster: logical, namespace, name: 'old.replicasets.apps', subresource: 'status' };
  await upstream.client('east').patch(shares, path, 'merge', { status: { present: true } });
  expect(await numbers('old', 'web-a')).toEqual([far, '1', '1']);
});

test('that it was adopted after its ReplicaSet was numbered, and before that was written, is counted', async () => {
  await own('old', far);
  const { store } = upstream;
  const create = store.create.bind(store);
  const key = keys.object({ ...sets, name: 'web-a' }, logical, namespace);
  let seen = 0;
  store.create = async (at, ...rest) => {
    if (at === key && seen++ === 0) await adopted('east', 'old');
    return await create(at, ...rest);
  };
  await reflected('east', 'web-a', 1);
  expect(seen).toBe(1);
  expect(await numbers('web-a')).toEqual([afterFar, afterFar]);
});

test('a StatefulSet adopts its own revision that nobody controls, as out of a backup, and no other', async () => {
  const revisions = { group: 'apps', version: 'v1', resource: 'controllerrevisions' };
  const set = { ...ref, kind: 'StatefulSet', resource: 'statefulsets', name: 'db', uid: 'uid-of-db' };
  await upstream.place({ ...object('apps/v1', 'StatefulSet', 'db'), spec: { replicas: 1 } }, set, {
    east: active,
  });
  const controller = { ...owner, kind: 'StatefulSet', name: 'db', uid: set.uid, controller: true };
  const restored = async (name: string, data: object, metadata: object = {}) => {
    const made = object('apps/v1', 'ControllerRevision', name);
    const at = keys.object({ ...revisions, name }, logical, namespace);
    await upstream.write(at, { ...made, metadata: { ...made.metadata, ...metadata }, data, revision: 3 });
    const said = { apiVersion: 'apps/v1', kind: 'ControllerRevision', data: { is: name }, revision: 1 };
    const told = { ...said, metadata: { name, namespace, ownerReferences: [controller] } };
    await upstream.client('east').update(revisions, told, { cluster: logical });
    return (await upstream.read<KubeObject>(at))?.metadata.ownerReferences;
  };
  expect(await restored('db-1', { is: 'db-1' })).toEqual([expect.objectContaining({ uid: set.uid })]);
  await expect(restored('db-2', { is: 'another' })).rejects.toMatchObject({ code: 409 });
  const others = { ownerReferences: [{ ...controller, uid: 'of-another' }] };
  await expect(restored('db-3', { is: 'db-3' }, others)).rejects.toMatchObject({ code: 409 });
  const going = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['example.com/holds'] };
  await expect(restored('db-4', { is: 'db-4' }, going)).rejects.toMatchObject({ code: 409 });
});
