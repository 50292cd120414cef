import { StatusError } from '../../../kube/status.ts';
import type { AdmissionRequest } from '../../plugins.ts';

/** For how long a webhook may be asked that takes so many seconds; throws a StatusError 504 where the request has no time left. */
export function millisFor(request: AdmissionRequest, timeoutSeconds: number): number {
  const { until = Number.POSITIVE_INFINITY } = request;
  requireTime(request);
  return Math.min(timeoutSeconds * 1000, Math.ceil(until - performance.now()));
}

/** Throws a StatusError 504, in kube-apiserver's words. */
export function requireTime(request: AdmissionRequest): void {
  if (!isOutOfTime(request)) return;
  const message = 'Timeout: request did not complete within requested timeout';
  throw new StatusError(504, 'Timeout', message, {});
}

export function isOutOfTime({ until }: AdmissionRequest): boolean {
  return until !== undefined && performance.now() >= until;
}
