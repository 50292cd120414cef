import { inspect } from 'node:util';
import { KubeConfig } from '@kubernetes/client-node';
import { describe, expect, test } from 'vitest';
import { KubeconfigError } from '../../../client/errors.ts';
import { transportFromKubeconfig } from '../../../client/kubeconfig.ts';
import { plainKubeconfig } from '../../../client/plain-kubeconfig.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

interface Parts {
  cluster?: object;
  user?: object;
  context?: object;
  more?: object;
}

/** JSON is YAML too. */
function kubeconfig({ cluster = {}, user = {}, context = {}, more = {} }: Parts = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'other', cluster: { server: 'https://other' } },
      { name: 'c', cluster: { server: 'https://a:1/clusters/root:x', ...cluster } },
    ],
    users: [{ name: 'u', user }],
    contexts: [
      { name: 'second', context: { cluster: 'other', user: 'u' } },
      { name: 'first', context: { cluster: 'c', user: 'u', ...context } },
    ],
    'current-context': 'first',
    ...more,
  });
}

const identity = { 'client-certificate-data': base64('cert'), 'client-key-data': base64('key') };

describe('a plain kubeconfig', () => {
  test.each<[string, Parts]>([
    ['no credentials', {}],
    ['a token', { user: { token: 'secret' } }],
    ['a certificate', { user: identity }],
    [
      'both, and an authority',
      { user: { ...identity, token: 't' }, cluster: { 'certificate-authority-data': base64('ca') } },
    ],
    ['a namespace', { context: { namespace: 'n' } }],
    ['any server', { cluster: { 'insecure-skip-tls-verify': true } }],
    ['another name of the server', { cluster: { 'tls-server-name': 'x.example' } }],
    ['another current context', { more: { 'current-context': 'second' } }],
  ])('with %s says what client-node reads', async (_what, parts) => {
    const text = kubeconfig(parts);
    const theirs = new KubeConfig();
    theirs.loadFromString(text);
    const options: {
      ca?: unknown;
      cert?: unknown;
      key?: unknown;
      headers?: object;
      rejectUnauthorized?: boolean;
    } = {};
    await theirs.applyToHTTPSOptions(options);
    const headers = new Headers((options.headers ?? {}) as Record<string, string>);
    const { server, credentials } = plainKubeconfig(text, undefined) ?? {};
    expect(server).toBe(theirs.getCurrentCluster()?.server);
    expect(credentials).toEqual({
      ca: options.ca,
      cert: options.cert,
      key: options.key,
      passphrase: undefined,
      tlsServerName: theirs.getCurrentCluster()?.tlsServerName,
      insecure: options.rejectUnauthorized === false,
      authorization: headers.get('authorization') ?? undefined,
    });
  });

  test('is read for the context that is named', () => {
    expect(plainKubeconfig(kubeconfig(), 'second')?.server).toBe('https://other');
  });

  test.each<[string, string]>([
    ['a command', kubeconfig({ user: { exec: { command: 'x' } } })],
    ['a password', kubeconfig({ user: { username: 'a', password: 'b' } })],
    ['an auth provider', kubeconfig({ user: { 'auth-provider': { name: 'oidc' } } })],
    ['a file of the user', kubeconfig({ user: { 'client-key': '/key.pem' } })],
    ['a file of the token', kubeconfig({ user: { tokenFile: '/token' } })],
    ['a file of the cluster', kubeconfig({ cluster: { 'certificate-authority': '/ca.pem' } })],
    ['a proxy', kubeconfig({ cluster: { 'proxy-url': 'http://p' } })],
    ['somebody to be', kubeconfig({ user: { as: 'root' } })],
    ['no such context', kubeconfig({ more: { 'current-context': 'gone' } })],
    ['no such user', kubeconfig({ context: { user: 'gone' } })],
    [
      'a name twice',
      kubeconfig({
        more: {
          users: [
            { name: 'u', user: {} },
            { name: 'u', user: {} },
          ],
        },
      }),
    ],
    ['a token that is no text', kubeconfig({ user: { token: { a: 1 } } })],
    ['no server', kubeconfig({ cluster: { server: '' } })],
    ['nothing', ''],
    ['no YAML', 'a: [b'],
    ['a list', '[]'],
  ])('is none with %s', (_what, text) => {
    expect(plainKubeconfig(text, undefined)).toBeUndefined();
  });
});

test('one that cannot be read is told where, and nothing of what is there', async () => {
  const text = 'kind: Config\nusers: [{name: u, user: {token: secret-token}\ncontexts: []\n';
  const failure = await transportFromKubeconfig(text).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(KubeconfigError);
  expect((failure as Error).message).toMatch(/^the kubeconfig cannot be read: .* in line 3$/);
  expect(inspect(failure)).not.toContain('secret-token');
});

test.each([
  'token: *secret-token',
  'token: !secret-token a',
  'token: "\\qsecret-token"',
  '!secret-token! token: a',
])('nor of what a parser names: %s', async (line) => {
  const failure = await transportFromKubeconfig(`kind: Config\nusers: [{name: u, user: {${line}}}]\n`).catch(
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(KubeconfigError);
  expect(inspect(failure)).not.toContain('secret-token');
});

test('what is kept of it keeps nothing else in memory', () => {
  const found = plainKubeconfig(
    kubeconfig({ cluster: { 'certificate-authority-data': base64('ca') } }),
    undefined,
  );
  const ca = found?.credentials.ca as Buffer;
  expect([ca.toString(), ca.buffer.byteLength]).toEqual(['ca', 2]);
});
