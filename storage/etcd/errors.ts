import { status } from '@grpc/grpc-js';
import { StoreError, type StoreErrorCode } from '../store.ts';

/** A failed call, as gRPC reports it. */
export interface CallError extends Error {
  readonly code: number;
  readonly details: string;
}

/**
 * What a failed call means.
 *
 * - `again`: the answer was lost or never made. A read may be asked again; a write has an unknown outcome.
 * - `login`: the token is not valid any more, nothing was done.
 * - anything else: the answer itself, for good.
 */
export type Verdict = 'again' | 'login' | StoreErrorCode;

const AGAIN: ReadonlySet<number> = new Set([
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.CANCELLED,
  status.ABORTED,
  status.INTERNAL,
  status.UNKNOWN,
]);

/** The texts are etcd's own: its gRPC codes alone do not tell these cases apart. */
const BY_TEXT: readonly [RegExp, Verdict][] = [
  [/required revision has been compacted/, 'compacted'],
  [/required revision is a future revision/, 'future'],
  [/request is too large|larger than max/, 'too-large'],
  [/database space exceeded/, 'full'],
  [/invalid auth token|revision of auth store is old/, 'login'],
  [/too many requests|not leader|rpc not supported for learner/, 'again'],
];

export function verdict(error: CallError): Verdict {
  const byText = BY_TEXT.find(([pattern]) => pattern.test(error.details ?? ''));
  if (byText !== undefined) return byText[1];
  if (error.code === status.UNAUTHENTICATED) return 'login';
  if (error.code === status.DATA_LOSS) return 'corrupt';
  return AGAIN.has(error.code) ? 'again' : 'unavailable';
}

export function isCallError(error: unknown): error is CallError {
  return error instanceof Error && typeof (error as { code?: unknown }).code === 'number';
}

/** etcd knows who asks, and they may not. */
export function isDenied(error: unknown): boolean {
  return (
    error instanceof StoreError && isCallError(error.cause) && error.cause.code === status.PERMISSION_DENIED
  );
}

/** The error for a caller of the store. */
export function translate(error: unknown, key?: string): unknown {
  if (!isCallError(error)) return error;
  const found = verdict(error);
  const code = found === 'again' || found === 'login' ? 'unavailable' : found;
  const message = `etcd: ${error.details || error.message}`;
  return new StoreError(code, message, { cause: error, ...(key !== undefined && { key }) });
}
