import { TransportError } from '../client/errors.ts';
import { StatusError } from '../kube/status.ts';
import { UsageError } from '../server/errors.ts';
import { OwnedError, StoreError } from '../storage/store.ts';

export { UsageError };

/** What was asked could not be done: exit code 1, the reasons on stderr. */
export class FailedError extends Error {
  override readonly name = 'FailedError';
}

/** The user stopped waiting: exit code 130, what goes on without them on stderr. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
}

/** What went wrong was said already. */
export class ToldError extends Error {
  override readonly name = 'ToldError';
  readonly exitCode: number;

  constructor(exitCode: number, cause: unknown) {
    super('told already', { cause });
    this.exitCode = exitCode;
  }
}

/** What a server's refusal says, and whose kubeconfig it takes; admission, which refuses administrators, too, says why itself. */
export function advised(message: string, reason = ''): string {
  const byRole = /User ".*" cannot /.test(message);
  return `${message}${reason && ` (${reason})`}${byRole ? ": this needs an administrator's kubeconfig" : ''}`;
}

const released = 'stop that first, or name another --data-dir; of a running server: atoll backup FILE';

/** In one sentence, with the exit code; undefined for what nobody foresaw. */
export function explained(error: unknown): { message: string; exitCode: number } | undefined {
  if (error instanceof UsageError) return { message: error.message, exitCode: 2 };
  if (error instanceof OwnedError) return { message: `${error.message}: ${released}`, exitCode: 1 };
  if (error instanceof FailedError || error instanceof StoreError)
    return { message: error.message, exitCode: 1 };
  if (error instanceof StatusError) return { message: advised(error.message, error.reason), exitCode: 1 };
  if (error instanceof TransportError) {
    const start = error.code === 'ECONNREFUSED' ? ': start it (atoll start), or name another kubeconfig' : '';
    return { message: `Atoll does not answer: ${error.message}${start}`, exitCode: 1 };
  }
  // Of the operating system: its message names the call and the file.
  if (error instanceof Error && 'syscall' in error) return { message: error.message, exitCode: 1 };
  return undefined;
}
