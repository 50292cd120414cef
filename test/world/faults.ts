import type { ApiRequest, ApiResponse, Transport } from '../../kube/http.ts';

/**
 * What may go wrong between two sides that speak over a Transport. One of these stands before each physical cluster,
 * and one before each syncer's view. Nothing is faked: what comes through is the real server's answer.
 */
export class Faults {
  /** Called before each request goes on: throw to play a broken connection or an error of the server's, wait to be slow. */
  intercept: (request: ApiRequest) => void | Promise<void> = () => {};
  /** Called after it: what the server does not answer itself. */
  instead: (request: ApiRequest) => ApiResponse | undefined = () => undefined;
  /** `METHOD /path` of all that came through or was refused, in order. */
  readonly requests: string[] = [];
  #silent: Promise<void> | undefined;
  #heal: () => void = () => {};

  /** From now on nothing is answered, open streams included; nothing is refused either. */
  silence(): void {
    this.#silent ??= new Promise((resolve) => {
      this.#heal = resolve;
    });
  }

  /** What was held goes on, in order. */
  heal(): void {
    this.#silent = undefined;
    this.#heal();
  }

  wrap(transport: Transport): Transport {
    return async (request) => {
      this.requests.push(`${request.method} ${request.url}`);
      await this.#held(request.signal);
      await this.intercept(request);
      const response = this.instead(request) ?? (await transport(request));
      await this.#held(request.signal);
      return this.#streamed(response, request.signal);
    };
  }

  #streamed(response: ApiResponse, signal: AbortSignal | undefined): ApiResponse {
    const { body, events } = response;
    const held = <T>(items: AsyncIterable<T>) => this.#each(items, signal);
    return {
      ...response,
      body: body instanceof Uint8Array ? body : held(body),
      ...(events && { events: held(events) }),
    };
  }

  async *#each<T>(items: AsyncIterable<T>, signal: AbortSignal | undefined): AsyncGenerator<T> {
    for await (const item of items) {
      await this.#held(signal);
      yield item;
    }
  }

  /** Until it is healed, or whoever asked gives up. */
  async #held(signal: AbortSignal | undefined): Promise<void> {
    while (this.#silent) {
      signal?.throwIfAborted();
      let given: () => void = () => {};
      const up = new Promise<void>((_, reject) => {
        given = () => reject(signal?.reason);
        signal?.addEventListener('abort', given, { once: true });
      });
      try {
        await Promise.race([this.#silent, up]);
      } finally {
        signal?.removeEventListener('abort', given);
      }
    }
  }
}
