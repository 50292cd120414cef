import { isPath } from '../cluster/logical.ts';
import { rootCluster } from '../cluster/names.ts';
import { isBuiltinGroup } from '../kube/discovery/groups.ts';
import type { ApiRequest, ApiResponse, UserInfo } from '../kube/http.ts';
import { andThen, isLater, type Later } from '../kube/later.ts';
import { StatusError, unauthorized } from '../kube/status.ts';
import { randomUid } from '../kube/uuid.ts';
import { impersonated, impersonates } from './authn/impersonate.ts';
import { withKnown } from './authn/known.ts';
import { authorizeRequest } from './authz/check.ts';
import { mastersGroup } from './authz/masters.ts';
import type { Core, Exchange } from './core.ts';
import { noSuchResource, respondError, text } from './encode/respond.ts';
import { handlerFor } from './handlers/dispatch.ts';
import { type InFlight, isLongRunning, shuttingDown } from './inflight.ts';
import { handleInfo } from './info/index.ts';
import { observed } from './observe.ts';
import type { View } from './options.ts';
import type { Authenticator, Peer } from './plugins.ts';
import { translate } from './registry/errors.ts';
import { showDefaultRoles } from './registry/kinds/default-roles.ts';
import { definedLately } from './registry/kinds/definitions.ts';
import { clusterIn, parseBare, parseRequest, pathOf } from './request.ts';
import type { ServedResource } from './served.ts';

export interface Ladder {
  /** From the network: authenticates first, then reads the body. */
  serve(
    request: ApiRequest,
    peer: Peer,
    body?: () => Promise<Uint8Array>,
    /** Told who asks for what, as soon as it is known. */
    known?: (exchange: Exchange) => void,
  ): Promise<ApiResponse>;
  /** From inside: `user` is who asks. */
  serveAs(request: ApiRequest, user: UserInfo): Promise<ApiResponse>;
}

export interface LadderOptions {
  logicalClusters: boolean;
  authenticate: readonly Authenticator[];
  anonymous(request: ApiRequest): UserInfo | undefined;
  views: readonly View[];
  /** Shared by all ladders of a server. */
  limit: InFlight;
  ready(): Promise<void>;
  onError?(error: Error, request: ApiRequest): void;
}

/**
 * The rungs, in the order in which a request climbs them; each ends it with the code it names:
 * which logical cluster · authentication 401 · impersonation 403 · request info 400 · in-flight limit 429 · authorization 403 ·
 * logical cluster 404 · resource 404, 405 · body 400, 415 · admission 4xx · handler
 *
 * A view stands where the logical cluster comes otherwise. From the network there is one before request info, 413, and one
 * after it: 429 for what would last, while the server goes.
 */
export function createLadder(core: Core, options: LadderOptions): Ladder {
  const { limit } = options;
  let ready = false;

  /** `user`: who asks, where that is known; else `peer` is asked. */
  async function climb(
    request: ApiRequest,
    user: UserInfo | undefined,
    peer?: Peer,
    body?: () => Promise<Uint8Array>,
    known?: (exchange: Exchange) => void,
  ): Promise<ApiResponse> {
    const began = core.observer === undefined ? 0 : performance.now();
    let exchange: Exchange | undefined;
    try {
      if (!ready) {
        await options.ready();
        ready = true;
      }
      const leads = options.logicalClusters ? core.paths.resolve(clusterIn(request.url)) : rootCluster;
      const cluster = (isLater(leads) ? await leads : leads) ?? '';
      const found = user ?? (peer && authenticate(options.authenticate, request, peer, cluster));
      let by = (isLater(found) ? await found : found) ?? options.anonymous(request);
      if (by === undefined) throw unauthorized();
      if (impersonates(request)) by = await impersonated(request, by, cluster, core.authorize);
      if (body) request.body = await body();
      const view = viewOf(request.url);
      const { method, url } = request;
      const info = view ? parseBare(method, url) : parseRequest(method, url, options);
      info.cluster = cluster;
      // It would end as it begins.
      if (peer && core.closing.aborted && isLongRunning(info))
        return ended(request, began, shuttingDown(), undefined);
      exchange = { core, request, info, user: by, warnings: [] };
      known?.(exchange);
      const answer = await limit.run(exchange, view ? through(view) : onward);
      return ended(request, began, answer, exchange);
    } catch (error) {
      return ended(request, began, respondError(statusOf(error, request), exchange), exchange);
    }
  }

  function ended(
    request: ApiRequest,
    began: number,
    answer: ApiResponse,
    exchange: Exchange | undefined,
  ): ApiResponse {
    const response = finish(answer, exchange);
    const { observer } = core;
    return observer ? observed(observer, request, exchange?.info, response, began) : response;
  }

  function viewOf(url: string): View | undefined {
    if (options.views.length === 0) return undefined;
    const path = pathOf(url);
    return options.views.find((view) => view.owns(path));
  }

  function statusOf(error: unknown, request: ApiRequest): StatusError {
    const translated = translate(error, { group: '', resource: '' }, '');
    // What nobody foresaw, wherever it was translated.
    const unforeseen = !(error instanceof StatusError) || error.reason === 'InternalError';
    if (unforeseen) options.onError?.(translated, request);
    return translated instanceof StatusError
      ? translated
      : new StatusError(500, 'InternalError', translated.message);
  }

  return {
    serve: (request, peer, body, known) => climb(request, undefined, peer, body, known),
    serveAs: (request, user) => climb(request, user),
  };
}

