import { setTimeout } from 'node:timers/promises';

/** As often as client-go asks again, which kube-apiserver asks webhooks with. */
const mostTries = 10;
const longestWait = 2 ** 31 - 1;

export interface Refusable {
  status: number;
  /** The header `Retry-After`. */
  retryAfter?: string;
}

/**
 * Whoever has too much to do now, and says when it may be asked again, is asked then. Fails with `signal`'s reason where there is
 * no time for that.
 */
export async function askedAgain<T extends Refusable>(
  ask: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    const answer = await ask();
    const seconds = waitOf(answer);
    if (seconds === undefined || tries >= mostTries) return answer;
    await setTimeout(Math.min(Math.max(0, seconds * 1000), longestWait), undefined, { signal }).catch(() => {
      throw signal.reason;
    });
  }
}

function waitOf({ status, retryAfter = '' }: Refusable): number | undefined {
  const isBusy = status === 429 || status >= 500;
  return isBusy && /^[+-]?\d+$/.test(retryAfter) ? Number(retryAfter) : undefined;
}
