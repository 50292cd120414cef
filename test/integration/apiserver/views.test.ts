import { afterEach, beforeEach, expect, test } from 'vitest';
import { syncerUser, syncerView } from '../../../apiserver/view/view.ts';
import type { Transport } from '../../../kube/http.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import { type Api, call, startApi, watch } from './api.ts';

const clusterKey = '/atoll.dev/physicalclusters/root/east';
const east = { kind: 'PhysicalCluster', apiVersion: 'atoll.dev/v1alpha1', metadata: { name: 'east' } };
const own = '/syncers/east/apis/atoll.dev/v1alpha1/physicalclusters';
const mebibyte = 1 << 20;

let store: ReturnType<typeof openMemory>;
let api: Api;
let syncer: Transport;
/** Reads of the PhysicalCluster wait until then. */
let held: Promise<void> | undefined;
beforeEach(async () => {
  store = openMemory();
  const get = store.get.bind(store);
  store.get = async (...args) => {
    if (args[0] === clusterKey) await held;
    return get(...args);
  };
  held = undefined;
  const limits = {
    readsInFlight: 2,
    requestSeconds: 0.3,
    streamBufferBytes: mebibyte / 4,
    stallSeconds: 0.2,
  };
  api = startApi({ store, views: [syncerView()], limits });
  syncer = api.server.transport(syncerUser('east'));
  await store.create(clusterKey, bytes({}));
  expect((await call(syncer, 'GET', own)).status).toBe(200);
});
afterEach(() => api.close());

function bytes(status: object): Uint8Array {
  return Buffer.from(JSON.stringify({ ...east, status }));
}

test('requests of a view count, and have a deadline; its watches last', async () => {
  let release = () => {};
  const { revision } = (await store.get(clusterKey))!;
  const events = watch(syncer, `${own}?watch=true&resourceVersion=${revision}`);
  const first = events.next();
  await new Promise(setImmediate);
  held = new Promise((resolve) => {
    release = resolve;
  });
  const reads = [1, 2].map(() => call(syncer, 'GET', `${own}/east`));
  expect(await call(syncer, 'GET', `${own}/east`)).toMatchObject({
    status: 429,
    body: 'Too many requests, please try again later.\n',
  });
  for (const late of await Promise.all(reads)) {
    expect(late.body).toMatchObject({ code: 504, reason: 'Timeout' });
  }
  release();
  held = undefined;
  await store.update(clusterKey, bytes({ version: 'v1' }), revision);
  expect((await first).value).toMatchObject({ type: 'MODIFIED', object: { status: { version: 'v1' } } });
  await events.return(undefined);
});

test('who may not is told so in the words of the rung of authorization', async () => {
  const { body } = await call(api.server.transport(syncerUser('west')), 'GET', `${own}/east`);
  expect(body).toMatchObject({
    code: 403,
    message: `forbidden: User "system:atoll:syncer:west" cannot get path "${own}/east"`,
  });
});

test('a reader of a view that takes nothing is cut by what waits for it, and others are not', async () => {
  const slow = (await syncer({ method: 'GET', url: `${own}?watch=true`, headers: {} })).body;
  let { revision } = (await store.get(clusterKey))!;
  const quick = watch(syncer, `${own}?watch=true&resourceVersion=${revision}`);
  for (let i = 0; i < 8; i += 1) {
    const next = quick.next();
    ({ revision } = await store.update(clusterKey, bytes({ i, fill: 'x'.repeat(mebibyte / 8) }), revision));
    expect((await next).value).toMatchObject({ object: { status: { i } } });
  }
  // The stream is cut by its own clock; reading it would count as taking something.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  let read = 0;
  for await (const chunk of slow as AsyncIterable<Uint8Array>) read += chunk.length;
  expect(read).toBe(0);
  await quick.return(undefined);
});

test('a watch of a view ends after a last bookmark when the server goes', async () => {
  const shares = '/syncers/east/apis/atoll.dev/v1alpha1/shares?watch=true&allowWatchBookmarks=true';
  const { body } = await syncer({ method: 'GET', url: shares, headers: {} });
  await api.server.close();
  const chunks: Uint8Array[] = [];
  for await (const chunk of body as AsyncIterable<Uint8Array>) chunks.push(chunk);
  const { type, object } = JSON.parse(Buffer.concat(chunks).toString());
  const resourceVersion = String(store.revision);
  expect([type, object.kind, object.metadata]).toEqual(['BOOKMARK', 'Share', { resourceVersion }]);
});

test('whoever is somebody in one logical cluster alone is nobody in a view, an administrator too', async () => {
  const scopes = { 'authentication.kcp.io/scopes': ['cluster:abcdefghabcdefgh'] };
  const masters = ['system:masters', 'system:authenticated'];
  const ofOne = api.server.transport({ name: 'tess', groups: masters, extra: scopes });
  expect((await call(ofOne, 'GET', `${own}/east`)).status).toBe(403);
  const ofAll = api.server.transport({ name: 'tess', groups: masters });
  expect((await call(ofAll, 'GET', `${own}/east`)).status).toBe(200);
});
