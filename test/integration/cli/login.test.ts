import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { providerIn } from '../../../cli/commands/login.ts';
import { loginArguments } from '../../../cli/login/kubeconfig.ts';
import { endSession } from '../../../cli/login/logout.ts';
import { type Provider, providerOf, sessionFile } from '../../../cli/login/provider.ts';
import { awaitRedirect } from '../../../cli/login/redirect.ts';
import { readSession, writeSession } from '../../../cli/login/session.ts';
import { currentSession, newSession } from '../../../cli/login/token.ts';
import { type Provider as Issuer, startProvider } from '../../atoll/provider.ts';

let directory: string;
let issuer: Issuer;
let provider: Provider;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-login-'));
  issuer = await startProvider();
  const oidcCaFile = join(directory, 'issuer.pem');
  await writeFile(oidcCaFile, issuer.ca);
  provider = providerOf({
    oidcIssuerUrl: issuer.url,
    oidcClientId: 'atoll',
    oidcExtraScope: ['groups'],
    oidcCaFile,
    skipOpenBrowser: true,
    tokenCacheDir: join(directory, 'cache', 'atoll'),
  });
});
afterEach(async () => {
  await issuer.close();
  await rm(directory, { recursive: true });
});

/** Whoever is asked to sign in does so in a browser; `change`: what it brings back. */
function browser(change?: (url: URL) => void): { say: (line: string) => void; pages: Promise<number>[] } {
  const pages: Promise<number>[] = [];
  const say = (line: string) => {
    const [, url] = /^Sign in at (\S+)$/.exec(line) ?? [];
    if (url !== undefined) pages.push(issuer.browse(url, change));
  };
  return { say, pages };
}
const login = (secret?: string) => newSession(provider, secret, browser().say);
/** As if so many seconds had passed since the token was given. */
async function later(seconds: number): Promise<void> {
  const file = sessionFile(provider);
  const session = await readSession(file);
  if (session === undefined) throw new Error('nobody has signed in');
  const { issued, expires } = session;
  await writeSession(file, { ...session, issued: issued - seconds, expires: expires - seconds });
}

describe('somebody signs in', () => {
  test('by a browser: the token is kept where nobody else reads it', async () => {
    const session = await login();
    expect(session).toMatchObject({ subject: 'ann' });
    expect(session.expires - session.issued).toBe(3600);
    const file = sessionFile(provider);
    expect(await readSession(file)).toEqual(session);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(join(file, '..'))).mode & 0o777).toBe(0o700);
    expect(await readdir(join(file, '..'))).toEqual([file.slice(file.lastIndexOf('/') + 1)]);
    expect(issuer.asked.find((path) => path.startsWith('/authorize'))).toContain(
      'scope=openid+offline_access+groups',
    );
    expect(await currentSession(provider, undefined)).toEqual(session);
    expect(issuer.granted).toEqual(new Map([['authorization_code', 1]]));
  });

  test('a folder that others could read is theirs no more', async () => {
    await login();
    const folder = join(sessionFile(provider), '..');
    await chmod(folder, 0o777);
    await login();
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  test('by a device', async () => {
    provider = { ...provider, device: true };
    const lines: string[] = [];
    const session = await newSession(provider, undefined, (line) => {
      lines.push(line);
      issuer.approve(/with the code (\S+)$/.exec(line)?.[1] ?? '');
    });
    expect(lines).toEqual([expect.stringContaining(`Sign in at ${issuer.url}/activate with the code `)]);
    expect(session.subject).toBe('ann');
  });

  test('a device that somebody refused gets nothing', async () => {
    provider = { ...provider, device: true };
    const asked = newSession(provider, undefined, (line) => {
      issuer.approve(/with the code (\S+)$/.exec(line)?.[1] ?? '', false);
    });
    await expect(asked).rejects.toThrow(`${issuer.url} refused: access_denied (says the test)`);
    expect(await readSession(sessionFile(provider))).toBeUndefined();
  });

  test('with a client that has a secret, which is kept for the next time', async () => {
    issuer.secret = 'hidden';
    await expect(login()).rejects.toThrow(`${issuer.url} refused: invalid_client`);
    await login('hidden');
    await later(3600);
    expect((await currentSession(provider, undefined)).clientSecret).toBe('hidden');
    await login();
  });

  test('what others bring to the listener ends nothing', async () => {
    const pages: Promise<number>[] = [];
    const session = await newSession(provider, undefined, (line) => {
      const url = line.replace('Sign in at ', '');
      const forged = issuer.browse(url, (back) => back.searchParams.set('state', 'another'));
      pages.push(
        forged,
        forged.then(() => issuer.browse(url)),
      );
    });
    expect(await Promise.all(pages)).toEqual([400, 200]);
    expect(session.subject).toBe('ann');
  });
});

