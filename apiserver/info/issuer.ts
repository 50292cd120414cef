import type { ApiResponse } from '../../kube/http.ts';
import { issuer } from '../authn/service-account.ts';
import type { Exchange } from '../core.ts';
import { checkAccept } from '../encode/negotiate.ts';
import { text } from '../encode/respond.ts';

const configuration = '/.well-known/openid-configuration';
const keys = '/openid/v1/jwks';

/**
 * Who signs the tokens of ServiceAccounts, and with which key, for those who verify them without asking this server.
 * `undefined`: another path. https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/#service-account-issuer-discovery
 */
export function handleIssuer({ core, info, request }: Exchange): ApiResponse | undefined {
  const { path } = info;
  if (path !== configuration && path !== keys) return undefined;
  if (core.tokens === undefined) return text(404, '404 page not found\n');
  const type = path === keys ? 'application/jwk-set+json' : 'application/json';
  checkAccept(request.headers, [type]);
  const address = `https://${request.headers['host'] ?? 'localhost'}`;
  const document =
    path === keys
      ? { keys: [core.tokens.publicKey()] }
      : {
          issuer,
          jwks_uri: `${address}${keys}`,
          response_types_supported: ['id_token'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['ES256'],
        };
  const headers = { 'content-type': type, 'cache-control': 'public, max-age=3600' };
  return { status: 200, headers, body: Buffer.from(JSON.stringify(document)) };
}
