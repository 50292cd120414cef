import { setMaxListeners } from 'node:events';
import type { Fence } from '../storage/store.ts';
import { builtinAdmission } from './admission/builtin.ts';
import { PolicyDispatcher } from './admission/policy/dispatch.ts';
import { WebhookDispatcher } from './admission/webhook/dispatch.ts';
import { Aggregation } from './aggregation/aggregation.ts';
import { Audit } from './audit/audit.ts';
import { anonymous } from './authn/anonymous.ts';
import { bootstrapAuthenticator } from './authn/bootstrap.ts';
import { ServiceAccountTokens } from './authn/service-account.ts';
import { withinBorders } from './authz/borders.ts';
import { ownRights } from './authz/own.ts';
import { metricsAsPods } from './authz/pod-metrics.ts';
import { rbacMode } from './authz/rbac/authorizer.ts';
import type { RoleIndex } from './authz/rbac/role-index.ts';
import { Converter } from './conversion/converter.ts';
import type { Core, Limits } from './core.ts';
import { Egress } from './egress/dial.ts';
import { Fairness } from './fairness/fairness.ts';
import { fencedStore } from './fenced.ts';
import { Forwards } from './forward/forwards.ts';
import { BookmarkClock } from './handlers/watch/bookmarks.ts';
import { InFlight } from './inflight.ts';
import { defaultGitVersion } from './info/version.ts';
import { createLadder, type Ladder, type LadderOptions } from './ladder.ts';
import type { ApiServer, ApiServerOptions } from './options.ts';
import { Catalog } from './registry/catalog.ts';
import { Classes } from './registry/classes.ts';
import { Flows } from './registry/flows.ts';
import { renewDefaultRoles } from './registry/kinds/default-roles-renew.ts';
import { Paths } from './registry/paths.ts';
import { StoreRegistry } from './registry/registry.ts';
import { Roles } from './registry/roles.ts';
import { pathOf } from './request.ts';
import { starter } from './start.ts';
import { WebhookCaller } from './webhook/call.ts';
import { serverResolver, serviceResolver } from './webhook/resolve.ts';
import { type Listener, listenHttps } from './wire/http.ts';

export type * from './options.ts';
export type * from './plugins.ts';
export type * from './registry/types.ts';
export type * from './served.ts';

const defaultLimits: Limits = {
  connections: 10_000,
  readsInFlight: 400,
  writesInFlight: 200,
  bodyBytes: 3 * 1024 * 1024,
  requestSeconds: 60,
  streamBufferBytes: 1024 * 1024,
  stallSeconds: 30,
  lingerSeconds: 2,
  cutSeconds: 3,
};

/** A Kubernetes API over a store. Nothing is read or written before the first request or listen. */
export function createApiServer(options: ApiServerOptions): ApiServer {
  const catalog = new Catalog(options.resources ?? []);
  const registry = new StoreRegistry(options.store, catalog, {
    roles: new Roles(),
    flows: new Flows(),
    classes: new Classes(),
  });
  const egress = options.egress ?? new Egress();
  const resolve = serviceResolver(registry, options.connectService);
  const caller = new WebhookCaller(resolve, egress, options.tracer);
  const forwards = new Forwards({ registry, connectPod: options.connectPod });
  const draining = new AbortController();
  const closing = new AbortController();
  // Every watch listens to it.
  setMaxListeners(0, closing.signal);
  const limits = { ...defaultLimits, ...options.limits };
  const aggregation = new Aggregation({
    store: options.store,
    catalog,
    registry,
    resolve: serverResolver(registry),
    egress,
    forwards,
    millis: limits.requestSeconds * 1000,
    closing: closing.signal,
  });
  const signals = { draining: draining.signal, closing: closing.signal };
  const core = coreOf(options, { registry, caller, aggregation, limits, ...signals });
  const fairness = fairnessOf(options, registry.flows);
  const ladderFor = ladders(core, rungsOf(core, options, fairness));
  const listeners: Listener[] = [];
  return {
    registry,
    renewDefaultRoles: () => renewDefaultRoles(registry),
    transport: (user, holding) => {
      const own = ladderFor(holding);
      return (request) => own.serveAs(request, user);
    },
    receive: (request, peer) => ladderFor(undefined).serve(request, peer),
    async listen(where) {
      const listener = await listenHttps(ladderFor(undefined), where, core.limits, options.logger);
      listeners.push(listener);
      egress.addPort(Number(new URL(listener.url).port || 443));
      return listener;
    },
    among: (processes) => fairness?.among(processes),
    tellProgress: () => core.bookmarks.tell(),
    ...ending({ draining, closing, listeners, outgoing: [caller, aggregation, forwards] }),
  };
}

