import { readdir, readFile } from 'node:fs/promises';
import https from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiOptions } from '../../../server/api.ts';
import { loadIdentity } from '../../../server/identity.ts';
import { resolveSettings } from '../../../server/settings.ts';
import { eventually } from '../../eventually.ts';
import { startWorld, type World } from '../../world/world.ts';
import { apiOf, registryOf } from './matrix/routes.ts';

/** Whoever shows no credentials may GET these, and nothing else by any verb. */
const open: Readonly<Record<string, string>> = {
  '/healthz': 'probes have no credentials',
  '/livez': 'probes have no credentials',
  '/readyz': 'probes and load balancers have no credentials',
  '/version': 'clients look at it before they log in',
  '/version/': 'the same',
  '/.well-known/openid-configuration': 'others verify tokens of ours',
  '/openid/v1/jwks': 'others verify tokens of ours',
};
/** The same of one logical cluster, by its id, which nobody guesses. */
const openOfOne = ['/.well-known/openid-configuration', '/openid/v1/jwks'];

/** Of each view: paths of its own. One that is added takes a row. */
const views: readonly (readonly string[])[] = [
  ['/syncers/east/api/v1/nodes', '/syncers/east/apis/atoll.dev/v1alpha1/shares', '/syncers/east/x'],
  ['/backup'],
  ['/client-certificates'],
  ['/service-account-keys'],
  ['/plan'],
  ['/debug/pprof/profile', '/debug/pprof/heap'],
];

const others = [
  '/',
  '/metrics',
  '/metrics/slis',
  '/debug/pprof',
  '/logs',
  '/api',
  '/apis',
  '/openapi/v2',
  '/healthz/ping',
  '/clusters',
  '/nothing',
];
const verbs = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

let world: World;
let address: { hostname: string; port: string };
let id = '';
let paths: string[] = [];
const agent = new https.Agent({ keepAlive: true, maxSockets: 16, rejectUnauthorized: false });

beforeAll(async () => {
  world = await startWorld({ clusters: [] });
  const kubeconfig = await readFile(await world.listen(), 'utf8');
  address = new URL(/server: "?(https:[^"\s]+)/.exec(kubeconfig)?.[1] ?? '');
  id = await workspace('team');
  paths = await routes();
});
afterAll(async () => {
  agent.destroy();
  await world.stop();
});

async function workspace(name: string): Promise<string> {
  const workspaces = { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspaces' };
  const object = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name } };
  await world.admin.create({ ...workspaces }, object);
  let cluster: string | undefined;
  await eventually(async () => {
    const made = await world.admin.get({ ...workspaces }, { name });
    cluster = (made as { spec?: { cluster?: string } }).spec?.cluster;
    expect((made as { status?: { phase?: string } }).status?.phase).toBe('Ready');
  });
  return cluster ?? '';
}

/** Every path that discovery and the index of the server tell an administrator of. */
async function routes(): Promise<string[]> {
  const transport = world.server.transport({ name: 'admin', groups: ['system:masters'] });
  const { resources, paths: listed } = await registryOf(transport);
  const found = new Set(listed);
  for (const served of resources) {
    const { resource, namespaced, subresources } = served;
    const base = apiOf(served);
    const all = `${base}/${resource}`;
    const one = namespaced ? `${base}/namespaces/default/${resource}` : all;
    for (const path of [all, one, `${base}/watch/${resource}`, `${one}/x`, `${all}?watch=true`])
      found.add(path);
    for (const subresource of subresources) found.add(`${one}/x/${subresource}`);
  }
  for (const path of [...others, ...views.flat()]) found.add(path);
  return [...found];
}

function ask(method: string, path: string, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = address;
    const request = https.request({ hostname, port, agent, method, path, headers }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      resolve(101);
    });
    request.on('error', reject);
    request.end();
  });
}

/** What was answered otherwise than by 401 or 403. */
async function answered(asked: readonly (readonly [string, string])[], headers = {}): Promise<string[]> {
  const found: string[] = [];
  const queue = [...asked];
  const worker = async () => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const [method, path] = next;
      const code = await ask(method, path, headers);
      if (code !== 401 && code !== 403) found.push(`${method} ${path} ${code}`);
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  return found.sort();
}

/** Of the paths that nobody may get. */
const answeredGets = (list: readonly string[], headers: Record<string, string>) =>
  answered(
    list.filter((path) => open[path] === undefined).map((path) => ['GET', path] as const),
    headers,
  );

const everyVerb = (list: readonly string[]) =>
  list.flatMap((path) => verbs.map((verb) => [verb, path] as const));

