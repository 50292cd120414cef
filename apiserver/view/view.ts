import type { PhysicalCluster } from '../../cluster/types.ts';
import { formatApiVersion } from '../../kube/gvk.ts';
import type { ApiRequest, ApiResponse } from '../../kube/http.ts';
import { badRequest } from '../../kube/status.ts';
import { isRecord } from '../../kube/untyped.ts';
import type { Core, Exchange } from '../core.ts';
import type { View } from '../options.ts';
import { accountToken } from './account-token.ts';
import { noteLeft } from './bound.ts';
import { boundedSlice } from './bounds.ts';
import { followCluster, followShares } from './follow.ts';
import { mayDrop, mayUseView } from './identity.ts';
import { ShareIndex } from './index.ts';
import { Listed } from './listed.ts';
import { getNamespace } from './namespace.ts';
import { deleteNode, listNodes, putNode } from './nodes.ts';
import { noteOwn } from './own.ts';
import { clusterKind, getCluster, listCluster, patchCluster, requireCluster } from './physical-cluster.ts';
import type { NamespacePlace } from './places.ts';
import { deleteReflection, listReflections, maxReflectionBytes, putReflection } from './reflections.ts';
import { answer, jsonBody, shareKind } from './respond.ts';
import { type Route, routeOf, splitView, unknownPath, verbs, wrongVerb } from './route.ts';
import { Shares } from './shares.ts';
import { dropSlice, type Heard, writeSlice } from './slices.ts';
import { watchView } from './watch.ts';

export { syncerUser } from './identity.ts';

const maxPatchBytes = 256 << 10;

/**
 * /syncers/<cluster>/: all that the syncer of one physical cluster reads and writes. It sees what is placed on
 * its cluster, already in that cluster's shape; it writes its own slice of status, its own reflections and
 * its own PhysicalCluster's status. Only that syncer and administrators may: see identity.ts.
 */
export function syncerView(): View {
  let index: ShareIndex | undefined;
  const listed = new Listed();
  return {
    owns: (path) => splitView(path) !== undefined,
    authorize({ user, verb, path = '' }) {
      const found = splitView(path);
      if (!found) return { allowed: false };
      const drops = verb === 'delete' && routeOf(found.cluster, found.rest)?.to === 'share-status';
      return { allowed: drops ? mayDrop(user) : mayUseView(user, found.cluster) };
    },
    async handle(exchange) {
      const { core, info, request } = exchange;
      const found = splitView(info.path);
      const route = found && routeOf(found.cluster, found.rest);
      if (!found || !route) throw unknownPath();
      if (!verbs[route.to].includes(request.method)) throw wrongVerb(route, request.method);
      index ??= new ShareIndex(core.store, core.closing);
      const { cluster } = found;
      return await dispatch({ exchange, core, cluster, query: info.query, request, index, listed }, route);
    },
  };
}

interface Call {
  exchange: Exchange;
  core: Core;
  cluster: string;
  query: URLSearchParams;
  request: ApiRequest;
  index: ShareIndex;
  listed: Listed;
}

