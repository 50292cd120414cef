import type { ApiResponse } from '../kube/http.ts';
import { StatusError, tooManyRequests } from '../kube/status.ts';
import type { Exchange } from './core.ts';
import type { Limits } from './options.ts';

const readVerbs = new Set(['get', 'list', 'head', 'options']);

/** Watches and logs last, and are not counted. https://kubernetes.io/docs/reference/command-line-tools-reference/kube-apiserver/ */
export function isLongRunning({ info }: Exchange): boolean {
  return (
    info.verb === 'watch' || ['log', 'exec', 'attach', 'portforward', 'proxy'].includes(info.subresource)
  );
}

/** How many requests may be at work at a time, and for how long each. */
export class InFlight {
  readonly #limits: Limits;
  readonly #running = { read: 0, write: 0 };

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  async run(exchange: Exchange, work: () => Promise<ApiResponse>): Promise<ApiResponse> {
    if (isLongRunning(exchange) || isHealth(exchange)) return work();
    const side = readVerbs.has(exchange.info.verb) ? 'read' : 'write';
    const most = side === 'read' ? this.#limits.readsInFlight : this.#limits.writesInFlight;
    if (this.#running[side] >= most) throw tooManyRequests(1);
    this.#running[side]++;
    try {
      return await this.#inTime(work());
    } finally {
      this.#running[side]--;
    }
  }

  async #inTime(work: Promise<ApiResponse>): Promise<ApiResponse> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(timedOut()), this.#limits.requestSeconds * 1000);
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

function isHealth({ info }: Exchange): boolean {
  return /^\/(healthz|livez|readyz)(\/|$)/.test(info.path);
}

function timedOut(): StatusError {
  const why = 'request did not complete within requested timeout - context deadline exceeded';
  return new StatusError(504, 'Timeout', `Timeout: ${why}`, {});
}