describe('nobody is answered', () => {
  test('there are routes to ask', () => {
    expect(paths.length).toBeGreaterThan(400);
    expect(paths).toContain('/api/v1/namespaces/default/pods/x/exec');
    expect(paths).toContain('/apis/tenancy.kcp.io/v1alpha1/workspaces');
  });

  test('at any route by any verb, but where the list says so', async () => {
    const expected = Object.keys(open).map((path) => `GET ${path} 200`);
    const got = await answered(everyVerb([...new Set([...paths, ...Object.keys(open)])]));
    expect(got).toEqual(expected.sort());
  });

  test.each(['/clusters/root', '/clusters/root:team', '/clusters/ID', '/clusters/*', '/clusters/root:none'])(
    'below %s',
    async (prefix) => {
      const at = prefix.replace('ID', id);
      const asked = [...paths, ...Object.keys(open)].map((path) => ['GET', `${at}${path}`] as const);
      const expected = prefix.endsWith('ID') ? openOfOne.map((path) => `GET ${at}${path} 200`) : [];
      expect([...new Set(await answered(asked))]).toEqual(expected.sort());
    },
    60_000,
  );

  test.each([
    [
      'a watch over a WebSocket',
      {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      },
    ],
    ['a stream over SPDY', { connection: 'Upgrade', upgrade: 'SPDY/3.1' }],
  ])(
    'who asks for %s',
    async (_name, headers) => expect(await answeredGets(paths, headers)).toEqual([]),
    60_000,
  );

  test.each([
    ['a wrong token', { authorization: 'Bearer wrong' }],
    ['a password', { authorization: `Basic ${btoa('admin:admin')}` }],
    ['an empty token', { authorization: 'Bearer ' }],
    ['headers of a proxy', { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' }],
    [
      'headers of a proxy, otherwise written',
      { 'X-Remote-User': 'admin', x_remote_group: 'system:masters', 'x-remote-extra-a%2fb': 'c' },
    ],
    [
      'who forwarded it',
      { 'x-forwarded-for': '127.0.0.1', forwarded: 'for=127.0.0.1', 'x-forwarded-user': 'admin' },
    ],
    [
      'a certificate in a header',
      {
        'x-ssl-client-verify': 'SUCCESS',
        'x-client-cert': 'x',
        'x-forwarded-client-cert': 'Subject="CN=admin,O=system:masters"',
      },
    ],
    ['whom to impersonate', { 'impersonate-user': 'admin', 'impersonate-group': 'system:masters' }],
    [
      'an origin and a cookie',
      { origin: 'https://evil.example', cookie: 'token=admin', host: 'evil.example' },
    ],
  ])(
    'who shows %s',
    async (_name, headers) => {
      const short = paths.filter((path) => !path.includes('/x/'));
      expect(await answeredGets(short, headers)).toEqual([]);
    },
    60_000,
  );

  test('each view has its row here', async () => {
    const settings = resolveSettings({ dataDir: '/nowhere' }, undefined, {});
    const identity = await loadIdentity(world.store, '127.0.0.1', '/nowhere');
    const { store } = world;
    const logger = { debug() {}, info() {}, warn() {}, error() {} } as never;
    const profile = async () => ({ profile: '{}' });
    const options = apiOptions({
      store,
      settings,
      identity,
      logger,
      syncers: () => undefined,
      profile,
      scheduling: () => world.admin,
    });
    const known = (options.views ?? []).map((view) =>
      views.findIndex((row) => row.every((path) => view.owns(path))),
    );
    expect(known).toEqual(views.map((_, i) => i));
  });

  test('nothing is served but through the ladder', async () => {
    const root = join(import.meta.dirname, '../../..');
    const said: string[] = [];
    for (const folder of ['apiserver', 'server', 'cli', 'controller', 'syncer', 'storage']) {
      for (const file of await readdir(join(root, folder), { recursive: true })) {
        if (!file.endsWith('.ts')) continue;
        const text = await readFile(join(root, folder, file), 'utf8');
        const found = text.match(
          /\bFastify\(|\bapp\.(get|post|put|all|route|register)\(|createServer\(|createSecureServer\(|\.on\('(upgrade|request|connect)'/g,
        );
        for (const one of found ?? []) said.push(`${folder}/${file}: ${one}`);
      }
    }
    expect(said.sort()).toEqual([
      // As a client: another API server grants what was asked of it.
      "apiserver/aggregation/send.ts: .on('upgrade'",
      'apiserver/wire/http.ts: Fastify(',
      "apiserver/wire/upgrade.ts: .on('upgrade'",
      // A person's own machine for a moment, on loopback: where the browser comes back to.
      "cli/login/redirect.ts: .on('request'",
      'cli/login/redirect.ts: createServer(',
    ]);
  });
});
