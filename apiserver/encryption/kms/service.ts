import { randomUUID } from 'node:crypto';
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { socketOf, timeoutOf } from '../../../kube/encryption/kms.ts';
import type { KmsConfiguration } from '../../../kube/encryption/types.ts';
import {
  type Coder,
  decryptRequest,
  decryptResponse,
  type Encrypted,
  encryptRequest,
  encryptResponse,
  type Status,
  statusRequest,
  statusResponse,
} from './proto.ts';

/** A call that did not succeed, in the words of Go's gRPC. */
class CallError extends Error {
  constructor(error: ServiceError) {
    const why = error.code === status.DEADLINE_EXCEEDED ? 'context deadline exceeded' : error.details;
    super(`rpc error: code = ${codeName(error.code)} desc = ${why}`, { cause: error });
    this.name = 'CallError';
  }
}

/** Told of each call: how long it took, and what gRPC says of it, such as `OK`. */
export type OnCall = (method: string, seconds: number, code: string) => void;

/** The three calls of a KMS v2 plugin. Each rejects with Error, after the configured timeout at the latest. */
export class Service {
  readonly #client: Client;
  readonly #timeoutMs: number;
  readonly #onCall: OnCall;
  readonly #pending = new Set<Promise<unknown>>();

  /** Connects with the first call, and again after each loss. */
  constructor(kms: KmsConfiguration, onCall: OnCall) {
    this.#timeoutMs = timeoutOf(kms);
    this.#onCall = onCall;
    this.#client = new Client(`unix:${socketOf(kms)}`, credentials.createInsecure(), {
      'grpc.default_authority': 'localhost',
      'grpc.initial_reconnect_backoff_ms': 50,
      'grpc.min_reconnect_backoff_ms': 50,
      'grpc.max_reconnect_backoff_ms': 1000,
      'grpc.use_local_subchannel_pool': 1,
      'grpc.enable_retries': 0,
      'grpc.enable_channelz': 0,
      'grpc.enable_http_proxy': 0,
    });
  }

  status(): Promise<Status> {
    return this.#call('Status', {}, statusRequest, statusResponse);
  }

  encrypt(plaintext: Uint8Array): Promise<Encrypted> {
    return this.#call('Encrypt', { plaintext, uid: randomUUID() }, encryptRequest, encryptResponse);
  }

  async decrypt(encrypted: Encrypted): Promise<Uint8Array> {
    const question = { ...encrypted, uid: randomUUID() };
    return (await this.#call('Decrypt', question, decryptRequest, decryptResponse)).plaintext;
  }

  /** What was asked is answered. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#pending);
    this.#client.close();
  }

  async #call<Q, A>(name: string, question: Q, asked: Coder<Q>, answered: Coder<A>): Promise<A> {
    const method = `/v2.KeyManagementService/${name}`;
    const began = performance.now();
    const answer = this.#invoke(method, question, asked, answered);
    this.#pending.add(answer);
    try {
      const found = await answer;
      this.#onCall(method, (performance.now() - began) / 1000, codeName(status.OK));
      return found;
    } catch (error) {
      const { code } = error as ServiceError;
      this.#onCall(method, (performance.now() - began) / 1000, codeName(code));
      throw new CallError(error as ServiceError);
    } finally {
      this.#pending.delete(answer);
    }
  }

  #invoke<Q, A>(method: string, question: Q, { encode }: Coder<Q>, { decode }: Coder<A>): Promise<A> {
    // A plugin that is being restarted is waited for.
    const metadata = new Metadata({ waitForReady: true });
    const deadline = Date.now() + this.#timeoutMs;
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        method,
        encode,
        decode,
        question,
        metadata,
        { deadline },
        (error, answer) => (error ? reject(error) : resolve(answer as A)),
      );
    });
  }
}

/** As Go calls it: `DeadlineExceeded`. */
function codeName(code: number): string {
  if (code === status.OK) return 'OK';
  if (code === status.CANCELLED) return 'Canceled';
  const words = (status[code] ?? 'UNKNOWN').toLowerCase().split('_');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}
