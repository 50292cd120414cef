import type { Transport } from '../../../../kube/http.ts';

export interface Route {
  path: string;
  /** Of a resource. */
  kind?: string;
  apiVersion?: string;
  group?: string;
  resource?: string;
  subresource?: string;
  namespace?: string;
  name?: string;
  /** By ?watch=true, by the old path /watch/, whose verb no method changes. */
  watches?: 'asked' | 'old';
}

export interface Resource {
  group: string;
  version: string;
  resource: string;
  kind: string;
  namespaced: boolean;
  subresources: string[];
}

interface Listed {
  items: {
    metadata: { name?: string };
    versions: {
      version: string;
      resources: {
        resource: string;
        scope: string;
        responseKind?: { kind: string };
        subresources?: { subresource: string }[];
      }[];
    }[];
  }[];
}

export interface Registry {
  resources: Resource[];
  /** What the index at `/` lists. */
  paths: string[];
}

/** What a server says it serves there: a route that is added is in it by itself. */
export async function registryOf(transport: Transport, prefix = ''): Promise<Registry> {
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const read = async (path: string) => {
    const url = `${prefix}${path}`;
    const { body } = await transport({ method: 'GET', url, headers: { accept } });
    return JSON.parse(Buffer.from(body as Uint8Array).toString());
  };
  const resources: Resource[] = [];
  for (const root of ['/api', '/apis']) {
    for (const { metadata, versions } of ((await read(root)) as Listed).items) {
      for (const { version, resources: all } of versions) {
        for (const { resource, scope, responseKind, subresources = [] } of all) {
          resources.push({
            group: root === '/api' ? '' : (metadata.name ?? ''),
            version,
            resource,
            kind: responseKind?.kind ?? '',
            namespaced: scope === 'Namespaced',
            subresources: subresources.map(({ subresource }) => subresource),
          });
        }
      }
    }
  }
  return { resources, paths: (await read('/')).paths };
}

export const apiOf = ({ group, version }: Pick<Resource, 'group' | 'version'>) =>
  group === '' ? `/api/${version}` : `/apis/${group}/${version}`;

/** Every way to ask for a resource. */
export function routesOf(resource: Resource, namespaces: readonly string[], name: string): Route[] {
  const { group, version, resource: plural, kind, subresources } = resource;
  const base = apiOf(resource);
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const about = { group, resource: plural, kind, apiVersion };
  const collection = (place: string, more: { namespace?: string }): Route[] => {
    const path = `${place}/${plural}`;
    const at = { ...about, ...more };
    const selector = `fieldSelector=metadata.name%3D${name}`;
    return [
      { ...at, path },
      { ...at, path: `${path}?watch=true`, watches: 'asked' },
      { ...at, path: `${path}?labelSelector=planted%3Dyes&limit=1` },
      { ...at, path: `${path}?${selector}`, name },
      { ...at, path: `${path}?watch=1&${selector}`, name, watches: 'asked' },
      { ...at, path: path.replace(base, `${base}/watch`), watches: 'old' },
    ];
  };
  const one = (path: string, more: { namespace?: string; name: string }): Route[] => [
    { ...about, ...more, path },
    { ...about, ...more, path: path.replace(base, `${base}/watch`), watches: 'old' },
    ...subresources.map((subresource) => ({
      ...about,
      ...more,
      subresource,
      path: `${path}/${subresource}`,
    })),
  ];
  // A Namespace is in itself.
  if (group === '' && plural === 'namespaces') {
    return [
      ...collection(base, {}),
      ...namespaces.flatMap((own) => one(`${base}/namespaces/${own}`, { namespace: own, name: own })),
    ];
  }
  if (!resource.namespaced) return [...collection(base, {}), ...one(`${base}/${plural}/${name}`, { name })];
  return [
    ...collection(base, {}),
    ...namespaces.flatMap((namespace) => {
      const place = `${base}/namespaces/${namespace}`;
      return [...collection(place, { namespace }), ...one(`${place}/${plural}/${name}`, { namespace, name })];
    }),
  ];
}

const verbs: Readonly<Record<string, string>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** https://kubernetes.io/docs/reference/access-authn-authz/authorization/#determine-the-request-verb */
export function verbOf(method: string, { path, resource, watches }: Route): string {
  if (resource === undefined) return method.toLowerCase();
  if (watches === 'old') return 'watch';
  const verb = verbs[method] ?? method.toLowerCase();
  const isCollection = path.split('?', 1)[0]?.endsWith(`/${resource}`) ?? false;
  if (!isCollection) return verb;
  if (verb === 'get') return watches ? 'watch' : 'list';
  return verb === 'delete' ? 'deletecollection' : verb;
}
