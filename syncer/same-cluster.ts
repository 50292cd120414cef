import { Client } from '../client/client.ts';
import { isTransportError, TransportError } from '../client/errors.ts';
import { identifyingNamespace, whyOther } from '../cluster/identity.ts';
import { physicalClusters } from '../cluster/names.ts';
import type { PhysicalCluster } from '../cluster/types.ts';
import type { ApiResponse, Transport } from '../kube/http.ts';
import { isStatusError } from '../kube/status.ts';
import { orAborted, within } from '../kube/within.ts';
import { WentBack } from './went-back.ts';

const namespaces = { group: '', version: 'v1', resource: 'namespaces' };
const answerMs = 5_000;
const isWatch = /[?&]watch=true(&|$)/;

export interface SameClusterOptions {
  name: string;
  upstream: Client;
  physical: Transport;
  signal: AbortSignal;
  /** It is again as it was before: what is known of it was. Default: whoever asks finds out. */
  wentBack?(): void;
}

/**
 * The way to a physical cluster: what another cluster does not have is not gone, and nothing is made there. Who answers is asked
 * before the first request, and anew when a request has failed or a watch has ended, since somebody else may be there by then; where
 * neither happens the next heartbeat notices. Where another one answers, or that cannot be known, it is as if nobody did.
 */
export class SameCluster {
  readonly #options: SameClusterOptions;
  readonly #past: WentBack;
  #asked: Promise<void> | undefined;

  constructor(options: SameClusterOptions) {
    this.#options = options;
    this.#past = new WentBack(options.physical);
  }

  readonly transport: Transport = async (request) => {
    const asked = this.#ask();
    await (request.signal ? orAborted(request.signal, asked) : asked);
    if (isWatch.test(request.url) && (await this.#past.isBefore(request, this.#options.signal))) {
      this.#options.wentBack?.();
      throw new TransportError('EEARLIER', 'it is again as it was before');
    }
    try {
      const response = await this.#options.physical(request);
      return isWatch.test(request.url) ? this.#watched(response) : response;
    } catch (error) {
      if (isTransportError(error)) this.doubt();
      throw error;
    }
  };

  doubt(): void {
    this.#asked = undefined;
    this.#past.doubt();
  }

  #watched({ body, events, ...response }: ApiResponse): ApiResponse {
    const read = body instanceof Uint8Array ? body : this.#read(body);
    return { ...response, body: read, ...(events && { events: this.#read(events) }) };
  }

  async *#read<T>(all: AsyncIterable<T>): AsyncIterable<T> {
    try {
      yield* all;
    } finally {
      this.doubt();
    }
  }

  #ask(): Promise<void> {
    if (this.#asked) return this.#asked;
    const asked = this.#verify();
    this.#asked = asked;
    asked.catch(() => {
      if (this.#asked === asked) this.doubt();
    });
    return asked;
  }

  async #verify(): Promise<void> {
    const { name, upstream, signal } = this.#options;
    let cluster: PhysicalCluster;
    try {
      cluster = await upstream.get<PhysicalCluster>(physicalClusters, { name }, signal);
    } catch (error) {
      // Whatever our own server says of this says nothing of what was asked for.
      throw new TransportError('EUNKNOWN', 'it is not known which cluster is to answer', error);
    }
    if (!cluster.status?.clusterUID) return;
    const why = whyOther(cluster, await this.#uid());
    if (why !== undefined) throw new TransportError('EOTHER', why);
  }

  /** Undefined: it does not say. */
  async #uid(): Promise<string | undefined> {
    const { physical, signal } = this.#options;
    const client = new Client(physical, { userAgent: 'atoll-syncer' });
    try {
      const found = await within(answerMs, signal, (soon) =>
        client.get(namespaces, { name: identifyingNamespace }, soon),
      );
      return found.metadata.uid;
    } catch (error) {
      if (isStatusError(error, 'NotFound') || isStatusError(error, 'Forbidden')) return undefined;
      signal.throwIfAborted();
      if (error instanceof DOMException) throw new TransportError('ETIMEDOUT', error.message, error);
      throw error;
    }
  }
}
