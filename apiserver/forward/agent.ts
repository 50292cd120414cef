import https from 'node:https';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';
import { orAborted, within } from '../../kube/within.ts';
import { Contexts } from '../webhook/contexts.ts';
import { problemOf } from '../webhook/issued.ts';
import type { Forwards } from './forwards.ts';
import type { Idle } from './idle.ts';
import type { PodPort } from './target.ts';

/** Of a forward, and of TLS in it. */
const connectMs = 4_000;
/** For how long a connection waits for its next request: less than servers wait. */
const idleMs = 25_000;

/** Nothing was sent: another pod may be asked. The cause is what node, or the forward, says. */
export class NotConnectedError extends Error {}

/** What a request to a pod says beside what every request does; `signal` is its own, too. */
export interface ForwardedRequest {
  target: PodPort;
  asking: AbortSignal;
  /** Who it is says whoever signed that, of the request's authorities: see problemOf. */
  byIssuer?: boolean;
}

type Connected = (error: Error | null, socket: Duplex) => void;

/**
 * TLS to pods of physical clusters, in forwards. A connection is kept for the next request to the same port of the same pod, with the same
 * certificates; without `keep` it is for one request. A request whose connection is not made fails with NotConnectedError.
 */
export class ForwardAgent extends https.Agent {
  readonly #forwards: Forwards;
  readonly #connectMs: number;
  readonly #idle: Idle | undefined;
  readonly #contexts = new Contexts();

  constructor(forwards: Forwards, options: { keep?: Idle; connectMs?: number; idleMs?: number } = {}) {
    super({ keepAlive: options.keep !== undefined, maxFreeSockets: 2, timeout: options.idleMs ?? idleMs });
    this.#forwards = forwards;
    this.#connectMs = options.connectMs ?? connectMs;
    this.#idle = options.keep;
  }

  override createConnection(options: https.RequestOptions, callback?: Connected): undefined {
    const failed = (cause: unknown) =>
      callback?.(new NotConnectedError('not connected', { cause }), undefined as never);
    this.#connect(options as https.RequestOptions & ForwardedRequest).then(
      (socket) => callback?.(null, socket),
      failed,
    );
  }

  /** Each pod is one by itself. */
  override getName(options: https.RequestOptions & Partial<ForwardedRequest> = {}): string {
    const { cluster = '', uid = '', port = 0 } = options.target ?? {};
    return `${cluster}/${uid}:${port} ${super.getName({ ...options, host: '', port: '' })}`;
  }

  /** What is not to wait is closed. */
  override keepSocketAlive(socket: Duplex): boolean {
    const may = super.keepSocketAlive(socket) as unknown as boolean;
    return may && this.#idle?.keep(socket, clusters.get(socket) ?? '') === true;
  }

  override reuseSocket(socket: Duplex, request: Parameters<https.Agent['reuseSocket']>[1]): void {
    this.#idle?.forget(socket);
    super.reuseSocket(socket, request);
  }

  #connect({
    target,
    asking,
    byIssuer = false,
    ...options
  }: https.RequestOptions & ForwardedRequest): Promise<tls.TLSSocket> {
    return within(this.#connectMs, asking, async (signal) => {
      const stream = await this.#forwards.open(target, signal);
      // All of it, as node's own agent does, but for what says another way.
      const given = {
        ...options,
        host: undefined,
        port: undefined,
        path: undefined,
      } as tls.ConnectionOptions;
      const own = {
        socket: stream,
        minVersion: 'TLSv1.2',
        ALPNProtocols: ['http/1.1'],
        secureContext: this.#contexts.of(options),
        ...(byIssuer && { rejectUnauthorized: false }),
      } as const;
      const socket = tls.connect(Object.assign(given, own));
      socket.once('close', () => stream.destroy());
      // What the node says of it is told, where TLS only knows that there is nothing more.
      stream.once('failed', (error) => socket.destroy(error));
      if (stream.failure) socket.destroy(stream.failure);
      // Whoever uses it is told by node's client; while nobody does, that it is closed is enough.
      socket.on('error', () => undefined);
      clusters.set(socket, target.cluster);
      await secured(socket, signal);
      const problem = byIssuer ? problemOf(socket, options, Date.now()) : undefined;
      if (!problem) return socket;
      socket.destroy();
      throw problem;
    });
  }
}

/** Whose each connection is. */
const clusters = new WeakMap<Duplex, string>();

/** Once the other end has proved who it is. What has not is closed. */
async function secured(socket: tls.TLSSocket, signal: AbortSignal): Promise<void> {
  const done = new Promise<void>((resolve, reject) => {
    socket.once('secureConnect', resolve);
    socket.once('error', reject);
    socket.once('close', () => reject(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })));
  });
  try {
    await orAborted(signal, done);
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
