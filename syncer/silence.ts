import type { Client } from '../client/client.ts';
import { type Informer, startInformer } from '../client/informer.ts';
import { keyOf } from '../client/url.ts';
import { withHeartbeat } from '../cluster/heartbeats.ts';
import { readyOf } from '../cluster/life.ts';
import { physicalClusters as resource, rootCluster } from '../cluster/names.ts';
import { silenceSince, silentAfterMs, silentMsOf } from '../cluster/silence.ts';
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
  /** Default silentAfterMs; longer of a cluster that says so. */
  silentMs?: number;
  /** When the caller has it already. */
  informer?: Informer<PhysicalCluster>;
  told?: Pick<Told, 'at' | 'now' | 'onLess' | 'onWord' | 'synced'>;
  /** Milliseconds since 1970; default Date.now. */
  now?: () => number;
  /** Milliseconds that nobody sets; default performance.now. */
  steady?: () => number;
}

/**
 * Silence is not death: Ready becomes Unknown, and that is all that happens here. Whoever begins to listen has heard nobody yet, and says so
 * of none before it has listened for as long as one may be silent, as Kubernetes' own controller does of Nodes: what was noted by a server that
 * was killed is not written, and its clusters have had time to be heard by then. Nor does it say so of one of which a word came meanwhile: when a
 * clock is set, or a machine is resumed that was suspended, the times that words name are as if long ago.
 */
export async function runSilence(options: SilenceOptions): Promise<void> {
  const { client, signal, logger, silentMs = silentAfterMs, now = Date.now } = options;
  const { steady = () => performance.now() } = options;
  const informer = options.informer ?? startInformer<PhysicalCluster>(client, resource, { signal, logger });
  const told = options.told ?? new Told(client, { signal, logger });
  const queue = new WorkQueue();
  /** When the last word of each came. */
  const words = new Map<string, number>();
  const note = (name: string) => words.set(name, steady());
  told.onWord(note);
  told.onLess((name) => queue.add(keyOf(rootCluster, '', name)));
  // That it lives is most of what is told of a cluster: it is looked at when it would have fallen silent.
  informer.on({
    add: ({ metadata: { name = '' } }, key) => {
      note(name);
      queue.add(key);
    },
    update: (now, old, key) => {
      if (now.status?.lastHeartbeatTime !== old.status?.lastHeartbeatTime) note(now.metadata.name ?? '');
      if (readyOf(now)?.status !== readyOf(old)?.status || isEarlier(now, old) || isSooner(now, old))
        queue.add(key);
    },
    delete: ({ metadata: { name = '' } }) => words.delete(name),
  });
  let since: number | undefined;
  const ahead = new Ahead();
  const reconcile = async (key: string): Promise<Retry | undefined> => {
    const before = informer.get(key);
    if (!before) return undefined;
    since ??= now();
    const { name = '' } = before.metadata;
    const said = ahead.believed(before, now());
    const stillMs = () => steady() - (words.get(name) ?? Number.NEGATIVE_INFINITY);
    const moment = { since, silentMs: silentMsOf(before, silentMs) };
    const known = silenceOf(withHeartbeat(said, told.at(name)), {
      ...moment,
      now: now(),
      stillMs: stillMs(),
    });
    if ('lookAgainAfter' in known) return { after: known.lookAgainAfter };
    const cluster = withHeartbeat(said, await told.now(name));
    const verdict = silenceOf(cluster, { ...moment, now: now(), stillMs: stillMs() });
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

/** It may be silent for less long than was said. */
function isSooner(now: PhysicalCluster, old: PhysicalCluster): boolean {
  return silentMsOf(now, 0) < silentMsOf(old, 0);
}

/** A clock that runs ahead says nothing of the time to come: such a word counts from when it was first seen. */
class Ahead {
  readonly #seen = new Map<string, { said: string; at: number }>();

  believed(cluster: PhysicalCluster, now: number): PhysicalCluster {
    const { uid = '' } = cluster.metadata;
    const said = cluster.status?.lastHeartbeatTime ?? '';
    if (this.#seen.get(uid)?.said !== said) this.#seen.delete(uid);
    if (!(Date.parse(said) > now)) return this.#seen.has(uid) ? this.#as(cluster) : cluster;
    if (!this.#seen.has(uid)) this.#seen.set(uid, { said, at: now });
    return this.#as(cluster);
  }

  #as(cluster: PhysicalCluster): PhysicalCluster {
    const { at = 0 } = this.#seen.get(cluster.metadata.uid ?? '') ?? {};
    return { ...cluster, status: { ...cluster.status, lastHeartbeatTime: new Date(at).toISOString() } };
  }
}

/**
 * Pure: what is to be said of a cluster now, or in how many milliseconds to look again. `since`: from when on it could be heard;
 * `stillMs`: for how long no word came.
 */
export function silenceOf(
  cluster: PhysicalCluster,
  { now, since, silentMs, stillMs }: { now: number; since: number; silentMs: number; stillMs: number },
): { condition: Condition } | { lookAgainAfter: number } {
  const last = Date.parse(cluster.status?.lastHeartbeatTime ?? cluster.metadata.creationTimestamp ?? '');
  const from = Math.max(since, last || 0);
  // What is to come says nothing of how long ago it was.
  const silentFor = from > now ? stillMs : Math.min(now - from, stillMs);
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
