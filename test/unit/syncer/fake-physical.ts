import { randomUUID } from 'node:crypto';
import mergePatch from 'json-merge-patch';
import type { ApiRequest, ApiResponse, Transport } from '../../../kube/http.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { alreadyExists, conflict, notFound, StatusError } from '../../../kube/status.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import { type Entry, prefixRange, type Store, StoreError } from '../../../storage/store.ts';

/** One write that the physical cluster saw. */
export interface Write {
  verb: 'create' | 'apply' | 'delete';
  path: string;
}

/**
 * Just enough of a Kubernetes API, in memory: list, watch by label, create, apply (what is applied replaces all
 * but status), delete with a uid. Foreground deletion waits until `finish` is called, as if pods were going.
 */
export class FakePhysical {
  readonly store: Store = openMemory();
  readonly writes: Write[] = [];
  /** Throws to play a failing cluster. */
  intercept: (request: ApiRequest) => void | Promise<void> = () => {};
  holdForeground = false;
  readonly #unserved: ReadonlySet<string>;

  constructor(options: { unserved?: string[] } = {}) {
    this.#unserved = new Set(options.unserved);
  }

  readonly transport: Transport = async (request) => {
    try {
      await this.intercept(request);
      request.signal?.throwIfAborted();
      return await this.#serve(request);
    } catch (error) {
      if (error instanceof StatusError) return json(error.code, error.toStatus());
      throw error;
    }
  };

  async put(path: string, object: Partial<KubeObject>): Promise<KubeObject> {
    const entry = await this.store.get(keyOf(path));
    const before = entry && decode(entry);
    const next = stamped(object as KubeObject, before);
    const bytes = encode(next);
    return decode(
      entry
        ? await this.store.update(entry.key, bytes, entry.revision)
        : await this.store.create(keyOf(path), bytes),
    );
  }

  async get(path: string): Promise<KubeObject | undefined> {
    const entry = await this.store.get(keyOf(path));
    return entry && decode(entry);
  }

  /** Removes it for good, whatever holds it. */
  async finish(path: string): Promise<void> {
    const entry = await this.store.get(keyOf(path));
    if (entry) await this.store.delete(entry.key, entry.revision);
  }

  /** Everything below a collection, e.g. `/api/v1/namespaces`. */
  async list(collection: string): Promise<KubeObject[]> {
    return (await this.store.list(prefixRange(keyOf(collection)))).entries.map(decode);
  }

  async #serve(request: ApiRequest): Promise<ApiResponse> {
    const url = new URL(request.url, 'http://fake');
    if (url.pathname === '/version') return json(200, { gitVersion: 'v1.36.3-fake' });
    const at = place(url.pathname);
    if (this.#unserved.has(at.resource))
      throw new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});
    switch (request.method) {
      case 'GET':
        if (at.name) return json(200, decode(await this.#need(at)));
        return url.searchParams.get('watch') ? this.#watch(at, url, request) : await this.#list(at, url);
      case 'POST':
        return await this.#create(at, body(request));
      case 'PATCH':
        return request.headers?.['content-type'] === 'application/merge-patch+json'
          ? await this.#merge(at, body(request))
          : await this.#apply(at, url, body(request));
      case 'DELETE':
        return await this.#delete(at, body(request));
      default:
        throw new StatusError(405, 'MethodNotAllowed', 'no');
    }
  }

  async #list(at: Place, url: URL): Promise<ApiResponse> {
    const { entries, revision } = await this.store.list(prefixRange(at.collection));
    const items = entries.map(decode).filter(selector(at, url));
    return json(200, {
      kind: 'List',
      apiVersion: 'v1',
      metadata: { resourceVersion: String(revision) },
      items,
    });
  }

  #watch(at: Place, url: URL, request: ApiRequest): ApiResponse {
    const fits = selector(at, url);
    const lines: Uint8Array[] = [];
    let wake = () => {};
    const after = Number(url.searchParams.get('resourceVersion'));
    void this.store.watch(prefixRange(at.collection), {
      after,
      ...(request.signal && { signal: request.signal }),
      sink: (events) => {
        for (const { type, entry, previous } of events) {
          const object = decode(entry);
          const [now, before] = [fits(object), previous ? fits(decode(previous)) : false];
          const gone = type === 'delete' ? before : before && !now;
          const kind = gone ? 'DELETED' : type === 'put' && now ? (before ? 'MODIFIED' : 'ADDED') : undefined;
          if (kind) lines.push(Buffer.from(`${JSON.stringify({ type: kind, object })}\n`));
        }
        wake();
      },
    });
    request.signal?.addEventListener('abort', () => wake());
    async function* stream() {
      while (!request.signal?.aborted) {
        const line = lines.shift();
        if (line) yield line;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    }
    return { status: 200, headers: {}, body: stream() };
  }

  async #create(at: Place, object: KubeObject): Promise<ApiResponse> {
    const key = `${at.collection}${object.metadata.name}`;
    this.writes.push({ verb: 'create', path: `${at.path}/${object.metadata.name}` });
    try {
      return json(201, decode(await this.store.create(key, encode(stamped(object, undefined)))));
    } catch (error) {
      if (error instanceof StoreError) throw alreadyExists(at, object.metadata.name ?? '');
      throw error;
    }
  }

  async #apply(at: Place, url: URL, object: KubeObject): Promise<ApiResponse> {
    if (at.namespace && !(await this.store.get(`/core/namespaces/${at.namespace}`)))
      throw notFound({ group: '', resource: 'namespaces' }, at.namespace);
    const entry = await this.store.get(at.key);
    const before = entry && decode(entry);
    if (before && url.searchParams.get('force') !== 'true')
      throw conflict(at, at.name, 'conflicts with another');
    const { uid } = object.metadata;
    if (uid && uid !== before?.metadata.uid) throw conflict(at, at.name, 'Precondition failed: UID');
    this.writes.push({ verb: 'apply', path: at.path });
    const wanted = { ...object, ...(before?.status !== undefined && { status: before.status }) };
    const next = encode(stamped(wanted, before));
    const same = entry && Buffer.compare(Buffer.from(entry.value), Buffer.from(next)) === 0;
    if (same) return json(200, before);
    const written = entry
      ? await this.store.update(at.key, next, entry.revision)
      : await this.store.create(at.key, next);
    return json(200, decode(written));
  }

  async #merge(at: Place, patch: KubeObject): Promise<ApiResponse> {
    const entry = await this.#need(at);
    const merged = mergePatch.apply(decode(entry), patch) as KubeObject;
    return json(200, decode(await this.store.update(at.key, encode(merged), entry.revision)));
  }

  /** As the garbage collector does. */
  async #free(uid: string): Promise<void> {
    for (const entry of (await this.store.list({ start: '/', end: '0' })).entries) {
      const object = decode(entry);
      const { ownerReferences: owners = [], ...metadata } = object.metadata;
      const others = owners.filter((owner) => owner.uid !== uid);
      if (others.length === owners.length) continue;
      const left = { ...metadata, ...(others.length > 0 && { ownerReferences: others }) };
      await this.store.update(entry.key, encode({ ...object, metadata: left }), entry.revision);
    }
  }

  async #delete(at: Place, options: unknown): Promise<ApiResponse> {
    const entry = await this.#need(at);
    const object = decode(entry);
    const { preconditions, propagationPolicy } = options as {
      preconditions?: { uid?: string };
      propagationPolicy?: string;
    };
    if (preconditions?.uid && preconditions.uid !== object.metadata.uid)
      throw conflict(at, at.name, 'Precondition failed: UID');
    this.writes.push({ verb: 'delete', path: at.path });
    if (this.holdForeground && propagationPolicy === 'Foreground') {
      const going = {
        ...object,
        metadata: { ...object.metadata, deletionTimestamp: new Date().toISOString() },
      };
      return json(200, decode(await this.store.update(at.key, encode(going), entry.revision)));
    }
    if (propagationPolicy === 'Orphan') await this.#free(object.metadata.uid ?? '');
    await this.store.delete(at.key, entry.revision);
    return json(200, object);
  }

  async #need(at: Place): Promise<Entry> {
    const entry = await this.store.get(at.key);
    if (!entry) throw notFound(at, at.name);
    return entry;
  }
}