/** A view says itself who may, and which logical clusters it reaches. */
function through(view: View): (exchange: Exchange) => Promise<ApiResponse> {
  return (exchange) =>
    andThen(authorizeRequest(view.authorize, exchange.info, exchange.user), () => view.handle(exchange));
}

/** The rungs from authorization on. */
function onward(exchange: Exchange): Promise<ApiResponse> {
  const { core, info, user } = exchange;
  return andThen(authorizeRequest(core.authorize, info, user), () => within(exchange));
}

function within(exchange: Exchange): Promise<ApiResponse> {
  const { core, info } = exchange;
  const { cluster } = info;
  const known = cluster === '*' || cluster === rootCluster || founds(exchange);
  if (known) return handle(exchange);
  return core.registry.exists(cluster).then((exists) => (exists ? handle(exchange) : elsewhere(exchange)));
}

/** A path may lead to another logical cluster by now than this server knows. */
async function elsewhere(exchange: Exchange): Promise<ApiResponse> {
  const { core, info, request } = exchange;
  const asked = clusterIn(request.url);
  const cluster = isPath(asked) ? await core.paths.lookUp(asked) : undefined;
  if (cluster === undefined || cluster === info.cluster) throw noSuchResource();
  return onward({ ...exchange, info: { ...info, cluster } });
}

function handle(exchange: Exchange): Promise<ApiResponse> {
  const { core, info } = exchange;
  if (!info.isResource) return handleInfo(exchange);
  const served = core.catalog.find(info.cluster, info.group, info.version, info.resource);
  if (served !== undefined) return handleServed(exchange, served);
  return definedLately(core, info).then((late) => {
    if (late !== undefined) return handleServed(exchange, late);
    if (isBuiltinGroup(info.group)) throw noSuchResource();
    return text(404, '404 page not found\n');
  });
}

function handleServed(exchange: Exchange, served: ServedResource): Promise<ApiResponse> {
  const found = handlerFor(exchange, served);
  const showing = showDefaultRoles(found.exchange);
  return showing ? showing.then(() => found.handle(found.exchange)) : found.handle(found.exchange);
}

/** The one write that a logical cluster needs before it exists: that of its own LogicalCluster. */
function founds({ info, user }: Exchange): boolean {
  const own =
    info.cluster !== '' &&
    info.isResource &&
    info.group === 'core.kcp.io' &&
    info.resource === 'logicalclusters';
  return own && user.groups.includes(mastersGroup);
}

/** Waits only for those who do not know at once. */
function authenticate(
  authenticators: readonly Authenticator[],
  request: ApiRequest,
  peer: Peer,
  cluster: string,
  from = 0,
): Later<UserInfo | undefined> {
  for (let i = from; i < authenticators.length; i++) {
    const answer = authenticators[i]?.(request, peer, cluster);
    if (isLater(answer)) {
      return answer.then((user) =>
        user ? withKnown(user) : authenticate(authenticators, request, peer, cluster, i + 1),
      );
    }
    if (answer !== undefined) return withKnown(answer);
  }
  return undefined;
}

/** The caller owns the headers. */
function finish(response: ApiResponse, exchange: Exchange | undefined): ApiResponse {
  const headers: ApiResponse['headers'] = {
    'audit-id': randomUid(),
    'cache-control': 'no-cache, private',
    ...response.headers,
  };
  if (exchange && exchange.warnings.length > 0) {
    headers['warning'] = [...new Set(exchange.warnings)].map(warningHeader);
  }
  const { status, body, tunnel, events } = response;
  if (events) return { status, headers, body, events };
  return tunnel ? { status, headers, body, tunnel } : { status, headers, body };
}

/** RFC 7234 warn-text: a quoted string of printable characters. */
function warningHeader(message: string): string {
  const clean = message.replace(/[^\x20-\x7e]/g, '?').replace(/[\\"]/g, '\\$&');
  return `299 - "${clean.slice(0, 4096)}"`;
}