describe('what is not as it should be gives no token', () => {
  test.each<[string, () => void, string]>([
    ['another nonce', () => Object.assign(issuer.claims, { nonce: 'x' }), 'OAUTH_JWT_CLAIM_COMPARISON'],
    ['another audience', () => Object.assign(issuer.claims, { aud: 'x' }), 'OAUTH_JWT_CLAIM_COMPARISON'],
    [
      'another issuer',
      () => Object.assign(issuer.claims, { iss: 'https://x' }),
      'OAUTH_JWT_CLAIM_COMPARISON',
    ],
    ['one that has expired', () => Object.assign(issuer.claims, { exp: 1 }), 'OAUTH_JWT_TIMESTAMP'],
    ['no ID token', () => Object.assign(issuer.more, { id_token: undefined }), 'OAUTH_INVALID_RESPONSE'],
    [
      'a document of somebody else',
      () => answer('/.well-known/openid-configuration', 200, '{"issuer":"https://x"}'),
      'OAUTH_JSON_ATTRIBUTE_COMPARISON',
    ],
    [
      'a document that lies elsewhere',
      () => answer('/.well-known/openid-configuration', 302, '', { location: `${issuer.url}/x` }),
      'OAUTH_RESPONSE_IS_NOT_CONFORM',
    ],
    [
      'a document without end',
      () => answer('/.well-known/openid-configuration', 200, `"${'x'.repeat(2 << 20)}"`),
      'more than 1048576 bytes',
    ],
    [
      'an endpoint that is not safe',
      () => document({ token_endpoint: 'http://login.example.com/token' }),
      'OAUTH_HTTP_REQUEST_FORBIDDEN',
    ],
    [
      'a page that is not safe',
      () => document({ authorization_endpoint: 'http://login.example.com/' }),
      'only requests to HTTPS are allowed',
    ],
  ])('%s', async (_what, change, says) => {
    change();
    const failed = await login().catch((error: Error) => error);
    expect(failed).toMatchObject({ name: 'FailedError', message: expect.stringContaining(says) });
    expect(await readSession(sessionFile(provider))).toBeUndefined();
    expect(issuer.asked).not.toContain('/x');
  });

  test('the browser says that it was refused', async () => {
    const { say } = browser((back) => {
      back.searchParams.delete('code');
      back.searchParams.set('error', 'access_denied');
      back.searchParams.set('error_description', 'go \u001b[31maway');
    });
    await expect(newSession(provider, undefined, say)).rejects.toThrow(
      `${issuer.url} refused: access_denied (go  [31maway)`,
    );
  });

  test('an issuer that another authority vouches for', async () => {
    const { caFile: _, ...rest } = provider;
    provider = rest;
    await expect(login()).rejects.toThrow(
      `${issuer.url}/.well-known/openid-configuration: unable to verify the first certificate: name who signed its certificate by --oidc-ca-file`,
    );
  });
});

test.each([
  ['is not there', 'none.pem', 'ENOENT'],
  ['holds none', 'text.pem', 'it has no certificate'],
])('a file of certificates that %s is told with its flag', async (_what, name, why) => {
  const file = join(directory, name);
  await writeFile(join(directory, 'text.pem'), 'no certificate');
  const { entriesOf } = await import('../../../cli/login/write.ts');
  const to = { server: 'https://a.example', logicalCluster: 'root', caFile: file, context: undefined };
  await expect(entriesOf(to, provider)).rejects.toThrow(`--certificate-authority ${file}: ${why}`);
  provider = { ...provider, caFile: file };
  await expect(login()).rejects.toThrow(`--oidc-ca-file ${file}: ${why}`);
});

