import { isPath } from '../cluster/logical.ts';
import { rootCluster } from '../cluster/names.ts';
import type { ApiRequest, ApiResponse, UserInfo } from '../kube/http.ts';
import { andThen, isLater } from '../kube/later.ts';
import { StatusError, unauthorized } from '../kube/status.ts';
import { ended } from './answer.ts';
import { askedBy } from './asked.ts';
import type { Audit } from './audit/audit.ts';
import type { AuditRecord } from './audit/record.ts';
import { auditIdOf } from './audit/source.ts';
import { isOwnController } from './authn/controllers.ts';
import { authenticate } from './authn/first.ts';
import { leadHome } from './authn/home.ts';
import { impersonated } from './authn/impersonate.ts';
import { impersonates } from './authn/wanted.ts';
import { ofAll } from './authz/borders.ts';
import { authorizeRequest } from './authz/check.ts';
import { mastersGroup } from './authz/masters.ts';
import type { Core, Exchange } from './core.ts';
import { noSuchResource, respondError } from './encode/respond.ts';
import type { Fairness } from './fairness/fairness.ts';
import { type InFlight, shuttingDown, type Work } from './inflight.ts';
import { lasting } from './observe.ts';
import type { View } from './options.ts';
import type { Authenticator, Peer } from './plugins.ts';
import { translate } from './registry/errors.ts';
import { clusterIn, isLongRunning } from './request.ts';
import { handle } from './resource.ts';
import type { RequestTrace } from './tracer.ts';
import { Warnings } from './warnings.ts';

export interface Ladder {
  /** From the network: finds out who asks and whether they may first, then reads the body. */
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
  /** Of requests from the network. Shared, too. */
  fairness: Fairness | undefined;
  ready(): Promise<void>;
  audit?: Audit;
  onError?(error: Error, request: ApiRequest): void;
}

/**
 * The rungs, in the order in which a request climbs them; each ends it with the code it names:
 * which logical cluster · authentication 401 · impersonation 403 · a fair turn 429 · request info 400 · authorization 403 ·
 * the share of the logical cluster 429 ·
 * logical cluster 404 · resource 404, 405 · body 400, 415 · admission 4xx · handler
 *
 * A view stands where the logical cluster comes otherwise. From the network there is one before the fair turn, 429 for what
 * would last, while the server goes, and one after authorization, 413: nobody's body is read before they may.
 */
export function createLadder(core: Core, options: LadderOptions): Ladder {
  const { limit, fairness } = options;
  let ready = false;

  /** `user`: who asks, where that is known; else `peer` is asked. */
  async function climb(
    request: ApiRequest,
    user: UserInfo | undefined,
    peer?: Peer,
    body?: () => Promise<Uint8Array>,
    known?: (exchange: Exchange) => void,
  ): Promise<ApiResponse> {
    const began = core.observer || core.tracer ? performance.now() : 0;
    let exchange: Exchange | undefined;
    let audit: AuditRecord | undefined;
    let trace: RequestTrace | undefined;
    let by = user;
    let cluster = '';
    request.auditId = auditIdOf(request);
    if (peer && options.logicalClusters) leadHome(core.tokens, request, peer);
    const asked = askedBy(request, options);
    try {
      if (!ready) {
        await options.ready();
        ready = true;
      }
      const leads = options.logicalClusters ? core.paths.resolve(clusterIn(request.url)) : rootCluster;
      cluster = (isLater(leads) ? await leads : leads) ?? '';
      asked.info.cluster = cluster;
      const found = user ?? (peer && authenticate(options.authenticate, request, peer, cluster));
      by = (isLater(found) ? await found : found) ?? options.anonymous(request);
      if (by === undefined) throw unauthorized();
      trace = core.tracer?.begin(request, asked.info, by, peer, began);
      audit = options.audit?.begin(request, asked.info, by, peer);
      audit?.received();
      const taken = impersonates(request)
        ? await impersonated(request, by, asked.info, core.authorize)
        : undefined;
      if (taken) {
        by = taken.user;
        audit?.impersonated(taken);
      }
      const { info, view, wrong } = asked;
      exchange = { core, request, info, user: by, warnings: new Warnings(), audit, trace };
      known?.(exchange);
      // It would end as it begins.
      const late = peer && core.closing.aborted && isLongRunning(info);
      if (body) exchange.arriving = body;
      if (peer && fairness) exchange.longTurn = fairness.longTurnOf(exchange);
      const work = traced(trace, wrong !== undefined ? refusing(wrong) : view ? through(view) : onward);
      const turn: Work = peer && fairness ? (own, millis) => fairness.run(own, work, millis) : work;
      const answer = late ? shuttingDown() : await limit.run(exchange, turn);
      const response = ended(core, request, began, answer, exchange, trace);
      return audit ? audit.answered(response) : response;
    } catch (error) {
      const status = statusOf(error, request, options.onError);
      const response = ended(core, request, began, respondError(status, exchange), exchange, trace);
      if (by === undefined && status.code === 401) {
        options.audit?.begin(request, asked.info, undefined, peer)?.refused(response);
        return response;
      }
      if (audit === undefined) return response;
      return audit.answered(response, error instanceof StatusError ? 'ResponseComplete' : 'Panic');
    }
  }

  return {
    serve: (request, peer, body, known) => climb(request, undefined, peer, body, known),
    serveAs: (request, user) => climb(request, user),
  };
}

