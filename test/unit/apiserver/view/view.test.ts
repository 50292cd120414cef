import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ownUser } from '../../../../apiserver/authn/controllers.ts';
import { syncersGroup, syncerUser } from '../../../../apiserver/view/identity.ts';
import { Client } from '../../../../client/client.ts';
import { splitterUser } from '../../../../cluster/names.ts';
import type { PhysicalCluster, Placement, Share, ShareView } from '../../../../cluster/types.ts';
import type { UserInfo } from '../../../../kube/http.ts';
import type { KubeObject, WatchEvent } from '../../../../kube/object.ts';
import type { StatusError } from '../../../../kube/status.ts';
import { textAt } from '../../../../kube/untyped.ts';
import { until } from '../../../world/objects.ts';
import {
  active,
  configMap,
  deployment,
  east,
  keys,
  logical,
  namespace,
  object,
  placementKey,
  Upstream,
} from './upstream.ts';

const shares = { group: 'atoll.dev', version: 'v1alpha1', resource: 'shares' };
const clusters = { group: 'atoll.dev', version: 'v1alpha1', resource: 'physicalclusters' };
const pods = { group: '', version: 'v1', resource: 'pods' };
const masters: UserInfo = { name: 'admin', groups: ['system:masters'] };

let upstream: Upstream;
let client: Client;
let life: AbortController;
beforeEach(async () => {
  upstream = await Upstream.make('east', 'west');
  client = upstream.client('east');
  life = new AbortController();
});
afterEach(() => life.abort());

const code = (promise: Promise<unknown>) =>
  promise.then(
    () => 200,
    (error: StatusError) => error.code,
  );

function watch(resourceVersion: string, of: Client = client): WatchEvent<ShareView>[] {
  const events: WatchEvent<ShareView>[] = [];
  void (async () => {
    for await (const event of of.watch<ShareView>(shares, { resourceVersion, signal: life.signal }))
      events.push(event);
  })();
  return events;
}

const slice = (name: string, status: unknown, of: Client = client) =>
  of.patch(shares, { cluster: logical, namespace, name, subresource: 'status' }, 'merge', {
    status,
  } as object);

