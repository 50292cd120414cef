import { TransportError } from '../../client/errors.ts';
import { sleep } from '../../kube/clock.ts';
import type { ApiRequest, ApiResponse, Transport } from '../../kube/http.ts';
import type { Random } from '../fault/random.ts';

/** When a component dies: at its nth write from now on, which has happened by then or has not. */
export interface Death {
  writes: number;
  happened: boolean;
}

/**
 * What lies between one life of a component and the APIs that it speaks to. Each request and each answer takes its
 * time, of which the seed decides, so that two never keep their order by luck; a watch keeps the order of its own
 * events, as Kubernetes promises.
 */
export class Wire {
  readonly #random: Random;
  readonly #onDeath: () => void;
  #death: Death | undefined;
  #dead = false;
  #slowMs = 0;
  #slowUntil = 0;
  #cutUntil = 0;
  #staleUntil = 0;
  #stalledUntil = 0;
  #broken = new AbortController();
  #forgotten = new Set<string>();
  #watched = new Set<string>();

  constructor(random: Random, onDeath: () => void) {
    this.#random = random;
    this.#onDeath = onDeath;
  }

  get dead(): boolean {
    return this.#dead;
  }

  dieAt(death: Death): void {
    this.#death = { ...death };
  }

  /** Nothing that this life still does reaches anybody. */
  kill(): void {
    this.#dead = true;
    this.#broken.abort();
  }

  /** Each answer takes this long. */
  slow(ms: number, forMs: number): void {
    this.#slowMs = ms;
    this.#slowUntil = Date.now() + forMs;
  }

  /** Requests fail, watches break. */
  cut(forMs: number): void {
    this.#cutUntil = Date.now() + forMs;
    this.breakWatches(false);
  }

  /** Watches tell nothing until then, requests are answered: caches are old. */
  stale(forMs: number): void {
    this.#staleUntil = Date.now() + forMs;
  }

  /** As a process that is stopped, and goes on with what it was about to do, whoever has taken over meanwhile. */
  stall(forMs: number): void {
    this.#stalledUntil = Date.now() + forMs;
  }

  /** Until it goes on; whether it had been stopped. */
  async stalled(): Promise<boolean> {
    const was = Date.now() < this.#stalledUntil;
    while (Date.now() < this.#stalledUntil && !this.#dead) await sleep(this.#stalledUntil - Date.now());
    return was;
  }

  /** They are made anew; with `forget` the server no longer knows where they were, and all is listed once more. */
  breakWatches(forget: boolean): void {
    if (forget) for (const url of this.#watched) this.#forgotten.add(url);
    this.#watched.clear();
    this.#broken.abort();
    if (!this.#dead) this.#broken = new AbortController();
  }

  heal(): void {
    this.#death = undefined;
    this.#slowUntil = 0;
    this.#cutUntil = 0;
    this.#staleUntil = 0;
    this.#stalledUntil = Math.min(this.#stalledUntil, Date.now());
  }

  wrap(transport: Transport): Transport {
    return async (given) => {
      const isWrite = given.method !== 'GET';
      // Who was stopped does not know yet that its time is over: its last write goes out.
      const { signal: _gone, ...unsignalled } = given;
      const request: ApiRequest = (await this.stalled()) && isWrite ? unsignalled : given;
      await this.#travel(request.signal);
      if (isWrite && this.#diesNow(false)) throw gone();
      const isWatch = /[?&]watch=(true|1)/.test(request.url);
      if (isWatch && this.#forgotten.delete(keyOf(request))) return expired();
      const broken = this.#broken.signal;
      const signal = request.signal ? AbortSignal.any([request.signal, broken]) : broken;
      const response = await transport({ ...request, ...(isWatch && { signal }) });
      if (isWrite && this.#diesNow(true)) throw gone();
      await this.#travel(request.signal);
      if (!isWatch) return response;
      this.#watched.add(keyOf(request));
      return this.#streamed(response, broken);
    };
  }

  #diesNow(happened: boolean): boolean {
    const death = this.#death;
    if (death === undefined || death.happened !== happened || death.writes-- > 0) return false;
    this.#death = undefined;
    this.kill();
    this.#onDeath();
    return true;
  }

  async #travel(signal: AbortSignal | undefined): Promise<void> {
    const slow = Date.now() < this.#slowUntil ? this.#slowMs / 2 : 0;
    await sleep(slow + this.#random.between(0, this.#random.chance(0.05) ? 400 : 8), signal);
    signal?.throwIfAborted();
    if (this.#dead || Date.now() < this.#cutUntil) throw gone();
  }

  #streamed(response: ApiResponse, broken: AbortSignal): ApiResponse {
    const { body, events } = response;
    const each = <T>(items: AsyncIterable<T>) => this.#each(items, broken);
    return {
      ...response,
      body: body instanceof Uint8Array ? body : each(body),
      ...(events && { events: each(events) }),
    };
  }

  async *#each<T>(items: AsyncIterable<T>, broken: AbortSignal): AsyncGenerator<T> {
    for await (const item of items) {
      await sleep(this.#random.between(0, 8), broken);
      await this.stalled();
      while (Date.now() < this.#staleUntil && !broken.aborted)
        await sleep(this.#staleUntil - Date.now(), broken);
      if (broken.aborted) throw gone();
      yield item;
    }
    if (broken.aborted) throw gone();
  }
}

function gone(): TransportError {
  return new TransportError('ECONNRESET', 'the connection is gone');
}

/** The same watch, wherever it starts. */
function keyOf({ url }: ApiRequest): string {
  return url.split('?')[0] ?? '';
}

function expired(): ApiResponse {
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    reason: 'Expired',
    message: 'too old resource version',
    code: 410,
  };
  const body = Buffer.from(JSON.stringify(status));
  return { status: 410, headers: { 'content-type': 'application/json' }, body };
}