interface Place {
  group: string;
  resource: string;
  namespace: string;
  name: string;
  path: string;
  key: string;
  /** Start of all keys of the list. */
  collection: string;
}

function place(path: string): Place {
  const match =
    /^\/(?:api\/v1|apis\/([^/]+)\/[^/]+)(?:\/namespaces\/([^/]+)(?=\/.))?\/([^/]+)(?:\/([^/]+))?$/.exec(path);
  if (!match) throw new StatusError(404, 'NotFound', `no ${path}`);
  const [, group = '', namespace = '', resource = '', name = ''] = match;
  const base = `/${group || 'core'}/${resource}/`;
  const collection = namespace ? `${base}${namespace}/` : base;
  return { group, resource, namespace, name, path, key: `${collection}${name}`, collection };
}

function keyOf(path: string): string {
  return place(path).key;
}

function selector(at: Place, url: URL): (object: KubeObject) => boolean {
  const [label, value] = (url.searchParams.get('labelSelector') ?? '').split('=');
  return ({ metadata }) =>
    (!at.namespace || metadata.namespace === at.namespace) && (!label || metadata.labels?.[label] === value);
}

/** uid, generation and times as an API server would set them. */
function stamped(object: KubeObject, before: KubeObject | undefined): KubeObject {
  const { resourceVersion: _, ...metadata } = object.metadata;
  const changed = JSON.stringify(before?.spec) !== JSON.stringify(object.spec);
  return {
    ...object,
    metadata: {
      ...metadata,
      uid: before?.metadata.uid ?? metadata.uid ?? randomUUID(),
      creationTimestamp: before?.metadata.creationTimestamp ?? '2026-01-01T00:00:00Z',
      ...(object.spec !== undefined && {
        generation: (before?.metadata.generation ?? 0) + (changed || !before ? 1 : 0),
      }),
    },
  };
}

function encode(object: KubeObject): Uint8Array {
  const { resourceVersion: _, ...metadata } = object.metadata;
  return Buffer.from(JSON.stringify({ ...object, metadata }));
}

function decode(entry: Entry): KubeObject {
  const object = JSON.parse(Buffer.from(entry.value).toString()) as KubeObject;
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(entry.revision) } };
}

function body(request: ApiRequest): KubeObject {
  return JSON.parse(Buffer.from(request.body ?? []).toString()) as KubeObject;
}

function json(status: number, value: unknown): ApiResponse {
  return { status, headers: {}, body: Buffer.from(JSON.stringify(value)) };
}
