import type { Client } from '../client/client.ts';
import { isReady } from '../cluster/life.ts';
import type { PhysicalCluster } from '../cluster/types.ts';
import { within } from '../kube/within.ts';
import { type Found, look } from './look.ts';
import { probeMs } from './pace.ts';
import { Served } from './served.ts';

export interface AskingOptions {
  client: Client;
  signal: AbortSignal;
  intervalMs: number;
  /** Whether it is known that nothing of ours is there. */
  rests(): boolean;
  /** Whether a namespace of ours is there; undefined where it does not say. Whoever waits for one hears of it. */
  hasHome(signal: AbortSignal): Promise<boolean | undefined>;
}

/** What it serves is asked for with the first of so many intervals, its version with that of so many: they change seldom. */
const servedBeats = 6;
const versionBeats = 30;
/** What it serves of one that rests comes in turn with each other beat; so late it is asked for beside that. */
const restingServedBeats = 18;
/** How long what one that rests is asked in turn may take. */
const turnMs = 3_000;

/** What a cluster is asked with each beat, by when it answered what is asked seldom. */
export class Asking {
  readonly #options: AskingOptions;
  readonly #served: Served;
  /** By a clock that nobody sets. */
  #servedAt = Number.NEGATIVE_INFINITY;
  #versionAt = Number.NEGATIVE_INFINITY;
  /** The last one was. */
  #isTurnOfHome = true;

  constructor(options: AskingOptions) {
    this.#options = options;
    this.#served = new Served(options.client);
  }

  /**
   * Whether it answers. One that rests may have become another cluster, and its version is asked for with who it is: in between its sign of life
   * is the answer to what has to be asked anyway, one thing at a time. `isWanted`: somebody waits for the answer.
   */
  async look(before: PhysicalCluster, isWanted: boolean): Promise<Found> {
    const { client, signal, intervalMs, rests } = this.#options;
    const now = performance.now();
    const mayBeLight = rests() && isReady(before) && !isWanted;
    // Who it is takes the turn of what it serves: a namespace that somebody puts there waits no longer to be found.
    const isDue = now - this.#versionAt >= (versionBeats - 0.5) * intervalMs;
    const version = isDue && !(mayBeLight && !this.#isTurnOfHome);
    if (version) this.#isTurnOfHome = false;
    const isLight = mayBeLight && !version;
    // Whatever it does not say in so short a time says nothing of it: it is asked as any other, with all the time that others have.
    const turn =
      isLight && (await within(turnMs, signal, (soon) => this.#inTurn(soon, now)).catch(() => undefined));
    if (turn) return turn;
    const found = await look(client, { signal, timeoutMs: probeMs(intervalMs), version, of: before });
    if (version && found.error === undefined) this.#versionAt = now;
    return found;
  }

  /** Undefined where it was not asked, or does not say. */
  async serves(timeoutMs: number): Promise<string[] | undefined> {
    const { rests, intervalMs } = this.#options;
    const now = performance.now();
    const beats = rests() ? restingServedBeats : servedBeats;
    if (now - this.#servedAt < (beats - 0.5) * intervalMs) return undefined;
    return await this.#askServed(this.#options.signal, now, timeoutMs);
  }

  async #inTurn(soon: AbortSignal, now: number): Promise<Found | undefined> {
    this.#isTurnOfHome = !this.#isTurnOfHome;
    if (this.#isTurnOfHome) return (await this.#options.hasHome(soon)) === undefined ? undefined : {};
    const serves = await this.#askServed(soon, now, turnMs);
    return serves && { serves };
  }

  async #askServed(signal: AbortSignal, now: number, timeoutMs: number): Promise<string[] | undefined> {
    const serves = await this.#served.ask({ signal, timeoutMs });
    if (serves) this.#servedAt = now;
    return serves;
  }
}
