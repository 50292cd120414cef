import type { ApiRequest } from '../../kube/http.ts';
import type { Peer } from '../plugins.ts';
import { prefixOf } from '../request.ts';
import { type Bearer, bearerOf } from './bearer.ts';
import type { ServiceAccountTokens } from './service-account.ts';

/** Of each connection's token: see bearerOf. */
const known = new WeakMap<Bearer, { cluster: string | undefined }>();

/**
 * A request whose URL names no logical cluster and that shows the token of a ServiceAccount leads to the one whose account it says
 * to be: in-cluster configuration has a host and a port, and no path. Nothing is verified here: there the token counts, or is nobody's.
 */
export function leadHome(tokens: ServiceAccountTokens | undefined, request: ApiRequest, peer: Peer): void {
  const { url } = request;
  if (!tokens || peer.certificate || prefixOf(url) !== undefined || !url.startsWith('/')) return;
  const bearer = bearerOf(request, peer);
  if (bearer === undefined) return;
  const found = known.get(bearer) ?? { cluster: tokens.homeOf(bearer.token) };
  known.set(bearer, found);
  if (found.cluster === undefined) return;
  request.sentUrl = url;
  request.url = `/clusters/${found.cluster}${url}`;
}
