import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiRequest } from '../../kube/http.ts';

/**
 * A request from the network. A class, and no object that is written down with its getters: each of those has a shape of its own, which leads
 * to all that the request ever held and stays until the whole heap is searched. Each small collection copied what the last
 * few hundred requests had left behind.
 */
export class Incoming implements ApiRequest {
  method: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  readonly #raw: IncomingMessage;
  readonly #out: ServerResponse;
  #gone: AbortController | undefined;
  #isClosed = false;

  constructor(raw: IncomingMessage, out: ServerResponse, url: string) {
    this.method = raw.method ?? 'GET';
    this.url = url;
    this.headers = raw.headers as Record<string, string>;
    this.#raw = raw;
    this.#out = out;
  }

  get distinct() {
    return this.#raw.headersDistinct;
  }

  /** Made only for those who look: most requests end before anybody could leave. */
  get signal(): AbortSignal {
    this.#gone ??= new AbortController();
    if (this.#out.closed || this.#isClosed) this.#gone.abort();
    return this.#gone.signal;
  }

  /** The connection is closed, or free for the next one. */
  closed(): void {
    this.#isClosed = true;
    if (!this.#out.writableFinished) this.#gone?.abort();
  }
}
