import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { opener } from '../../../cli/login/browser.ts';
import { execCredential, isInteractive } from '../../../cli/login/credential.ts';
import { type Entries, withEntries } from '../../../cli/login/kubeconfig.ts';
import { argumentsOf, type ProviderFlags, providerOf, sessionFile } from '../../../cli/login/provider.ts';
import { isFresh } from '../../../cli/login/token.ts';
import { kubeconfigFile, ownCommand } from '../../../cli/login/write.ts';
import { decodeYaml, encodeYaml } from '../../../kube/yaml.ts';

const session = { idToken: 'a.b.c', subject: 'ann', issued: 1000, expires: 4600 };

describe('a token is replaced', () => {
  test.each([
    ['not before its last minute', { issued: 0, expires: 3600 }, 3539, true],
    ['in its last minute', { issued: 0, expires: 3600 }, 3540, false],
    ['in the last fifth of a short life', { issued: 0, expires: 10 }, 7.9, true],
    ['in the last fifth of a short life', { issued: 0, expires: 10 }, 8, false],
    ['when it was issued after its end', { issued: 20, expires: 10 }, 10, false],
  ])('%s', (_when, times, now, fresh) => {
    expect(isFresh({ ...session, ...times }, now)).toBe(fresh);
  });
});

describe('what kubectl says of the terminal', () => {
  const info = (spec: object, version = 'v1') =>
    JSON.stringify({ apiVersion: `client.authentication.k8s.io/${version}`, kind: 'ExecCredential', spec });
  test.each([
    [undefined, undefined],
    ['', undefined],
    [info({ interactive: true }), true],
    [info({ interactive: false }), false],
    [info({}), false],
  ])('%s: %s', (text, interactive) => {
    expect(isInteractive(text)).toBe(interactive);
  });
  test.each([[info({}, 'v1beta1')], ['{'], ['[]']])('%s is refused', (text) => {
    expect(() => isInteractive(text)).toThrow('and not of client.authentication.k8s.io/v1');
  });
  test('what it is told', () => {
    expect(JSON.parse(execCredential(session))).toEqual({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { expirationTimestamp: '1970-01-01T01:16:40Z', token: 'a.b.c' },
    });
  });
});

const flags = (more: Partial<ProviderFlags> = {}): ProviderFlags => ({
  oidcIssuerUrl: 'https://login.example.com',
  oidcClientId: 'atoll',
  oidcExtraScope: [],
  ...more,
});

describe('where somebody signs in', () => {
  test.each<[Partial<ProviderFlags>, string]>([
    [{ oidcIssuerUrl: 'login.example.com' }, '--oidc-issuer-url login.example.com: expected an https URL'],
    [{ oidcIssuerUrl: 'http://login.example.com' }, 'expected an https URL'],
    [{ oidcIssuerUrl: 'https://a:b@login.example.com' }, 'expected an https URL'],
    [{ oidcIssuerUrl: 'https://login.example.com?x' }, 'expected an https URL'],
    [{ oidcRedirectUrl: 'http://localhost:8000' }, 'as the issuer knows it'],
    [
      { oidcRedirectUrl: 'http://0.0.0.0:8000/' },
      'expected http://127.0.0.1:PORT/PATH or http://localhost:PORT/PATH',
    ],
    [{ oidcRedirectUrl: 'https://localhost:8000/' }, '--oidc-redirect-url https://localhost:8000/: expected'],
    [{ oidcRedirectUrl: 'http://login.example.com:8000/' }, 'expected http://127.0.0.1:PORT'],
  ])('%j is refused', (more, says) => {
    expect(() => providerOf(flags(more))).toThrow(says);
  });

  test.each<[Partial<ProviderFlags>, string[]]>([
    [{}, []],
    [{ oidcIssuerUrl: 'http://127.0.0.1:5556/dex' }, []],
    [
      {
        oidcExtraScope: ['groups', 'email'],
        oidcCaFile: '/ca.pem',
        oidcRedirectUrl: 'http://localhost:8000/',
      },
      ['--oidc-extra-scope', 'groups', '--oidc-extra-scope', 'email', '--oidc-ca-file', '/ca.pem'].concat([
        '--oidc-redirect-url',
        'http://localhost:8000/',
      ]),
    ],
    [
      { device: true, skipOpenBrowser: true, tokenCacheDir: '/x' },
      ['--device', '--skip-open-browser', '--token-cache-dir', '/x'],
    ],
  ])('%j is told to kubectl as %j', (more, said) => {
    const own = ['--oidc-issuer-url', flags(more).oidcIssuerUrl, '--oidc-client-id', 'atoll'];
    expect(argumentsOf(providerOf(flags(more)))).toEqual([...own, ...said]);
  });

  test('each issuer, client and set of scopes has a file of its own', () => {
    const variants: Partial<ProviderFlags>[] = [
      {},
      { oidcIssuerUrl: 'https://login.example.com/' },
      { oidcClientId: 'other' },
      { oidcExtraScope: ['a', 'b'] },
    ];
    const files = variants.map((more) => sessionFile(providerOf(flags(more))));
    expect(new Set(files).size).toBe(variants.length);
    const swapped = { oidcExtraScope: ['b', 'a'], device: true };
    expect(sessionFile(providerOf(flags(swapped)))).toBe(files[3]);
  });
});

