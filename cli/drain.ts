import { once } from 'node:events';
import type { Client } from '../client/client.ts';
import { type Informer, startInformer } from '../client/informer.ts';
import type { PhysicalCluster, Placement } from '../cluster/types.ts';
import { FailedError, InterruptedError } from './errors.ts';
import { orKnown } from './known.ts';
import { pathsById } from './logical-clusters.ts';
import { type OutputFormat, print, printJson } from './output.ts';
import { progressText, Tally } from './progress.ts';
import { keyOf, type Remaining, remainingOn } from './remaining.ts';
import { physicalClusters, placements } from './resources.ts';

/** Cordon: nothing new is placed there. Uncordon takes cordon and drain back. */
export async function setSchedulable(
  client: Client,
  name: string,
  schedulable: boolean,
  output: OutputFormat,
): Promise<void> {
  const spec = schedulable ? { unschedulable: null, drain: null } : { unschedulable: true };
  const cluster = await setSpec(client, name, spec);
  if (output === 'json') printJson(cluster);
  else print(`physicalcluster.atoll.dev/${name} ${schedulable ? 'uncordoned' : 'cordoned'}`);
}

/** Takes a drain back and leaves the cordon: who stops half way has not said that more may come. */
export async function undrain(client: Client, name: string, output: OutputFormat): Promise<void> {
  const cluster = await setSpec(client, name, { drain: null });
  if (output === 'json') return printJson(cluster);
  print(`physicalcluster.atoll.dev/${name} undrained: nothing more leaves it`);
  if (cluster.spec?.unschedulable === true)
    print(`it stays cordoned; atoll uncordon ${name} has new workloads placed there again`);
}

async function setSpec(
  client: Client,
  name: string,
  spec: { unschedulable?: boolean | null; drain?: boolean | null },
): Promise<PhysicalCluster> {
  const patched = client.patch<PhysicalCluster>(physicalClusters, { name }, 'merge', { spec });
  const cluster = await patched.catch(orKnown(client, name));
  if (cluster.metadata.deletionTimestamp === undefined) return cluster;
  throw new FailedError(`${name} is being removed: nothing new comes to it, and what can leave does`);
}

export interface DrainOptions {
  timeoutSeconds: number;
  /** How many may leave at a time; absent: as the cluster says. */
  concurrent?: number | undefined;
  output: OutputFormat;
  /** Ends the waiting, not the drain. */
  signal?: AbortSignal;
  /** How long everything that remains must be blocked before the drain gives up. */
  patienceMs?: number;
  /** After how long without news it says how far it is all the same; default 10 seconds. */
  quietMs?: number;
}

/**
 * Cordons and drains, printing a line whenever a workload's state changes. Returns when the cluster holds
 * nothing of ours; throws FailedError with the reasons when something cannot leave, InterruptedError when nobody waits
 * any longer. The cluster stays cordoned either way, and what is blocked moves by itself once the cause is gone.
 */
export async function drain(client: Client, name: string, options: DrainOptions): Promise<void> {
  const { concurrent } = options;
  const spec = { unschedulable: true, drain: true, ...(concurrent && { drainConcurrent: concurrent }) };
  await client.patch(physicalClusters, { name }, 'merge', { spec }).catch(orKnown(client, name));
  if (options.output === 'text') print(`physicalcluster.atoll.dev/${name} cordoned`);
  const ended = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, ended.signal]) : ended.signal;
  try {
    await empty(client, name, options, signal);
  } catch (error) {
    if (!options.signal?.aborted) throw error;
    throw new InterruptedError(
      `the drain of ${name} goes on without this command; atoll uncordon ${name} takes it back`,
    );
  } finally {
    ended.abort();
  }
}

async function empty(
  client: Client,
  name: string,
  options: DrainOptions,
  signal: AbortSignal,
): Promise<void> {
  const { output, patienceMs = 5000, quietMs = 10_000, timeoutSeconds } = options;
  const indexers = { share: ({ spec }: Placement) => Object.keys(spec?.shares ?? {}) };
  const informer = startInformer<Placement>(client, placements, { cluster: '*', signal, indexers });
  const [pathOf] = await Promise.all([pathsById(client), informer.synced]);
  const deadline = Date.now() + timeoutSeconds * 1000;
  const shown = new Map<string, string>();
  const tally = new Tally();
  let moved = 0;
  let saidAt = Date.now();
  let blockedSince: number | undefined;
  for (;;) {
    const remaining = remainingOn(name, informer.byIndex('share', name), pathOf);
    const progress = tally.count(remaining, Date.now());
    if (output === 'text' && report(remaining, shown, name)) saidAt = Date.now();
    if (remaining.length === 0) return done(name, output);
    if (progress.moved !== moved || Date.now() - saidAt >= quietMs) {
      if (output === 'text' && progress.total > 0) print(progressText(progress));
      saidAt = Date.now();
    }
    moved = progress.moved;
    const stuck =
      remaining.every((item) => item.blocked || !item.workload) && remaining.some((item) => item.blocked);
    blockedSince = stuck ? (blockedSince ?? Date.now()) : undefined;
    const until = Math.min(deadline, blockedSince === undefined ? deadline : blockedSince + patienceMs);
    if (Date.now() >= until) return fail(name, remaining, Date.now() >= deadline, options);
    const quietUntil = Math.max(Date.now() + 1, saidAt + quietMs);
    await changed(informer, Math.min(until, quietUntil) - Date.now(), signal);
  }
}

/** Until something about the Placements changes, or `ms` have passed. Many changes at once are one. */
export async function changed(informer: Informer<Placement>, ms: number, signal: AbortSignal): Promise<void> {
  const news = new EventTarget();
  const tell = () => news.dispatchEvent(new Event('change'));
  const timer = setTimeout(tell, ms);
  const heard = once(news, 'change', { signal });
  const off = informer.on({ update: tell, delete: tell });
  try {
    await heard;
  } finally {
    clearTimeout(timer);
    off();
  }
}

/** Says what is new since it was `shown`; false where nothing is. */
export function report(remaining: readonly Remaining[], shown: Map<string, string>, name: string): boolean {
  const now = new Set(remaining.map(keyOf));
  let news = false;
  for (const item of remaining) {
    if (!item.workload || item.waits || item.state === undefined || shown.get(keyOf(item)) === item.state)
      continue;
    shown.set(keyOf(item), item.state);
    news = true;
    print(`${keyOf(item)}  ${item.blocked ? 'blocked: ' : ''}${item.state}`);
  }
  for (const gone of [...shown.keys()].filter((known) => !now.has(known))) {
    shown.delete(gone);
    news = true;
    print(`${gone}  left ${name}`);
  }
  return news;
}

function done(name: string, output: OutputFormat): void {
  if (output === 'json') printJson({ cluster: name, drained: true, remaining: [] });
  else print(`physicalcluster.atoll.dev/${name} drained`);
}

function fail(
  name: string,
  remaining: readonly Remaining[],
  timedOut: boolean,
  options: DrainOptions,
): never {
  if (options.output === 'json') printJson({ cluster: name, drained: false, remaining });
  const workloads = remaining.filter((item) => item.workload);
  const lines = (workloads.length > 0 ? workloads : remaining).map(
    (item) => `  ${keyOf(item)}: ${item.state ?? 'not looked at yet'}`,
  );
  const why = timedOut
    ? `after ${options.timeoutSeconds} s ${name} still holds`
    : `these cannot leave ${name}`;
  throw new FailedError(
    `${why}:\n${lines.join('\n')}\nthe cluster stays cordoned and drained: what is freed leaves it; atoll uncordon ${name} takes that back`,
  );
}
