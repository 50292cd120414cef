import type { Client } from '../client/client.ts';
import { logicalClusterOf } from '../client/url.ts';
import { isTombstone } from '../cluster/orphans.ts';
import type { PhysicalCluster, Placement, Share } from '../cluster/types.ts';
import { FailedError } from './errors.ts';
import { type OutputFormat, print, printJson } from './output.ts';
import { physicalClusters, placements } from './resources.ts';

/** Cordon: nothing new is placed there. Uncordon takes cordon and drain back. */
export async function setSchedulable(
  client: Client,
  name: string,
  schedulable: boolean,
  output: OutputFormat,
): Promise<void> {
  const spec = schedulable ? { unschedulable: null, drain: null } : { unschedulable: true };
  const cluster = await client.patch<PhysicalCluster>(physicalClusters, { name }, 'merge', { spec });
  if (output === 'json') printJson(cluster);
  else print(`physicalcluster.atoll.dev/${name} ${schedulable ? 'uncordoned' : 'cordoned'}`);
}

const thinkingMs = 1500;

/** One object that is still on the cluster, and what it waits for. */
export interface Remaining {
  logicalCluster: string;
  namespace: string;
  /** `deployments.apps/frontend` */
  object: string;
  workload: boolean;
  /** What moves it away, or why nothing can. */
  state: string;
  blocked: boolean;
}

export interface DrainOptions {
  timeoutSeconds: number;
  output: OutputFormat;
  /** How long everything that remains must be blocked before the drain gives up. */
  patienceMs?: number;
}

/**
 * Cordons and drains, printing a line whenever a workload's state changes. Returns when the cluster holds
 * nothing of ours; throws FailedError with the reasons when something cannot leave. The cluster stays cordoned
 * either way, and what is blocked moves by itself once the cause is gone.
 */
export async function drain(client: Client, name: string, options: DrainOptions): Promise<void> {
  await client.patch(physicalClusters, { name }, 'merge', { spec: { unschedulable: true, drain: true } });
  if (options.output === 'text') print(`physicalcluster.atoll.dev/${name} cordoned`);
  const started = Date.now();
  const shown = new Map<string, string>();
  let blockedSince: number | undefined;
  for (;;) {
    const { items } = await client.list<Placement>(placements, { cluster: '*' });
    const remaining = remainingOn(name, items);
    // The scheduler is given a moment before what it has not moved yet counts as blocked.
    const news = remaining.filter((item) => !item.blocked || Date.now() - started > thinkingMs);
    if (options.output === 'text') report(news, remaining, shown, name);
    if (remaining.length === 0) return done(name, options.output);
    const stuck =
      remaining.every((item) => item.blocked || !item.workload) && remaining.some((item) => item.blocked);
    blockedSince = stuck ? (blockedSince ?? Date.now()) : undefined;
    const patience = options.patienceMs ?? 5000;
    const timedOut = Date.now() - started > options.timeoutSeconds * 1000;
    if (timedOut || (blockedSince !== undefined && Date.now() - blockedSince > patience)) {
      return fail(name, remaining, timedOut, options);
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

/** What is still on `name`, workloads first. Pure, for its table of tests. */
export function remainingOn(name: string, all: readonly Placement[]): Remaining[] {
  return all
    .filter((placement) => placement.spec?.shares?.[name] !== undefined)
    .map((placement) => describe(name, placement))
    .sort((a, b) => Number(b.workload) - Number(a.workload) || key(a).localeCompare(key(b)));
}

const leftBehind = 'the object is deleted and left its pods behind: delete them, or create it again';

function describe(name: string, placement: Placement): Remaining {
  const spec = placement.spec;
  const ref = spec?.ref;
  const orphaned = isTombstone(placement);
  const blocked = orphaned || (spec?.clusters.includes(name) ?? false);
  const where = orphaned
    ? leftBehind
    : blocked
      ? (spec?.reasons?.[name] ?? 'nothing else may run it')
      : progress(name, placement);
  return {
    logicalCluster: logicalClusterOf(placement),
    namespace: placement.metadata.namespace ?? '',
    object: `${ref?.resource}${ref?.group ? `.${ref.group}` : ''}/${ref?.name}`,
    workload: spec?.requires !== undefined,
    state: where,
    blocked,
  };
}

function progress(name: string, placement: Placement): string {
  const shares = Object.entries(placement.spec?.shares ?? {});
  const leaving = placement.spec?.shares?.[name];
  if (leaving?.phase === 'Leaving') return 'leaving: being removed';
  const joining = shares.filter(([cluster, share]) => cluster !== name && share.phase === 'Joining');
  if (joining.length === 0) return 'waiting for a place';
  return joining
    .map(([cluster, share]) => `joining ${cluster}${ready(cluster, share, placement)}`)
    .join(', ');
}

function ready(cluster: string, share: Share, placement: Placement): string {
  if (share.replicas === undefined) return '';
  const status = placement.status?.clusters?.[cluster]?.status;
  return ` ${Number(status?.['readyReplicas'] ?? 0)}/${share.replicas} ready`;
}

function key(item: Remaining): string {
  return `${item.logicalCluster}/${item.namespace}/${item.object}`;
}

function report(
  news: readonly Remaining[],
  remaining: readonly Remaining[],
  shown: Map<string, string>,
  name: string,
): void {
  const now = new Set(remaining.map(key));
  for (const item of news) {
    if (!item.workload || shown.get(key(item)) === item.state) continue;
    shown.set(key(item), item.state);
    print(`${key(item)}  ${item.blocked ? 'blocked: ' : ''}${item.state}`);
  }
  for (const gone of [...shown.keys()].filter((known) => !now.has(known))) {
    shown.delete(gone);
    print(`${gone}  left ${name}`);
  }
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
  const lines = (workloads.length > 0 ? workloads : remaining).map((item) => `  ${key(item)}: ${item.state}`);
  const why = timedOut
    ? `after ${options.timeoutSeconds} s ${name} still holds`
    : `these cannot leave ${name}`;
  throw new FailedError(
    `${why}:\n${lines.join('\n')}\nthe cluster stays cordoned; atoll uncordon ${name} takes it back`,
  );
}
