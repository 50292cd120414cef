import { groupResource } from './gvk.ts';
import { quoteGo } from './quote.ts';

/** A cause in `details.causes[]`: `reason` is e.g. FieldValueInvalid, `field` a path such as `spec.replicas`. */
export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

/** metav1.Status. https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/ */
export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: Record<string, never>;
  status: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code: number;
}

/** The one error that leaves the API: every layer's own errors are translated into it at its border. */
export class StatusError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly details: StatusDetails | undefined;

  constructor(code: number, reason: string, message: string, details?: StatusDetails, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StatusError';
    this.code = code;
    this.reason = reason;
    this.details = details;
  }

  toStatus(): Status {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      ...(this.reason !== '' && { reason: this.reason }),
      ...(this.details && { details: this.details }),
      code: this.code,
    };
  }
}

export function isStatusError(error: unknown, reason?: string): error is StatusError {
  return error instanceof StatusError && (reason === undefined || error.reason === reason);
}

export interface GroupResource {
  group: string;
  resource: string;
}

function detailsOf(of: GroupResource, name: string): StatusDetails {
  return { ...(name && { name }), ...(of.group && { group: of.group }), kind: of.resource };
}

export function notFound(resource: GroupResource, name: string): StatusError {
  return new StatusError(
    404,
    'NotFound',
    `${groupResource(resource)} ${quoteGo(name)} not found`,
    detailsOf(resource, name),
  );
}

/** `goes`: what has the name is being deleted, so that it is free soon. */
export function alreadyExists(resource: GroupResource, name: string, goes = false): StatusError {
  return new StatusError(
    409,
    'AlreadyExists',
    `${goes ? 'object is being deleted: ' : ''}${groupResource(resource)} ${quoteGo(name)} already exists`,
    detailsOf(resource, name),
  );
}

export function conflict(resource: GroupResource, name: string, why: string): StatusError {
  const message = `Operation cannot be fulfilled on ${groupResource(resource)} ${quoteGo(name)}: ${why}`;
  return new StatusError(409, 'Conflict', message, detailsOf(resource, name));
}

export const staleObject =
  'the object has been modified; please apply your changes to the latest version and try again';

/** `causes` carry the field errors; the message joins them, each once, as kube-apiserver does. */
export function invalid(group: string, kind: string, name: string, causes: StatusCause[]): StatusError {
  const parts = [...new Set(causes.map((c) => `${c.field ?? '<nil>'}: ${c.message ?? ''}`))];
  const list = parts.length === 1 ? parts[0] : `[${parts.join(', ')}]`;
  const qualified = group === '' ? kind : `${kind}.${group}`;
  const message = `${qualified} ${quoteGo(name)} is invalid: ${causes.length === 0 ? '<nil>' : list}`;
  const details = { ...(name && { name }), ...(group && { group }), ...(kind && { kind }), causes };
  return new StatusError(422, 'Invalid', message, details);
}

export function badRequest(message: string): StatusError {
  return new StatusError(400, 'BadRequest', message);
}

export function unauthorized(): StatusError {
  return new StatusError(401, 'Unauthorized', 'Unauthorized');
}

export function forbidden(resource: GroupResource, name: string, why: string): StatusError {
  const subject = name === '' ? groupResource(resource) : `${groupResource(resource)} ${quoteGo(name)}`;
  return new StatusError(403, 'Forbidden', `${subject} is forbidden: ${why}`, detailsOf(resource, name));
}

export function expired(message: string): StatusError {
  return new StatusError(410, 'Expired', message);
}

export function internalError(message: string, cause?: unknown): StatusError {
  const details = { causes: [{ message }] };
  return new StatusError(500, 'InternalError', `Internal error occurred: ${message}`, details, cause);
}
