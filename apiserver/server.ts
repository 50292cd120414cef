import { setMaxListeners } from 'node:events';
import type { Fence } from '../storage/store.ts';
import { builtinAdmission } from './admission/builtin.ts';
import { WebhookDispatcher } from './admission/webhook/dispatch.ts';
import { anonymous } from './authn/anonymous.ts';
import { bootstrapAuthenticator } from './authn/bootstrap.ts';
import { ServiceAccountTokens } from './authn/service-account.ts';
import { rbacAuthorizer } from './authz/rbac/authorizer.ts';
import type { RoleIndex } from './authz/rbac/role-index.ts';
import type { Core, Limits } from './core.ts';
import { Egress } from './egress/dial.ts';
import { fencedStore } from './fenced.ts';
import { BookmarkClock } from './handlers/watch/bookmarks.ts';
import { InFlight } from './inflight.ts';
import { defaultGitVersion } from './info/version.ts';
import { createLadder, type Ladder, type LadderOptions } from './ladder.ts';
import type { ApiServer, ApiServerOptions } from './options.ts';
import type { Authorizer } from './plugins.ts';
import { Catalog } from './registry/catalog.ts';
import { Paths } from './registry/paths.ts';
import { StoreRegistry } from './registry/registry.ts';
import { Roles } from './registry/roles.ts';
import { pathOf } from './request.ts';
import { starter } from './start.ts';
import { WebhookCaller } from './webhook/call.ts';
import { serviceResolver } from './webhook/resolve.ts';
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
  const registry = new StoreRegistry(options.store, catalog, new Roles());
  const egress = options.egress ?? new Egress();
  const caller = new WebhookCaller(serviceResolver(registry, options.connectService), egress);
  const draining = new AbortController();
  const closing = new AbortController();
  // Every watch listens to it.
  setMaxListeners(0, closing.signal);
  const core = coreOf(options, { registry, caller, draining: draining.signal, closing: closing.signal });
  const ladderFor = ladders(core, rungsOf(core, options));
  const listeners: Listener[] = [];
  return {
    registry,
    transport: (user, holding) => {
      const own = ladderFor(holding);
      return (request) => own.serveAs(request, user);
    },
    async listen(where) {
      const listener = await listenHttps(ladderFor(undefined), where, core.limits, options.logger);
      listeners.push(listener);
      egress.addPort(Number(new URL(listener.url).port || 443));
      return listener;
    },
    ...ending({ draining, closing, listeners, caller }),
  };
}

/** What every request finds, however it comes. */
function coreOf(
  options: ApiServerOptions,
  parts: Pick<Core, 'draining' | 'closing'> & { registry: StoreRegistry; caller: WebhookCaller },
): Core {
  const { store } = options;
  const { registry, caller, draining, closing } = parts;
  const { catalog, roles } = registry;
  const tokens = options.accountKeys
    ? new ServiceAccountTokens(options.accountKeys, options.accountIssuer)
    : undefined;
  return {
    store,
    catalog,
    paths: new Paths(store),
    registry,
    authorize: authorizerOf(options, roles.index),
    admission: options.admission ?? [],
    builtin: builtinAdmission,
    webhooks: new WebhookDispatcher({ store, catalog, caller }),
    connectPod: options.connectPod,
    connectService: options.connectService,
    limits: { ...defaultLimits, ...options.limits },
    bookmarks: new BookmarkClock(store),
    draining,
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
    metrics: options.metrics,
  };
}

function rungsOf(core: Core, options: ApiServerOptions): LadderOptions {
  const { logicalClusters, views = [], logger } = options;
  return {
    limit: new InFlight(core.limits, core.observer),
    logicalClusters,
    authenticate: core.authenticators,
    anonymous: options.anonymous ?? anonymous,
    views,
    ready: starter(core),
    onError: (error, { method, url }) =>
      logger?.error('request failed', { method, path: pathOf(url), err: error }),
  };
}

/** One ladder for all who hold no lease; for a holder its own, whose writes happen only while the lease is held. */
function ladders(core: Core, rungs: LadderOptions): (holding: Fence | undefined) => Ladder {
  const ladder = createLadder(core, rungs);
  const { catalog, roles } = core.registry;
  return (holding) => {
    if (holding === undefined) return ladder;
    const store = fencedStore(core.store, holding);
    return createLadder({ ...core, store, registry: new StoreRegistry(store, catalog, roles) }, rungs);
  };
}

function authorizerOf({ authorize, guard }: ApiServerOptions, roles: RoleIndex): Authorizer {
  const decide = authorize ?? rbacAuthorizer(roles);
  return guard ? guard(decide) : decide;
}

function ending({
  draining,
  closing,
  listeners,
  caller,
}: {
  draining: AbortController;
  closing: AbortController;
  listeners: readonly Listener[];
  caller: WebhookCaller;
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
      caller.close();
    },
  };
}
