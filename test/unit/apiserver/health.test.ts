import { expect, test } from 'vitest';
import { createApiServer } from '../../../apiserver/server.ts';
import { openMemory } from '../../../storage/memory/memory.ts';

const admin = { name: 'admin', groups: ['system:masters'] };

test.each<[string | undefined, string]>([
  [undefined, '[+]store ok\n'],
  ['no room', '[+]store ok, creates and updates are refused: no room\n'],
])(
  'a store that refuses writes (%s) is ready, and readyz says so to who asks for more',
  async (refusing, line) => {
    const store = Object.assign(openMemory(), { refusing });
    const server = createApiServer({ store, logicalClusters: true, authenticate: [] });
    const ask = async (url: string) => {
      const { status, body } = await server.transport(admin)({ method: 'GET', url, headers: {} });
      const parts: Uint8Array[] = [];
      if (body instanceof Uint8Array) parts.push(body);
      else for await (const part of body ?? []) parts.push(part);
      return { status, text: Buffer.concat(parts).toString() };
    };
    expect(await ask('/readyz')).toEqual({ status: 200, text: 'ok' });
    const { status, text } = await ask('/readyz?verbose');
    expect(status).toBe(200);
    expect(text).toContain(line);
    await server.close();
    await store.close();
  },
);

test('a store that does not answer is told of within two seconds, however long it tries', async () => {
  const store = openMemory();
  const get = store.get.bind(store);
  store.get = (key, options) => (key === '/ready' ? new Promise(() => {}) : get(key, options));
  const server = createApiServer({ store, logicalClusters: true, authenticate: [] });
  const { status } = await server.transport(admin)({ method: 'GET', url: '/livez/store', headers: {} });
  expect(status).toBe(500);
  await server.close();
  await store.close();
});

test('whoever excludes what is no check is told so, as by kube-apiserver', async () => {
  const store = openMemory();
  const server = createApiServer({ store, logicalClusters: true, authenticate: [] });
  const ask = async (url: string) => {
    const { body } = await server.transport(admin)({ method: 'GET', url, headers: {} });
    return Buffer.from(body as Uint8Array).toString();
  };
  expect(await ask('/livez?verbose&exclude=yy&exclude=xx&exclude=ping&exclude=yy')).toBe(
    '[+]ping excluded: ok\n[+]store ok\nwarn: some health checks cannot be excluded: no matches for "xx","yy"\nlivez check passed\n',
  );
  expect(await ask('/livez?exclude=xx')).toBe('ok');
  await server.close();
  await store.close();
});
