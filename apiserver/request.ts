import { isLogicalClusterName, rootCluster } from '../cluster/names.ts';
import { validatePathSegmentName } from '../kube/names.ts';
import { parseFieldSelector } from '../kube/selector.ts';
import { badRequest, StatusError } from '../kube/status.ts';

/** What a URL and a method ask for. Fields that do not apply are empty strings. */
export interface RequestInfo {
  method: string;
  /** Decoded, without the `/clusters/<name>` prefix. */
  path: string;
  query: URLSearchParams;
  /** As the URL names it, which may be its path; past the door: its id. `*` for all logical clusters. */
  cluster: string;
  /** True for /api/<version>/<resource>… and /apis/<group>/<version>/<resource>…. */
  isResource: boolean;
  /** get list watch create update patch delete deletecollection; of a non-resource: the method in lower case. */
  verb: string;
  group: string;
  version: string;
  resource: string;
  namespace: string;
  name: string;
  subresource: string;
  /** What follows a subresource: `/proxy/a/b`. */
  rest: string;
  /** Of a list or watch without a name: the one that its field selector leaves. Who may list or watch that may do so. */
  selected?: string;
}

const verbs: Readonly<Record<string, string>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

const lastingSubresources = new Set(['log', 'exec', 'attach', 'portforward', 'proxy']);

/** Watches and logs last, and are not counted. https://kubernetes.io/docs/reference/command-line-tools-reference/kube-apiserver/ */
export function isLongRunning({ verb, subresource }: RequestInfo): boolean {
  return verb === 'watch' || (subresource !== '' && lastingSubresources.has(subresource));
}

/**
 * URL shapes, each also below /clusters/<name>/ where logical clusters are served:
 *
 *   /api/<version>/…   /apis/<group>/<version>/…   followed by
 *     <resource>  <resource>/<name>  <resource>/<name>/<subresource>
 *     namespaces/<namespace>/<resource>[/<name>[/<subresource>]]
 *     namespaces/<name>[/status|/finalize]
 *     watch/…                        the old way to say ?watch=true, of a collection or of one object by its name
 *
 * Throws StatusError 400 for what no client may send, 404 for what cannot exist.
 */
export function parseRequest(
  method: string,
  url: string,
  options: { logicalClusters: boolean },
): RequestInfo {
  const mark = url.indexOf('?');
  const query = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
  const info = plain(method, query);
  let parts = segments(mark < 0 ? url : url.slice(0, mark));
  if (options.logicalClusters && parts[0] === 'clusters' && parts.slice(1).join('/') !== '') {
    info.cluster = clusterOf(parts[1] ?? '');
    parts = parts.slice(2);
  }
  info.path = `/${parts.join('/')}`;
  const core = parts[0] === 'api';
  if (!core && (parts[0] !== 'apis' || parts[1] === '')) return info;
  const head = core ? 2 : 3;
  const below = parts.slice(head);
  while (below.at(-1) === '') below.pop();
  if (below.length === 0 || below[0] === '') return info;
  // What is about a resource is the same with slashes behind it; what is not is another path.
  info.path = bareOf(info.path);
  info.group = core ? '' : (parts[1] ?? '');
  info.version = parts[head - 1] ?? '';
  return resourceRequest(info, below);
}

/** Of a path that only its owner can read: kept as the URL has it. */
export function parseBare(method: string, url: string): RequestInfo {
  const mark = url.indexOf('?');
  const info = plain(method, new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1)));
  info.path = pathOf(url);
  if (method === 'GET' && isTrue(info.query.get('watch'))) info.verb = 'watch';
  return info;
}

/** Without the slashes behind it. */
export function bareOf(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end--;
  return path.slice(0, end);
}

/** Without the query, and nothing decoded. */
export function pathOf(url: string): string {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}

/** `/clusters/<name>` as it may be written, each letter as three if need be: what follows says whether an empty name is one. */
const prefixed = /^\/([^/?]{8,24})\/([^/?]*)(\/?)/;

/**
 * Which logical cluster a URL names, known before anything else of it is judged, and as parseRequest has it; empty: it names
 * none that can be.
 */
export function clusterIn(url: string): string {
  return prefixOf(url) ?? rootCluster;
}

/** As clusterIn; undefined: the URL says nothing of it. */
export function prefixOf(url: string): string | undefined {
  const [, first = '', name = '', more = ''] = prefixed.exec(url) ?? [];
  if (first !== 'clusters' && decoded(first) !== 'clusters') return undefined;
  if (name === '' && more === '') return undefined;
  const cluster = decoded(name) ?? '';
  return cluster === '*' || isLogicalClusterName(cluster) ? cluster : '';
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function plain(method: string, query: URLSearchParams): RequestInfo {
  return {
    method,
    path: '/',
    query,
    cluster: rootCluster,
    isResource: false,
    verb: method.toLowerCase(),
    group: '',
    version: '',
    resource: '',
    namespace: '',
    name: '',
    subresource: '',
    rest: '',
  };
}

function resourceRequest(info: RequestInfo, given: string[]): RequestInfo {
  let parts = given;
  info.isResource = true;
  info.verb = verbs[info.method] ?? info.verb;
  const old = parts[0] === 'watch' && parts.length > 1;
  if (old) {
    info.verb = 'watch';
    parts = parts.slice(1);
  }
  if (parts[0] === 'namespaces' && parts.length > 1) {
    info.namespace = parts[1] ?? '';
    const own = parts.length === 2 || parts[2] === 'status' || parts[2] === 'finalize';
    if (!own) parts = parts.slice(2);
  }
  [info.resource = '', info.name = '', info.subresource = ''] = parts;
  info.rest = parts.slice(3).join('/');
  if (info.name === '' && info.verb === 'get') info.verb = isTrue(info.query.get('watch')) ? 'watch' : 'list';
  if (info.name === '' && info.verb === 'delete') info.verb = 'deletecollection';
  // By the old path it is the path that names one object, never the selector.
  const listing = !old && (info.verb === 'list' || info.verb === 'watch');
  const selected = listing ? selectedName(info.query) : undefined;
  if (selected !== undefined) info.selected = selected;
  return info;
}

function selectedName(query: URLSearchParams): string | undefined {
  const selector = query.get('fieldSelector');
  if (!selector?.includes('metadata.name')) return undefined;
  try {
    const exact = parseFieldSelector(selector).find(
      ({ field, op }) => field === 'metadata.name' && op === '=',
    );
    return exact && validatePathSegmentName(exact.value).length === 0 ? exact.value : undefined;
  } catch {
    // Whoever reads the selector says what is wrong with it.
    return undefined;
  }
}

function isTrue(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

function clusterOf(name: string): string {
  if (name === '*' || isLogicalClusterName(name)) return name;
  throw new StatusError(404, 'NotFound', 'the server could not find the requested resource');
}

/** Decodes each segment by itself: a `%2F` must never become a separator. Whoever serves refuses dots: see isDots. */
function segments(path: string): string[] {
  if (!path.startsWith('/')) throw badRequest('the request path must start with a slash');
  return path.slice(1).split('/').map(decodeSegment);
}

function decodeSegment(text: string): string {
  if (!text.includes('%')) return text;
  let decoded: string;
  try {
    decoded = decodeURIComponent(text);
  } catch {
    throw badRequest('the request path is not valid percent-encoding');
  }
  // It names nothing; a NUL is as good a character as others.
  if (decoded.includes('/'))
    throw new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});
  return decoded;
}

/** Neither names anything, and whoever passes a path with one on may take it for another. */
export function isDots(segment: string): boolean {
  return segment === '.' || segment === '..';
}
