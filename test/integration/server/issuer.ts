import { once } from 'node:events';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAuthority } from '../../../apiserver/tls/ca.ts';
import { type Signer, signer, token } from '../../unit/kube/authentication/tokens.ts';

/** A small OpenID provider. */
export interface Issuer {
  url: string;
  /** PEM */
  ca: string;
  /** What it was asked for. */
  asked: string[];
  keys: Signer[];
  /** In place of what it would answer at a path. */
  answers: Map<string, (response: import('node:http').ServerResponse) => void>;
  /** By the first key, for us, for an hour. */
  token(claims: object, by?: Signer): string;
  close(): Promise<void>;
}

/** What an issuer is beside its keys, where somebody signs in. */
export interface More {
  /** In its document, of the URL that it has. */
  document(url: string): object;
  /** True: it was answered. */
  handle(request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse): boolean;
}

export async function startIssuer(more?: More): Promise<Issuer> {
  const authority = await createAuthority('issuer');
  const { certificate: cert, privateKey: key } = await authority.issueServer(['127.0.0.1']);
  const answers: Issuer['answers'] = new Map();
  const asked: string[] = [];
  const keys = [signer('RS256', 'one')];
  const server = https.createServer({ cert, key }, (request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const own = answers.get(path);
    if (own) return void own(response);
    if (more?.handle(request, response)) return;
    const document =
      path === '/keys'
        ? { keys: keys.map(({ jwk }) => jwk) }
        : {
            issuer: url,
            jwks_uri: `${url}/keys`,
            id_token_signing_alg_values_supported: ['RS256'],
            ...more?.document(url),
          };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(document));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    ca: authority.certificate,
    asked,
    keys,
    answers,
    token: (claims, by = keys[0] as Signer) => {
      const seconds = Math.floor(Date.now() / 1000);
      return token(by, { iss: url, aud: 'atoll', iat: seconds, exp: seconds + 3600, ...claims });
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