describe('near its end a token', () => {
  test('is refreshed, once for all that ask', async () => {
    const before = await login();
    await later(3590);
    issuer.claims = { jti: 'anew' };
    const all = await Promise.all(Array.from({ length: 8 }, () => currentSession(provider, undefined)));
    expect(new Set(all.map(({ idToken }) => idToken)).size).toBe(1);
    expect(all[0]?.idToken).not.toBe(before.idToken);
    expect(issuer.granted.get('refresh_token')).toBe(1);
  });

  test('stays while the issuer does not answer, until it has ended', async () => {
    await login();
    await later(3590);
    const kept = await readSession(sessionFile(provider));
    answer('/.well-known/openid-configuration', 503, '');
    expect(await currentSession(provider, undefined)).toEqual(kept);
    await later(10);
    await expect(currentSession(provider, undefined)).rejects.toThrow('OAUTH_RESPONSE_IS_NOT_CONFORM');
    issuer.answers.clear();
    expect((await currentSession(provider, undefined)).subject).toBe('ann');
  });

  test('is nobody else’s', async () => {
    await login();
    await later(3600);
    issuer.user.sub = 'eve';
    await expect(currentSession(provider, undefined)).rejects.toThrow('of somebody else');
  });

  test('ends where nothing can be refreshed: whoever is there signs in, else it says by what command', async () => {
    await login();
    issuer.revoke();
    await later(3600);
    const again = `run atoll login --oidc-issuer-url ${issuer.url} --oidc-client-id atoll --oidc-extra-scope groups`;
    await expect(currentSession(provider, undefined)).rejects.toThrow(`the login has ended: ${again}`);
    await expect(currentSession(provider, undefined)).rejects.toThrow(again);
    expect(issuer.granted.get('refresh_token')).toBe(1);
    expect((await currentSession(provider, browser().say)).subject).toBe('ann');
    await rm(sessionFile(provider));
    await expect(currentSession(provider, undefined)).rejects.toThrow(`nobody has signed in: ${again}`);
  });

  test('tells nothing of itself when it fails', async () => {
    const { idToken, refreshToken = '' } = await login();
    await later(3600);
    issuer.more = { id_token: 'no.token.atall' };
    const failed = await currentSession(provider, undefined).catch((error: Error) => error);
    expect(failed).toMatchObject({ name: 'FailedError' });
    expect((failed as Error).cause).toBeUndefined();
    const text = String((failed as Error).stack);
    for (const secret of [idToken, refreshToken, 'no.token.atall']) expect(text).not.toContain(secret);
  });
});

