import { podMetrics } from '../../cluster/pod-metrics.ts';
import type { ApiResponse } from '../../kube/http.ts';
import { badRequest, isStatusError, notFound, StatusError } from '../../kube/status.ts';
import { handledIn } from '../conversion/exchange.ts';
import type { Exchange, ResourceExchange } from '../core.ts';
import { checkAccept, listTypes } from '../encode/negotiate.ts';
import { methodNotAllowed, noSuchResource } from '../encode/respond.ts';
import { text } from '../encode/text.ts';
import { isDots, type RequestInfo } from '../request.ts';
import type { ServedResource } from '../served.ts';
import { handledJoined, isOfPlacements } from '../slices/exchange.ts';
import { handleBinding } from './binding.ts';
import { handleComponents } from './components.ts';
import { handleConnect } from './connect.ts';
import { handleCreate } from './create.ts';
import { handleDelete } from './delete.ts';
import { handleDeleteCollection } from './delete-collection.ts';
import { handleEviction } from './eviction.ts';
import { handleGet } from './get.ts';
import { handleList } from './list.ts';
import { handleLog } from './log.ts';
import { handlePatch } from './patch.ts';
import { handlePodMetrics } from './pod-metrics.ts';
import { handleProxy } from './proxy.ts';
import { handleReview, isReview } from './reviews.ts';
import { handleScale } from './scale.ts';
import { handleToken } from './token.ts';
import { handleUpdate } from './update.ts';
import { handleWatch } from './watch.ts';
import { patchType } from './writes/patching.ts';

type Handler = (exchange: ResourceExchange) => Promise<ApiResponse>;

const verbs: Readonly<Record<string, Handler>> = {
  get: handleGet,
  list: handleList,
  watch: handleWatch,
  create: handleCreate,
  update: handleUpdate,
  patch: handlePatch,
  delete: handleDelete,
  deletecollection: handleDeleteCollection,
};

/** Subresources that are not the object itself under other rules. */
const special: Readonly<Record<string, Handler>> = {
  scale: handleScale,
  log: handleLog,
  exec: handleConnect,
  attach: handleConnect,
  portforward: handleConnect,
  proxy: handleProxy,
  eviction: handleEviction,
  binding: handleBinding,
  token: handleToken,
};

/** Warned of on every request. https://kubernetes.io/docs/reference/using-api/deprecation-guide/ */
const deprecations: Readonly<Record<string, string>> = {
  '/v1/endpoints': 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  '/v1/componentstatuses': 'v1 ComponentStatus is deprecated in v1.19+',
};

/** What serves a request about a resource; throws StatusError 404 or 405 when nothing does. */
export function handlerFor(
  exchange: Exchange,
  served: ServedResource,
): { exchange: ResourceExchange; handle: Handler } {
  const { core, request, info, user, warnings, audit, until, longTurn } = exchange;
  const stored = core.registry.find(info.cluster, info.group, info.resource) ?? served;
  // Not a spread: this is on every request's way.
  const resourceExchange: ResourceExchange = {
    core,
    request,
    info,
    user,
    warnings,
    audit,
    until,
    longTurn,
    served,
    stored,
  };
  if (isNoPath(info, served)) return { exchange: resourceExchange, handle: pageNotFound };
  checkPath(resourceExchange);
  const handle = choose(resourceExchange);
  if (isDots(info.name))
    throw badRequest(`Name parameter invalid: ${JSON.stringify(info.name)}: may not be '${info.name}'`);
  const listing = info.verb === 'list' || info.verb === 'watch';
  if (!served.custom) checkAccept(request.headers, listing ? listTypes : undefined);
  // A patch of no known type comes to no resource; what is proxied is whatever it is.
  if (info.verb === 'patch' && !['scale', 'proxy'].includes(info.subresource)) patchType(resourceExchange);
  warnDeprecated(resourceExchange);
  if (isOfPlacements(info)) return { exchange: resourceExchange, handle: handledJoined(handle) };
  if (served.conversion !== undefined) {
    return { exchange: resourceExchange, handle: handledIn(resourceExchange, handle) };
  }
  return { exchange: resourceExchange, handle: info.group === 'events.k8s.io' ? named(handle) : handle };
}

/** Why a resource beside those of pods is not served: `kubectl top nodes` asks whoever serves the group. */
export function noSuchMetrics({ group, resource }: RequestInfo): StatusError | undefined {
  if (group !== podMetrics.group || resource !== 'nodes') return undefined;
  const message =
    'what nodes use is told by the physical clusters whose nodes they are, not here: ask there, or ask here for what pods use (kubectl top pods)';
  return new StatusError(404, 'NotFound', message, {});
}

function warnDeprecated({ info, served, warnings }: ResourceExchange): void {
  const deprecated = served.custom
    ? served.deprecation
    : deprecations[`${info.group}/${info.version}/${info.resource}`];
  if (deprecated !== undefined) warnings.add(deprecated);
}

/** What is stored as an Event of the core group goes by the name by which it was asked for. */
function named(handle: Handler): Handler {
  return async (exchange) => {
    try {
      return await handle(exchange);
    } catch (error) {
      if (!isStatusError(error) || error.details?.kind !== 'events' || error.details.group) throw error;
      const { code, reason, message, details } = error;
      const { name, ...rest } = details;
      throw new StatusError(
        code,
        reason,
        message.replace('events "', 'events.events.k8s.io "'),
        { ...(name !== undefined && { name }), group: 'events.k8s.io', ...rest },
        error,
      );
    }
  };
}

/** Of custom resources there are no paths but those of their scope; to read the collection is to read all namespaces. */
function isNoPath({ namespace, verb }: RequestInfo, { custom, info }: ServedResource): boolean {
  if (!custom) return false;
  return info.namespaced ? namespace === '' && verb !== 'list' && verb !== 'watch' : namespace !== '';
}

