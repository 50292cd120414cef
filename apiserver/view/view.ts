import { apiVersion } from '../../cluster/names.ts';
import { isObject } from '../../kube/deep.ts';
import { formatApiVersion } from '../../kube/gvk.ts';
import type { ApiRequest, ApiResponse, UserInfo } from '../../kube/http.ts';
import { badRequest } from '../../kube/status.ts';
import type { Store } from '../../storage/store.ts';
import type { View } from '../options.ts';
import type { Registry } from '../registry/types.ts';
import { boundedSlice } from './bounds.ts';
import { authorizeView } from './identity.ts';
import { getNamespace } from './namespace.ts';
import { clusterKind, feedCluster, getCluster, listCluster, patchCluster } from './physical-cluster.ts';
import type { NamespacePlace } from './places.ts';
import { deleteReflection, listReflections, maxReflectionBytes, putReflection } from './reflections.ts';
import { answer, jsonBody, stream } from './respond.ts';
import { type Route, routeOf, splitView, unknownPath, verbs, wrongVerb } from './route.ts';
import { Shares } from './shares.ts';
import { writeSlice } from './slices.ts';
import { type Feed, watchStream } from './watch.ts';

export { syncerUser } from './identity.ts';

const shareKind = { kind: 'Share', apiVersion };
const maxPatchBytes = 256 << 10;

/**
 * /syncers/<cluster>/: all that the syncer of one physical cluster reads and writes. It sees what is placed on
 * its cluster, already in that cluster's shape; it writes its own slice of status, its own reflections and
 * its own PhysicalCluster's status. It is its own authorization: see identity.ts.
 */
export function syncerView(): View {
  return {
    prefix: '/syncers/',
    handle(request, user, { store, registry }) {
      const found = splitView(request.url);
      return found && serve({ store, registry }, found, request, user);
    },
  };
}

interface Stored {
  store: Store;
  registry: Registry;
}

interface Call extends Stored {
  cluster: string;
  query: URLSearchParams;
  request: ApiRequest;
}

async function serve(
  stored: Stored,
  found: { cluster: string; rest: string; query: URLSearchParams },
  request: ApiRequest,
  user: UserInfo,
): Promise<ApiResponse> {
  const { cluster, rest, query } = found;
  authorizeView(user, cluster, request.method, `/syncers/${cluster}/${rest}`);
  const route = routeOf(cluster, rest);
  if (!route) throw unknownPath();
  if (!verbs[route.to].includes(request.method)) throw wrongVerb(route, request.method);
  return await dispatch({ ...stored, cluster, query, request }, route);
}

async function dispatch(call: Call, route: Route): Promise<ApiResponse> {
  const { store, cluster, request } = call;
  const physical = await getCluster(store, cluster);
  switch (route.to) {
    case 'shares':
      return await shares(call, physical.metadata.uid ?? '');
    case 'share-status': {
      const slice = boundedSlice(jsonBody(request, maxPatchBytes)['status']);
      return answer(200, await writeSlice(store, { cluster, ...route }, slice).then(reduced));
    }
    case 'reflections': {
      if (call.query.has('watch')) throw wrongVerb(route, 'watch');
      const { kind, group, version } = route.of;
      const apiVersion = formatApiVersion({ group, version });
      return answer(200, list({ kind, apiVersion }, await listReflections(store, route.of, cluster)));
    }
    case 'reflection':
      return answer(
        200,
        request.method === 'DELETE'
          ? await deleteReflection(store, route.of, { cluster, ...route }, uidIn(request))
          : await putReflection(call, route.of, { cluster, ...route }, jsonBody(request, maxReflectionBytes)),
      );
    case 'namespace':
      return answer(200, await getNamespace(store, namespaceOf(route), uidAsked(call.query)));
    case 'clusters':
      if (!isWatch(call.query)) return answer(200, list(clusterKind, await listCluster(store, cluster)));
      return follow(call, clusterKind, startOf(call.query) ?? store.revision, feedCluster(cluster));
    case 'cluster':
      return answer(200, physical);
    case 'cluster-status':
      return answer(200, await patchCluster(store, cluster, jsonBody(request, maxPatchBytes)));
  }
}

async function shares(call: Call, uid: string): Promise<ApiResponse> {
  const state = new Shares(call.store, { cluster: call.cluster, uid });
  if (!isWatch(call.query)) return answer(200, list(shareKind, await state.load()));
  const { revision } = await state.load(startOf(call.query));
  return follow(call, shareKind, revision, (event) => state.feed(event));
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
  if (!request.body?.length) return undefined;
  const { preconditions } = jsonBody(request, maxPatchBytes);
  return isObject(preconditions) ? preconditions['uid'] : undefined;
}

/** A slice's writer sees nothing of other clusters: only that it was written, and at which revision. */
function reduced(placement: {
  metadata: { name?: string; namespace?: string; resourceVersion?: string };
}): object {
  const { name, namespace, resourceVersion } = placement.metadata;
  return { ...shareKind, metadata: { name, namespace, resourceVersion } };
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

function follow(
  call: Call,
  kind: { kind: string; apiVersion: string },
  after: number,
  feed: Feed,
): ApiResponse {
  const asked = Number(call.query.get('timeoutSeconds'));
  const seconds = Number.isFinite(asked) && asked > 0 ? Math.min(asked, 3600) : 1800;
  return stream(
    watchStream({
      store: call.store,
      after,
      feed,
      kind,
      bookmarks: call.query.get('allowWatchBookmarks') === 'true',
      timeoutMs: seconds * 1000,
      signal: call.request.signal,
    }),
  );
}
