import { Egress } from '../../../apiserver/egress/dial.ts';
import type { ApiServerOptions } from '../../../apiserver/options.ts';
import { createApiServer } from '../../../apiserver/server.ts';
import { newLogicalClusterId } from '../../../cluster/logical.ts';
import type { ApiResponse, Transport } from '../../../kube/http.ts';
import type { KubeObject, WatchEvent } from '../../../kube/object.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import type { Store } from '../../../storage/store.ts';

export const admin = { name: 'admin', groups: ['system:masters'] };

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field.
export type Answer = any;

export interface Api {
  server: ReturnType<typeof createApiServer>;
  call(method: string, url: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  /** Makes the logical cluster of a Workspace in root, as the tenancy controller does; its id. */
  addCluster(path: string): Promise<string>;
  close(): Promise<void>;
}

export interface Reply {
  status: number;
  headers: Record<string, string | string[]>;
  body: Answer;
}

/** A server on a store of its own, called in-process. */
export function startApi(options: Partial<ApiServerOptions> = {}): Api {
  const store = options.store ?? openMemory();
  const server = createApiServer({
    store,
    logicalClusters: true,
    authenticate: [],
    egress: new Egress({ allow: ['127.0.0.0/8'], deny: [], ports: [] }),
    ...options,
  });
  const transport = server.transport(admin);
  return {
    server,
    call: (method, url, body, headers = {}) => call(transport, method, url, body, headers),
    addCluster: async (path) => {
      const id = newLogicalClusterId();
      const name = path.slice('root:'.length);
      await put(store, `/core.kcp.io/logicalclusters/${id}/cluster`, { metadata: { name: 'cluster' } });
      const namespace = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'default' } };
      await put(store, `/core/namespaces/${id}/default`, namespace);
      const workspace = { kind: 'Workspace', apiVersion: 'tenancy.kcp.io/v1alpha1', metadata: { name } };
      await put(store, `/tenancy.kcp.io/workspaces/root/${name}`, { ...workspace, spec: { cluster: id } });
      return id;
    },
    close: async () => {
      await server.close();
      await store.close();
    },
  };
}

function put(store: Store, key: string, object: object): Promise<unknown> {
  return store.create(key, Buffer.from(JSON.stringify(object)));
}

export async function call(
  transport: Transport,
  method: string,
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const given = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const response = await transport({
    method,
    url,
    headers: { ...(given !== undefined && { 'content-type': type }), ...headers },
    ...(given !== undefined && { body: Buffer.from(given) }),
  });
  return { status: response.status, headers: response.headers, body: await parsed(response) };
}

async function parsed(response: ApiResponse): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  if (response.body instanceof Uint8Array) chunks.push(response.body);
  else for await (const chunk of response.body) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The events of a watch, one by one. */
export async function* watch(
  transport: Transport,
  url: string,
  signal?: AbortSignal,
): AsyncGenerator<WatchEvent<KubeObject>> {
  const response = await transport({ method: 'GET', url, headers: {}, ...(signal && { signal }) });
  if (response.body instanceof Uint8Array) throw new Error(Buffer.from(response.body).toString());
  let rest = '';
  for await (const chunk of response.body) {
    const lines = (rest + Buffer.from(chunk).toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as WatchEvent<KubeObject>;
  }
}

export async function take<T>(events: AsyncGenerator<T>, count: number): Promise<T[]> {
  const taken: T[] = [];
  while (taken.length < count) {
    const next = await events.next();
    if (next.done) break;
    taken.push(next.value);
  }
  return taken;
}

export const configMaps = '/api/v1/namespaces/default/configmaps';

export function configMap(name: string, data: Record<string, string> = {}, labels?: Record<string, string>) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...(labels && { labels }) }, data };
}

export const deployments = '/apis/apps/v1/namespaces/default/deployments';

export function deployment(name: string, replicas?: number) {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels },
    spec: {
      ...(replicas !== undefined && { replicas }),
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'nginx:1.25' }] } },
    },
  };
}

export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Of Things in example.com/v1, with these properties beside metadata; `version` goes over what is said of v1. */
export function thingsDefinition(properties: object = {}, version: object = {}) {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties } },
          ...version,
        },
      ],
    },
  };
}
