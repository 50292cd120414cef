import { createHash, randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { ApiResponse } from '../../kube/http.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { orAborted } from '../../kube/within.ts';
import type { PodConnector } from '../plugins.ts';
import type { Registry } from '../registry/types.ts';
import { ForwardError, ForwardedConnection, forwardProtocol, plain } from './connection.ts';
import { Places } from './places.ts';
import type { PodPort } from './target.ts';

export interface ForwardsOptions {
  registry: Pick<Registry, 'get'>;
  connectPod: PodConnector | undefined;
  places?: Places;
  /** How often it is asked whether pods with open forwards are still there. */
  everyMs?: number;
}

const websocketGuid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/**
 * Connections to pods that run on physical clusters, each a port-forward of that cluster's API. Only ever to a pod that the logical
 * cluster shows, in the namespace there that is its own.
 */
export class Forwards {
  readonly #options: ForwardsOptions;
  readonly #places: Places;
  #watching: NodeJS.Timeout | undefined;

  constructor(options: ForwardsOptions) {
    this.#options = options;
    this.#places = options.places ?? new Places();
  }

  /** How many are open, or about to be. */
  get count(): number {
    return this.#places.count;
  }

  /** Whoever receives it ends it. Rejects with ForwardError; `signal` ends what is not open yet. */
  async open(target: PodPort, signal: AbortSignal): Promise<ForwardedConnection> {
    const ended = new AbortController();
    let connection: ForwardedConnection | undefined;
    const end = (why: string) => {
      ended.abort(new ForwardError(why));
      connection?.fail(new ForwardError(why));
    };
    const abort = () => ended.abort(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    const release = this.#places.take({ target, end });
    const tunnel = this.#tunnel(target, ended.signal);
    try {
      // A cluster that heeds no signal holds no place; a tunnel that comes later is closed.
      connection = new ForwardedConnection(await orAborted(ended.signal, tunnel), target.port);
      connection.once('close', release);
      if (ended.signal.aborted) connection.destroy();
      ended.signal.throwIfAborted();
      this.#watch();
      return connection;
    } catch (error) {
      release();
      if (ended.signal.aborted) throw ended.signal.reason;
      throw error instanceof ForwardError
        ? error
        : new ForwardError((error as Error).message, { cause: error });
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  close(): void {
    clearInterval(this.#watching);
    for (const one of this.#places) one.end('the server closes');
  }

  async #tunnel(target: PodPort, signal: AbortSignal): Promise<Duplex> {
    const pod = await this.#pod(target);
    if (pod === undefined) throw new ForwardError(`pod ${JSON.stringify(target.pod)} is gone`);
    const route = await this.#options.connectPod?.(target.cluster, pod);
    if (route === undefined)
      throw new ForwardError(`pod ${JSON.stringify(target.pod)} runs on no cluster that can be reached`);
    const key = randomBytes(16).toString('base64');
    const response = await route.transport({
      method: 'GET',
      url: `${route.path}/portforward?ports=${target.port}`,
      headers: {
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': key,
        'sec-websocket-protocol': forwardProtocol,
      },
      streams: true,
      signal,
    });
    return accepted(response, key, signal);
  }

  async #pod({ cluster, namespace, pod, uid }: PodPort): Promise<KubeObject | undefined> {
    const at = { cluster, group: '', resource: 'pods', namespace, name: pod };
    try {
      const found = await this.#options.registry.get(at);
      return found.metadata.uid === uid ? found : undefined;
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  /** A node that is lost ends nothing by itself. */
  #watch(): void {
    if (this.#watching !== undefined) return;
    this.#watching = setInterval(() => void this.#look(), this.#options.everyMs ?? 10_000).unref();
  }

  async #look(): Promise<void> {
    const open = [...this.#places];
    if (open.length === 0) {
      clearInterval(this.#watching);
      this.#watching = undefined;
      return;
    }
    const pods = new Map<string, Promise<boolean>>();
    for (const { target, end } of open) {
      const isThere = pods.get(target.uid) ?? this.#isThere(target);
      pods.set(target.uid, isThere);
      if (!(await isThere)) end(`pod ${JSON.stringify(target.pod)} is gone`);
    }
  }

  /** Of a pod of which nothing is known now, nothing is said. */
  #isThere(target: PodPort): Promise<boolean> {
    return this.#pod(target).then(
      (pod) => pod !== undefined,
      () => true,
    );
  }
}

/** The tunnel of an answer that agrees. Of one that does not, what it says, as far as that is short. */
async function accepted(
  { status, headers, body, tunnel }: ApiResponse,
  key: string,
  signal: AbortSignal,
): Promise<Duplex> {
  if (status !== 101 || tunnel === undefined) {
    const [said = new Uint8Array()] = body instanceof Uint8Array ? [body] : [await first(body)];
    throw new ForwardError(`the cluster forwards nothing: ${status} ${plain(said)}`);
  }
  // Until it is read nobody else listens, and a reset that nobody hears ends the process.
  tunnel.on('error', () => tunnel.destroy());
  const proof = createHash('sha1')
    .update(key + websocketGuid)
    .digest('base64');
  const agrees =
    headers['sec-websocket-accept'] === proof && headers['sec-websocket-protocol'] === forwardProtocol;
  if (!agrees || signal.aborted) {
    tunnel.destroy();
    signal.throwIfAborted();
    throw new ForwardError('the cluster forwards nothing: it agreed to another protocol');
  }
  return tunnel;
}

async function first(body: AsyncIterable<Uint8Array>): Promise<Uint8Array | undefined> {
  for await (const piece of body) return piece;
  return undefined;
}