describe('shares', () => {
  test('are what is placed here, in the shape of here', async () => {
    const [root, ref] = deployment('web', 7);
    await upstream.place(root, ref, { east: { ...active, replicas: 3 }, west: { ...active, replicas: 1 } });
    await upstream.place(...configMap('only-west'), { west: active });
    const list = await client.list<ShareView>(shares);
    expect(list.metadata.resourceVersion).toBe(String(upstream.store.revision));
    expect(list.items.map((item) => item.metadata.name)).toEqual(['web.deployments.apps']);
    const { spec, metadata } = list.items[0]!;
    expect(metadata.annotations).toEqual({ 'kcp.io/cluster': logical });
    expect(spec).toMatchObject({
      ref,
      phase: 'Active',
      generation: 7,
      physicalNamespace: east,
      locator: { syncer: 'uid-east', uid: ref.uid },
    });
    expect(spec!.manifest).toMatchObject({
      kind: 'Deployment',
      metadata: { name: 'web', namespace: east },
      spec: { replicas: 3 },
    });
  });

  test('are of placed kinds only, whatever a Placement says, and have no manifest of what may not be pushed', async () => {
    const role = { ...object('rbac.authorization.k8s.io/v1', 'Role', 'all'), rules: [] };
    const of = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'roles', kind: 'Role' };
    await upstream.place(role, { ...of, name: 'all', uid: 'uid-of-all' }, { east: active });
    const token = { ...object('v1', 'Secret', 'token'), type: 'kubernetes.io/service-account-token' };
    const secret = { group: '', version: 'v1', resource: 'secrets', kind: 'Secret', name: 'token' };
    await upstream.place(token, { ...secret, uid: 'uid-of-token' }, { east: active });
    const { items } = await client.list<ShareView>(shares);
    expect(items.map(({ spec }) => [spec!.ref.kind, spec!.manifest])).toEqual([['Secret', undefined]]);
  });

  test('have no manifest while Leaving, and when the object is gone or another', async () => {
    const [config, ref] = configMap('settings');
    await upstream.place(config, ref, { east: { phase: 'Leaving' } });
    const manifest = async () => (await client.list<ShareView>(shares)).items[0]?.spec?.manifest;
    expect(await manifest()).toBeUndefined();
    await upstream.shares(ref, { east: active });
    expect(await manifest()).toBeDefined();
    await upstream.write(keys.object(ref, logical, namespace), {
      ...config,
      metadata: { ...config.metadata, uid: 'x' },
    });
    expect(await manifest()).toBeUndefined();
    await upstream.remove(keys.object(ref, logical, namespace));
    expect(await manifest()).toBeUndefined();
  });

  test('wake nobody for statuses, slices of anyone, other clusters, or who is counted on by now', async () => {
    const [root, ref] = deployment('web');
    await upstream.place(root, ref, { east: { phase: 'Joining', replicas: 2 }, west: active });
    const events = watch((await client.list(shares)).metadata.resourceVersion!);
    const rootKey = keys.object(ref, logical, namespace);
    await upstream.write(rootKey, { ...root, status: { replicas: 2 } });
    await slice('web.deployments.apps', { present: true });
    await slice('web.deployments.apps', { present: true }, upstream.client('west'));
    await upstream.shares(ref, { east: { phase: 'Joining', replicas: 2 }, west: { ...active, replicas: 9 } });
    await upstream.shares(ref, { east: { ...active, replicas: 2 }, west: { ...active, replicas: 9 } });
    await upstream.place(...configMap('other'), { west: active });
    // The first event that comes is the one that matters.
    const changed = await upstream.write(rootKey, {
      ...root,
      metadata: { ...root.metadata, labels: { a: 'b' } },
    });
    await until('an event', () => events.length > 0);
    expect(events.map((event) => [event.type, event.object.metadata.resourceVersion])).toEqual([
      ['MODIFIED', String(changed)],
    ]);
  });

  test('are told what their syncer goes by, and of what a hand-over notes only since when it is asked', async () => {
    const [root, ref] = deployment('web');
    const still = { ...active, replicas: 4 };
    await upstream.place(root, ref, { east: still });
    const events = watch((await client.list(shares)).metadata.resourceVersion!);
    const since = '2026-01-01T00:00:10.000Z';
    // A budget that comes to what the object says itself: its manifest stays.
    const rolling = { ...still, maxSurge: 1, maxUnavailable: 1 };
    for (const east of [rolling, { ...rolling, awaitedSince: since, settled: { replicas: 2 } }, still])
      await upstream.shares(ref, { east });
    const asked = await upstream.shares(ref, { east: { ...rolling, readySince: since } });
    await upstream.shares(ref, { east: still });
    const later = await upstream.shares(ref, { east: { ...still, heardSince: '2026-01-01T00:00:20.000Z' } });
    const setBack = { ...still, heardSince: '2026-01-01T00:00:15.000Z' };
    const earlier = await upstream.shares(ref, { east: setBack });
    await until('the question by a clock that was set back', () => events.length > 2);
    expect(events.map(({ object: of }) => [of.metadata.resourceVersion, of.spec!.share])).toEqual([
      [String(asked), { ...still, readySince: since }],
      [String(later), { ...still, heardSince: '2026-01-01T00:00:20.000Z' }],
      [String(earlier), setBack],
    ]);
    expect(events[0]!.object.spec!.manifest).not.toHaveProperty('spec.strategy');
  });

  test('come and go in the order of the store, from any revision still there', async () => {
    const start = String(upstream.store.revision);
    const [root, ref] = deployment('web');
    const [config, configRef] = configMap('settings');
    await upstream.place(root, ref, { east: active });
    await upstream.place(config, configRef, { west: active });
    await upstream.shares(configRef, { west: active, east: active });
    const half = String(upstream.store.revision);
    await upstream.write(keys.object(ref, logical, namespace), {
      ...root,
      metadata: { ...root.metadata, generation: 2 },
    });
    await upstream.shares(configRef, { west: active });
    await upstream.remove(placementKey(ref));
    const wanted = ['ADDED web', 'ADDED settings', 'MODIFIED web', 'DELETED settings', 'DELETED web'];
    const told = (events: WatchEvent<ShareView>[]) =>
      events.map((e) => `${e.type} ${e.object.spec!.ref.name}`);
    const [all, later] = [watch(start), watch(half)];
    await until('all', () => all.length === 5 && later.length === 3);
    expect(told(all)).toEqual(wanted);
    expect(told(later)).toEqual(wanted.slice(2));
    const revisions = all.map((event) => Number(event.object.metadata.resourceVersion));
    expect(revisions).toEqual([...revisions].sort((a, b) => a - b));
  });

  test('random histories: a watch from anywhere ends where a list does', async () => {
    const random = mulberry(7);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
    const made = Array.from({ length: 6 }, (_, i) => configMap(`c${i}`));
    const marks: { revision: string; state: Map<string, string> }[] = [];
    for (let step = 0; step < 200; step += 1) {
      const [config, ref] = pick(made);
      const action = pick(['place', 'leave', 'drop', 'data', 'remove', 'unplace', 'heard', 'heard']);
      const share = { ...active, replicas: Math.floor(random() * 3) };
      if (action === 'place') await upstream.place(config, ref, { east: share });
      if (action === 'leave') await upstream.place(config, ref, { east: { phase: 'Leaving' } });
      if (action === 'drop') await upstream.place(config, ref, { west: active });
      if (action === 'data')
        await upstream.write(keys.object(ref, logical, namespace), {
          ...config,
          data: { step: String(step) },
        });
      if (action === 'remove') await upstream.remove(keys.object(ref, logical, namespace));
      if (action === 'unplace') await upstream.remove(placementKey(ref));
      if (action === 'heard')
        await code(slice(`${ref.name}.configmaps`, { present: true, observedGeneration: step }));
      if (step % 20 === 0) {
        const list = await client.list<ShareView>(shares);
        marks.push({ revision: list.metadata.resourceVersion!, state: stateOf(list.items) });
      }
    }
    const end = stateOf((await client.list<ShareView>(shares)).items);
    for (const { revision, state } of marks) {
      const events = watch(revision);
      await until(`from ${revision}`, () => {
        const now = new Map(state);
        for (const { type, object } of events) {
          if (type === 'DELETED') now.delete(object.metadata.name!);
          else now.set(object.metadata.name!, JSON.stringify(object.spec));
        }
        return JSON.stringify([...now].sort()) === JSON.stringify([...end].sort());
      });
    }
  });
});

