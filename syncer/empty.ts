import { setMaxListeners } from 'node:events';
import type { Client } from '../client/client.ts';
import type { Informer } from '../client/informer.ts';
import { reflectedNodes } from '../cluster/nodes.ts';
import { reflectedKinds } from '../cluster/reflected.ts';
import type { ShareView } from '../cluster/types.ts';
import type { Logger } from '../kube/log.ts';
import type { FirstMeeting } from './let-go-unknown.ts';
import { Physical } from './physical.ts';
import { isAnyManaged } from './probes.ts';
import type { Unreadable } from './unreadable.ts';

const namespaces = { group: '', version: 'v1', resource: 'namespaces' };

interface Joining {
  client: Client;
  upstream: Client;
  shares: Informer<ShareView>;
  unreadable: Unreadable;
  uid: string;
  former?: readonly string[];
  firstMeeting?: FirstMeeting;
  signal: AbortSignal;
  logger: Logger;
}

/**
 * Whether a cluster that joins has nothing of ours, and nothing is shown of it: most have not, and then none of what carries shares need be made to
 * find that out. Not where some kind may not be read, which somebody has to ask for again. Answers when the cluster has.
 */
export async function joinsEmpty(joining: Joining): Promise<boolean> {
  const { shares, uid, former = [], firstMeeting, signal, logger } = joining;
  await shares.synced;
  if (shares.size > 0 || (await firstMeeting?.(uid, new Set(former))) !== undefined) return false;
  try {
    if (await isAnythingShown(joining)) return false;
    if (await isHome(joining.client, signal)) return false;
  } catch (err) {
    signal.throwIfAborted();
    logger.debug({ err }, 'it is not known whether anything is there');
    return false;
  }
  return await isNothingThere(joining);
}

/** Whether a namespace that bears our label is there. */
export function isHome(client: Client, signal: AbortSignal): Promise<boolean> {
  return isAnyManaged(client, namespaces, signal);
}

async function isAnythingShown({ upstream, signal }: Joining): Promise<boolean> {
  for (const kind of [...reflectedKinds, reflectedNodes])
    if ((await upstream.list(kind, { signal })).items.length > 0) return true;
  return false;
}

async function isNothingThere({ client, unreadable, signal, logger }: Joining): Promise<boolean> {
  const life = new AbortController();
  // One lifetime for as many questions as there are kinds is meant so, and no leak.
  setMaxListeners(0, life.signal);
  const end = () => life.abort(signal.reason);
  signal.addEventListener('abort', end, { once: true });
  const none = () => undefined;
  const changes = { changed: none, appeared: none, readable: none };
  try {
    return await new Physical({ client, unreadable, signal: life.signal, logger, ...changes }).isEmpty();
  } finally {
    signal.removeEventListener('abort', end);
    life.abort(over);
  }
}

/** One for all: each would have a stack of its own. */
export const over = new Error('nothing is there any more');
