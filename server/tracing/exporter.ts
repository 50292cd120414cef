import { Client, type ClientUnaryCall, credentials } from '@grpc/grpc-js';
import type { TraceAttributes } from '../../apiserver/tracer.ts';
import { Batches } from '../batches.ts';
import { encodeExport, rejectedIn } from './span.ts';

const method = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';
const scope = 'atoll';
/** As OpenTelemetry has them for Go, but that what waits is sent each second. */
const [bufferSize, batchSize] = [2048, 512];
const maxWaitMs = 1000;
const backoffMs = 5000;
const timeoutMs = 10_000;
/** At the end. */
const flushMs = 3000;

export interface ExporterOptions {
  endpoint: string;
  /** Of which program the spans tell. */
  resource: TraceAttributes;
  exported(count: number): void;
  /** There was no room for so many, or `error` is why. */
  lost(count: number, error?: unknown): void;
}

/** Spans on their way to an OTLP receiver. Whoever gives them never waits, and hears of no failure. */
export class Exporter {
  readonly #options: ExporterOptions;
  readonly #client: Client;
  readonly #batches: Batches;
  #call: ClientUnaryCall | undefined;
  /** By when all must be over, in ms since the epoch. */
  #end = Number.POSITIVE_INFINITY;

  /** Connects with the first batch, and again after each loss. */
  constructor(options: ExporterOptions) {
    this.#options = options;
    this.#client = new Client(options.endpoint, credentials.createInsecure(), {
      'grpc.enable_retries': 0,
      'grpc.enable_channelz': 0,
      'grpc.enable_http_proxy': 0,
      'grpc.use_local_subchannel_pool': 1,
    });
    this.#batches = new Batches({
      bufferSize,
      batchSize,
      maxWaitMs,
      backoffMs,
      send: (spans) => this.#send(spans),
      dropped: options.lost,
    });
  }

  readonly write = (span: Uint8Array): void => this.#batches.write(span);

  /** What waits is sent, within three seconds; what is not sent then is lost. */
  async close(): Promise<void> {
    this.#end = Date.now() + flushMs;
    const late = setTimeout(() => this.#call?.cancel(), flushMs);
    await this.#batches.close();
    clearTimeout(late);
    this.#client.close();
  }

  async #send(spans: readonly Uint8Array[]): Promise<void> {
    const answer = await this.#export(encodeExport(this.#options.resource, scope, spans));
    const { count, why } = rejectedIn(answer);
    if (count > 0) this.#options.lost(count, new Error(why));
    this.#options.exported(spans.length - count);
  }

  #export(request: Buffer): Promise<Uint8Array> {
    const deadline = Math.min(Date.now() + timeoutMs, this.#end);
    const same = (bytes: Buffer) => bytes;
    return new Promise((resolve, reject) => {
      this.#call = this.#client.makeUnaryRequest(
        method,
        same,
        same,
        request,
        { deadline },
        (error, answer) => (error ? reject(error) : resolve(answer ?? new Uint8Array())),
      );
    });
  }
}
