import type { Client } from '../client/client.ts';
import { type Informer, startInformer } from '../client/informer.ts';
import { keyOf } from '../client/url.ts';
import { withHeartbeat } from '../cluster/heartbeats.ts';
import { readyOf } from '../cluster/life.ts';
import { physicalClusters as resource, rootCluster } from '../cluster/names.ts';
import { silenceSince, silentAfterMs } from '../cluster/silence.ts';
import type { Condition, PhysicalCluster } from '../cluster/types.ts';
import { commit } from '../controller/commit.ts';
import { type Retry, runController } from '../controller/controller.ts';
import { WorkQueue } from '../controller/queue.ts';
import type { Logger } from '../kube/log.ts';
import { Told } from './told.ts';

export interface SilenceOptions {
  /** Of the root logical cluster. */
  client: Client;
  signal: AbortSignal;
  logger: Logger;
  /** Default silentAfterMs. */
  silentMs?: number;
  /** When the caller has it already. */
  informer?: Informer<PhysicalCluster>;
  told?: Pick<Told, 'at' | 'now' | 'onLess' | 'synced'>;
}

/** Silence is not death: Ready becomes Unknown, and that is all that happens here. */
export async function runSilence(options: SilenceOptions): Promise<void> {
  const { client, signal, logger, silentMs = silentAfterMs } = options;
  const informer = options.informer ?? startInformer<PhysicalCluster>(client, resource, { signal, logger });
  const told = options.told ?? new Told(client, { signal, logger });
  const queue = new WorkQueue();
  told.onLess((name) => queue.add(keyOf(rootCluster, '', name)));
  // That it lives is most of what is told of a cluster: it is looked at when it would have fallen silent.
  informer.on({
    add: (_, key) => queue.add(key),
    update: (now, old, key) => {
      if (readyOf(now)?.status !== readyOf(old)?.status || isEarlier(now, old)) queue.add(key);
    },
  });
  const reconcile = async (key: string): Promise<Retry | undefined> => {
    const before = informer.get(key);
    if (!before) return undefined;
    const { name = '' } = before.metadata;
    const known = silenceOf(withHeartbeat(before, told.at(name)), Date.now(), silentMs);
    if ('lookAgainAfter' in known) return { after: known.lookAgainAfter };
    const cluster = withHeartbeat(before, await told.now(name));
    const verdict = silenceOf(cluster, Date.now(), silentMs);
    if ('lookAgainAfter' in verdict) return { after: verdict.lookAgainAfter };
    const others = (cluster.status?.conditions ?? []).filter((condition) => condition.type !== 'Ready');
    const status = { ...cluster.status, conditions: [...others, verdict.condition] };
    await commit(client, resource, before, { ...before, status }, { signal });
    return undefined;
  };
  const ready = [informer.synced, told.synced];
  await runController({ name: 'syncer-silence', queue, reconcile, signal, logger, ready });
}

/** It was heard of less lately than was said: whoever looks at it when that is over looks too late. */
function isEarlier(now: PhysicalCluster, old: PhysicalCluster): boolean {
  const [said, before] = [now.status?.lastHeartbeatTime ?? '', old.status?.lastHeartbeatTime ?? ''];
  return said === '' ? before !== '' : Date.parse(said) < Date.parse(before);
}

/** Pure: what is to be said of a cluster now, or in how many milliseconds to look again. */
export function silenceOf(
  cluster: PhysicalCluster,
  now: number,
  silentMs: number,
): { condition: Condition } | { lookAgainAfter: number } {
  const since = cluster.status?.lastHeartbeatTime ?? cluster.metadata.creationTimestamp ?? '';
  const last = Date.parse(since);
  const silentFor = Number.isNaN(last) ? Number.POSITIVE_INFINITY : now - last;
  if (silentFor < silentMs) return { lookAgainAfter: Math.max(50, silentMs - silentFor) };
  const ready = readyOf(cluster);
  if (ready?.status === 'Unknown') return { lookAgainAfter: silentMs };
  return {
    condition: {
      type: 'Ready',
      status: 'Unknown',
      reason: 'SyncerSilent',
      message: `${silenceSince(cluster).words}: no word from its syncer`,
      lastTransitionTime: new Date(now).toISOString(),
    },
  };
}
