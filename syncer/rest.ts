import type { Client } from '../client/client.ts';
import type { Informer } from '../client/informer.ts';
import type { ShareView } from '../cluster/types.ts';
import { type Clock, sleep } from '../kube/clock.ts';
import { isHome, over } from './empty.ts';
import type { Unreadable } from './unreadable.ts';

const namespaces = { group: '', version: 'v1', resource: 'namespaces' };
/** A namespace that bears our label, and nobody here has made, is looked for so often. */
const lookMs = 120_000;

interface Resting {
  client: Client;
  shares: Informer<ShareView>;
  unreadable: Pick<Unreadable, 'note'>;
  signal: AbortSignal;
  clock: Clock;
}

/** Resolves once the cluster has a share or such a namespace, and also when `signal` aborts. */
export async function somethingComes(resting: Resting): Promise<void> {
  const { shares, signal, clock } = resting;
  const come = new AbortController();
  const end = () => come.abort(over);
  signal.addEventListener('abort', end, { once: true });
  const off = shares.on({ add: end });
  try {
    while (!signal.aborted && !come.signal.aborted) {
      await sleep(lookMs, come.signal, clock);
      if (!come.signal.aborted && (await hasHome(resting, come.signal))) return;
    }
  } finally {
    off();
    signal.removeEventListener('abort', end);
  }
}

/** That it does not answer, or may not be asked, is nothing new of what is there. */
async function hasHome({ client, unreadable }: Resting, signal: AbortSignal): Promise<boolean> {
  try {
    const found = await isHome(client, signal);
    unreadable.note(namespaces);
    return found;
  } catch (error) {
    if (!signal.aborted) unreadable.note(namespaces, error);
    return false;
  }
}
