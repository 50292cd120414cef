import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import { type Issuer, startIssuer } from '../integration/server/issuer.ts';

/** An issuer where a user signs in: by a browser that asks nothing, or a device whose code somebody types in. */
export interface Provider extends Issuer {
  /** Whose tokens it gives. */
  user: { sub: string; groups: string[] };
  /** The client's, where it has one. */
  secret?: string;
  /** In place of claims of the next ID tokens. */
  claims: object;
  /** In each answer of the token endpoint. */
  more: object;
  /** How often its token endpoint was asked, by grant. */
  granted: Map<string, number>;
  /** Takes back all refresh tokens. */
  revoke(): void;
  /** How many it would still take. */
  refreshable(): number;
  /** Whether its document names where to take one back. */
  revokes: boolean;
  /** Follows it as a browser does that trusts this issuer, and goes where it is sent. Answers that page's status. */
  browse(url: string, change?: (url: URL) => void): Promise<number>;
  /** Somebody types the code in, or refuses. */
  approve(userCode: string, yes?: boolean): void;
}

interface Asked {
  challenge: string;
  nonce: string;
  redirect: string;
}

/** Of its ID tokens, in seconds. */
const lifetime = 3600;

export async function startProvider(): Promise<Provider> {
  const codes = new Map<string, Asked>();
  const refreshTokens = new Set<string>();
  const devices = new Map<string, { userCode: string; state: 'pending' | 'yes' | 'no' }>();
  const json = (response: ServerResponse, status: number, body: object) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

  function authorize(query: URLSearchParams, response: ServerResponse): void {
    const get = (name: string) => query.get(name) ?? '';
    const wanted =
      get('response_type') === 'code' &&
      get('client_id') === 'atoll' &&
      get('code_challenge_method') === 'S256' &&
      get('nonce') !== '' &&
      get('scope').split(' ').includes('openid');
    if (!wanted) return void response.writeHead(400).end(query.toString());
    const code = randomUUID();
    codes.set(code, {
      challenge: get('code_challenge'),
      nonce: get('nonce'),
      redirect: get('redirect_uri'),
    });
    const back = new URL(get('redirect_uri'));
    back.search = new URLSearchParams({ code, state: get('state') }).toString();
    response.writeHead(302, { location: back.href }).end();
  }

  function grant(asked: URLSearchParams, response: ServerResponse): void {
    const kind = asked.get('grant_type') ?? '';
    provider.granted.set(kind, (provider.granted.get(kind) ?? 0) + 1);
    const refuse = (error: string) => json(response, 400, { error, error_description: 'says the test' });
    const give = (claims: object) => {
      const refreshToken = randomUUID();
      refreshTokens.add(refreshToken);
      const seconds = Math.floor(Date.now() / 1000);
      const times = { iat: seconds, exp: seconds + lifetime };
      json(response, 200, {
        access_token: randomUUID(),
        token_type: 'Bearer',
        refresh_token: refreshToken,
        id_token: provider.token({ ...provider.user, ...times, ...claims, ...provider.claims }),
        ...provider.more,
      });
    };
    if (kind === 'refresh_token')
      return void (refreshTokens.delete(asked.get('refresh_token') ?? '')
        ? give({})
        : refuse('invalid_grant'));
    if (kind === 'authorization_code') {
      const code = asked.get('code') ?? '';
      const known = codes.get(code);
      codes.delete(code);
      const challenge = createHash('sha256')
        .update(asked.get('code_verifier') ?? '')
        .digest('base64url');
      if (known?.challenge !== challenge || known.redirect !== asked.get('redirect_uri'))
        return void refuse('invalid_grant');
      return void give({ nonce: known.nonce });
    }
    const device = devices.get(asked.get('device_code') ?? '');
    if (device?.state === 'pending') return void refuse('authorization_pending');
    if (device?.state !== 'yes') return void refuse('access_denied');
    give({});
  }

  /** https://www.rfc-editor.org/rfc/rfc7009 */
  function takeBack(asked: URLSearchParams, response: ServerResponse): void {
    refreshTokens.delete(asked.get('token') ?? '');
    response.writeHead(200).end();
  }

  function device(response: ServerResponse): void {
    const [code, userCode] = [randomUUID(), randomUUID().slice(0, 8)];
    devices.set(code, { userCode, state: 'pending' });
    const at = { verification_uri: `${provider.url}/activate` };
    json(response, 200, { device_code: code, user_code: userCode, expires_in: 60, interval: 1, ...at });
  }

  function isClient(request: IncomingMessage, asked: URLSearchParams): boolean {
    if (provider.secret === undefined) return asked.get('client_id') === 'atoll';
    return request.headers.authorization === `Basic ${btoa(`atoll:${provider.secret}`)}`;
  }

  const issuer = await startIssuer({
    document: (url) => ({
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      device_authorization_endpoint: `${url}/device`,
      ...(provider.revokes && { revocation_endpoint: `${url}/revoke` }),
      response_types_supported: ['code'],
      scopes_supported: ['openid', 'offline_access', 'groups'],
    }),
    handle: (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'https://own');
      if (pathname === '/authorize') authorize(searchParams, response);
      if (!['/token', '/device', '/revoke'].includes(pathname)) return pathname === '/authorize';
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      request.on('end', () => {
        const asked = new URLSearchParams(body);
        if (!isClient(request, asked)) json(response, 401, { error: 'invalid_client' });
        else if (pathname === '/token') grant(asked, response);
        else if (pathname === '/revoke') takeBack(asked, response);
        else device(response);
      });
      return true;
    },
  });

  const provider: Provider = Object.assign(issuer, {
    user: { sub: 'ann', groups: ['developers'] },
    claims: {},
    more: {},
    granted: new Map<string, number>(),
    revoke: () => refreshTokens.clear(),
    refreshable: () => refreshTokens.size,
    revokes: true,
    approve: (userCode: string, yes = true) => {
      for (const one of devices.values()) if (one.userCode === userCode) one.state = yes ? 'yes' : 'no';
    },
    browse: async (url: string, change: (url: URL) => void = () => {}) => {
      const location = await new Promise<string>((resolve, reject) => {
        const asked = https.get(url, { ca: issuer.ca, agent: false }, (answer) => {
          answer.resume();
          resolve(answer.headers.location ?? `no location, but ${answer.statusCode}`);
        });
        asked.on('error', reject);
      });
      const back = new URL(location);
      change(back);
      const { status } = await fetch(back, { redirect: 'manual', headers: { connection: 'close' } });
      return status;
    },
  });
  return provider;
}
