import type { ApiRequest, ApiResponse } from '../../../../kube/http.ts';
import { type Asked, type Cluster, verdict } from './model.ts';
import { marker, namespaces, planted, tenants } from './planting.ts';
import { type Registry, type Route, registryOf, routesOf, verbOf } from './routes.ts';
import { type Asker, type Setting, startMatrix } from './tenants.ts';

export interface Place {
  prefix: string;
  cluster: Cluster;
}

let setting: Setting;
export let places: Place[] = [];
const registries = new Map<Cluster, Registry>();
export let asked = 0;

export async function begin(): Promise<Setting> {
  setting = await startMatrix();
  const { api, ids } = setting;
  places = [
    { prefix: '', cluster: 'root' },
    { prefix: '/clusters/root', cluster: 'root' },
    { prefix: '/clusters/root:a', cluster: 'a' },
    { prefix: `/clusters/${ids.a}`, cluster: 'a' },
    { prefix: '/clusters/root:b', cluster: 'b' },
    { prefix: `/clusters/${ids.b}`, cluster: 'b' },
    { prefix: '/clusters/*', cluster: '*' },
    { prefix: '/clusters/root:none', cluster: 'none' },
  ];
  const transport = api.server.transport({ name: 'admin', groups: ['system:masters'] });
  registries.set('root', await registryOf(transport));
  for (const tenant of tenants)
    registries.set(tenant, await registryOf(transport, `/clusters/root:${tenant}`));
  return setting;
}

const others = [
  '/',
  '/metrics',
  '/metrics/slis',
  '/debug/pprof',
  '/logs',
  '/logs/x',
  '/clusters',
  '/nothing',
];
const views = [
  '/syncers/east/api/v1/nodes',
  '/syncers/east/apis/atoll.dev/v1alpha1/shares',
  '/syncers/east/clusters/A/api/v1/namespaces/open',
  '/syncers/west/apis/atoll.dev/v1alpha1/shares',
  '/backup',
  '/client-certificates',
  '/service-account-keys',
  '/plan',
  '/debug/pprof/profile',
  '/debug/pprof/heap',
];
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** All that is served anywhere is asked for everywhere. */
function routes(brief: boolean): Route[] {
  const known = new Map<string, Route>();
  for (const { resources, paths } of registries.values()) {
    for (const resource of resources) {
      const all = routesOf(resource, brief ? ['open'] : namespaces, planted);
      for (const route of brief ? all.filter(({ path, watches }) => !path.includes('?') && !watches) : all)
        known.set(route.path, route);
    }
    for (const path of [...paths, ...others, ...views])
      known.set(path, { path: path.replace('A', setting.ids.a) });
  }
  return [...known.values()];
}

function request(method: string, route: Route, prefix: string): ApiRequest {
  const dry = route.resource !== undefined && !['GET', 'HEAD', 'OPTIONS'].includes(method);
  const mark = route.path.includes('?') ? '&' : '?';
  const url = `${prefix}${route.path}${dry ? `${mark}dryRun=All` : ''}`;
  const { kind, apiVersion, namespace } = route;
  const name = method === 'POST' ? 'new' : route.name;
  const metadata = { name, ...(namespace !== undefined && { namespace }), labels: { changed: 'yes' } };
  const bodies: Record<string, object> = {
    POST: { kind, apiVersion, metadata },
    PUT: { kind, apiVersion, metadata },
    PATCH: { metadata: { labels: { changed: 'yes' } } },
  };
  const body = bodies[method];
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  return {
    method,
    url,
    headers: body ? { 'content-type': type } : {},
    ...(body && { body: Buffer.from(JSON.stringify(body)) }),
  };
}

export async function send(asker: Asker, given: ApiRequest): Promise<{ status: number; text: string }> {
  const gone = new AbortController();
  const headers = { host: 'atoll', ...given.headers, ...asker.headers };
  const full = { ...given, headers, signal: gone.signal };
  const response = await (asker.inside?.(full) ?? setting.api.server.receive(full, asker.peer ?? {}));
  asked++;
  const text = await beginning(response, gone);
  return { status: response.status, text };
}

