import { hash, timingSafeEqual } from 'node:crypto';
import type { ApiRequest } from '../../kube/http.ts';
import type { Peer } from '../plugins.ts';

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

/** A token, and the digest by which it is looked for, so that timing tells nothing of it. */
export interface Bearer {
  readonly token: string;
  readonly digest: string;
}

/** What each connection showed last. */
const last = new WeakMap<Peer, { header: Buffer; bearer: Bearer }>();

/** What a longer one shows is digested each time, and not kept. */
const mostLength = 8 << 10;

/** Most connections show the same token with every request: it is digested once. */
export function bearerOf(request: Pick<ApiRequest, 'headers'>, peer: Peer): Bearer | undefined {
  const { authorization = '' } = request.headers;
  const before = authorization === '' ? undefined : last.get(peer);
  const header = Buffer.from(before ? authorization : '');
  // A proxy's connection may be many people's.
  if (before && before.header.length === header.length && timingSafeEqual(before.header, header))
    return before.bearer;
  const token = bearerToken(request);
  if (token === undefined) return undefined;
  const bearer = { token, digest: digestOf(token) };
  if (authorization !== '' && authorization.length <= mostLength)
    last.set(peer, { header: Buffer.from(authorization), bearer });
  return bearer;
}

export function digestOf(token: string): string {
  return hash('sha256', token, 'base64');
}