function statusOf(error: unknown, request: ApiRequest, onError: LadderOptions['onError']): StatusError {
  const translated = translate(error, { group: '', resource: '' }, '');
  // What nobody foresaw, wherever it was translated.
  const unforeseen = !(error instanceof StatusError) || error.reason === 'InternalError';
  if (unforeseen) onError?.(translated, request);
  return translated instanceof StatusError
    ? translated
    : new StatusError(500, 'InternalError', translated.message);
}

type Rungs = (exchange: Exchange) => Promise<ApiResponse>;

/** Begun when its turn comes, out of whatever just ended. */
function traced(trace: RequestTrace | undefined, work: Rungs): Rungs {
  return trace ? (exchange) => trace.run(work, exchange) : work;
}

/** What cannot be read takes its turn, too. */
function refusing(wrong: unknown): Rungs {
  return () => Promise.reject(wrong);
}

/** A view says itself who may, and which logical clusters it reaches. */
function through(view: View): Rungs {
  return (exchange) => {
    const { info, user, audit, trace } = exchange;
    trace?.passed('priorityandfairness');
    return andThen(authorizeRequest(ofAll(view.authorize), info, user, audit), () => {
      trace?.passed('authorization');
      return whole(exchange, (own) => view.handle(own));
    });
  };
}

/** The rungs from authorization on. */
function onward(exchange: Exchange): Promise<ApiResponse> {
  const { core, info, user, audit, trace } = exchange;
  const { gate } = core;
  trace?.passed('priorityandfairness');
  const authorized = authorizeRequest(core.authorize, info, user, audit);
  const allowed = trace ? andThen(authorized, () => trace.passed('authorization')) : authorized;
  if (gate === undefined) return andThen(allowed, () => whole(exchange, within));
  // Who may do nothing there uses nothing of its share.
  return andThen(allowed, () =>
    andThen(gate.admit(info, user), (over) => {
      const answering = whole(exchange, within);
      return over ? lasting(answering, over) : answering;
    }),
  );
}

/** With its body. */
function whole(exchange: Exchange, next: (exchange: Exchange) => Promise<ApiResponse>): Promise<ApiResponse> {
  const { request, arriving, longTurn } = exchange;
  if (arriving === undefined || request.body !== undefined) return next(exchange);
  return arriving().then((body) => {
    request.body = body;
    const turn = longTurn?.(body.length);
    return turn ? turn.then(() => next(exchange)) : next(exchange);
  });
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

/** The one write that a logical cluster needs before it exists: that of its own LogicalCluster. */
function founds({ info, user }: Exchange): boolean {
  const own =
    info.cluster !== '' &&
    info.isResource &&
    info.group === 'core.kcp.io' &&
    info.resource === 'logicalclusters';
  return own && (isOwnController(user) || user.groups.includes(mastersGroup));
}
