import { once } from 'node:events';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAuthority } from '../../apiserver/tls/ca.ts';
import { encodeYaml } from '../../kube/yaml.ts';
import { type Signer, signer, token } from '../unit/kube/authentication/tokens.ts';

/** OpenID providers that both servers trust, by their names; see `configuration`. */
export interface Issuers {
  /** An AuthenticationConfiguration. */
  configuration: string;
  /** For the audience that the issuer has, for an hour, by the issuer's key. */
  token(issuer: string, claims: object, by?: Signer, head?: object): string;
  keys: Readonly<Record<string, Signer>>;
  close(): void;
}

const keys: Readonly<Record<string, Signer>> = {
  RS256: signer('RS256', 'rsa'),
  PS512: signer('PS512', 'pss'),
  ES256: signer('ES256', 'p256'),
  ES384: signer('ES384', 'p384'),
};

/** Undefined until they are started: tokens are made when they are sent. */
let running: Issuers | undefined;

export function issuers(): Issuers {
  if (running === undefined) throw new Error('the issuers are not started');
  return running;
}

export async function startIssuers(): Promise<Issuers> {
  const authority = await createAuthority('issuer');
  const { certificate: cert, privateKey: key } = await authority.issueServer(['127.0.0.1']);
  const server = https.createServer({ cert, key }, (request, response) => {
    const [, name = '', path = ''] = /^\/(\w+)(\/.*)$/.exec(request.url ?? '') ?? [];
    const issuer = `${url}/${name === 'elsewhere' ? 'discovered' : name}`;
    const document = { issuer, jwks_uri: `${issuer}/keys` };
    const body = path === '/keys' ? { keys: Object.values(keys).map(({ jwk }) => jwk) } : document;
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  running = {
    configuration: encodeYaml(configuration(url, authority.certificate)),
    keys,
    token: (issuer, claims, by = keys['RS256'] as Signer, head = {}) => {
      const seconds = Math.floor(Date.now() / 1000);
      const own = { iss: `${url}/${issuer}`, aud: 'one', iat: seconds, exp: seconds + 3600 };
      return token(by, { ...own, ...claims }, head);
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return running;
}

function configuration(url: string, certificateAuthority: string): object {
  const issuer = (name: string, more = {}) => ({
    url: `${url}/${name}`,
    audiences: ['one'],
    certificateAuthority,
    ...more,
  });
  const plain = {
    username: { claim: 'sub', prefix: 'oidc:' },
    groups: { claim: 'groups', prefix: 'oidc:' },
  };
  return {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [
      { issuer: issuer('plain'), claimMappings: plain },
      {
        issuer: issuer('discovered', { discoveryURL: `${url}/elsewhere/discovery` }),
        claimMappings: plain,
      },
      {
        issuer: issuer('strict', { audiences: ['one', 'two'], audienceMatchPolicy: 'MatchAny' }),
        claimValidationRules: [{ claim: 'team', requiredValue: 'blue' }],
        claimMappings: {
          username: { claim: 'email', prefix: '' },
          groups: { claim: 'role', prefix: '' },
          uid: { claim: 'oid' },
        },
      },
      {
        issuer: issuer('cel'),
        claimValidationRules: [
          { expression: "claims.?hd.orValue('') == 'example.com'", message: 'the wrong domain' },
          { expression: 'claims.exp - claims.iat <= 86400', message: 'too long' },
        ],
        claimMappings: {
          username: { expression: "'cel:' + claims.sub" },
          groups: { expression: 'claims.?roles.orValue([])' },
          uid: { expression: "has(claims.oid) ? string(claims.oid) : ''" },
          extra: [
            { key: 'example.com/tenant', valueExpression: "claims.?tenant.orValue('')" },
            {
              key: 'example.com/deep',
              valueExpression: "has(claims.deep) ? claims.deep.a__dot__b.map(x, x + '!') : []",
            },
          ],
        },
        userValidationRules: [
          { expression: "!user.username.contains('evil')", message: 'evil' },
          { expression: "user.groups.all(group, !group.startsWith('reserved:'))", message: 'reserved' },
          { expression: "user.?extra['example.com/tenant'].orValue([]).size() < 3", message: 'tenants' },
        ],
      },
    ],
  };
}
