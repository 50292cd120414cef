import type { ApiRequest } from '../../kube/http.ts';

/**
 * What precedes the token, base64url, among a WebSocket's protocols: a browser cannot send an Authorization header.
 * https://github.com/kubernetes/kubernetes/pull/47740
 */
export const bearerProtocol = 'base64url.bearer.authorization.k8s.io.';

export function bearerToken({ headers }: Pick<ApiRequest, 'headers'>): string | undefined {
  const { authorization } = headers;
  if (authorization !== undefined) return /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  const protocols = headers['sec-websocket-protocol'];
  if (protocols === undefined) return undefined;
  for (const protocol of protocols.split(',')) {
    const [, encoded] = protocol.trim().split(bearerProtocol, 2);
    if (encoded) return Buffer.from(encoded, 'base64url').toString();
  }
  return undefined;
}