async function dispatch(call: Call, route: Route): Promise<ApiResponse> {
  const { cluster, request } = call;
  const { store } = call.core;
  // Also of a cluster that was forgotten.
  if (route.to === 'share-status' && request.method === 'DELETE') {
    const dropped = await dropSlice(store, { cluster, ...route }, revisionIn(request));
    await noteLeft(store, { cluster, ...route }, dropped);
    return answer(200, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' });
  }
  switch (route.to) {
    case 'shares':
    case 'account-token':
    case 'clusters':
    case 'cluster':
      return await ofItself(call, route, await getCluster(store, cluster));
    case 'cluster-status':
      return answer(200, await patchCluster(store, cluster, jsonBody(request, maxPatchBytes)));
  }
  await requireCluster(store, cluster);
  switch (route.to) {
    case 'share-status': {
      const slice = boundedSlice(jsonBody(request, maxPatchBytes)['status']);
      const heard = await writeSlice(store, { cluster, ...route }, slice);
      await noteOwn(
        { ...call.core, index: await call.index.ready() },
        { cluster, ...route },
        heard.placement,
      );
      return answer(200, reduced(heard));
    }
    case 'reflections': {
      if (call.query.has('watch')) throw wrongVerb(route, 'watch');
      const { kind, group, version } = route.kind;
      const apiVersion = formatApiVersion({ group, version });
      return answer(200, list({ kind, apiVersion }, await listReflections(store, route.kind, cluster)));
    }
    case 'reflection':
      return answer(
        200,
        request.method === 'DELETE'
          ? await deleteReflection(
              { store, index: await call.index.ready() },
              route.kind,
              { cluster, ...route },
              uidIn(request),
            )
          : await putReflection(
              { ...call.core, index: await call.index.ready() },
              route.kind,
              { cluster, ...route },
              jsonBody(request, maxReflectionBytes),
            ),
      );
    case 'nodes':
      if (call.query.has('watch')) throw wrongVerb(route, 'watch');
      return answer(200, list({ kind: 'Node', apiVersion: 'v1' }, await listNodes(store, cluster)));
    case 'node':
      return answer(200, await writeNode(call, { cluster, ...route }));
    case 'namespace':
      return answer(200, await getNamespace(store, namespaceOf(route), uidAsked(call.query)));
  }
}

type OfItself = Extract<Route, { to: 'shares' | 'account-token' | 'clusters' | 'cluster' }>;

/** What hangs on what its PhysicalCluster says. */
async function ofItself(call: Call, route: OfItself, physical: PhysicalCluster): Promise<ApiResponse> {
  const { core, cluster, query } = call;
  const { store } = core;
  switch (route.to) {
    case 'shares':
      return await shares(call, physical.metadata.uid ?? '');
    case 'account-token':
      return answer(201, await accountToken(core, await call.index.ready(), physical, route));
    case 'clusters':
      if (!isWatch(query)) return answer(200, list(clusterKind, await listCluster(store, cluster)));
      return watchView(call.exchange, followCluster(store, cluster, startOf(query) ?? store.revision));
    case 'cluster':
      return answer(200, physical);
  }
}

async function writeNode(
  { index, request, core: { store } }: Call,
  address: { cluster: string; logical: string; name: string },
): Promise<object> {
  if (request.method === 'DELETE') return await deleteNode(store, address, uidIn(request));
  const body = jsonBody(request, maxReflectionBytes);
  return await putNode({ store, index: await index.ready() }, address, body);
}

async function shares(call: Call, uid: string): Promise<ApiResponse> {
  const { core, exchange, cluster, query, listed } = call;
  const { store } = core;
  const index = await call.index.ready();
  const viewer = { cluster, uid };
  const start = isWatch(query) ? startOf(query) : undefined;
  const known = start === undefined ? undefined : listed.take({ viewer, index, revision: start });
  const follow = (state: Shares, after: number) =>
    watchView(exchange, followShares(store, { index, cluster, state, after }));
  if (known && start !== undefined) return follow(known, start);
  const state = new Shares(store, viewer);
  const made = await state.load(index, start);
  const { revision } = made;
  if (isWatch(query)) return follow(state, revision);
  listed.keep({ viewer, index, revision, state });
  return answer(200, list(shareKind, made));
}

function namespaceOf({ logical, name }: { logical: string; name: string }): NamespacePlace {
  return { logical, namespace: name };
}

function uidAsked(query: URLSearchParams): string {
  const uid = query.get('uid');
  if (!uid) throw badRequest('the uid of the Namespace that is meant must be given: ?uid=');
  return uid;
}

/** Which object a deletion is about, as DeleteOptions say it. */
function uidIn(request: ApiRequest): unknown {
  return preconditionsIn(request)['uid'];
}

/** Which word a deletion is about. */
function revisionIn(request: ApiRequest): number {
  const revision = Number(preconditionsIn(request)['resourceVersion']);
  if (!(revision > 0)) throw badRequest('preconditions.resourceVersion must say which word is meant');
  return revision;
}

function preconditionsIn(request: ApiRequest): Record<string, unknown> {
  if (!request.body?.length) return {};
  const { preconditions } = jsonBody(request, maxPatchBytes);
  return isRecord(preconditions) ? preconditions : {};
}

/** A slice's writer sees nothing of other clusters: only that it was written, and as of which revision. */
function reduced({ placement, revision }: Heard): object {
  const { name, namespace } = placement.metadata;
  return { ...shareKind, metadata: { name, namespace, resourceVersion: String(revision) } };
}

function list(
  kind: { kind: string; apiVersion: string },
  { revision, items }: { revision: number; items: unknown[] },
): object {
  const metadata = { resourceVersion: String(revision) };
  return { kind: `${kind.kind}List`, apiVersion: kind.apiVersion, metadata, items };
}

function isWatch(query: URLSearchParams): boolean {
  const value = query.get('watch');
  return value === 'true' || value === '1';
}

/** Where a watch starts; undefined (nothing named, or 0): now. */
function startOf(query: URLSearchParams): number | undefined {
  const value = query.get('resourceVersion') ?? '';
  if (value === '' || value === '0') return undefined;
  if (!/^\d{1,15}$/.test(value)) throw badRequest(`Invalid value: ${JSON.stringify(value)}: resourceVersion`);
  return Number(value);
}
