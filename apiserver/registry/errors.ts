import {
  alreadyExists,
  conflict,
  expired,
  forbidden,
  type GroupResource,
  internalError,
  notFound,
  StatusError,
  staleObject,
} from '../../kube/status.ts';
import { StoreError } from '../../storage/store.ts';

/** The one place where what storage says becomes what the API says. */
export function translate(error: unknown, resource: GroupResource, name: string): Error {
  if (error instanceof StatusError) return error;
  if (!(error instanceof StoreError)) return internalError(messageOf(error), error);
  switch (error.code) {
    case 'exists':
      return alreadyExists(resource, name);
    case 'missing':
      return notFound(resource, name);
    case 'conflict':
      return conflict(resource, name, staleObject);
    case 'fenced':
      return conflict(resource, name, error.message);
    case 'limited':
      return forbidden(resource, name, error.message);
    case 'compacted':
      return expired('The resourceVersion for the provided watch is too old.');
    case 'future':
      return tooLarge();
    // Of no reason, and the server's own fault: so says kube-apiserver, whatever the store.
    case 'too-large':
      return new StatusError(500, '', 'etcdserver: request is too large', undefined, error);
    case 'full':
      return new StatusError(
        507,
        'InsufficientStorage',
        `the store is full: ${error.message}`,
        undefined,
        error,
      );
    case 'closed':
    case 'unavailable':
      return new StatusError(503, 'ServiceUnavailable', error.message, { retryAfterSeconds: 1 }, error);
    case 'corrupt':
      return internalError(error.message, error);
  }
}

/** Of a failure that `tooLarge` made, here or on its way. */
export function isTooLarge({ details }: StatusError): boolean {
  return details?.causes?.some(({ reason }) => reason === 'ResourceVersionTooLarge') ?? false;
}

/** A resourceVersion that this server has not reached yet. */
export function tooLarge(wanted?: number, current?: number): StatusError {
  const numbers = wanted === undefined ? '' : `: ${wanted}, current: ${current}`;
  const message = `Timeout: Too large resource version${numbers}`;
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }];
  return new StatusError(504, 'Timeout', message, { causes, retryAfterSeconds: 1 });
}

export async function translated<T>(work: Promise<T>, resource: GroupResource, name = ''): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw translate(error, resource, name);
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
