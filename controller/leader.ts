import { sleep, systemClock } from '../kube/clock.ts';
import type { Logger } from '../kube/log.ts';
import type { Fence, Lease, Store } from '../storage/store.ts';

/** One time of leading. */
export interface Term {
  /** Aborts when the lease may have ended. */
  readonly signal: AbortSignal;
  /**
   * A signal alone is no lock: who was paused may act before a timer says that time has passed. Writes to the store
   * carry the fence; before anything else that must not happen twice, `held` asks the clock.
   */
  readonly fence: Fence;
  held(): boolean;
}

export interface LeaderOptions {
  store: Pick<Store, 'acquire'>;
  /** The lease: one leads at a time of all servers on the store. */
  name: string;
  /** Called for each term; must end when the term's signal aborts. A term that ends early, or fails, is followed by another election. */
  lead(term: Term): Promise<void>;
  signal: AbortSignal;
  logger: Logger;
  /**
   * Whether it is this side's to lead, where several could. While it is another's it does not ask for the lease, and a
   * term ends once it is; except where nobody takes it, since who had better lead may be unable to. It says who had
   * better lead; that no two do is the lease's to say. Default: always.
   */
  isMine?: () => boolean;
  /** So long after a leader's death another one may lead. Default 8 000. */
  ttlMs?: number;
}

const defaultTtlMs = 8_000;

/** Of a lease that no other server asks for, and that is released for a process that dies: a thousand are renewed each quarter of it. */
export const aloneTtlMs = 300_000;

/** Leads whenever it is elected, until `signal` aborts; then gives the lease back and resolves. */
export async function runLeader(options: LeaderOptions): Promise<void> {
  const { store, name, signal, logger, isMine, ttlMs = defaultTtlMs } = options;
  const bystander = new Bystander(ttlMs);
  const againMs = Math.min(ttlMs, defaultTtlMs) / 8;
  while (!signal.aborted) {
    const mine = isMine?.() !== false;
    if (mine) bystander.reset();
    else if (!bystander.looks()) {
      await sleep(againMs, signal);
      continue;
    }
    const asked = performance.now();
    const lease = await store.acquire(name, ttlMs).catch((err: unknown) => {
      if (!signal.aborted) logger.warn({ err, lease: name }, 'the lease cannot be asked for');
      return undefined;
    });
    const nobody = !mine && bystander.saw(lease !== undefined);
    if (lease !== undefined && !signal.aborted && (mine || nobody)) {
      if (nobody)
        logger.warn({ lease: name }, 'whose turn it is does not lead: this server does in its place');
      logger.info({ lease: name, token: lease.token }, 'leading');
      const keeps = () => isMine?.() !== false || (nobody && performance.now() < asked + 75 * ttlMs);
      await lead(options, lease, asked + ttlMs, keeps);
      if (nobody) bystander.saw(false);
      logger.info({ lease: name, token: lease.token }, 'no longer leading');
    }
    await lease?.release();
    await sleep(againMs, signal);
  }
}

/**
 * Of a lease that is another's to ask for: looks now and then whether anybody holds it. Only one that is free each time
 * is nobody's: who is to have it asks more often than this looks.
 */
class Bystander {
  readonly #ttlMs: number;
  #next: number | undefined;
  #free = 0;

  constructor(ttlMs: number) {
    this.#ttlMs = ttlMs;
  }

  reset(): void {
    this.#next = undefined;
    this.#free = 0;
  }

  looks(): boolean {
    this.#next ??= performance.now() + this.#ttlMs;
    return performance.now() >= this.#next;
  }

  /** Whether nobody takes it, by what was seen now. */
  saw(free: boolean): boolean {
    this.#free = free ? this.#free + 1 : 0;
    this.#next = performance.now() + (free ? this.#ttlMs / 4 : this.#ttlMs);
    return this.#free >= 3;
  }
}

/** One term. `until` (of performance.now) counts from before the question: this side gives up first. */
async function lead(
  options: LeaderOptions,
  lease: Lease,
  until: number,
  keeps: () => boolean,
): Promise<void> {
  const { name, signal, logger, ttlMs = defaultTtlMs } = options;
  const end = new AbortController();
  const stop = (): void => end.abort();
  signal.addEventListener('abort', stop, { once: true });
  let endsAt = until;
  const held = (): boolean => !end.signal.aborted && performance.now() < endsAt;
  const work = options
    .lead({ signal: end.signal, fence: { name, token: lease.token }, held })
    .catch((err: unknown) => {
      if (held()) logger.error({ err, lease: name }, 'the leader failed');
    })
    .finally(stop);
  while (held() && keeps()) {
    // It ends in time by itself, also when the question hangs.
    const answer = await inTime(renew(lease, ttlMs), endsAt - performance.now(), end.signal);
    if (answer === 'lost') break;
    if (typeof answer === 'number') endsAt = answer;
    await sleep(Math.min(ttlMs / 4, endsAt - performance.now()), end.signal);
  }
  stop();
  signal.removeEventListener('abort', stop);
  await work;
}

/** Undefined: not within so many milliseconds, nor before `signal` aborted. Of many leases, often: without signals of its own. */
function inTime<T>(answer: Promise<T>, ms: number, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve) => {
    const settle = (value?: T): void => {
      cancel();
      signal.removeEventListener('abort', late);
      resolve(value);
    };
    const late = (): void => settle();
    const cancel = systemClock.after(ms, late);
    signal.addEventListener('abort', late, { once: true });
    void answer.then(settle);
  });
}

/** Until when the lease is held now; undefined: not known. */
async function renew(lease: Lease, ttlMs: number): Promise<number | 'lost' | undefined> {
  const asked = performance.now();
  try {
    return (await lease.keepAlive()) ? asked + ttlMs : 'lost';
  } catch {
    return undefined;
  }
}
