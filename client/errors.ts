import type { Status } from '../kube/status.ts';
import { StatusError } from '../kube/status.ts';

/**
 * No answer, or not a whole one: refused, reset, timed out, too large. Whether a write took effect is unknown.
 * `code` is Node's (ECONNREFUSED, ECONNRESET, ...) or ETIMEDOUT, ETOOLARGE, EENDLESS (of a list in pages), EBADRESPONSE.
 */
export class TransportError extends Error {
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'TransportError';
    this.code = code;
  }
}

/** A kubeconfig that cannot be used, or by which nobody gets credentials now; a command's own words are in the message. */
export class KubeconfigError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'KubeconfigError';
  }
}

export function isTransportError(error: unknown): error is TransportError {
  return error instanceof TransportError;
}

/**
 * Why an answer holds no object. `missing` alone says that the object does not exist: its name was looked for, in a
 * resource that is served. notServed: nobody knows the resource there (now), so nothing is known of its objects.
 * notAllowed: whoever asks may not know. notAnswering: nobody said anything, or not yet.
 */
export type Absence = 'missing' | 'notServed' | 'notAllowed' | 'notAnswering';

/** Undefined: it is no such answer, but a refusal of what was asked, or no answer of a server at all. */
export function absenceOf(error: unknown): Absence | undefined {
  if (isTransportError(error)) return 'notAnswering';
  if (!(error instanceof StatusError)) return undefined;
  const { code, details } = error;
  if (code === 404) return details?.name ? 'missing' : 'notServed';
  if (code === 401 || code === 403) return 'notAllowed';
  if (code === 405) return 'notServed';
  return code === 408 || code === 429 || code >= 500 ? 'notAnswering' : undefined;
}

/**
 * The object of that name does not exist. The one answer on which anything may be deleted, shrunk or forgotten; with
 * the name, since a write may also find its Namespace missing.
 */
export function isMissing(error: unknown, name: string): boolean {
  return absenceOf(error) === 'missing' && (error as StatusError).details?.name === name;
}

/** What Kubernetes calls a status code for which the server sent no Status of its own. */
const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Expired',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/**
 * The Status in `body`, or one made from the code when a proxy or a broken server sent something else. `retryAfter`: the header of that
 * name, which is where kube-apiserver says it when it is busy.
 */
export function statusErrorOf(code: number, body: unknown, retryAfter?: string): StatusError {
  const later = /^\d{1,9}$/.test(retryAfter ?? '') && { retryAfterSeconds: Number(retryAfter) };
  if (isStatus(body)) {
    const known = Number.isInteger(body.code) && body.code >= 400 && body.code <= 999 ? body.code : code;
    const reason = body.reason || reasons[known] || 'Unknown';
    const details = later ? { ...later, ...body.details } : body.details;
    return new StatusError(known, reason, body.message || reason, details);
  }
  const reason = reasons[code] ?? (code >= 500 ? 'InternalError' : 'Unknown');
  const said = typeof body === 'string' && body !== '' ? `: ${JSON.stringify(body)}` : '';
  const message = `the server answered ${code} without a Status${said}`;
  return new StatusError(code, reason, message, later || undefined);
}

/** Nobody heard what was asked, or who stands before them says that they do not: whoever is heard of again may be asked at once. */
export function isUnheard(failure: unknown): boolean {
  return isTransportError(failure) || (failure instanceof StatusError && failure.code >= 500);
}

/** How long whoever answered so wants to be left alone: a minute at most. */
export function retryAfterMs(failure: unknown): number {
  // Whoever wrote it, a webhook maybe, may have written anything.
  const seconds: unknown = failure instanceof StatusError ? failure.details?.retryAfterSeconds : undefined;
  return Number.isFinite(seconds) ? Math.min(60, Math.max(0, seconds as number)) * 1000 : 0;
}

function isStatus(body: unknown): body is Status {
  return typeof body === 'object' && body !== null && 'kind' in body && body.kind === 'Status';
}