/** What every request finds, however it comes. */
function coreOf(
  options: ApiServerOptions,
  parts: Pick<Core, 'draining' | 'closing' | 'aggregation' | 'limits'> & {
    registry: StoreRegistry;
    caller: WebhookCaller;
  },
): Core {
  const { store } = options;
  const { registry, caller, aggregation, limits, draining, closing } = parts;
  const { catalog, roles } = registry;
  const tokens = options.accountKeys
    ? new ServiceAccountTokens(options.accountKeys, options.accountIssuer)
    : undefined;
  return {
    store,
    catalog,
    paths: new Paths(store),
    registry,
    ...authorization(options, roles.index),
    admission: options.admission ?? [],
    builtin: builtinAdmission,
    policies: new PolicyDispatcher({ store, catalog }),
    webhooks: new WebhookDispatcher({ store, catalog, caller, tracer: options.tracer }),
    podsElsewhere: options.podsElsewhere ?? false,
    converter: new Converter(caller, options),
    aggregation,
    connectPod: options.connectPod,
    podUsage: options.podUsage,
    connectService: options.connectService,
    limits,
    gate: options.gate,
    bookmarks: new BookmarkClock(store),
    draining,
    health: options.health ?? {},
    closing,
    tokens,
    authenticators: [
      ...options.authenticate,
      ...(tokens ? [tokens.authenticator(registry)] : []),
      ...(options.bootstrapTokens ? [bootstrapAuthenticator(registry)] : []),
      ...(options.authenticateLast ?? []),
    ],
    gitVersion: options.version ?? defaultGitVersion,
    observer: options.observer,
    tracer: options.tracer,
    metrics: options.metrics,
  };
}

/** Absent: requests are counted only. */
function fairnessOf({ seats = 0, observer }: ApiServerOptions, flows: Flows): Fairness | undefined {
  if (seats === 0) return undefined;
  const fairness = new Fairness(seats, observer?.fairness);
  flows.changed = (schemas, levels) => fairness.configure(schemas, levels);
  return fairness;
}

function rungsOf(core: Core, options: ApiServerOptions, fairness: Fairness | undefined): LadderOptions {
  const { logicalClusters, views = [], logger } = options;
  const audit = options.audit && new Audit(options.audit);
  return {
    limit: new InFlight(core.limits, core.observer),
    fairness,
    logicalClusters,
    authenticate: core.authenticators,
    anonymous: options.anonymous ?? anonymous,
    views,
    ready: starter(core, fairness !== undefined),
    ...(audit && { audit }),
    onError: (error, { method, url, auditId }) =>
      logger?.error('request failed', { method, path: pathOf(url), auditId, err: error }),
  };
}

/** One ladder for all who hold no lease; for a holder its own, whose writes happen only while the lease is held. */
function ladders(core: Core, rungs: LadderOptions): (holding: Fence | undefined) => Ladder {
  const ladder = createLadder(core, rungs);
  return (holding) => {
    if (holding === undefined) return ladder;
    const store = fencedStore(core.store, holding);
    const registry = new StoreRegistry(store, core.registry.catalog, core.registry);
    return createLadder({ ...core, store, registry }, rungs);
  };
}

function authorization(
  { authorize, authorizers, guard }: ApiServerOptions,
  roles: RoleIndex,
): Pick<Core, 'authorize' | 'rulesFor'> {
  const rbac = rbacMode(roles);
  const mode = authorizers?.(rbac) ?? rbac;
  const decide = authorize ?? withinBorders(mode.authorize);
  const guarded = guard ? guard(decide) : decide;
  return { authorize: ownRights(metricsAsPods(guarded)), rulesFor: mode.rulesFor };
}

function ending({
  draining,
  closing,
  listeners,
  outgoing,
}: {
  draining: AbortController;
  closing: AbortController;
  listeners: readonly Listener[];
  outgoing: readonly { close(): void }[];
}): Pick<ApiServer, 'drain' | 'stopListening' | 'close'> {
  const drain = () => {
    draining.abort();
    for (const listener of listeners) listener.drain();
  };
  const stopListening = async () => {
    drain();
    await Promise.all(listeners.map((listener) => listener.stopListening()));
  };
  return {
    drain,
    stopListening,
    async close() {
      await stopListening();
      closing.abort();
      await Promise.all(listeners.map((listener) => listener.close()));
      for (const one of outgoing) one.close();
    },
  };
}
