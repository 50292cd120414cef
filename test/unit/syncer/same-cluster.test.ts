import { expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import { isMissing, isTransportError, TransportError } from '../../../client/errors.ts';
import type { ApiResponse, Transport } from '../../../kube/http.ts';
import { SameCluster } from '../../../syncer/same-cluster.ts';

const { signal } = new AbortController();
const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
const answer = (status: number, body: object): ApiResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(body)),
});
const missing = (name: string) =>
  answer(404, { kind: 'Status', status: 'Failure', code: 404, reason: 'NotFound', details: { name } });

/** Who answers, what is known of who is to, and what was asked for. */
function setUp() {
  const state = {
    uid: 'a',
    known: answer(200, { metadata: { name: 'west' }, status: { clusterUID: 'a', namespaces: 1 } }),
    asked: [] as string[],
    fails: false,
    revision: '100',
  };
  const physical: Transport = async ({ url }) => {
    if (state.fails) throw new TransportError('ECONNRESET', 'it is gone');
    if (url.includes('/namespaces/kube-system')) {
      state.asked.push('who');
      return answer(200, { metadata: { name: 'kube-system', uid: state.uid } });
    }
    state.asked.push('what');
    if (url.includes('limit=1'))
      return answer(200, { metadata: { resourceVersion: state.revision }, items: [] });
    if (!url.includes('watch=true')) return missing('west');
    return { ...answer(200, {}), events: (async function* () {})() };
  };
  const same = new SameCluster({
    name: 'west',
    upstream: new Client(async () => state.known),
    physical,
    signal,
  });
  const client = new Client(same.transport);
  const get = () => client.get(configMaps, { namespace: 'n', name: 'west' }).catch((error: unknown) => error);
  return { state, client, get, physical };
}

test('who answers is asked once, before anything else', async () => {
  const { state, get } = setUp();
  const found = await Promise.all([get(), get()]);
  expect(found.every((error) => isMissing(error, 'west'))).toBe(true);
  expect(state.asked).toEqual(['who', 'what', 'what']);
});

test('another cluster is asked for nothing, each time anew', async () => {
  const { state, get } = setUp();
  state.uid = 'b';
  for (const error of [await get(), await get()]) expect(error).toMatchObject({ code: 'EOTHER' });
  expect(state.asked).toEqual(['who', 'who']);
  state.uid = 'a';
  expect(isMissing(await get(), 'west')).toBe(true);
});

test.each(['a request fails', 'a watch ends'])('it is asked again when %s', async (when) => {
  const { state, client, get } = setUp();
  await get();
  if (when === 'a watch ends') for await (const _ of client.watchSome(configMaps, { signal })) break;
  else {
    state.fails = true;
    expect(isTransportError(await get())).toBe(true);
    state.fails = false;
  }
  state.uid = 'b';
  expect(await get()).toMatchObject({ code: 'EOTHER' });
});

test('a watch of what was restored to an earlier state is not begun, and whoever reads it is told', async () => {
  const { state, physical } = setUp();
  let told = 0;
  const upstream = new Client(async () => state.known);
  const same = new SameCluster({ name: 'west', upstream, physical, signal, wentBack: () => void told++ });
  const client = new Client(same.transport);
  const watch = async () => {
    for await (const _ of client.watchSome(configMaps, { resourceVersion: '100', signal })) break;
  };
  await watch();
  state.revision = '80';
  state.asked = [];
  await expect(watch()).rejects.toMatchObject({ code: 'EEARLIER' });
  expect(told).toBe(1);
  expect(state.asked).toEqual(['who', 'what']);
});

test('that our own server has no such PhysicalCluster does not say that an object of its name is gone', async () => {
  const { state, get } = setUp();
  state.known = missing('west');
  expect(isTransportError(await get())).toBe(true);
});

test('who asks waits no longer than it would, however late it is known who answers', async () => {
  const physical: Transport = () => new Promise(() => {});
  const known = answer(200, { metadata: { name: 'west' }, status: { clusterUID: 'a', namespaces: 1 } });
  const same = new SameCluster({ name: 'west', upstream: new Client(async () => known), physical, signal });
  const asks = new AbortController();
  const asked = same.transport({ method: 'GET', url: '/api', headers: {}, signal: asks.signal });
  asks.abort(new Error('too late'));
  await expect(asked).rejects.toThrow('too late');
});
