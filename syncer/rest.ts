import type { Client } from '../client/client.ts';
import { deferred, type Informer } from '../client/informer.ts';
import type { ShareView } from '../cluster/types.ts';
import { isHome } from './empty.ts';
import type { Unreadable } from './unreadable.ts';

const namespaces = { group: '', version: 'v1', resource: 'namespaces' };

/** Whether somebody has put a namespace that bears our label on a cluster that rests: what asks for its sign of life asks for that. */
export class Home {
  readonly #client: Client;
  readonly #unreadable: Pick<Unreadable, 'note'>;
  #found: () => void = () => {};

  constructor(client: Client, unreadable: Pick<Unreadable, 'note'>) {
    this.#client = client;
    this.#unreadable = unreadable;
  }

  /** Who is told when there is one, in place of whoever was before. */
  onFound(told: () => void): void {
    this.#found = told;
  }

  /** Undefined where it does not answer, or may not be asked: that is nothing new of what is there. */
  async ask(signal: AbortSignal): Promise<boolean | undefined> {
    try {
      const found = await isHome(this.#client, signal);
      this.#unreadable.note(namespaces);
      if (found) this.#found();
      return found;
    } catch (error) {
      if (!signal.aborted) this.#unreadable.note(namespaces, error);
      return undefined;
    }
  }
}

interface Resting {
  shares: Informer<ShareView>;
  home: Pick<Home, 'onFound'>;
  signal: AbortSignal;
}

/** Resolves once the cluster has a share or such a namespace, and also when `signal` aborts. */
export async function somethingComes({ shares, home, signal }: Resting): Promise<void> {
  const { promise, resolve } = deferred();
  signal.addEventListener('abort', resolve, { once: true });
  if (signal.aborted) resolve();
  home.onFound(resolve);
  const off = shares.on({ add: resolve });
  try {
    await promise;
  } finally {
    off();
    signal.removeEventListener('abort', resolve);
  }
}
