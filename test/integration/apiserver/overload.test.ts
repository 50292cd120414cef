import { afterEach, describe, expect, test } from 'vitest';
import { openMemory } from '../../../storage/memory/memory.ts';
import { type Api, call, configMap, configMaps, startApi, take, watch } from './api.ts';

let api: Api;
afterEach(() => api.close());

/** Everybody may do everything, but only administrators are always answered. */
const everybody = () => ({ allowed: true });
const person = { name: 'person', groups: ['system:authenticated'] };

/** A store whose reads and writes wait until they are let go. */
function heldStore() {
  const store = openMemory();
  const { get, create } = { get: store.get.bind(store), create: store.create.bind(store) };
  let held: Promise<void> | undefined;
  let release = () => {};
  store.get = async (...args) => {
    if (args[0].includes('held')) await held;
    return get(...args);
  };
  store.create = async (...args) => {
    if (args[0].includes('held')) await held;
    return create(...args);
  };
  const hold = () => {
    held = new Promise((resolve) => {
      release = resolve;
    });
  };
  return { store, hold, release: () => release() };
}

describe('in flight', () => {
  test('beyond the limit: 429 in plain text, but for administrators; watches do not count', async () => {
    const { store, hold, release } = heldStore();
    api = startApi({ store, authorize: everybody, limits: { readsInFlight: 2, writesInFlight: 1 } });
    const transport = api.server.transport(person);
    await call(transport, 'GET', configMaps);
    hold();
    const reads = [1, 2].map(() => call(transport, 'GET', `${configMaps}/held`));
    const write = call(transport, 'POST', configMaps, configMap('held'));
    for (const refused of [
      await call(transport, 'GET', configMaps),
      await call(transport, 'POST', configMaps, configMap('other')),
    ]) {
      expect(refused).toMatchObject({
        status: 429,
        body: 'Too many requests, please try again later.\n',
        headers: { 'retry-after': '1', 'content-type': 'text/plain; charset=utf-8' },
      });
    }
    expect((await api.call('GET', configMaps)).status).toBe(200);
    expect((await call(transport, 'GET', '/readyz')).status).toBe(200);
    const events = watch(transport, `${configMaps}?watch=1`);
    release();
    expect((await take(events, 1))[0]?.object.metadata.name).toBe('held');
    await events.return(undefined);
    expect((await write).status).toBe(201);
    // They may have read before or after the write.
    for (const read of reads) expect([200, 404]).toContain((await read).status);
    expect((await call(transport, 'GET', configMaps)).status).toBe(200);
  });

  test('a request that takes too long: 504; ?timeout asks for less, and not for more', async () => {
    const { store, hold, release } = heldStore();
    api = startApi({ store, limits: { requestSeconds: 0.2 } });
    await api.call('GET', configMaps);
    hold();
    for (const timeout of ['10ms', '1h', '0']) {
      const late = await api.call('GET', `${configMaps}/held?timeout=${timeout}`);
      expect(late.body).toMatchObject({
        code: 504,
        reason: 'Timeout',
        message: 'Timeout: request did not complete within the allotted timeout',
      });
    }
    release();
    const odd = await api.call('GET', `${configMaps}?timeout=soon`);
    expect(odd.body).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message: 'invalid timeout specified in the request URL - time: invalid duration "soon"',
    });
  });
});

describe('the end', () => {
  test('readyz fails first, then watches end after a last bookmark and writes finish', async () => {
    const { store, hold, release } = heldStore();
    api = startApi({ store });
    const transport = api.server.transport({ name: 'admin', groups: ['system:masters'] });
    await api.call('GET', configMaps);
    hold();
    const write = api.call('POST', configMaps, configMap('held'));
    const events = watch(transport, `${configMaps}?watch=1&allowWatchBookmarks=true`);
    const last = take(events, 10);
    await api.call('GET', configMaps);
    api.server.drain();
    expect((await api.call('GET', '/readyz')).status).toBe(500);
    expect((await api.call('GET', '/livez')).status).toBe(200);
    expect((await api.call('GET', configMaps)).status).toBe(200);
    await api.server.close();
    // The end of what was there, and the end.
    expect((await last).map((event) => event.type)).toEqual(['BOOKMARK', 'BOOKMARK']);
    release();
    expect((await write).status).toBe(201);
  });
});
