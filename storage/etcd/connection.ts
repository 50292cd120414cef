import { setMaxListeners } from 'node:events';
import {
  type ChannelCredentials,
  type ChannelOptions,
  Client,
  type ClientDuplexStream,
  Metadata,
  status,
} from '@grpc/grpc-js';
import { StoreError } from '../store.ts';
import { ATTEMPT_MS, channelCredentials, invoke, needsNone, tryOut, unaryChannel } from './channels.ts';
import { type CallError, isCallError, translate, verdict } from './errors.ts';
import type { EtcdOptions, EtcdSecrets } from './options.ts';
import { pause } from './pause.ts';
import type { UnaryChannel } from './unary.ts';
import { authenticate, type Method } from './wire.ts';

const PATIENCE_MS = 15_000;

const CHANNEL: ChannelOptions = {
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  // etcd closes connections that ping more often than every 5 s, or without a call.
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5000,
  'grpc.keepalive_permit_without_calls': 0,
  'grpc.initial_reconnect_backoff_ms': 50,
  'grpc.min_reconnect_backoff_ms': 50,
  'grpc.max_reconnect_backoff_ms': 1000,
  // A new client is a new connection: that is how another endpoint is tried.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_retries': 0,
  'grpc.enable_channelz': 0,
  'grpc.enable_http_proxy': 0,
  'grpc-node.flow_control_window': 4 << 20,
};

/** Streams go over the one, everything else over the other. */
interface Endpoint {
  client: Client;
  channel: UnaryChannel;
}

/** Calls to one of the endpoints; to the next one after a failure. Holds the login. */
export class Connection {
  #options: EtcdOptions;
  readonly #addresses: readonly string[];
  #credentials: ChannelCredentials;
  readonly #closed = new AbortController();
  /** After so many milliseconds without an answer the caller hears `unavailable`. */
  readonly patienceMs: number;
  /** Of the present client: they end when another endpoint is tried. */
  readonly #streams = new Set<{ cancel(): void }>();
  #at = 0;
  #endpoint: Endpoint;
  #token: Promise<string | undefined> | undefined;

  constructor(options: EtcdOptions) {
    this.#options = options;
    this.patienceMs = options.patienceMs ?? PATIENCE_MS;
    // Every call that waits for its next attempt listens.
    setMaxListeners(0, this.#closed.signal);
    this.#addresses = options.endpoints.map((endpoint) => endpoint.replace(/^https?:\/\//, ''));
    if (this.#addresses.length === 0) throw new StoreError('unavailable', 'etcd: no endpoints were given');
    this.#credentials = channelCredentials(options);
    this.#endpoint = this.#connect();
  }

  /** Aborts when the connection is closed for good. */
  get signal(): AbortSignal {
    return this.#closed.signal;
  }

  /** One attempt, given up at `deadline` (of performance.now) at the latest. Rejects with a CallError. */
  async once<Q, A>(method: Method<Q, A>, request: Q, deadline = Infinity): Promise<A> {
    const headers = await this.#headers();
    const { client, channel } = this.#endpoint;
    try {
      const left = Math.max(1, deadline - performance.now());
      return await invoke(channel, method, request, headers, Math.min(ATTEMPT_MS, left));
    } catch (error) {
      this.#failed(client, error);
      throw error;
    }
  }

  /**
   * For calls that do no harm when done twice: asks until there is an answer. Rejects with a StoreError. `again`: what is asked instead where
   * there was none.
   */
  async call<Q, A>(method: Method<Q, A>, request: Q, again?: (request: Q) => Q): Promise<A> {
    let asked = request;
    const deadline = performance.now() + this.patienceMs;
    for (let wait = 10; ; wait = Math.min(wait * 2, 500)) {
      try {
        return await this.once(method, asked, deadline);
      } catch (error) {
        if (!(await this.mayRetry(error, wait, deadline))) throw translate(error);
        asked = again?.(asked) ?? asked;
      }
    }
  }

  /** Waits before the next attempt; false when there should be none. */
  async mayRetry(error: unknown, waitMs: number, deadline: number): Promise<boolean> {
    if (!isCallError(error) || this.signal.aborted) return false;
    const meaning = verdict(error);
    if (meaning !== 'again' && meaning !== 'login') return false;
    if (performance.now() + waitMs >= deadline) return false;
    // Somebody waits for the answer.
    await pause(waitMs, this.signal, { ref: true });
    return !this.signal.aborted;
  }

  async stream<Q, A>(method: Method<Q, A>): Promise<ClientDuplexStream<Q, A>> {
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(await this.#headers())) metadata.set(name, value);
    const { client } = this.#endpoint;
    const stream = client.makeBidiStreamRequest(method.path, method.encode, method.decode, metadata, {});
    this.#streams.add(stream);
    stream.on('close', () => this.#streams.delete(stream));
    stream.on('error', (error) => {
      this.#streams.delete(stream);
      // Nearly always it is this side that cancels.
      if ((error as CallError).code !== status.CANCELLED) this.#failed(client, error);
    });
    return stream;
  }

  /** The next call logs in anew. */
  forgetLogin(): void {
    this.#token = undefined;
  }

  /** For connections and logins from now on, those that are there stay. Rejects where etcd takes none by them, as of now. */
  async renew(secrets: EtcdSecrets): Promise<void> {
    const options = { ...this.#options, ...secrets };
    await tryOut(this.#address, options);
    if (this.signal.aborted) return;
    this.#options = options;
    this.#credentials = channelCredentials(this.#options);
    const { client, channel } = this.#endpoint;
    this.#endpoint = { client: this.#client(), channel };
    client.close();
  }

  /** Nothing is tried again any more. */
  stop(): void {
    this.#closed.abort();
  }

  close(): void {
    this.stop();
    close(this.#endpoint);
  }

  #connect(): Endpoint {
    return { client: this.#client(), channel: unaryChannel(this.#address, () => this.#options) };
  }

  #client(): Client {
    return new Client(this.#address, this.#credentials, CHANNEL);
  }

  get #address(): string {
    return this.#addresses[this.#at % this.#addresses.length] ?? '';
  }

  #failed(client: Client, error: unknown): void {
    if (!isCallError(error) || this.signal.aborted) return;
    const meaning = verdict(error);
    if (meaning === 'login') this.#token = undefined;
    // Somebody else's failure may have changed the endpoint already.
    if (meaning !== 'again' || client !== this.#endpoint.client || this.#addresses.length === 1) return;
    this.#at++;
    const left = this.#endpoint;
    this.#endpoint = this.#connect();
    close(left);
    for (const stream of [...this.#streams]) stream.cancel();
  }

  async #headers(): Promise<Readonly<Record<string, string>>> {
    const { username } = this.#options;
    if (username === undefined) return {};
    this.#token ??= this.#login(username);
    try {
      const token = await this.#token;
      return token === undefined ? {} : { token };
    } catch (error) {
      this.#token = undefined;
      throw error;
    }
  }

  async #login(name: string): Promise<string | undefined> {
    const { client, channel } = this.#endpoint;
    try {
      const request = { name, password: this.#options.password ?? '' };
      return (await invoke(channel, authenticate, request, {}, ATTEMPT_MS)).token;
    } catch (error) {
      if (isCallError(error) && needsNone(error)) return undefined;
      this.#failed(client, error);
      throw error;
    }
  }
}

function close({ client, channel }: Endpoint): void {
  client.close();
  channel.close();
}
