import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { providerOf, sessionFile } from '../../cli/login/provider.ts';
import { writeSession } from '../../cli/login/session.ts';
import { program } from '../atoll/atoll.ts';

const run = promisify(execFile);
const hooks = `export async function load(url, context, next) {
  process._rawDebug('loaded ' + url);
  return next(url, context);
}`;
let directory = '';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-imports-'));
  const text = `import { register } from 'node:module';\nregister('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hooks)}));`;
  await writeFile(join(directory, 'trace.mjs'), text);
  const config = {
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [{ name: 'u', user: { token: 't' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  await writeFile(join(directory, 'kubeconfig'), JSON.stringify(config));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** What a run of the compiled program loads. */
async function loaded(...args: string[]): Promise<string[]> {
  const trace = pathToFileURL(join(directory, 'trace.mjs')).href;
  const env = { ...process.env, ATOLL_KUBECONFIG: join(directory, 'kubeconfig') };
  const { stderr } = await run(process.execPath, ['--import', trace, program, ...args], { env }).catch(
    (failed: { stderr: string }) => failed,
  );
  return [...stderr.matchAll(/^loaded (.*)$/gm)].map(([, url = '']) => url);
}

describe('a command loads what it needs: time that it takes before it does anything', () => {
  test.each(['--help', '--version', 'version', 'start --help', 'kubeconfig', 'cluster list', 'cordon east'])(
    '%s: neither the server nor the classes of every kind',
    async (command) => {
      const urls = await loaded(...command.split(' '));
      expect(urls.some((url) => url.endsWith('/cli/program.js'))).toBe(true);
      expect(
        urls.filter((url) => /client-node|\/apiserver\/|\/storage\/level\/|fastify|x509/.test(url)),
      ).toEqual([]);
    },
  );

  // kubectl runs it before each request.
  test('login token: nothing that signs in, while the token is good', async () => {
    const cache = ['--token-cache-dir', directory];
    const provider = ['--oidc-issuer-url', 'https://login.example.com', '--oidc-client-id', 'atoll'];
    const file = sessionFile(
      providerOf({
        oidcIssuerUrl: 'https://login.example.com',
        oidcClientId: 'atoll',
        oidcExtraScope: [],
        tokenCacheDir: directory,
      }),
    );
    const now = Math.floor(Date.now() / 1000);
    await writeSession(file, { idToken: 'a.b.c', subject: 'ann', issued: now, expires: now + 3600 });
    const urls = await loaded('login', 'token', ...provider, ...cache);
    expect(urls.some((url) => url.endsWith('/cli/login/credential.js'))).toBe(true);
    const heavy = /openid-client|client-node|\/apiserver\/|\/storage\/level\/|fastify|x509/;
    expect(urls.filter((url) => heavy.test(url))).toEqual([]);
  });
});
