import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { main } from '../../../cli/program.ts';

/** What each path, or a method and a path, is answered, by code; all others 404 without a Status, as Kubernetes answers what it does not serve. */
let answers: Record<string, [number, object]> = {};
let asked: string[] = [];
let out = '';
let err = '';
let directory = '';
let server: Server;
const at = (name: string) => join(directory, name);
const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-served-'));
  server = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    asked.push(`${request.method} ${path}`);
    const [code, body] = answers[path] ?? answers[`${request.method} ${path}`] ?? [404, undefined];
    response.writeHead(code, { 'content-type': body ? 'application/json' : 'text/plain; charset=utf-8' });
    response.end(body ? JSON.stringify(body) : '404 page not found\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const of = (path: string) => `apiVersion: v1
kind: Config
clusters: [{ name: c, cluster: { server: "${url()}${path}" } }]
contexts: [{ name: x, context: { cluster: c, user: u, namespace: shop } }]
users: [{ name: u, user: {} }]
current-context: x
`;
  await writeFile(at('team'), of('/clusters/root:team-a'));
  await writeFile(at('plain'), of(''));
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += String(text);
    return true;
  });
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    err += String(text);
    return true;
  });
});
beforeEach(() => {
  [out, err, asked, answers] = ['', '', [], {}];
});
afterAll(async () => {
  vi.restoreAllMocks();
  await new Promise((resolve) => server.close(resolve));
  await rm(directory, { recursive: true, force: true });
});

const atoll = (kubeconfig: string, ...args: string[]) =>
  main(['node', 'atoll', '--atoll-kubeconfig', at(kubeconfig), ...args]);

const status = (code: number, reason: string, message: string): [number, object] => [
  code,
  { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message },
];

describe('a plan of a file', () => {
  test('is of where kubectl would apply it, and a refusal names that', async () => {
    const path = '/clusters/root:team-a/apis/apps/v1/namespaces/shop/deployments/web';
    answers = { [path]: status(404, 'NotFound', 'namespaces "shop" not found') };
    await writeFile(at('web.yaml'), 'apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: web }\n');
    expect(await atoll('team', 'plan', '-f', at('web.yaml'))).toBe(1);
    expect(asked).toEqual([`GET ${path}`, `PATCH ${path}`]);
    expect(err).toBe('error: in logical cluster root:team-a: namespaces "shop" not found (NotFound)\n');
    expect(out).toBe('');
  });

  test('names the file that is not there', async () => {
    expect(await atoll('team', 'plan', '-f', at('nope.yaml'))).toBe(2);
    expect(err).toBe(`error: -f ${at('nope.yaml')}: there is no such file\n`);
    expect(asked).toEqual([]);
  });
});

describe('a kubeconfig that leads to no Atoll', () => {
  const forbidden = (path: string) =>
    status(403, 'Forbidden', `forbidden: User "ann" cannot get path "${path}"`);
  const list = '/clusters/root/apis/atoll.dev/v1alpha1/physicalclusters';

  test.each([
    ['an administrator', {}, ['cluster', 'list']],
    ['somebody who may not ask for such paths', { [list]: forbidden(list) }, ['cluster', 'list']],
    ['a backup', {}, ['backup', 'monday.backup']],
    ['a certificate', {}, ['kubeconfig', '--user', 'ann']],
    ['an explanation', {}, ['explain', 'deployment/web']],
  ])('is named with where it leads: %s', async (_what, given, args) => {
    answers = given;
    expect(await atoll('plain', ...args)).toBe(1);
    const where = `kubeconfig ${at('plain')} leads to ${url()}, which is no Atoll`;
    expect(err).toBe(`error: ${where}: name another by --atoll-kubeconfig\n`);
  });

  test.each([
    ['what Atoll does not serve', {}, 'the server answered 404'],
    ['what Atoll forbids', { [list]: forbidden(list) }, 'User "ann" cannot get path'],
  ])('is not said of %s', async (_what, given, message) => {
    answers = { '/apis/atoll.dev': [200, {}], ...given };
    expect(await atoll('plain', 'cluster', 'list')).toBe(1);
    expect(err).toContain(message);
  });
});

test.each([
  ['-', 'a backup goes to a file, where it is checked, and not to stdout: name one'],
  ['/nowhere/x', '/nowhere/x cannot be written: there is no folder /nowhere'],
])('a backup is not asked for where it cannot be written: %s', async (file, why) => {
  expect(await atoll('plain', 'backup', file)).toBe(2);
  expect(err).toBe(`error: ${why}\n`);
  expect(asked).toEqual([]);
});

describe('a kubeconfig in a file', () => {
  test('replaces what was there, and says so', async () => {
    expect(await atoll('team', 'kubeconfig', '-o', at('mine'))).toBe(0);
    expect(await atoll('team', 'kubeconfig', '-o', at('mine'))).toBe(0);
    const line = `${at('mine')}: root:team-a, with your own credentials: somebody else gets a key of their own by --user`;
    expect(out).toBe(`${line}\n${line}; what was there is replaced\n`);
  });

  test('named - goes to stdout', async () => {
    expect(await atoll('team', 'kubeconfig', '-o', '-')).toBe(0);
    expect(out).toContain('current-context: root:team-a\n');
  });
});

test('a cluster that is forgotten says all that it takes to take it over again', async () => {
  const of = (path: string) => `/clusters/root/${path}`;
  const cluster = of('apis/atoll.dev/v1alpha1/physicalclusters/east');
  const gone = status(404, 'NotFound', 'physicalclusters.atoll.dev "east" not found');
  answers = {
    [`PATCH ${cluster}`]: [200, {}],
    [`DELETE ${cluster}`]: [200, {}],
    [`GET ${cluster}`]: gone,
    [of('api/v1/namespaces/atoll-system/secrets/physicalcluster-east')]: [200, {}],
  };
  expect(await atoll('plain', 'cluster', 'rm', 'east', '--forget')).toBe(0);
  expect(out).toContain('atoll cluster add east --kubeconfig FILE --adopt\n');
});
