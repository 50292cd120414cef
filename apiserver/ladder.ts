import { randomUUID } from 'node:crypto';
import type { ApiRequest, ApiResponse, UserInfo } from '../kube/http.ts';
import { StatusError, unauthorized } from '../kube/status.ts';
import { authorizeRequest } from './authz/check.ts';
import type { Core, Exchange } from './core.ts';
import { noSuchResource, respondError } from './encode/respond.ts';
import { handlerFor } from './handlers/dispatch.ts';
import { InFlight } from './inflight.ts';
import { handleInfo } from './info/index.ts';
import type { Authenticator, Peer, Services, View } from './options.ts';
import { translate } from './registry/errors.ts';
import { parseRequest } from './request.ts';

export interface Ladder {
  /** From the network: authenticates first. */
  serve(request: ApiRequest, peer: Peer): Promise<ApiResponse>;
  /** From inside: `user` is who asks. */
  serveAs(request: ApiRequest, user: UserInfo): Promise<ApiResponse>;
}

export interface LadderOptions {
  logicalClusters: boolean;
  authenticate: readonly Authenticator[];
  views: readonly View[];
  ready(): Promise<void>;
  onError?(error: Error, request: ApiRequest): void;
}

/**
 * The rungs, in the order in which a request climbs them; each ends it with the code it names:
 * views · request info 400 · authentication 401 · logical cluster 404 · authorization 403 · in-flight limit 429 ·
 * resource 404, 405 · body 400, 413, 415 · admission 4xx · handler
 */
export function createLadder(core: Core, options: LadderOptions): Ladder {
  const limit = new InFlight(core.limits);
  const services: Services = {
    registry: core.registry,
    authorize: core.authorize,
    serve: (request, user) => climb(request, async () => user),
  };

  async function climb(
    request: ApiRequest,
    identify: () => Promise<UserInfo | undefined>,
  ): Promise<ApiResponse> {
    let exchange: Exchange | undefined;
    try {
      await options.ready();
      const user = await identify();
      if (user === undefined) throw unauthorized();
      const viewed = view(request, user);
      if (viewed) return finish(await viewed, undefined);
      const info = parseRequest(request.method, request.url, options);
      exchange = { core, request, info, user, warnings: [] };
      const response = await limit.run(exchange, () => onward(exchange as Exchange));
      return finish(response, exchange);
    } catch (error) {
      return finish(respondError(statusOf(error, request), exchange), exchange);
    }
  }

  function view(request: ApiRequest, user: UserInfo): Promise<ApiResponse> | undefined {
    for (const candidate of options.views) {
      if (!request.url.startsWith(candidate.prefix)) continue;
      const answer = candidate.handle(request, user, services);
      if (answer) return answer;
    }
    return undefined;
  }

  async function onward(exchange: Exchange): Promise<ApiResponse> {
    const { info, user } = exchange;
    await authorizeRequest(core.authorize, info, user);
    const known = info.cluster === '*' || founds(exchange) || (await core.registry.exists(info.cluster));
    if (!known) throw noSuchResource();
    if (!info.isResource) return handleInfo(exchange);
    const found = handlerFor(exchange);
    return found.handle(found.exchange);
  }

  function statusOf(error: unknown, request: ApiRequest): StatusError {
    const translated = translate(error, { group: '', resource: '' }, '');
    if (!(error instanceof StatusError)) options.onError?.(translated, request);
    return translated instanceof StatusError
      ? translated
      : new StatusError(500, 'InternalError', translated.message);
  }

  return {
    serve: (request, peer) => climb(request, () => authenticate(options.authenticate, request, peer)),
    serveAs: (request, user) => climb(request, async () => user),
  };
}

/** The one write that a logical cluster needs before it exists: that of its own LogicalCluster. */
function founds({ info, user }: Exchange): boolean {
  const own = info.isResource && info.group === 'core.kcp.io' && info.resource === 'logicalclusters';
  return own && user.groups.includes('system:masters');
}

async function authenticate(
  authenticators: readonly Authenticator[],
  request: ApiRequest,
  peer: Peer,
): Promise<UserInfo | undefined> {
  for (const authenticator of authenticators) {
    const user = await authenticator(request, peer);
    if (user === undefined) continue;
    const groups = user.groups.includes('system:authenticated')
      ? user.groups
      : [...user.groups, 'system:authenticated'];
    return { ...user, groups };
  }
  return undefined;
}

function finish(response: ApiResponse, exchange: Exchange | undefined): ApiResponse {
  const warnings = [...new Set(exchange?.warnings ?? [])].map(warningHeader);
  return {
    ...response,
    headers: {
      'audit-id': randomUUID(),
      'cache-control': 'no-cache, private',
      ...response.headers,
      ...(warnings.length > 0 && { warning: warnings }),
    },
  };
}

/** RFC 7234 warn-text: a quoted string of printable characters. */
function warningHeader(message: string): string {
  const clean = message.replace(/[^\x20-\x7e]/g, '?').replace(/[\\"]/g, '\\$&');
  return `299 - "${clean.slice(0, 4096)}"`;
}
