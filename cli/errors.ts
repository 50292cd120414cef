export { UsageError } from '../server/errors.ts';

/** What was asked could not be done: exit code 1, the reasons on stderr. */
export class FailedError extends Error {
  override readonly name = 'FailedError';
}

/** The user stopped waiting: exit code 130, what goes on without them on stderr. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
}