describe('slices', () => {
  beforeEach(async () => {
    const [root, ref] = deployment('web');
    await upstream.place(root, ref, { east: active, west: active });
  });
  const name = 'web.deployments.apps';
  const [, ref] = deployment('web');
  const stored = () => upstream.read<Placement>(placementKey(ref));
  const said = () => upstream.said(ref);

  test('a lying status is clamped and bounded', async () => {
    const body =
      '{"status":{"present":true,"observedGeneration":-7,"share":{"replicas":-4,"evil":1},"evil":1,"error":{"reason":"R","message":"a\\u001b[2Jb"},"status":{"replicas":9007199254740993000,"ready":-1,"__proto__":{"x":1e300},"conditions":[{"n":1e12}]}}}';
    const path = `/apis/atoll.dev/v1alpha1/namespaces/${namespace}/shares/${name}/status`;
    const answer = await client.raw({
      method: 'PATCH',
      path,
      cluster: logical,
      body: Buffer.from(body),
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    expect(answer.status).toBe(200);
    expect(Buffer.from(answer.body as Uint8Array).toString()).not.toContain('west');
    const max = 2 ** 31 - 1;
    expect(JSON.stringify(await said())).toBe(
      JSON.stringify({
        east: {
          present: true,
          observedGeneration: 0,
          share: { replicas: 0 },
          status: JSON.parse(
            `{"replicas":${max},"ready":0,"__proto__":{"x":${max}},"conditions":[{"n":${max}}]}`,
          ),
          error: { reason: 'R', message: 'a [2Jb' },
        },
      }),
    );
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  test('too large is 413, too deep 422, no object 400', async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`) as object;
    const large = { list: Array.from({ length: 30 }, () => 'x'.repeat(4000)) };
    expect(await code(slice(name, { present: true, status: large }))).toBe(413);
    expect(await code(slice(name, { present: true, status: deep }))).toBe(422);
    expect(await code(slice(name, 'x'))).toBe(400);
    expect(await code(slice(name, {}))).toBe(400);
    expect(await said()).toEqual({});
  });

  test('the same again is no write; spec and other slices never change', async () => {
    await slice(name, { present: true, status: { replicas: 1 } });
    await slice(name, { present: true, status: { replicas: 5 } }, upstream.client('west'));
    const { revision } = upstream.store;
    await slice(name, { status: { replicas: 1 }, present: true });
    expect(upstream.store.revision).toBe(revision);
    const before = await stored();
    await slice(name, { present: true });
    expect(await stored()).toEqual(before);
    expect(await said()).toEqual({
      east: { present: true },
      west: { present: true, status: { replicas: 5 } },
    });
  });

  test('written by all at once, none is lost', async () => {
    await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        slice(name, { present: true, status: { i } }, upstream.client(i % 2 ? 'east' : 'west')),
      ),
    );
    expect(Object.keys(await said()).sort()).toEqual(['east', 'west']);
  });

  test('present:false stays with the share; without one it goes', async () => {
    await slice(name, { present: false });
    expect(await said()).toEqual({ east: { present: false } });
    await upstream.shares(ref, { west: active });
    await slice(name, { present: false });
    expect(await said()).toEqual({});
    expect(await code(slice(name, { present: true }))).toBe(404);
    expect(await code(slice('nothing.pods', { present: true }))).toBe(404);
  });
});

describe('a placed Pod', () => {
  const set = { ...deployment('web')[1], resource: 'replicasets', kind: 'ReplicaSet' };
  const bare = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', name: 'bare', uid: 'uid-of-bare' };
  const adopted = (owner: object) => slice('bare.pods', { present: true, owner });
  const owners = async () =>
    (await upstream.read(keys.pod(logical, namespace, 'bare')))?.metadata.ownerReferences;
  const uid = set.uid;
  beforeEach(async () => {
    await upstream.place(object('v1', 'Pod', 'bare'), bare, { east: active });
    await upstream.place(object('apps/v1', 'ReplicaSet', 'web'), set, { east: active });
    await upstream.place(...deployment('api'), { east: active });
    await upstream.place(
      object('apps/v1', 'ReplicaSet', 'far'),
      { ...set, name: 'far', uid: 'uid-of-far' },
      {
        west: active,
      },
    );
  });

  test('is bound to the node of the cluster that its status is of, while it moves', async () => {
    const [joining, leaving]: [Share, Share] = [{ phase: 'Joining' }, { phase: 'Leaving' }];
    const says = (of: string, nodeName: string, more: object = { status: { phase: 'Running' } }) =>
      slice('bare.pods', { present: true, nodeName, ...more }, upstream.client(of));
    const node = async () =>
      textAt(await upstream.read(keys.pod(logical, namespace, 'bare')), 'spec', 'nodeName');
    await says('east', 'e1');
    expect(await node()).toBe('e1');
    await upstream.shares(bare, { east: active, west: joining });
    await says('west', 'w1');
    expect(await node(), 'it comes').toBe('e1');
    await upstream.shares(bare, { east: leaving, west: active });
    await says('east', 'e1');
    expect(await node(), 'it leaves').toBe('w1');
    await upstream.shares(bare, { east: joining, west: active });
    await says('west', 'w1', {});
    await says('east', 'e2');
    expect(await node(), 'nothing is heard of its status').toBe('e2');
    await says('west', 'w2');
    await slice('bare.pods', { present: false });
    expect(await node()).toBe('w2');
  });

  test('is bound to the node of whoever is left, though nothing more is said', async () => {
    const says = (of: string, nodeName: string) =>
      slice('bare.pods', { present: true, nodeName, status: { phase: 'Running' } }, upstream.client(of));
    const node = async () =>
      textAt(await upstream.read(keys.pod(logical, namespace, 'bare')), 'spec', 'nodeName');
    await says('east', 'e1');
    await upstream.shares(bare, { east: active, west: { phase: 'Joining' } });
    await says('west', 'w1');
    await upstream.shares(bare, { west: active });
    const sliceKey = `${placementKey(bare).replace('/placements/', '/placementslices/')}~east`;
    const resourceVersion = String((await upstream.store.get(sliceKey))?.revision);
    const splitter = new Client(upstream.transport(ownUser(splitterUser)), { prefix: '/syncers/east' });
    await splitter.delete(
      shares,
      { cluster: logical, namespace, name: 'bare.pods', subresource: 'status' },
      { preconditions: { resourceVersion } },
    );
    expect(await node()).toBe('w1');
  });

  test('is bound by what is said when it is written, not before', async () => {
    await upstream.shares(bare, { east: active, west: { phase: 'Joining' } });
    const says = (of: string, nodeName: string) =>
      slice('bare.pods', { present: true, nodeName, status: { phase: 'Running' } }, upstream.client(of));
    const node = async () =>
      textAt(await upstream.read(keys.pod(logical, namespace, 'bare')), 'spec', 'nodeName');
    await says('west', 'w1');
    // As east is heard, and before its Pod is read for it, west is counted on and says so.
    let isHeard = false;
    const { get } = upstream.store;
    upstream.store.get = async (key, options) => {
      if (!isHeard && key === keys.pod(logical, namespace, 'bare')) {
        isHeard = true;
        await upstream.shares(bare, { east: { phase: 'Leaving' }, west: active });
        await says('west', 'w2');
      }
      return await get.call(upstream.store, key, options);
    };
    await says('east', 'e1');
    expect([isHeard, await node()]).toEqual([true, 'w2']);
  });

  test.each([
    ['kind', { kind: 'Job', apiVersion: 'batch/v1', name: 'web', uid }],
    ['name', { kind: 'ReplicaSet', apiVersion: 'apps/v1', name: 'nothing', uid }],
  ])('has the owner that its cluster has, whatever that says of its %s', async (_, owner) => {
    await adopted(owner);
    const controls = { controller: true, blockOwnerDeletion: true };
    expect(await owners()).toEqual([
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid, ...controls },
    ]);
  });

  test.each([
    ['that makes no Pods', 'uid-of-api'],
    ['that is itself', 'uid-of-bare'],
    ['of another cluster', 'uid-of-far'],
    ['of nobody', 'uid-of-nobody'],
  ])('gets no owner %s', async (_, other) => {
    await adopted({ uid: other });
    expect(await owners()).toBeUndefined();
  });
});

describe('pods', () => {
  const pod = (name: string, more: object = {}): KubeObject => ({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, namespace, ...more },
    spec: { nodeName: 'n' },
    status: { phase: 'Running', restarts: -3 },
  });
  const put = (name: string, more?: object, of = client) =>
    of.update(pods, pod(name, more), { cluster: logical });
  const key = keys.pod(logical, namespace, 'web-1');
  beforeEach(() => upstream.place(...deployment('web'), { east: active, west: active }));

  test('are reflected with our mark, true owners only, and listed', async () => {
    const owner = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name: 'web',
      uid: 'uid-of-web',
      controller: true,
    };
    await put('web-1', {
      ownerReferences: [owner, { ...owner, uid: 'stolen' }],
      finalizers: ['x/y'],
      annotations: { 'atoll.dev/physical-cluster': 'west' },
    });
    const stored = await upstream.read(key);
    expect(stored?.metadata).toMatchObject({
      annotations: { 'atoll.dev/physical-cluster': 'east' },
      ownerReferences: [owner],
    });
    expect(stored?.metadata.finalizers).toBeUndefined();
    expect(stored?.status).toEqual({ phase: 'Running', restarts: 0 });
    const { revision } = upstream.store;
    await put('web-1', { ownerReferences: [owner] });
    expect(upstream.store.revision).toBe(revision);
    expect(
      (await client.list(pods)).items.map((item) => item.metadata.annotations?.['kcp.io/cluster']),
    ).toEqual([logical]);
    expect((await upstream.client('west').list(pods)).items).toEqual([]);
  });

  test("another cluster's and a user's pod are left alone", async () => {
    await put('web-1', {}, upstream.client('west'));
    expect(await code(put('web-1'))).toBe(409);
    expect(await code(client.delete(pods, { cluster: logical, namespace, name: 'web-1' }))).toBe(404);
    await upstream.write(keys.pod(logical, namespace, 'mine'), pod('mine'));
    expect(await code(put('mine'))).toBe(409);
    expect(await code(client.delete(pods, { cluster: logical, namespace, name: 'mine' }))).toBe(404);
    expect(
      await code(upstream.client('west').delete(pods, { cluster: logical, namespace, name: 'web-1' })),
    ).toBe(200);
    expect(await upstream.read(key)).toBeUndefined();
  });

  test('have the owners that were noted on them there, where nothing else is known of them here', async () => {
    await upstream.place(...deployment('api'), { east: active });
    await upstream.place(...deployment('far'), { west: active });
    const of = (name: string, more: object) => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name,
      uid: `uid-of-${name}`,
      ...more,
    });
    const controller = of('web', { controller: true, blockOwnerDeletion: true });
    const noted = { controller: false, blockOwnerDeletion: true };
    const owners = async () => (await upstream.read(key))?.metadata.ownerReferences;
    const told = [controller, of('api', noted), of('far', noted), of('nothing', noted)];
    await put('web-1', { ownerReferences: told });
    const given = of('api', { blockOwnerDeletion: true });
    expect(await owners()).toEqual([controller, given]);
    // Its controller has gone there, and it has stayed.
    await put('web-1', { ownerReferences: told.slice(1) });
    expect(await owners()).toEqual([given]);
    // It was taken away here: a late word says nothing new.
    const stored = (await upstream.read(key))!;
    const { ownerReferences: _, ...metadata } = stored.metadata;
    await upstream.write(key, { ...stored, metadata });
    await put('web-1', { ownerReferences: told });
    expect(await owners()).toEqual([controller]);
  });

  test('of what was orphaned belong to nobody, or to the ReplicaSet that it left behind there', async () => {
    const [, ref] = deployment('web');
    const placement = await upstream.read<Placement>(placementKey(ref));
    const spec = { ...placement!.spec!, orphaned: ref.uid };
    await upstream.write(placementKey(ref), { ...placement!, spec });
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: ref.uid, controller: true };
    const sets = { group: 'apps', version: 'v1', resource: 'replicasets' };
    const metadata = { name: 'web-5d', namespace, ownerReferences: [owner] };
    await client.update(
      sets,
      { kind: 'ReplicaSet', apiVersion: 'apps/v1', metadata, spec: { replicas: 1 } },
      { cluster: logical },
    );
    const set = await upstream.read(keys.object({ ...sets, name: 'web-5d' }, logical, namespace));
    expect(set?.metadata.ownerReferences).toBeUndefined();
    const under = { ...owner, kind: 'ReplicaSet', name: 'web-5d', uid: '' };
    await put('web-1', { ownerReferences: [owner] });
    await put('web-2', { ownerReferences: [under] });
    await put('web-3', { ownerReferences: [under] }, upstream.client('west'));
    const owners = async (name: string) =>
      (await upstream.read(keys.pod(logical, namespace, name)))?.metadata.ownerReferences;
    expect(await owners('web-1')).toBeUndefined();
    expect(await owners('web-2')).toMatchObject([{ kind: 'ReplicaSet', uid: set?.metadata.uid }]);
    expect(await owners('web-3')).toBeUndefined();
  });

  test('keep finalizers and owners that somebody gives them here, and stay for the former when they have gone there', async () => {
    const controller = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name: 'web',
      uid: 'uid-of-web',
      controller: true,
    };
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'mine', uid: 'uid-of-mine' };
    const place = { cluster: logical, namespace, name: 'web-1' };
    const give = async (given: object) => {
      const stored = (await upstream.read(key))!;
      await upstream.write(key, { ...stored, metadata: { ...stored.metadata, ...given } });
    };
    const shown = async () => (await upstream.read(key))?.metadata;
    await put('web-1', { ownerReferences: [controller] });
    await give({
      finalizers: ['example.com/mine', 'foregroundDeletion'],
      ownerReferences: [controller, owner],
    });
    await put('web-1', { ownerReferences: [controller], labels: { a: 'b' } });
    expect(await shown()).toMatchObject({
      labels: { a: 'b' },
      finalizers: ['example.com/mine'],
      ownerReferences: [controller, owner],
    });
    const { uid } = (await shown())!;
    await client.delete(pods, place);
    expect(await shown()).toMatchObject({
      uid,
      deletionTimestamp: expect.any(String),
      deletionGracePeriodSeconds: 0,
      finalizers: ['example.com/mine'],
    });
    expect((await client.list(pods)).items).toEqual([]);
    expect(await code(put('web-1'))).toBe(409);
    expect(await code(client.delete(pods, place))).toBe(404);
  });

  test('only where the cluster has a share, and the namespace lives', async () => {
    await upstream.shares(deployment('web')[1], { west: active });
    expect(await code(put('web-1'))).toBe(403);
    await upstream.write(keys.namespace(logical, namespace), {
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: { name: namespace, deletionTimestamp: '2026-01-01T00:00:00Z' },
    });
    expect(await code(put('web-1', {}, upstream.client('west')))).toBe(403);
    await upstream.remove(keys.namespace(logical, namespace));
    expect(await code(put('web-1', {}, upstream.client('west')))).toBe(404);
  });
});

test('Endpoints of one Service on two clusters are one, with the subsets of both', async () => {
  const endpoints = { group: '', version: 'v1', resource: 'endpoints' };
  const service = { ...configMap('web')[1], resource: 'services', kind: 'Service' };
  await upstream.place({ kind: 'Service', apiVersion: 'v1', metadata: { name: 'web', namespace } }, service, {
    east: active,
    west: active,
  });
  const put = (cluster: string, name: string, ip: string) =>
    upstream.client(cluster).update(
      endpoints,
      {
        kind: 'Endpoints',
        apiVersion: 'v1',
        metadata: { name, namespace },
        subsets: [{ addresses: [{ ip }] }],
      },
      { cluster: logical },
    );
  const subsets = async () =>
    (await upstream.read(keys.object({ ...endpoints, name: 'web' }, logical, namespace)))?.['subsets'];
  const [a, b] = ['192.0.2.1', '192.0.2.2'].map((ip) => ({ addresses: [{ ip }] }));
  await put('east', 'web', '192.0.2.1');
  expect(await subsets()).toEqual([a]);
  await put('west', 'web', '192.0.2.2');
  expect(await subsets()).toEqual([a, b]);
  await client.delete(endpoints, { cluster: logical, namespace, name: 'web' });
  expect(await subsets()).toEqual([b]);
  expect(await code(put('east', 'other', '192.0.2.1'))).toBe(404);
});

describe('revisions', () => {
  const sets = { group: 'apps', version: 'v1', resource: 'replicasets' };
  const key = (name: string) => keys.object({ ...sets, name }, logical, namespace);
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'uid-of-web' };
  const put = (cluster: string, name: string, revision: number, replicas: number) =>
    upstream.client(cluster).update(
      sets,
      {
        kind: 'ReplicaSet',
        apiVersion: 'apps/v1',
        metadata: {
          name,
          namespace,
          ownerReferences: [owner],
          annotations: { 'deployment.kubernetes.io/revision': String(revision) },
        },
        spec: { replicas, template: { spec: { containers: [{ image: name }] } } },
        status: { replicas, readyReplicas: replicas },
      },
      { cluster: logical },
    );
  const numbers = async (...names: string[]) => {
    const found = await Promise.all(names.map((name) => upstream.read(key(name))));
    return found.map((set) => set?.metadata.annotations?.['deployment.kubernetes.io/revision']);
  };
  const rootNumber = async () => {
    const root = await upstream.read(keys.object(deployment('web')[1], logical, namespace));
    return root?.metadata.annotations?.['deployment.kubernetes.io/revision'];
  };
  beforeEach(() => upstream.place(...deployment('web'), { east: active, west: active }));

  test('of one name on two clusters are one, with the sum of both, and numbered once', async () => {
    await put('east', 'web-a', 1, 3);
    await put('east', 'web-a', 1, 0);
    await put('east', 'web-b', 2, 3);
    await put('west', 'web-b', 1, 2);
    expect(await upstream.read(key('web-b'))).toMatchObject({
      metadata: {
        annotations: { 'atoll.dev/physical-cluster': 'east,west' },
        ownerReferences: [{ ...owner, controller: true }],
      },
      spec: { replicas: 5 },
      status: { replicas: 5, readyReplicas: 5 },
    });
    expect(await numbers('web-a', 'web-b')).toEqual(['1', '2']);
    expect(await rootNumber()).toBe('2');
    await upstream.client('east').delete(sets, { cluster: logical, namespace, name: 'web-b' });
    expect(await upstream.read(key('web-b'))).toMatchObject({
      spec: { replicas: 2 },
      status: { replicas: 2 },
    });
    expect(await numbers('web-a', 'web-b')).toEqual(['1', '2']);
  });

  const sent = (name: string, template: object, told: object = {}) =>
    client.update(
      sets,
      {
        kind: 'ReplicaSet',
        apiVersion: 'apps/v1',
        metadata: {
          name,
          namespace,
          labels: { 'pod-template-hash': 'h' },
          ownerReferences: [owner],
          ...told,
        },
        spec: { replicas: 1, template },
      },
      { cluster: logical },
    );
  const templateOf = async (name: string) =>
    ((await upstream.read(key(name)))?.spec as { template?: unknown } | undefined)?.template;
  const template = (image: string, more: object = {}) => ({
    metadata: { labels: { app: 'web' } },
    spec: { containers: [{ name: 'c', image, ...more }] },
  });

  test('show the template that the Deployment had itself, whatever the cluster says', async () => {
    const own = { ...template('shop:1'), metadata: { labels: { app: 'web', 'pod-template-hash': 'h' } } };
    await sent('web-a', {
      metadata: { labels: { app: 'web', 'pod-template-hash': 'h' }, creationTimestamp: null },
      spec: { ...template('shop:1', { newDefault: 'of another version' }).spec, hostPID: true },
    });
    expect(await templateOf('web-a')).toEqual(own);
    await sent('web-x', template('planted:1'));
    expect(await templateOf('web-x')).toBeUndefined();
    // What it was stays when the Deployment has another one, and when the cluster says otherwise later.
    await upstream.write(
      keys.object(deployment('web')[1], logical, namespace),
      deployment('web', 2, 'shop:2')[0],
    );
    await sent('web-a', template('planted:1'));
    expect(await templateOf('web-a')).toEqual(own);
    await sent('web-b', template('shop:2'));
    expect(await templateOf('web-b')).toMatchObject(template('shop:2'));
    await sent('web-c', template('shop:1'));
    expect(await templateOf('web-c')).toMatchObject(template('shop:1'));
  });

  test('show a template that the Deployment had before the cluster told of it', async () => {
    await client.list(shares);
    const rootKey = keys.object(deployment('web')[1], logical, namespace);
    await upstream.write(rootKey, deployment('web', 2, 'shop:2')[0]);
    await upstream.write(rootKey, deployment('web', 3, 'shop:3')[0]);
    await sent('web-a', template('shop:1'));
    await sent('web-b', template('shop:2'));
    await sent('web-x', template('planted:1'));
    expect(await templateOf('web-a')).toMatchObject(template('shop:1'));
    expect(await templateOf('web-b')).toMatchObject(template('shop:2'));
    expect(await templateOf('web-x')).toBeUndefined();
  });

  test('and ControllerRevisions likewise', async () => {
    const revisions = { group: 'apps', version: 'v1', resource: 'controllerrevisions' };
    const put = async (name: string, image: string) => {
      await client.update(
        revisions,
        {
          kind: 'ControllerRevision',
          apiVersion: 'apps/v1',
          metadata: { name, namespace, ownerReferences: [owner] },
          data: { spec: { template: { ...template(image), $patch: 'replace' } }, planted: true },
          revision: 1,
        },
        { cluster: logical },
      );
      return (await upstream.read(keys.object({ ...revisions, name }, logical, namespace)))?.['data'];
    };
    expect(await put('web-a', 'shop:1')).toEqual({
      spec: { template: { ...template('shop:1'), $patch: 'replace' } },
    });
    expect(await put('web-x', 'planted:1')).toBeUndefined();
  });

  test.each(['1e400', '-5', '99999999999999999999', 'x'])(
    'numbered %s by a cluster are numbered sanely',
    async (n) => {
      await sent('web-a', template('shop:1'), {
        annotations: {
          'deployment.kubernetes.io/revision': n,
          'deployment.kubernetes.io/desired-replicas': n,
        },
      });
      await sent('web-b', template('shop:1'), { annotations: { 'deployment.kubernetes.io/revision': '3' } });
      const [first, second] = (await numbers('web-a', 'web-b')).map(Number);
      expect(Number.isSafeInteger(first) && Number.isSafeInteger(second) && first! >= 0).toBe(true);
      expect(first).not.toBe(second);
      const { annotations = {} } = (await upstream.read(key('web-a')))!.metadata;
      expect(annotations['deployment.kubernetes.io/desired-replicas']).toMatch(/^\d{1,10}$/);
    },
  );

  test('going back makes an old one the newest, whichever cluster says so first', async () => {
    await put('east', 'web-a', 1, 0);
    await put('east', 'web-b', 2, 3);
    await put('west', 'web-b', 1, 2);
    await put('west', 'web-a', 2, 2);
    await put('east', 'web-a', 3, 3);
    expect(await numbers('web-a', 'web-b')).toEqual(['3', '2']);
    expect(await rootNumber()).toBe('3');
  });

  test('stay with a workload that moves, and go with what its controller drops', async () => {
    await put('east', 'web-a', 1, 0);
    await put('east', 'web-b', 2, 3);
    await put('west', 'web-b', 1, 3);
    const drop = (name: string) => client.delete(sets, { cluster: logical, namespace, name });
    await upstream.shares(deployment('web')[1], { east: { phase: 'Leaving' }, west: active });
    await drop('web-b');
    await drop('web-a');
    const kept = await upstream.read(key('web-a'));
    expect(kept).toMatchObject({ spec: { replicas: 0 }, status: { replicas: 0 } });
    expect(kept?.metadata.annotations).not.toHaveProperty(['atoll.dev/physical-cluster']);
    expect(kept?.metadata.ownerReferences).toMatchObject([{ ...owner, controller: true }]);
    expect((await client.list(sets)).items).toEqual([]);
    await put('west', 'web-a', 2, 3);
    expect(await numbers('web-a', 'web-b')).toEqual(['3', '2']);
    await upstream.client('west').delete(sets, { cluster: logical, namespace, name: 'web-b' });
    expect(await upstream.read(key('web-b'))).toBeUndefined();
  });

  test('that a user made are left alone', async () => {
    await upstream.write(key('mine'), {
      kind: 'ReplicaSet',
      apiVersion: 'apps/v1',
      metadata: { name: 'mine', namespace },
    });
    expect(await code(put('east', 'mine', 1, 1))).toBe(409);
  });
});

describe('itself', () => {
  test('status only, and only the fields of a heartbeat', async () => {
    const condition = {
      type: 'Ready',
      status: 'True',
      reason: 'r',
      message: 'm',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    await client.patch(clusters, { name: 'east', subresource: 'status' }, 'merge', {
      spec: { unschedulable: true },
      metadata: { labels: { evil: 'x' } },
      status: {
        conditions: [condition, 'x', { type: 'Bad', status: 'Maybe' }],
        version: 'v1.36.3',
        allocatable: { cpu: '4', x: 5 },
        nodeLabels: ['!x.org/y', '!<e>', '!', 'a=b', 'a=b', 'c=', 'd=*', 'no value', '<e>=f', 7, '*'],
        evil: 1,
        lastHeartbeatTime: 'never',
        silentAfterSeconds: 90.5,
      },
    });
    await client.patch(clusters, { name: 'east', subresource: 'status' }, 'merge', {
      status: { silentAfterSeconds: 86_400 },
    });
    expect(await upstream.read<PhysicalCluster>(keys.physicalCluster('east'))).toEqual({
      kind: 'PhysicalCluster',
      apiVersion: 'atoll.dev/v1alpha1',
      metadata: { name: 'east', uid: 'uid-east' },
      status: {
        conditions: [condition],
        version: 'v1.36.3',
        allocatable: { cpu: '4' },
        nodeLabels: ['!x.org/y', 'a=b', 'c=', 'd=*', '*'],
        silentAfterSeconds: 90,
      },
    });
    expect((await client.list(clusters)).items.map((item) => item.metadata.name)).toEqual(['east']);
  });
});

describe('who and where', () => {
  const raw = (user: UserInfo, path: string, method = 'GET') =>
    new Client(upstream.transport(user)).raw({ method, path }).then(({ status }) => status);
  const own = '/syncers/east/apis/atoll.dev/v1alpha1';

  test.each<[string, UserInfo, number]>([
    ['the syncer', syncerUser('east'), 200],
    ['an administrator', masters, 200],
    ["another cluster's syncer", syncerUser('west'), 403],
    [
      'the name without the group',
      { name: 'system:atoll:syncer:east', groups: ['system:authenticated'] },
      403,
    ],
    ['the group without the name', { name: 'eve', groups: [syncersGroup] }, 403],
    ['nobody', { name: 'system:anonymous', groups: ['system:unauthenticated'] }, 403],
  ])('%s', async (_, user, status) => {
    for (const path of [`${own}/shares`, `${own}/physicalclusters/east`, '/syncers/east/api/v1/pods'])
      expect(await raw(user, path)).toBe(status);
  });

  test.each([
    ['GET', '/syncers/east/api/v1/secrets', 404],
    ['GET', '/syncers/east/api/v1/namespaces/atoll-system/secrets/east', 404],
    ['GET', `${own}/physicalclusters/west`, 404],
    ['GET', `${own}/placements`, 404],
    ['GET', `/syncers/east/clusters/${logical}/api/v1/namespaces/..%2F..%2Fx/pods/y`, 404],
    ['PUT', `/syncers/east/clusters/*/api/v1/namespaces/x/pods/y`, 404],
    ['PUT', `/syncers/east/clusters/root:/api/v1/namespaces/x/pods/y`, 404],
    ['POST', `${own}/shares`, 405],
    ['DELETE', `${own}/physicalclusters/east`, 405],
    ['GET', `/syncers/east/clusters/${logical}/api/v1/namespaces/x/pods/y`, 405],
    ['GET', '/syncers/east/api/v1/pods?watch=true', 405],
    ['GET', `${own}/shares?watch=true&resourceVersion=x`, 400],
    ['GET', `${own}/shares?watch=true&resourceVersion=999999`, 504],
  ])('%s %s is %i', async (method, path, status) => {
    expect(await raw(syncerUser('east'), path, method)).toBe(status);
  });

  test('a cluster that is not registered has no view', async () => {
    expect(await raw(masters, '/syncers/north/api/v1/pods')).toBe(404);
  });
});

function stateOf(items: ShareView[]): Map<string, string> {
  return new Map(items.map((item) => [item.metadata.name!, JSON.stringify(item.spec)]));
}

function mulberry(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
