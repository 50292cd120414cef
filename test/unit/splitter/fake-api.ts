import mergePatch from 'json-merge-patch';
import type { ApiRequest, ApiResponse, Transport } from '../../../kube/http.ts';
import type { KubeObject, WatchEvent } from '../../../kube/object.ts';
import { alreadyExists, conflict, notFound, StatusError } from '../../../kube/status.ts';

interface Address {
  cluster: string;
  resource: string;
  namespace: string;
  name: string;
  subresource: string;
}

/** Any kind in any logical cluster, with merge patches, the status subresource, finalizers, and whole histories. */
export class FakeApi {
  readonly objects = new Map<string, KubeObject>();
  readonly #history: { key: string; event: WatchEvent }[] = [];
  #wake: (() => void)[] = [];
  /** Requests that were not reads. */
  writes = 0;

  readonly transport: Transport = async (request) => {
    try {
      return this.#answer(request);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      return json(error.code, error.toStatus());
    }
  };

  get(resource: string, name: string, namespace = 'shop', cluster = 'root'): KubeObject | undefined {
    return this.objects.get(`${resource}/${cluster}/${namespace}/${name}`);
  }

  all(resource: string): KubeObject[] {
    return [...this.objects].filter(([key]) => key.startsWith(`${resource}/`)).map(([, object]) => object);
  }

  /** As if some client had written it. */
  put(resource: string, object: KubeObject, cluster = 'root'): KubeObject {
    const { namespace = '', name = '' } = object.metadata;
    const key = `${resource}/${cluster}/${namespace}/${name}`;
    const old = this.objects.get(key);
    const metadata = {
      ...object.metadata,
      uid: old?.metadata.uid ?? `uid-${this.#history.length + 1}`,
      annotations: { ...object.metadata.annotations, 'kcp.io/cluster': cluster },
      resourceVersion: String(this.#history.length + 1),
    };
    const written = { ...object, metadata };
    this.objects.set(key, written);
    this.#tell(key, { type: old ? 'MODIFIED' : 'ADDED', object: written });
    return written;
  }

  remove(resource: string, name: string, namespace = 'shop', cluster = 'root'): void {
    const key = `${resource}/${cluster}/${namespace}/${name}`;
    const old = this.objects.get(key);
    if (!old) return;
    if ((old.metadata.finalizers ?? []).length > 0) {
      this.put(
        resource,
        { ...old, metadata: { ...old.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
        cluster,
      );
      return;
    }
    this.objects.delete(key);
    const resourceVersion = String(this.#history.length + 1);
    this.#tell(key, { type: 'DELETED', object: { ...old, metadata: { ...old.metadata, resourceVersion } } });
  }

  #tell(key: string, event: WatchEvent): void {
    this.#history.push({ key, event });
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }

  #answer(request: ApiRequest): ApiResponse {
    const url = new URL(request.url, 'http://x');
    const at = parse(url.pathname);
    const prefix = `${at.resource}/${at.cluster === '*' ? '' : `${at.cluster}/`}`;
    if (url.searchParams.has('watch'))
      return this.#watch(request, prefix, Number(url.searchParams.get('resourceVersion')));
    const of = { group: '', resource: at.resource };
    const key = `${at.resource}/${at.cluster}/${at.namespace}/${at.name}`;
    const old = this.objects.get(key);
    if (request.method === 'GET' && at.name === '') return this.#list(prefix);
    if (request.method === 'GET') {
      if (!old) throw notFound(of, at.name);
      return json(200, old);
    }
    this.writes++;
    const body = request.body ? (JSON.parse(Buffer.from(request.body).toString()) as KubeObject) : undefined;
    if (request.method === 'POST' && body) {
      const name = body.metadata.name ?? '';
      if (this.objects.has(`${key}${name}`)) throw alreadyExists(of, name);
      const { status: _dropped, ...rest } = body;
      return json(
        201,
        this.put(
          at.resource,
          { ...rest, metadata: { ...body.metadata, namespace: at.namespace } },
          at.cluster,
        ),
      );
    }
    if (!old) throw notFound(of, at.name);
    if (request.method === 'DELETE') {
      this.remove(at.resource, at.name, at.namespace, at.cluster);
      return json(200, old);
    }
    return json(200, this.#patch(at, old, body ?? { apiVersion: '', kind: '', metadata: {} }));
  }

  #patch(at: Address, old: KubeObject, patch: KubeObject): KubeObject {
    const wanted = mergePatch.apply(structuredClone(old), patch) as KubeObject;
    if (
      wanted.metadata.resourceVersion !== old.metadata.resourceVersion ||
      wanted.metadata.uid !== old.metadata.uid
    ) {
      throw conflict({ group: '', resource: at.resource }, at.name, 'stale');
    }
    const next =
      at.subresource === 'status' ? { ...old, status: wanted.status } : { ...wanted, status: old.status };
    const written = this.put(at.resource, next, at.cluster);
    if (written.metadata.deletionTimestamp) this.remove(at.resource, at.name, at.namespace, at.cluster);
    return written;
  }

  #list(prefix: string): ApiResponse {
    const items = [...this.objects].filter(([key]) => key.startsWith(prefix)).map(([, object]) => object);
    return json(200, {
      kind: 'XList',
      apiVersion: 'v1',
      metadata: { resourceVersion: String(this.#history.length) },
      items,
    });
  }

  #watch(request: ApiRequest, prefix: string, from: number): ApiResponse {
    let wake = () => {};
    request.signal?.addEventListener('abort', () => wake(), { once: true });
    const events = async function* (this: FakeApi) {
      for (let at = from; !request.signal?.aborted; ) {
        const next = this.#history[at];
        if (next) {
          at++;
          if (next.key.startsWith(prefix)) yield Buffer.from(`${JSON.stringify(next.event)}\n`);
          continue;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
          this.#wake.push(resolve);
        });
      }
    };
    return { status: 200, headers: {}, body: events.call(this) };
  }
}

/** `/clusters/<c>/api(s)/…[/namespaces/<ns>]/<resource>[/<name>[/<subresource>]]` */
function parse(path: string): Address {
  const parts = path.split('/').slice(1);
  const cluster = parts[0] === 'clusters' ? (parts.splice(0, 2)[1] ?? '') : 'root';
  parts.splice(0, parts[0] === 'api' ? 2 : 3);
  const namespaced = parts[0] === 'namespaces' && parts.length > 2;
  const namespace = namespaced ? (parts.splice(0, 2)[1] ?? '') : '';
  const [resource = '', name = '', subresource = ''] = parts;
  return { cluster, resource, namespace, name, subresource };
}

function json(status: number, body: unknown): ApiResponse {
  return { status, headers: {}, body: Buffer.from(JSON.stringify(body)) };
}
