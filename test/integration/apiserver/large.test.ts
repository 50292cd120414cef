import { setMaxListeners } from 'node:events';
import https from 'node:https';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Observer } from '../../../apiserver/observer.ts';
import type { Authenticator } from '../../../apiserver/plugins.ts';
import { createAuthority } from '../../../apiserver/tls/ca.ts';
import { type Api, configMap, configMaps, startApi } from './api.ts';

const ann: Authenticator = () => ({ name: 'ann', groups: ['system:authenticated'] });

const data = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`k${i}`, 'v'.repeat(40)]));
const large = { ...configMap('large'), data };
const labelled = { metadata: { labels: { a: 'b' } } };

let api: Api;
let url: string;
let agent: https.Agent;
/** Writes that are worked at. */
let writes = 0;

beforeAll(async () => {
  const authority = await createAuthority('test');
  const { privateKey: key, certificate: cert } = await authority.issueServer(['127.0.0.1']);
  const seen = () => undefined;
  const observer: Observer = {
    answered: seen,
    lasts: () => seen,
    terminated: seen,
    atWork: (side, count) => {
      if (side === 'write') writes = count;
    },
    watching: () => ({ count: 0 }),
    cut: seen,
  };
  api = startApi({ authenticate: [ann], authorize: () => ({ allowed: true }), seats: 100, observer });
  ({ url } = await api.server.listen({
    host: '127.0.0.1',
    port: 0,
    tls: { key, cert, ca: authority.certificate },
  }));
  agent = new https.Agent({ keepAlive: true, ca: authority.certificate });
  for (const object of [large, configMap('small')]) await api.call('POST', configMaps, object);
});

afterAll(async () => {
  agent.destroy();
  await api.close();
});

type Asked = readonly [method: string, path: string, body?: unknown, headers?: Record<string, string>];

function ask([method, path, body, headers = {}]: Asked, signal?: AbortSignal): Promise<number> {
  const given = body === undefined ? '' : JSON.stringify(body);
  const about = {
    'content-length': Buffer.byteLength(given),
    'content-type': 'application/json',
    ...headers,
  };
  return new Promise((resolve, reject) => {
    https
      .request(url + path, { method, agent, headers: about, signal }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      })
      .on('error', reject)
      .end(given);
  });
}

const one = `${configMaps}/large`;
const merge = { 'content-type': 'application/merge-patch+json' };
const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
const apply = { 'content-type': 'application/apply-patch+yaml' };
const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
const applied = { apiVersion: 'v1', kind: 'ConfigMap', ...labelled };

test.each<[string, Asked]>([
  ['are made', ['POST', `${configMaps}?dryRun=All`, { ...large, metadata: { generateName: 'a-' } }]],
  ['are written', ['PUT', `${one}?dryRun=All`, large]],
  ['are merged into', ['PATCH', `${one}?dryRun=All`, { data }, strategic]],
  ['are changed by little', ['PATCH', `${one}?dryRun=All`, labelled, merge]],
  ['are applied to', ['PATCH', `${one}?dryRun=All&fieldManager=a&force=true`, applied, apply]],
  ['are shown as a Table', ['GET', one, undefined, table]],
  ['are deleted', ['DELETE', `${one}?dryRun=All`]],
])('while large objects %s, others are served in between', async (_, asked) => {
  const order: string[] = [];
  const flood = Array.from({ length: 16 }, async () => {
    const status = await ask(asked);
    order.push(`large ${status < 300 ? 'done' : status}`);
  });
  // It is asked when the flood has begun to be worked at, and behind it.
  await Promise.race(flood);
  await ask(['GET', `${configMaps}/small`]).then((status) => order.push(`small ${status}`));
  await Promise.all(flood);
  expect(order.filter((what) => what === 'large done')).toHaveLength(16);
  expect(order.indexOf('small 200')).toBeGreaterThan(-1);
  expect(order.indexOf('small 200')).toBeLessThan(6);
});

test('who waited for its turn changes what is there by then', async () => {
  const { body } = await api.call('POST', configMaps, { ...large, metadata: { generateName: 'hot-' } });
  const hot = `${configMaps}/${body.metadata.name}`;
  const names = Array.from({ length: 12 }, (_, i) => `a${i}`);
  const patch = (name: string) => ask(['PATCH', hot, { metadata: { labels: { [name]: 'b' } } }, merge]);
  expect(await Promise.all(names.map(patch))).toEqual(names.map(() => 200));
  const { metadata } = (await api.call('GET', hot)).body;
  expect(Object.keys(metadata.labels).sort()).toEqual(names.toSorted());
});

test('who goes while it waits for its turn leaves its seat', async () => {
  const gone = new AbortController();
  setMaxListeners(0, gone.signal);
  const flood = Array.from({ length: 40 }, () =>
    ask(['PATCH', `${one}?dryRun=All`, { data }, strategic], gone.signal).catch(() => 'gone'),
  );
  await Promise.race(flood);
  gone.abort();
  expect(await Promise.all(flood)).toContain('gone');
  await expect.poll(() => writes, { timeout: 20_000 }).toBe(0);
});
