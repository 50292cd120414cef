import { randomBytes } from 'node:crypto';
import protobuf from 'protobufjs';
import type { TraceAttributes } from '../../apiserver/tracer.ts';

/**
 * What opentelemetry-proto 1.x says of traces, as far as it is said here. A span is written when it ends and is bytes from then
 * on: they have the same form within a message as the message that they are.
 */
const { root } = protobuf.parse(`
syntax = "proto3";
package otlp;

message Export { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Resource { repeated KeyValue attributes = 1; }
message ScopeSpans { Scope scope = 1; repeated bytes spans = 2; }
message Scope { string name = 1; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5;
  int32 kind = 6; fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
  repeated KeyValue attributes = 9; repeated Link links = 13; Status status = 15; fixed32 flags = 16;
}
message Link { bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; fixed32 flags = 6; }
message Status { int32 code = 3; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue { oneof value { string string_value = 1; int64 int_value = 3; } }

message Exported { PartialSuccess partial_success = 1; }
message PartialSuccess { int64 rejected_spans = 1; string error_message = 2; }
`);
const spanType = root.lookupType('otlp.Span');
const exportType = root.lookupType('otlp.Export');
const exportedType = root.lookupType('otlp.Exported');

export const kinds = { internal: 1, server: 2, client: 3 } as const;
const failed = { code: 2 };
/** Of flags: it was sampled; it is known whether the parent is elsewhere; it is. */
const [sampledFlag, knownFlag, remoteFlag] = [1, 0x100, 0x200];

export interface Span {
  traceId: string;
  spanId: string;
  state: string;
  /** Undefined: the trace begins with it. */
  parentId: string | undefined;
  /** Whether the parent is another program's. */
  remote: boolean;
  name: string;
  kind: keyof typeof kinds;
  /** Milliseconds since the epoch. */
  from: number;
  to: number;
  attributes: TraceAttributes;
  /** A trace that it is not part of, but belongs to. */
  link?: { traceId: string; spanId: string; state: string } | undefined;
  failed?: boolean;
}

export function encodeSpan({ link, ...span }: Span): Uint8Array {
  return spanType
    .encode({
      traceId: bytes(span.traceId),
      spanId: bytes(span.spanId),
      traceState: span.state,
      ...(span.parentId !== undefined && { parentSpanId: bytes(span.parentId) }),
      name: span.name,
      kind: kinds[span.kind],
      startTimeUnixNano: nanos(span.from),
      endTimeUnixNano: nanos(span.to),
      attributes: pairs(span.attributes),
      ...(link && {
        links: [
          {
            traceId: bytes(link.traceId),
            spanId: bytes(link.spanId),
            traceState: link.state,
            flags: knownFlag | remoteFlag,
          },
        ],
      }),
      ...(span.failed && { status: failed }),
      flags: sampledFlag | knownFlag | (span.remote ? remoteFlag : 0),
    })
    .finish();
}

export function encodeExport(resource: TraceAttributes, scope: string, spans: readonly Uint8Array[]): Buffer {
  const message = {
    resourceSpans: [
      { resource: { attributes: pairs(resource) }, scopeSpans: [{ scope: { name: scope }, spans }] },
    ],
  };
  return Buffer.from(exportType.encode(message).finish());
}

/** How many spans the receiver did not take. Throws Error. */
export function rejectedIn(answer: Uint8Array): { count: number; why: string } {
  const { partialSuccess } = exportedType.toObject(exportedType.decode(answer), { longs: Number });
  return { count: Number(partialSuccess?.rejectedSpans ?? 0), why: partialSuccess?.errorMessage ?? '' };
}

export function newSpanId(): string {
  return randomBytes(8).toString('hex');
}

function bytes(hex: string): Buffer {
  return Buffer.from(hex, 'hex');
}

function pairs(attributes: TraceAttributes): object[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? { stringValue: value } : { intValue: value },
  }));
}

/** More than a number holds, in two halves. */
function nanos(millis: number): { low: number; high: number; unsigned: true } {
  const value = BigInt(Math.round(millis * 1000)) * 1000n;
  return { low: Number(value & 0xffffffffn), high: Number(value >> 32n), unsigned: true };
}
