import type { Transport } from '../kube/http.ts';
import { Slots } from '../kube/slots.ts';

/** Each of them has a few requests under way, and all of them one process. */
const most = 32;
/** A cluster that says nothing for so long is waited for by nobody. */
const quietMs = 1_000;
/** One that answers for ever has not joined either. */
const longestMs = 30_000;

/** The turn of one that joins. */
export interface Turn {
  /** Passes on, and hears whether the cluster answers. */
  over(transport: Transport): Transport;
  /** It has joined. */
  end(): void;
}

/**
 * So many clusters join at a time, with all that has to be read of each: were it a thousand at once, none would be done
 * before those that are in count as silent. One that does not answer, or has no end, keeps no other from its turn, and goes on.
 * Nothing of a cluster begins before its turn, the heartbeat neither: it would be Ready, and given shares, while nobody carries them.
 */
export class Joining {
  readonly #slots = new Slots(most);

  async turn(signal: AbortSignal): Promise<Turn> {
    const release = await this.#slots.take(signal);
    let answered = true;
    const look = setInterval(() => {
      if (!answered) end();
      answered = false;
    }, quietMs);
    const limit = setTimeout(() => end(), longestMs);
    look.unref();
    limit.unref();
    const end = () => {
      clearInterval(look);
      clearTimeout(limit);
      signal.removeEventListener('abort', end);
      release();
    };
    signal.addEventListener('abort', end, { once: true });
    return {
      end,
      over: (transport) => async (request) => {
        const answer = await transport(request);
        answered = true;
        return answer;
      },
    };
  }
}
