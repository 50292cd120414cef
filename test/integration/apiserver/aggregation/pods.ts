import type { Duplex } from 'node:stream';
import type { PodConnector } from '../../../../apiserver/plugins.ts';
import { reflectedAs } from '../../../../cluster/reflected.ts';
import type { ApiRequest, ApiResponse } from '../../../../kube/http.ts';
import type { Store } from '../../../../storage/store.ts';
import { accept, join } from '../../../aggregation/forward.ts';

/** What becomes of a forward to a pod. */
type Forward = (request: ApiRequest) => ApiResponse | Promise<ApiResponse>;

/** A physical cluster as port-forwards see it: pods of the namespace `default`, shown in root with the slice of their Service. */
export class PodsElsewhere {
  /** Ports of forwards that were asked for, by the pods' names. */
  readonly asked: string[] = [];
  /** The far ends of those that are open. */
  readonly open = new Set<Duplex>();
  readonly #store: Store;
  readonly #forwards = new Map<string, Forward>();

  constructor(store: Store) {
    this.#store = store;
  }

  readonly connectPod: PodConnector = (_cluster, { metadata: { name = '' } }) => {
    const forward = this.#forwards.get(name);
    if (forward === undefined) return undefined;
    const path = `/api/v1/namespaces/there/pods/${name}`;
    return {
      path,
      transport: async (request) => {
        const port = /^(.*)\/portforward\?ports=(\d+)$/.exec(request.url);
        if (port?.[1] !== path) throw new Error(`nobody asks for ${request.url}`);
        this.asked.push(`${name}:${port[2]}`);
        return forward(request);
      },
    };
  };

  /** A pod whose forwards lead to that port of this machine, or are as `forward` says. */
  async add(name: string, to: number | Forward): Promise<void> {
    this.#forwards.set(name, typeof to === 'number' ? (request) => this.joined(request, to) : to);
    await this.#put(`/core/pods/root/default/${name}`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: meta(name),
    });
  }

  joined(request: ApiRequest, to: number): ApiResponse {
    const { response, far } = accept(request);
    this.open.add(far);
    far.on('close', () => this.open.delete(far));
    join(far, Number(/ports=(\d+)/.exec(request.url)?.[1]), to);
    return response;
  }

  async remove(name: string): Promise<void> {
    const key = `/core/pods/root/default/${name}`;
    const entry = await this.#store.get(key);
    await this.#store.delete(key, entry!.revision);
  }

  /** The pods of the Service as its cluster has them, which listen at `port`. */
  async slice(
    ready: readonly string[],
    { port = 8443, unready = [] as readonly string[] } = {},
  ): Promise<void> {
    const endpoint = (name: string, isReady: boolean) => ({
      addresses: ['10.1.2.3'],
      conditions: { ready: isReady },
      targetRef: { kind: 'Pod', name, namespace: 'default', uid: `uid-${name}` },
    });
    await this.#put('/discovery.k8s.io/endpointslices/root/default/wardle-1', {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...meta('wardle-1'), labels: { 'kubernetes.io/service-name': 'wardle' } },
      addressType: 'IPv4',
      ports: [{ name: 'api', port, protocol: 'TCP' }],
      endpoints: [
        ...ready.map((name) => endpoint(name, true)),
        ...unready.map((name) => endpoint(name, false)),
      ],
    });
  }

  async #put(key: string, object: object): Promise<void> {
    const value = Buffer.from(JSON.stringify(object));
    const entry = await this.#store.get(key);
    if (entry) await this.#store.update(key, value, entry.revision);
    else await this.#store.create(key, value);
  }
}

function meta(name: string): object {
  const uid = `uid-${name}`;
  return { name, namespace: 'default', uid, annotations: reflectedAs({}, uid, ['west']) };
}

/** Its port has a name, by which each cluster's slices have a number. */
export function serviceOfPods(port: number): object {
  const metadata = { name: 'wardle', namespace: 'default' };
  const spec = { selector: { app: 'wardle' }, ports: [{ name: 'api', port, targetPort: 'https' }] };
  return { apiVersion: 'v1', kind: 'Service', metadata, spec };
}
