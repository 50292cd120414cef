import type { ApiResponse } from '../../kube/http.ts';
import { defaultIssuer, issuerOf, issuerPaths } from '../authn/issuer.ts';
import type { ServiceAccountTokens } from '../authn/service-account.ts';
import type { Exchange } from '../core.ts';
import { checkAccept } from '../encode/negotiate.ts';
import { text } from '../encode/text.ts';
import { bareOf } from '../request.ts';

const { configuration, keys } = issuerPaths;

/**
 * Who signs the tokens of ServiceAccounts, and with which key, for those who verify them without asking this server.
 * `undefined`: another path. https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/#service-account-issuer-discovery
 */
export function handleIssuer({ core, info, request }: Exchange): Promise<ApiResponse> | undefined {
  const path = bareOf(info.path);
  if (path !== configuration && path !== keys) return undefined;
  return core.tokens === undefined ? Promise.resolve(text(404, '404 page not found\n')) : answer(core.tokens);

  async function answer(tokens: ServiceAccountTokens): Promise<ApiResponse> {
    const type = path === keys ? 'application/jwk-set+json' : 'application/json';
    checkAccept(request.headers, [type]);
    const issuer = issuerOf(tokens.base, info.cluster);
    // The default is nobody's address.
    const server = `https://${request.headers['host'] ?? 'localhost'}`;
    const address = tokens.base === defaultIssuer ? issuerOf(server, info.cluster) : issuer;
    const document =
      path === keys
        ? { keys: await tokens.publicKeys() }
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
}
