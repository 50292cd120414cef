import { randomUUID } from 'node:crypto';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { KubeObject } from '../../../kube/object.ts';
import type { Made } from './messages.ts';
import { bodyOf, listenAs } from './still.ts';

type Request = Http2ServerRequest;
type Response = Http2ServerResponse;

const json = 'application/json';
const namespaces = '/api/v1/namespaces';
/** The path of their list. */
export const deployments = '/apis/apps/v1/deployments';
/** One object of a namespace. */
const single = /^(?:\/api\/v1|\/apis\/[^/]+\/[^/]+)\/namespaces\/[^/]+\/([^/]+)\/([^/]+)$/;
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

export class Taking {
  readonly #name: string;
  #revision = 1;
  /** By the path of their list. */
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  /** All that was told, in order. */
  readonly #told = new Map<string, { revision: number; line: string }[]>();
  readonly #watches = new Map<string, Set<Response>>();

  constructor(name: string) {
    this.#name = name;
  }

  async answer(request: Request, response: Response): Promise<void> {
    const { pathname, searchParams } = new URL(request.url, 'https://taking');
    const named = applied.exec(pathname);
    if (searchParams.get('watch') === 'true')
      this.#watch(pathname, Number(searchParams.get('resourceVersion')), response);
    else if (request.method === 'POST' && pathname === namespaces) {
      const object = this.put(namespaces, 'ADDED', {
        ...(await read(request)),
        status: { phase: 'Active' },
      });
      say(response, 201, object);
    } else if (request.method === 'PATCH' && named) await this.#apply(request, response, named[2] ?? '');
    else if (request.method === 'DELETE') {
      const object = this.found(pathname);
      if (object && named) this.removed(object);
      else if (object) this.drop(namespaces, object);
      say(response, object ? 200 : 404, object ?? notFound(pathname));
    } else if (this.#objects.has(pathname) || pathname === namespaces || pathname === deployments)
      say(response, 200, this.list(pathname));
    else {
      const object = this.found(pathname);
      if (object || !single.test(pathname)) say(response, 200, object ?? bodyOf(this.#name, pathname));
      else say(response, 404, notFound(pathname));
    }
  }

  async #apply(request: Request, response: Response, name: string): Promise<void> {
    const manifest = await read(request);
    const key = `${manifest.metadata.namespace}/${name}`;
    const before = this.at(deployments, key);
    const generation = (before?.metadata.generation ?? 0) + 1;
    const metadata = { ...before?.metadata, ...manifest.metadata, name, generation };
    const object = this.put(deployments, before ? 'MODIFIED' : 'ADDED', {
      ...manifest,
      metadata,
      status: { ...(before?.['status'] as object | undefined) },
    });
    say(response, before ? 200 : 201, object);
    setImmediate(() => this.applied(object));
  }

  /** It has just been applied. */
  applied(object: KubeObject): void {
    const { generation } = object.metadata;
    const replicas = (object as { spec?: { replicas?: number } }).spec?.replicas ?? 1;
    const ready = { updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
    const status = { observedGeneration: generation, replicas, ...ready };
    this.put(deployments, 'MODIFIED', { ...object, status });
  }

  /** It is to be deleted. */
  removed(object: KubeObject): void {
    this.drop(deployments, object);
  }

  at(path: string, key: string): KubeObject | undefined {
    return this.#objects.get(path)?.get(key);
  }

  drop(path: string, { metadata: { namespace = '', name = '' } }: KubeObject): void {
    const key = `${namespace}/${name}`;
    const object = this.at(path, key);
    if (!object) return;
    this.#objects.get(path)?.delete(key);
    const metadata = { ...object.metadata, resourceVersion: String(++this.#revision) };
    this.#tell(path, 'DELETED', { ...object, metadata });
  }

  put(path: string, type: 'ADDED' | 'MODIFIED', given: KubeObject): KubeObject {
    const { namespace = '', name = '', uid = randomUUID(), ...metadata } = given.metadata;
    const created = { creationTimestamp: new Date().toISOString().replace(/\.\d+Z$/, 'Z') };
    const revision = { uid, resourceVersion: String(++this.#revision) };
    const own = { name, ...(namespace && { namespace }), ...revision };
    const object = { ...given, metadata: { ...created, ...metadata, ...own } };
    const all = this.#objects.get(path) ?? new Map<string, KubeObject>();
    this.#objects.set(path, all.set(`${namespace}/${name}`, object));
    this.#tell(path, type, object);
    return object;
  }

  #tell(path: string, type: string, object: KubeObject): void {
    const line = `${JSON.stringify({ type, object })}\n`;
    const told = this.#told.get(path) ?? [];
    this.#told.set(path, told);
    told.push({ revision: this.#revision, line });
    for (const watch of this.#watches.get(path) ?? []) watch.write(line);
  }

  #watch(path: string, since: number, response: Response): void {
    const all = this.#watches.get(path) ?? new Set();
    this.#watches.set(path, all.add(response));
    response.once('close', () => all.delete(response));
    response.writeHead(200, { 'content-type': json });
    response.write('');
    const missed = (this.#told.get(path) ?? []).filter(({ revision }) => revision > since);
    for (const { line } of missed) response.write(line);
  }

  list(path: string): object {
    const items = [...(this.#objects.get(path)?.values() ?? [])];
    return { kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: String(this.#revision) }, items };
  }

  /** What is read by its own path. */
  found(path: string): KubeObject | undefined {
    const [, namespace = '', name = ''] = applied.exec(path) ?? [];
    const ofNamespace = this.#objects.get(namespaces)?.get(`/${path.slice(namespaces.length + 1)}`);
    return name ? this.at(deployments, `${namespace}/${name}`) : ofNamespace;
  }
}

/** Who asks for one object goes by the name in the answer. */
function notFound(path: string): object {
  const [, kind, name] = single.exec(path) ?? [];
  const details = { ...(name && { name, kind }) };
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', details, code: 404 };
}

async function read(request: Request): Promise<KubeObject> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString());
}

function say(response: Response, status: number, body: object): void {
  response.writeHead(status, { 'content-type': json }).end(JSON.stringify(body));
}