describe('a kubeconfig', () => {
  const entries: Entries = {
    context: 'root:team-a',
    cluster: { name: 'atoll-root:team-a', fields: { server: 'https://a/clusters/root:team-a' } },
    user: { name: 'atoll@login', fields: { exec: { command: 'atoll' } } },
  };
  const own = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'atoll-root:team-a', cluster: entries.cluster.fields }],
    users: [{ name: 'atoll@login', user: entries.user.fields }],
    contexts: [{ name: 'root:team-a', context: { cluster: 'atoll-root:team-a', user: 'atoll@login' } }],
    'current-context': 'root:team-a',
  };
  const merged = (before: object) => decodeYaml(withEntries(encodeYaml(before as never), entries)).value;

  test('that is not there', () => {
    expect(decodeYaml(withEntries('', entries)).value).toEqual(own);
  });

  test('of others keeps what they have', () => {
    const theirs = {
      clusters: [{ name: 'c', cluster: { server: 'https://c', 'certificate-authority': 'ca.pem' } }],
      users: [{ name: 'u', user: { token: 't' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    };
    expect(merged({ ...theirs, 'current-context': 'x', preferences: { colors: true } })).toEqual({
      ...own,
      preferences: { colors: true },
      clusters: [...theirs.clusters, ...own.clusters],
      users: [...theirs.users, ...own.users],
      contexts: [...theirs.contexts, ...own.contexts],
    });
  });

  test('that has it already is the same again, with the namespace that was chosen', () => {
    const context = { cluster: 'atoll-root:team-a', user: 'atoll@login', namespace: 'shop' };
    const before = { ...own, contexts: [{ name: 'root:team-a', context }] };
    expect(merged(before)).toEqual(before);
  });

  test.each<[string, object, string]>([
    [
      'another server',
      { ...own, clusters: [{ name: 'atoll-root:team-a', cluster: { server: 'https://b' } }] },
      'a cluster atoll-root:team-a already, which is https://b: choose another name with --context',
    ],
    [
      'another user',
      { contexts: [{ name: 'root:team-a', context: { cluster: 'atoll-root:team-a', user: 'admin' } }] },
      'a context root:team-a already, of admin',
    ],
    [
      'a user who comes otherwise',
      { users: [{ name: 'atoll@login', user: { token: 't' } }] },
      'a user atoll@login already, who does not come by atoll login',
    ],
  ])('that has under these names %s is left alone', (_what, before, says) => {
    expect(() => merged(before)).toThrow(says);
  });

  test('is the one that kubectl writes', () => {
    expect(kubeconfigFile('/a', { KUBECONFIG: '/b:/c' })).toBe('/a');
    expect(kubeconfigFile(undefined, { KUBECONFIG: '/b:/c' })).toBe('/b');
    expect(kubeconfigFile(undefined, {})).toMatch(/\/\.kube\/config$/);
  });
});

test('kubectl runs this program by its name where that leads here, else by where it is', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'atoll-command-'));
  const [script, other] = [join(directory, 'main.js'), join(directory, 'other.js')];
  await writeFile(script, '');
  await writeFile(other, '');
  await symlink(script, join(directory, 'atoll'));
  expect(ownCommand(join(directory, 'atoll'), { PATH: `/nowhere:${directory}` })).toEqual(['atoll']);
  expect(ownCommand(script, { PATH: '/nowhere' })).toEqual([process.execPath, script]);
  expect(ownCommand(other, { PATH: directory })).toEqual([process.execPath, other]);
  await rm(directory, { recursive: true });
});

test.each<[NodeJS.Platform, NodeJS.ProcessEnv, string | undefined]>([
  ['linux', {}, undefined],
  ['linux', { DISPLAY: ':0' }, 'xdg-open'],
  ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, 'xdg-open'],
  ['darwin', {}, 'open'],
  ['win32', {}, 'rundll32'],
])('a browser on %s with %j: %s', (platform, env, command) => {
  expect(opener(platform, env)[0]).toBe(command);
});