const pageNotFound: Handler = async () => text(404, '404 page not found\n');

function checkPath({ info, served }: ResourceExchange): void {
  const itself = info.resource === 'namespaces' && info.group === '' && info.name === info.namespace;
  const inNamespace = info.namespace !== '' && !itself;
  if (!served.info.namespaced && inNamespace) throw noSuchResource();
  if ((inNamespace && isDots(info.namespace)) || (!served.custom && !isRouted(info, served)))
    throw noSuchResource();
  if (served.info.namespaced && info.namespace === '') {
    if (isUnsaid(info, served)) {
      const isObject = info.subresource === '';
      if (info.method === 'HEAD' || (info.method === 'POST' && isObject)) throw methodNotAllowed();
      throw badRequest('Namespace parameter required.');
    }
    if (info.name !== '' || !served.info.verbs.includes('list')) throw noSuchResource();
    if (info.verb === 'deletecollection' && unnamed.test(info.path))
      throw badRequest('Namespace parameter required.');
    // Who makes an object there is told what it lacks.
    const isRead = info.verb === 'create' && unnamed.test(info.path);
    if (!isRead && (info.verb === 'create' || info.verb === 'deletecollection')) throw methodNotAllowed();
  }
  if (info.verb === 'watch' && info.subresource !== '') throw noSuchResource();
  // Routes of kinds that are built in know of GET alone, but those of proxies.
  const hasHead = served.custom || info.subresource === 'proxy';
  if ((info.method === 'HEAD' && !hasHead) || (info.verb === 'watch' && info.method !== 'GET'))
    throw methodNotAllowed();
  if (info.cluster === '*' && info.verb !== 'list' && info.verb !== 'watch') throw methodNotAllowed();
}

/** Of what is built in: there are no paths below what is served, but for proxies; nor in a namespace, unnamed as it may be, to what is in none. */
function isRouted(
  { path, resource, name, subresource, rest }: RequestInfo,
  { info }: ServedResource,
): boolean {
  if (rest !== '' && (subresource !== 'proxy' || rest.split('/').some(isDots))) return false;
  return info.namespaced || (resource === 'namespaces' && name === '') || !unnamed.test(path);
}

const unnamed = /^\/apis?(\/[^/]+){1,2}\/(watch\/)?namespaces\/\//;

/** One object in a namespace that has no name, as by a variable that is not set. What is not built in has no such path. */
function isUnsaid({ path, name, subresource }: RequestInfo, { info, custom }: ServedResource): boolean {
  if (custom || name === '' || !unnamed.test(path)) return false;
  return subresource === '' || info.subresources.some((one) => one.name === subresource);
}

function choose(exchange: ResourceExchange): Handler {
  const { info, served } = exchange;
  if (info.subresource === '') {
    if (!served.info.verbs.includes(info.verb)) throw refusal(exchange);
    // POST goes to the collection, PUT and PATCH to one object.
    const named = info.name !== '';
    const needsName = ['get', 'update', 'patch', 'delete'].includes(info.verb);
    if ((info.verb === 'create' && named) || (needsName && !named)) throw methodNotAllowed();
    if (served.info.kind === 'Binding' && served.info.group === '') return handleBinding;
    if (isReview(exchange)) return handleReview;
    if (served.info.kind === 'ComponentStatus' && served.info.group === '') return handleComponents;
    if (served.info.group === podMetrics.group && served.info.resource === podMetrics.resource)
      return handlePodMetrics;
    return verbs[info.verb] ?? refuse;
  }
  const sub = served.info.subresources.find((s) => s.name === info.subresource);
  if (sub === undefined) throw served.custom ? notFound(served.info, info.name) : noSuchResource();
  // A proxy takes what browsers ask before they send anything, too, though discovery has no verb for it.
  const asks = info.subresource === 'proxy' && info.method === 'OPTIONS';
  if (!asks && !sub.verbs.includes(info.verb))
    throw served.custom ? unsupported(exchange) : methodNotAllowed();
  const handler = special[info.subresource];
  if (handler !== undefined && !(info.subresource === 'proxy' && info.resource === 'nodes')) return handler;
  return ['get', 'update', 'patch'].includes(info.verb) && sub.kind === served.info.kind
    ? (verbs[info.verb] ?? refuse)
    : notServed;
}

/** What can only be created has no path of its own to refuse methods at. */
function refusal(exchange: ResourceExchange): StatusError {
  const { info, served } = exchange;
  if (info.name !== '' && served.info.verbs.join() === 'create') return noSuchResource();
  if (info.verb !== 'watch' || !served.info.verbs.includes('list')) return methodNotAllowed();
  // It came as far as a list does.
  warnDeprecated(exchange);
  const { resource } = served.info;
  const message = `watch is not supported on resources of kind ${JSON.stringify(resource)}`;
  return new StatusError(405, 'MethodNotAllowed', message, { kind: resource });
}

/** The subresources of a definition are there for any method. */
function unsupported({ info, served }: ResourceExchange): StatusError {
  const { group, resource } = served.info;
  const message = `${info.verb} is not supported on resources of kind "${resource}.${group}"`;
  return new StatusError(405, 'MethodNotAllowed', message, { group, kind: resource });
}

const refuse: Handler = () => Promise.reject(methodNotAllowed());

/** Who asks it of what is not there is told so first. */
const notServed: Handler = async ({ core, info, stored }) => {
  await core.registry.read(stored, info);
  const message = `${info.resource}/${info.subresource} is not served by this server yet`;
  throw new StatusError(501, 'NotImplemented', message);
};