describe('somebody signs out', () => {
  test('nothing is kept, and the issuer takes the refresh token no more', async () => {
    issuer.secret = 'hidden';
    const session = await login('hidden');
    expect(issuer.refreshable()).toBe(1);
    expect(await endSession(provider)).toEqual({ session, refreshToken: 'revoked' });
    expect(issuer.refreshable()).toBe(0);
    expect(await readdir(join(sessionFile(provider), '..'))).toEqual([]);
    await expect(currentSession(provider, undefined)).rejects.toThrow(
      'nobody has signed in: run atoll login ',
    );
    expect(await endSession(provider)).toBeUndefined();
  });

  test('where the issuer takes none back, that is told', async () => {
    issuer.revokes = false;
    await login();
    expect(await endSession(provider)).toMatchObject({ refreshToken: 'not revocable' });
    expect(await readdir(join(sessionFile(provider), '..'))).toEqual([]);
    Object.assign(issuer.more, { refresh_token: undefined });
    await login();
    expect(await endSession(provider)).toMatchObject({ refreshToken: 'none' });
  });

  test.each<[string, () => void]>([
    ['refuses', () => answer('/revoke', 503, '{}')],
    ['names another place', () => document({ revocation_endpoint: 'http://elsewhere.example/revoke' })],
    ['is not there', () => answer('/.well-known/openid-configuration', 500, '')],
  ])('whose issuer %s: here they are, and are told of the rest', async (_what, happens) => {
    const { refreshToken = '' } = await login();
    happens();
    const failed = await endSession(provider).catch((error: Error) => error.message);
    expect(failed).toMatch(/^signed out here, but the refresh token was not taken back, .*: https:/);
    expect(failed).not.toContain(refreshToken);
    expect(await readSession(sessionFile(provider))).toBeUndefined();
  });

  test('by the context that the login wrote', async () => {
    const to = {
      server: 'https://a.example',
      logicalCluster: 'root:b',
      caFile: undefined,
      context: undefined,
    };
    const { entriesOf, loginKubeconfig } = await import('../../../cli/login/write.ts');
    const text = await loginKubeconfig(join(directory, 'none'), await entriesOf(to, provider));
    expect(providerIn(loginArguments(text, undefined))).toEqual(provider);
    expect(providerIn(loginArguments(text, 'root:b'))).toEqual(provider);
    const wrong = (change: (text: string) => string, context?: string) => () =>
      providerIn(loginArguments(change(text), context));
    expect(wrong((it) => it, 'c')).toThrow('there is no context "c" with a user');
    expect(wrong(() => '')).toThrow('no context is the current one: name one by --context');
    expect(wrong((it) => it.replace('- token', '- other'))).toThrow('does not come by atoll login');
    expect(wrong((it) => it.replace('--oidc-client-id', '--oidc-client'))).toThrow(
      "what it says of atoll login token cannot be read: error: required option '--oidc-client-id <ID>'",
    );
  });
});

describe('the listener', () => {
  test('takes what brings its state, at its path, by its own name', async () => {
    const redirect = await awaitRedirect('http://localhost:0/callback', 'mine', 60_000);
    const { port } = new URL(redirect.url);
    const get = async (host: string, path: string, method = 'GET') =>
      (await fetch(`http://${host}:${port}${path}`, { method })).status;
    expect(await get('127.0.0.1', '/callback?state=mine')).toBe(400);
    expect(await get('localhost', '/callback?state=another')).toBe(400);
    expect(await get('localhost', '/other?state=mine')).toBe(400);
    expect(await get('localhost', '/callback?state=mine', 'POST')).toBe(400);
    expect(await get('localhost', '/callback?state=mine&code=x')).toBe(200);
    expect((await redirect.came).searchParams.get('code')).toBe('x');
    redirect.close();
  });

  test('says where a port is taken, and that nobody came', async () => {
    const redirect = await awaitRedirect('http://127.0.0.1:0/', 'mine', 20);
    await expect(awaitRedirect(redirect.url, 'mine', 20)).rejects.toThrow(
      `nothing can come back to ${redirect.url}: listen EADDRINUSE`,
    );
    await expect(redirect.came).rejects.toThrow('nobody signed in within 0.02 s');
    redirect.close();
  });
});

test('nothing secret is in the arguments that kubectl runs', async () => {
  issuer.secret = 'hidden';
  await login('hidden');
  const { entriesOf } = await import('../../../cli/login/write.ts');
  const to = { server: 'https://a.example', logicalCluster: 'root', caFile: undefined, context: undefined };
  const text = JSON.stringify(await entriesOf(to, provider));
  const kept = JSON.parse(await readFile(sessionFile(provider), 'utf8')) as Record<string, string>;
  for (const secret of ['hidden', kept['idToken'], kept['refreshToken']]) {
    expect(secret).toBeTruthy();
    expect(text).not.toContain(secret);
  }
});

function answer(path: string, status: number, body: string, headers = {}): void {
  issuer.answers.set(path, (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body),
  );
}
function document(more: object): void {
  const { url } = issuer;
  const own = { issuer: url, authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token` };
  answer('/.well-known/openid-configuration', 200, JSON.stringify({ ...own, ...more }));
}
