import type { Deadlines } from '../wire/deadlines.ts';
import type { Ticket } from './level.ts';
import type { Refusal } from './observer.ts';

export interface Waiting {
  /** Of whoever waits. */
  signal: AbortSignal | undefined;
  millis: number;
  deadlines: Deadlines;
  /** Takes the ticket out of its queue, and says why by `decided`. */
  leave(reason: Refusal): void;
}

/** Resolves when it has a seat, or with why it will have none: `decided` of the ticket tells. */
export function turnOf(
  ticket: Ticket,
  { signal, millis, deadlines, leave }: Waiting,
): Promise<Refusal | undefined> {
  return new Promise((resolve) => {
    const gone = () => leave('cancelled');
    const inTime = deadlines.add(millis, () => leave('time-out'));
    ticket.decided = (reason) => {
      inTime();
      signal?.removeEventListener('abort', gone);
      resolve(reason);
    };
    if (signal?.aborted) gone();
    else signal?.addEventListener('abort', gone, { once: true });
  });
}
