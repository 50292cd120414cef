import { StatusError } from '../../kube/status.ts';

/** A body, or an object that is there, of more than this is taken apart, changed and put together in its turn. */
export const longBytes = 64 * 1024;
/** Of one share; who comes then is refused. */
const mostWaiting = 64;

function tooMany(): StatusError {
  const message = 'too many requests about large objects wait in this logical cluster: try again later';
  return new StatusError(429, 'TooManyRequests', message, { retryAfterSeconds: 1 });
}

/** Nobody hears it: whoever asked has gone, or was told that it took too long. What waits ends by it, and gives its seat back. */
function forNobody(): StatusError {
  const message = 'Timeout: nobody waits for what was to be done with a large object';
  return new StatusError(504, 'Timeout', message, {});
}

interface Waiter {
  begin(): void;
  giveUp(): void;
  wanted(): boolean;
}

/** Whether anybody still waits for what a turn leads to. */
export interface Asked {
  wanted(): boolean;
  /** Aborts when whoever asked goes. */
  signal?: AbortSignal | undefined;
}

/**
 * Who may take this thread for long next. What is done with a large object is one step, in which nobody else is served: as many as
 * have a seat, one after the other, held everybody up for a minute. So there is one at a time, of each share in its turn, and after
 * each the thread is everybody else's for as long as it took; where nobody else asked for anything, the next begins at once.
 */
export class LongSteps {
  readonly #waiting = new Map<string, Waiter[]>();
  readonly #now: () => number;
  #isTaken = false;
  /** Requests since the last step began that took no such turn. */
  #others = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Somebody asked for something. */
  came(): void {
    this.#others++;
  }

  /**
   * Resolves when whoever called has its turn, which lasts until it waits for something itself. Rejects with 504 where it is not
   * `wanted` any more by then, or at once when its signal aborts; with 429 where too many of that share wait.
   */
  turn(share: string, { wanted, signal }: Asked): Promise<void> {
    // Who takes one is no other, but may have come before the step that is under way began, or take several.
    this.#others = Math.max(0, this.#others - 1);
    if (signal?.aborted) return Promise.reject(forNobody());
    if ((this.#waiting.get(share)?.length ?? 0) >= mostWaiting) return Promise.reject(tooMany());
    return new Promise((resolve, reject) => {
      const gone = () => {
        this.#leave(share, waiter);
        reject(forNobody());
      };
      const waiter: Waiter = {
        begin: () => {
          signal?.removeEventListener('abort', gone);
          resolve();
        },
        giveUp: () => {
          signal?.removeEventListener('abort', gone);
          reject(forNobody());
        },
        wanted,
      };
      signal?.addEventListener('abort', gone, { once: true });
      const own = this.#waiting.get(share);
      if (own) own.push(waiter);
      else this.#waiting.set(share, [waiter]);
      if (!this.#isTaken) this.#plan();
    });
  }

  #leave(share: string, waiter: Waiter): void {
    const own = this.#waiting.get(share) ?? [];
    const at = own.indexOf(waiter);
    if (at >= 0) own.splice(at, 1);
    if (own.length === 0) this.#waiting.delete(share);
  }

  /** Two callbacks in a row: what the first leads to is over when the second comes. */
  #plan(): void {
    this.#isTaken = true;
    this.#others = 0;
    let from = 0;
    setImmediate(() => {
      from = this.#now();
      this.#next()?.begin();
    });
    setImmediate(() => this.#rest(this.#now() - from));
  }

  /** Whoever came during the step is seen only once the loop has gone round. */
  #rest(millis: number): void {
    setImmediate(() => {
      if (this.#others <= 0 && this.#waiting.size === 0) this.#isTaken = false;
      else setTimeout(() => this.#go(), millis);
    });
  }

  #go(): void {
    if (this.#waiting.size > 0) this.#plan();
    else this.#isTaken = false;
  }

  #next(): Waiter | undefined {
    for (const [share, own] of this.#waiting) {
      // Whoever has more goes behind all others.
      this.#waiting.delete(share);
      for (let next = own.shift(); next; next = own.shift()) {
        if (!next.wanted()) {
          next.giveUp();
          continue;
        }
        if (own.length > 0) this.#waiting.set(share, own);
        return next;
      }
    }
    return undefined;
  }
}
