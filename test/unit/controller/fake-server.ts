import { EventEmitter, on } from 'node:events';
import mergePatch from 'json-merge-patch';
import type { ApiRequest, ApiResponse, Transport } from '../../../kube/http.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { alreadyExists, conflict, notFound, StatusError } from '../../../kube/status.ts';

const kinds: Record<string, [kind: string, namespaced: boolean]> = {
  namespaces: ['Namespace', false],
  configmaps: ['ConfigMap', true],
  serviceaccounts: ['ServiceAccount', true],
  pods: ['Pod', true],
  services: ['Service', true],
};

/**
 * As much of a Kubernetes API as the generic controllers use: a few core kinds, merge patches, preconditions,
 * finalizers and propagation policies. In one logical cluster, or with `/clusters/<name>` in several.
 */
export class FakeServer {
  readonly objects = new Map<string, KubeObject>();
  readonly #events = new EventEmitter().setMaxListeners(0);
  #revision = 0;

  readonly transport: Transport = async (request) => {
    try {
      return this.#answer(request);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      return json(error.code, error.toStatus());
    }
  };

  names(resource: string): string[] {
    const all = [...this.objects].filter(([key]) => key.split('/')[1] === resource);
    return all.map(([, { metadata }]) => metadata.name ?? '').sort();
  }

  #answer(request: ApiRequest): ApiResponse {
    const url = new URL(request.url, 'http://x');
    const parts = url.pathname.split('/').slice(1);
    const cluster = parts[0] === 'clusters' ? (parts.splice(0, 2)[1] ?? '') : 'root';
    if (parts.join('/') === 'apis') return json(200, { groups: [] });
    parts.splice(0, 2);
    if (parts.length === 0) return json(200, discovery());
    const namespace = parts[0] === 'namespaces' && parts.length > 2 && kinds[parts[2] ?? ''] ? parts[1] : '';
    const [resource = '', name = '', subresource = ''] = namespace ? parts.slice(2) : parts;
    if (!kinds[resource]) throw notFound({ group: '', resource }, name);
    const body = request.body ? (JSON.parse(Buffer.from(request.body).toString()) as KubeObject) : undefined;
    const prefix = `${cluster}/${resource}/${namespace ? `${namespace}/` : ''}`;
    if (url.searchParams.has('watch')) return this.#watch(request, prefix, url);
    if (request.method === 'GET' && name === '') return this.#list(prefix);
    const at = { group: '', resource };
    if (request.method === 'POST' && body) {
      const key = `${cluster}/${resource}/${namespace}/${body.metadata.name}`;
      if (this.objects.has(key)) throw alreadyExists(at, body.metadata.name ?? '');
      return json(201, this.#put(key, body, 'ADDED'));
    }
    const key = `${cluster}/${resource}/${namespace}/${name}`;
    const old = this.objects.get(key);
    if (!old) throw notFound(at, name);
    if (request.method === 'GET') return json(200, old);
    if (request.method === 'DELETE') return json(200, this.#delete(key, old, body as object));
    const wanted =
      request.method === 'PATCH' ? (mergePatch.apply(structuredClone(old), body ?? {}) as KubeObject) : body;
    if (!wanted) throw new StatusError(400, 'BadRequest', 'no body');
    if (wanted.metadata.resourceVersion !== old.metadata.resourceVersion) throw conflict(at, name, 'stale');
    return json(200, this.#write(key, wanted, subresource));
  }

  #write(key: string, wanted: KubeObject, subresource: string): KubeObject {
    const { finalizers = [], deletionTimestamp } = wanted.metadata;
    const spec = wanted.spec as { finalizers?: string[] } | undefined;
    const finalized = subresource !== 'finalize' || (spec?.finalizers ?? []).length === 0;
    const namespaceHeld = key.split('/')[1] === 'namespaces' && !(subresource === 'finalize' && finalized);
    if (deletionTimestamp && finalizers.length === 0 && !namespaceHeld) return this.#remove(key, wanted);
    return this.#put(key, wanted, 'MODIFIED');
  }

  #delete(key: string, old: KubeObject, options: { propagationPolicy?: string; preconditions?: object }) {
    for (const [field, value] of Object.entries(options.preconditions ?? {})) {
      if (Object.entries(old.metadata).find(([name]) => name === field)?.[1] !== value) {
        throw conflict({ group: '', resource: 'x' }, key, 'precondition');
      }
    }
    const extra = { Foreground: ['foregroundDeletion'], Orphan: ['orphan'] }[options.propagationPolicy ?? ''];
    const finalizers = [...new Set([...(old.metadata.finalizers ?? []), ...(extra ?? [])])];
    const isNamespace = key.split('/')[1] === 'namespaces';
    if (finalizers.length === 0 && !isNamespace) return this.#remove(key, old);
    const metadata = { ...old.metadata, finalizers, deletionTimestamp: new Date().toISOString() };
    return this.#put(key, { ...old, metadata }, 'MODIFIED');
  }

  #remove(key: string, old: KubeObject): KubeObject {
    this.objects.delete(key);
    return this.#tell(key, old, 'DELETED');
  }

  #put(key: string, object: KubeObject, type: string): KubeObject {
    const [cluster = '', resource = '', namespace] = key.split('/');
    const isNew = type === 'ADDED';
    const metadata = {
      ...object.metadata,
      ...(namespace && { namespace }),
      ...(isNew && { uid: object.metadata.uid ?? `uid-${this.#revision + 1}` }),
      annotations: { ...object.metadata.annotations, 'kcp.io/cluster': cluster },
    };
    const spec = isNew && resource === 'namespaces' ? { finalizers: ['kubernetes'] } : object.spec;
    return this.#tell(key, { ...object, metadata, ...(spec ? { spec } : {}) }, type);
  }

  #tell(key: string, object: KubeObject, type: string): KubeObject {
    this.#revision += 1;
    const written = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#revision) } };
    if (type !== 'DELETED') this.objects.set(key, written);
    this.#events.emit('event', key, { type, object: written });
    return written;
  }

  #list(prefix: string): ApiResponse {
    const items = [...this.objects].filter(([key]) => matches(key, prefix)).map(([, object]) => object);
    const metadata = { resourceVersion: String(this.#revision) };
    return json(200, { kind: 'XList', apiVersion: 'v1', metadata, items });
  }

  /** Only from now on: the fake forgets its history, as a server may. */
  #watch(request: ApiRequest, prefix: string, url: URL): ApiResponse {
    if (url.searchParams.get('resourceVersion') !== String(this.#revision)) {
      throw new StatusError(410, 'Expired', 'too old');
    }
    const events = on(this.#events, 'event', request.signal ? { signal: request.signal } : {});
    const body = (async function* () {
      for await (const [key, event] of events) {
        if (matches(key as string, prefix)) yield Buffer.from(`${JSON.stringify(event)}\n`);
      }
    })();
    return { status: 200, headers: {}, body };
  }
}

function matches(key: string, prefix: string): boolean {
  return prefix.startsWith('*/')
    ? key.split('/').slice(1).join('/').startsWith(prefix.slice(2))
    : key.startsWith(prefix);
}

function discovery(): object {
  const verbs = ['list', 'watch', 'delete'];
  const entries = Object.entries(kinds);
  return { resources: entries.map(([name, [kind, namespaced]]) => ({ name, kind, namespaced, verbs })) };
}

function json(status: number, body: unknown): ApiResponse {
  return { status, headers: {}, body: Buffer.from(JSON.stringify(body)) };
}
