import { Server, ServerCredentials } from '@grpc/grpc-js';
import protobuf from 'protobufjs';

/** What opentelemetry-proto 1.x says of traces, as far as anybody here reads it. */
const { root } = protobuf.parse(`
syntax = "proto3";
package otlp;
message Request { repeated ResourceSpans resource_spans = 1; }
message Response { PartialSuccess partial_success = 1; }
message PartialSuccess { int64 rejected_spans = 1; string error_message = 2; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; string schema_url = 3; }
message Resource { repeated KeyValue attributes = 1; }
message ScopeSpans { Scope scope = 1; repeated Span spans = 2; string schema_url = 3; }
message Scope { string name = 1; string version = 2; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
  fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9;
  repeated Link links = 13; Status status = 15; fixed32 flags = 16;
}
message Link { bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; fixed32 flags = 6; }
message Status { string message = 2; int32 code = 3; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }
`);
const [requestType, responseType] = [root.lookupType('otlp.Request'), root.lookupType('otlp.Response')];
const path = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';

/** Identities in hexadecimal; times in nanoseconds, as text. */
export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  traceState: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Record<string, string | boolean | number>;
  links: { traceId: string; spanId: string }[];
  /** 0: nothing is said of it; 2: an error. */
  status: number;
  scope: string;
  resource: Record<string, string | boolean | number>;
}

/** An OTLP receiver on a port of its own. */
export class Receiver {
  readonly #server = new Server();
  readonly spans: ReceivedSpan[] = [];
  /** Of the next answers: so many spans are not taken, and why. */
  rejects = 0;
  /** Answers nothing while true. */
  hangs = false;
  calls = 0;
  #port = 0;

  get endpoint(): string {
    return `127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    this.#server.addService(
      {
        Export: {
          path,
          requestStream: false,
          responseStream: false,
          requestSerialize: (message: object) => Buffer.from(requestType.encode(message).finish()),
          requestDeserialize: (bytes: Buffer) => requestType.decode(bytes),
          responseSerialize: (message: object) => Buffer.from(responseType.encode(message).finish()),
          responseDeserialize: (bytes: Buffer) => responseType.decode(bytes),
        },
      },
      {
        Export: (call: { request: protobuf.Message }, reply: (error: null, answer: object) => void) => {
          this.calls++;
          if (this.hangs) return;
          this.spans.push(...spansOf(call.request));
          const rejected = { rejectedSpans: this.rejects, errorMessage: 'not these' };
          reply(null, this.rejects > 0 ? { partialSuccess: rejected } : {});
        },
      },
    );
    this.#port = await new Promise<number>((resolve, reject) =>
      this.#server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
        error ? reject(error) : resolve(port),
      ),
    );
  }

  stop(): void {
    this.#server.forceShutdown();
  }

  named(name: string): ReceivedSpan[] {
    return this.spans.filter((span) => span.name === name);
  }
}

interface KeyValue {
  key: string;
  value?: Record<string, string | boolean | number>;
}

function spansOf(request: protobuf.Message): ReceivedSpan[] {
  // biome-ignore lint/suspicious/noExplicitAny: as the schema above has it.
  const message = requestType.toObject(request, { defaults: true, longs: String, bytes: String }) as any;
  const found: ReceivedSpan[] = [];
  for (const { resource, scopeSpans } of message.resourceSpans)
    for (const { scope, spans } of scopeSpans)
      for (const span of spans)
        found.push({
          ...span,
          traceId: hex(span.traceId),
          spanId: hex(span.spanId),
          parentSpanId: hex(span.parentSpanId),
          attributes: attributesOf(span.attributes),
          links: span.links.map((link: { traceId: string; spanId: string }) => ({
            traceId: hex(link.traceId),
            spanId: hex(link.spanId),
          })),
          status: span.status?.code ?? 0,
          scope: scope?.name ?? '',
          resource: attributesOf(resource?.attributes ?? []),
        });
  return found;
}

function attributesOf(pairs: readonly KeyValue[]): ReceivedSpan['attributes'] {
  return Object.fromEntries(pairs.map(({ key, value = {} }) => [key, Object.values(value)[0] ?? '']));
}

function hex(base64: string): string {
  return Buffer.from(base64, 'base64').toString('hex');
}
