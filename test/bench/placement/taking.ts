import { randomUUID } from 'node:crypto';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { KubeObject } from '../../../kube/object.ts';
import type { Made } from './messages.ts';
import { bodyOf, listenAs } from './still.ts';

const json = 'application/json';
const namespaces = '/api/v1/namespaces';
const deployments = '/apis/apps/v1/deployments';
const applied = /^\/apis\/apps\/v1\/namespaces\/([^/]+)\/deployments\/([^/]+)$/;

/**
 * Clusters that take Namespaces and Deployments, which are ready in the next moment, and nothing else: each as fast as it can be said, as what
 * they take of the machine is taken from the server that is measured beside. What a real one would refuse they take.
 */
export async function startTaking(names: readonly string[]): Promise<Made[]> {
  return await listenAs(names, (name) => {
    const cluster = new Taking(name);
    return (request, response) => void cluster.answer(request, response);
  });
}

class Taking {
  readonly #name: string;
  #revision = 1;
  /** By the path of their list. */
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  /** All that was told, in order. */
  readonly #told = new Map<string, { revision: number; line: string }[]>();
  readonly #watches = new Map<string, Set<Http2ServerResponse>>();

  constructor(name: string) {
    this.#name = name;
  }

  async answer(request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url, 'https://taking');
    const named = applied.exec(pathname);
    if (searchParams.get('watch') === 'true')
      this.#watch(pathname, Number(searchParams.get('resourceVersion')), response);
    else if (request.method === 'POST' && pathname === namespaces) {
      const object = this.#put(namespaces, 'ADDED', {
        ...(await read(request)),
        status: { phase: 'Active' },
      });
      say(response, 201, object);
    } else if (request.method === 'PATCH' && named) await this.#apply(request, response, named[2] ?? '');
    else if (this.#objects.has(pathname) || pathname === namespaces || pathname === deployments)
      say(response, 200, this.#list(pathname));
    else say(response, 200, this.#objectAt(pathname) ?? bodyOf(this.#name, pathname));
  }

  async #apply(request: Http2ServerRequest, response: Http2ServerResponse, name: string): Promise<void> {
    const manifest = await read(request);
    const key = `${manifest.metadata.namespace}/${name}`;
    const before = this.#objects.get(deployments)?.get(key);
    const generation = (before?.metadata.generation ?? 0) + 1;
    const metadata = { ...before?.metadata, ...manifest.metadata, name, generation };
    const object = this.#put(deployments, before ? 'MODIFIED' : 'ADDED', {
      ...manifest,
      metadata,
      status: { ...(before?.['status'] as object | undefined) },
    });
    say(response, before ? 200 : 201, object);
    const replicas = (object as { spec?: { replicas?: number } }).spec?.replicas ?? 1;
    const ready = { updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
    const status = { observedGeneration: generation, replicas, ...ready };
    setImmediate(() => this.#put(deployments, 'MODIFIED', { ...object, status }));
  }

  #put(path: string, type: 'ADDED' | 'MODIFIED', given: KubeObject): KubeObject {
    const { namespace = '', name = '', uid = randomUUID(), ...metadata } = given.metadata;
    const created = { creationTimestamp: new Date().toISOString().replace(/\.\d+Z$/, 'Z') };
    const revision = { uid, resourceVersion: String(++this.#revision) };
    const own = { name, ...(namespace && { namespace }), ...revision };
    const object = { ...given, metadata: { ...created, ...metadata, ...own } };
    const all = this.#objects.get(path) ?? new Map<string, KubeObject>();
    this.#objects.set(path, all.set(`${namespace}/${name}`, object));
    const line = `${JSON.stringify({ type, object })}\n`;
    const told = this.#told.get(path) ?? [];
    this.#told.set(path, told);
    told.push({ revision: this.#revision, line });
    for (const watch of this.#watches.get(path) ?? []) watch.write(line);
    return object;
  }

  #watch(path: string, since: number, response: Http2ServerResponse): void {
    const all = this.#watches.get(path) ?? new Set();
    this.#watches.set(path, all.add(response));
    response.once('close', () => all.delete(response));
    response.writeHead(200, { 'content-type': json });
    response.write('');
    const missed = (this.#told.get(path) ?? []).filter(({ revision }) => revision > since);
    for (const { line } of missed) response.write(line);
  }

  #list(path: string): object {
    const items = [...(this.#objects.get(path)?.values() ?? [])];
    const [apiVersion, kind] = path === namespaces ? ['v1', 'NamespaceList'] : ['apps/v1', 'DeploymentList'];
    return { kind, apiVersion, metadata: { resourceVersion: String(this.#revision) }, items };
  }

  #objectAt(path: string): KubeObject | undefined {
    const [, namespace = '', name = ''] = applied.exec(path) ?? [];
    const ofNamespace = this.#objects.get(namespaces)?.get(`/${path.slice(namespaces.length + 1)}`);
    return name ? this.#objects.get(deployments)?.get(`${namespace}/${name}`) : ofNamespace;
  }
}

async function read(request: Http2ServerRequest): Promise<KubeObject> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString());
}

function say(response: Http2ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': json }).end(JSON.stringify(body));
}
