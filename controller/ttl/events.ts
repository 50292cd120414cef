import type { Client } from '../../client/client.ts';
import { keyOf, logicalClusterOf, parseKey } from '../../client/url.ts';
import { isReflected } from '../../cluster/reflected.ts';
import { type Clock, sleep, systemClock } from '../../kube/clock.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { records, textAt } from '../../kube/untyped.ts';
import { runController } from '../controller.ts';
import { WorkQueue } from '../queue.ts';
import { byLogicalCluster } from '../scope.ts';

export interface EventsEndOptions {
  client: Client;
  signal: AbortSignal;
  logger: Logger;
  clock?: Clock;
}

const events = { group: '', version: 'v1', resource: 'events' };
const workers = 2;
/** Of kube-apiserver's --event-ttl. */
const keptMs = 3_600_000;
const everyMs = 300_000;
/** A server that starts has other things to do. */
const firstMs = 60_000;
const pageSize = 500;

/**
 * Deletes Events an hour after they were written last, as kube-apiserver does. They are looked through from time to time,
 * in pages: nobody watches them for this. Resolves when stopped.
 */
export async function runEventsEnd(options: EventsEndOptions): Promise<void> {
  const { client, signal, logger, clock = systemClock } = options;
  const queue = new WorkQueue({ maxDelayMs: 60_000, fair: byLogicalCluster(workers) });
  const reconcile = async (key: string): Promise<undefined> => {
    const { cluster, namespace, name } = parseKey(key);
    const at = { ...(client.cluster === '*' && { cluster }), namespace, name };
    try {
      const live = await client.get(events, at, signal);
      if (!isOver(live, clock.now())) return;
      const { uid = '', resourceVersion = '' } = live.metadata;
      await client.delete(events, at, { preconditions: { uid, resourceVersion } }, signal);
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  };
  await Promise.all([
    runController({ name: 'end of events', queue, workers, reconcile, signal, logger }),
    lookThrough(options, clock, queue),
  ]);
}

async function lookThrough(
  { client, signal, logger }: EventsEndOptions,
  clock: Clock,
  queue: WorkQueue,
): Promise<void> {
  for (let ms = firstMs; ; ms = everyMs) {
    await sleep(ms, signal, clock);
    if (signal.aborted) return;
    try {
      for await (const event of all(client, signal)) {
        const { namespace = '', name = '' } = event.metadata;
        if (isOver(event, clock.now())) queue.add(keyOf(logicalClusterOf(event), namespace, name));
      }
    } catch (err) {
      if (!signal.aborted) logger.warn({ err }, 'cannot look through the events');
    }
  }
}

async function* all(client: Client, signal: AbortSignal): AsyncGenerator<KubeObject> {
  for (let next: string | undefined = ''; next !== undefined; ) {
    const query = new URLSearchParams({ limit: String(pageSize), ...(next && { continue: next }) });
    const page = (await client.json(`/api/v1/events?${query}`, { cluster: client.cluster, signal })) as {
      metadata: { continue?: string };
      items: KubeObject[];
    };
    yield* page.items;
    next = page.metadata.continue || undefined;
  }
}

/** Nobody has written it for as long as it is kept. What a physical cluster has goes when it has gone there. */
export function isOver(event: KubeObject, now: number): boolean {
  if (isReflected(event)) return false;
  const { creationTimestamp, managedFields } = event.metadata;
  const said = [
    creationTimestamp,
    textAt(event, 'lastTimestamp'),
    textAt(event, 'eventTime'),
    textAt(event, 'series', 'lastObservedTime'),
    ...records(managedFields).map((entry) => textAt(entry, 'time')),
  ];
  const times = said.map((time) => Date.parse(time ?? '')).filter((time) => time <= now);
  return times.length > 0 && Math.max(...times) + keptMs <= now;
}
