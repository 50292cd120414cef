import protobuf from 'protobufjs';
import { PROTO } from './proto.ts';

/** A 64-bit number as protobufjs gives it: an object when the package `long` is there. */
export type Int64 = number | { toNumber(): number };

export interface KeyValue {
  readonly key: Uint8Array;
  readonly createRevision: Int64;
  readonly modRevision: Int64;
  readonly version: Int64;
  readonly value: Uint8Array;
}

export interface WatchEvent {
  /** 0 put, 1 delete. */
  readonly type: number;
  readonly kv: KeyValue;
  readonly prevKv: KeyValue | null;
}

interface Answer {
  readonly header: { readonly revision: Int64 };
}

export interface RangeRequest {
  key: Uint8Array;
  rangeEnd?: Uint8Array;
  limit?: number;
  revision?: number;
  keysOnly?: boolean;
  countOnly?: boolean;
  maxModRevision?: number;
}

export interface RangeResponse extends Answer {
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
  readonly count: Int64;
}

interface DeleteResponse extends Answer {
  readonly prevKvs: readonly KeyValue[];
}

export type RequestOp =
  | { range: RangeRequest }
  | { put: { key: Uint8Array; value: Uint8Array; lease?: Int64; prevKv?: boolean } }
  | { delete: { key: Uint8Array; prevKv?: boolean } }
  | { txn: TxnRequest };

export interface ResponseOp {
  readonly range: RangeResponse | null;
  readonly put: { readonly prevKv: KeyValue | null } | null;
  readonly delete: DeleteResponse | null;
}

/** `key` was last changed by `modRevision`; 0: it does not exist. */
export interface Compare {
  result: 0;
  target: 2;
  key: Uint8Array;
  modRevision: number;
}

export interface TxnRequest {
  compare: Compare[];
  success: RequestOp[];
  failure: RequestOp[];
}

export interface TxnResponse extends Answer {
  readonly succeeded: boolean;
  readonly responses: readonly ResponseOp[];
}

export interface WatchCreate {
  key: Uint8Array;
  rangeEnd?: Uint8Array;
  startRevision: number;
  progressNotify?: boolean;
  prevKv?: boolean;
}

export type WatchRequest = { create: WatchCreate } | { progress: Record<string, never> };

export interface WatchResponse extends Answer {
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compactRevision: Int64;
  readonly cancelReason: string;
  readonly events: readonly WatchEvent[];
}

export interface LeaseAnswer extends Answer {
  readonly id: Int64;
  /** Seconds. A keep-alive that answers 0 came too late. */
  readonly ttl: Int64;
}

/** One remote procedure: its path and how its messages become bytes. */
export interface Method<Request, Response> {
  readonly path: string;
  readonly encode: (request: Request) => Buffer;
  readonly decode: (bytes: Buffer) => Response;
  /** Never set: it lets the compiler tell methods apart by what they carry. */
  readonly types?: [Request, Response];
}

const root = protobuf.parse(PROTO).root;

function method<Request extends object, Response>(
  path: string,
  request: string,
  response: string,
): Method<Request, Response> {
  const asked = root.lookupType(`etcd.${request}`);
  const answered = root.lookupType(`etcd.${response}`);
  return {
    path: `/etcdserverpb.${path}`,
    encode: (message) => Buffer.from(asked.encode(message).finish()),
    // The message has its fields' defaults in its prototype: it is of the declared shape, header apart.
    decode: (bytes) => answered.decode(bytes) as unknown as Response,
  };
}

export const range = method<RangeRequest, RangeResponse>('KV/Range', 'RangeRequest', 'RangeResponse');
export const txn = method<TxnRequest, TxnResponse>('KV/Txn', 'TxnRequest', 'TxnResponse');
export const compact = method<{ revision: number; physical: boolean }, Answer>(
  'KV/Compact',
  'CompactRequest',
  'CompactResponse',
);
export const watch = method<WatchRequest, WatchResponse>('Watch/Watch', 'WatchRequest', 'WatchResponse');
export const grant = method<{ ttl: number }, LeaseAnswer>(
  'Lease/LeaseGrant',
  'GrantRequest',
  'GrantResponse',
);
export const revoke = method<{ id: Int64 }, Answer>('Lease/LeaseRevoke', 'RevokeRequest', 'RevokeResponse');
export const keepAlive = method<{ id: Int64 }, LeaseAnswer>(
  'Lease/LeaseKeepAlive',
  'KeepAliveRequest',
  'KeepAliveResponse',
);
export const status = method<object, { readonly dbSize: Int64 }>(
  'Maintenance/Status',
  'StatusRequest',
  'StatusResponse',
);
export const authenticate = method<{ name: string; password: string }, { readonly token: string }>(
  'Auth/Authenticate',
  'AuthenticateRequest',
  'AuthenticateResponse',
);

/** Revisions and counts stay far below 2^53. */
export function number(value: Int64): number {
  return typeof value === 'number' ? value : value.toNumber();
}