/** All of an answer that ends, and of a watch what it begins with. */
async function beginning({ body, tunnel }: ApiResponse, gone: AbortController): Promise<string> {
  tunnel?.destroy();
  if (body instanceof Uint8Array) return body.length === 0 ? '' : Buffer.from(body).toString('latin1');
  const chunks: Uint8Array[] = [];
  const stop = setImmediate(() => setImmediate(() => gone.abort()));
  for await (const chunk of body) chunks.push(chunk);
  clearImmediate(stop);
  return Buffer.concat(chunks).toString('latin1');
}

export const everyMark = ['root', ...tenants].flatMap((cluster) =>
  [...namespaces, 'wide', 'kind'].map((where) => [cluster, where, marker(cluster, where)] as const),
);

/** Of which places an answer to what was asked may tell. */
function mayTell(cluster: string, where: string, { cluster: at, namespace = '', path }: Asked): boolean {
  if (path === '/backup') return true;
  if (at !== '*' && cluster !== at) return false;
  if (where === 'kind') return true;
  if (path !== undefined) return false;
  return namespace === '' || where === namespace;
}

/** What kube-apiserver has no better code for, nor a server without physical clusters. */
export const ofKubernetes =
  /no endpoints available for service|this server has no way to any cluster|unsupported role reference kind: |target.name: Required value|is not served by this server yet|content is not a list/;

function problemOf(asker: Asker, about: Asked, answer: { status: number; text: string }): string | undefined {
  const expected = verdict(asker, about);
  const { status, text } = answer;
  for (const [cluster, where, mark] of everyMark) {
    if (text.includes(mark) && (expected !== 'yes' || !mayTell(cluster, where, about)))
      return `tells ${mark}`;
  }
  if (status >= 500 && !ofKubernetes.test(text)) return `${status} ${text.slice(0, 200)}`;
  if (expected !== 'yes') return status === expected ? undefined : `${status}, not ${expected}`;
  // Admission refuses by 403, too, in other words.
  const isRefused = status === 401 || (status === 403 && /User \\?".*\\?" cannot/.test(text));
  return isRefused ? `${status}, not allowed: ${text.slice(0, 200)}` : undefined;
}

/** Where it leads. */
function placeOf({ home }: Asker, place: Place): Place {
  if (home === undefined || place.prefix !== '') return place;
  return { prefix: `/clusters/${setting.ids[home]}`, cluster: home };
}

function aboutOf(method: string, route: Route, { prefix, cluster }: Place): Asked {
  const { path, kind: _kind, apiVersion: _version, watches: _watches, ...what } = route;
  const byId = /^\/clusters\/[a-z0-9]{16}$/.test(prefix);
  const place = { cluster, plain: prefix === '', byId, connects: method === 'GET' };
  const verb = verbOf(method, route);
  return route.resource === undefined ? { ...place, verb, path } : { ...place, verb, ...what };
}

/** Other names of places: whoever shows what is no good is not asked there, others by GET. */
const passed = new Set(['/clusters/root', '/clusters/root:a', '/clusters/root:b', '/clusters/*']);

export async function wrongs(
  asker: Asker,
  { where, accept, by }: { where?: Place[]; accept?: Record<string, string>; by?: string[] } = {},
): Promise<string[]> {
  const wrong: string[] = [];
  const at = where ?? (asker.brief ? places.filter(({ prefix }) => !passed.has(prefix)) : places);
  for (const route of routes(asker.brief ?? false)) {
    const more = route.path.endsWith('?watch=true') || route.watches === 'old' ? ['GET', 'POST'] : ['GET'];
    const all = route.path.includes('?') || route.watches ? more : methods;
    for (const place of at) {
      for (const method of by ?? (passed.has(place.prefix) && place.cluster !== '*' ? ['GET'] : all)) {
        const given = request(method, route, place.prefix);
        const answer = await send(asker, { ...given, headers: { ...given.headers, ...accept } });
        const problem = problemOf(asker, aboutOf(method, route, placeOf(asker, place)), answer);
        if (problem !== undefined) wrong.push(`${method} ${given.url}: ${problem}`);
      }
    }
  }
  return wrong;
}
