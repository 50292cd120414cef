import { randomUUID } from 'node:crypto';
import type { Client } from '../client/client.ts';
import { type Informer, startInformer } from '../client/informer.ts';
import { apiVersion } from '../cluster/names.ts';
import type { PhysicalCluster, Placement } from '../cluster/types.ts';
import type { ObjectMeta } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import { at } from '../kube/untyped.ts';
import { changed, report } from './drain.ts';
import { FailedError, InterruptedError } from './errors.ts';
import { pathsById } from './logical-clusters.ts';
import { type OutputFormat, print, printJson } from './output.ts';
import { ask, type Planned, roomText } from './plan.ts';
import { progressText, Tally } from './progress.ts';
import { rebalanced } from './rebalanced.ts';
import { keyOf, type Remaining, remainingOn } from './remaining.ts';
import { physicalClusters, placements } from './resources.ts';

export interface RebalanceOptions {
  timeoutSeconds: number;
  output: OutputFormat;
  /** Ends the rebalance. */
  signal?: AbortSignal;
  /** After how long without news it says how far it is all the same; default 10 seconds. */
  quietMs?: number;
  /** For how long what a plan says may not begin; default 30 seconds. */
  patienceMs?: number;
}

/**
 * Has these clusters rebalance until nothing moves and nothing is due, printing a line whenever a workload's state changes, and then no
 * longer; also where it fails, or somebody ends it. What is on its way then arrives all the same. Of clusters that rebalance anyway
 * nothing is taken back. Throws FailedError after its time, InterruptedError when it is ended.
 */
export async function rebalance(
  client: Client,
  given: readonly string[],
  options: RebalanceOptions,
): Promise<void> {
  const names = await rebalanced(client, given);
  const ended = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, ended.signal]) : ended.signal;
  const manager = `${managers}${randomUUID().slice(0, 8)}`;
  const own: Own[] = [];
  try {
    for (const name of names) own.push(...(await begin(client, name, manager, options)));
    await settle(client, names, options, signal);
  } catch (error) {
    if (!options.signal?.aborted) throw error;
    throw new InterruptedError(
      'the rebalance has ended; what is on its way arrives, the same command again goes on',
    );
  } finally {
    ended.abort();
    await Promise.all(own.map((one) => end(client, one, manager)));
  }
}

/** Each command applies the word as a manager of its own: it stands until the last that has applied it takes it back. */
const managers = 'atoll-rebalance-';

type Own = Required<Pick<ObjectMeta, 'name' | 'uid'>>;

/** None: it rebalances anyway. */
async function begin(
  client: Client,
  name: string,
  manager: string,
  { output }: RebalanceOptions,
): Promise<Own[]> {
  const { metadata, spec } = await client.get<PhysicalCluster>(physicalClusters, { name });
  const saidBy = (metadata.managedFields ?? []).filter(
    ({ fieldsV1 }) => at(fieldsV1, 'f:spec', 'f:rebalance') !== undefined,
  );
  const others = spec?.rebalance === true ? saidBy : [];
  const isOther = others.length > 0 && others.every(({ manager }) => manager?.startsWith(managers));
  const standing = spec?.rebalance === true && !isOther;
  const own = { name, uid: metadata.uid ?? '' };
  if (!standing) await apply(client, own, manager, { rebalance: true });
  const [first = ''] = others.flatMap(({ time }) => time ?? []).sort();
  let more = standing ? ' anyway (spec.rebalance), and goes on when this has ended' : '';
  if (isOther)
    more = ` already, by an atoll rebalance that began at ${first}, and goes on until that has ended, too`;
  if (output === 'text') print(`physicalcluster.atoll.dev/${name} rebalances${more}`);
  return standing ? [] : [own];
}

async function end(client: Client, own: Own, manager: string): Promise<void> {
  try {
    await apply(client, own, manager, {});
  } catch (error) {
    // It was removed meanwhile, and another perhaps registered under its name.
    if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
  }
}

async function apply(client: Client, { name, uid }: Own, fieldManager: string, spec: object): Promise<void> {
  const body = { apiVersion, kind: 'PhysicalCluster', metadata: { name, uid }, spec };
  await client.patch(physicalClusters, { name }, 'apply', body, { force: true, fieldManager });
}

async function settle(
  client: Client,
  names: readonly string[],
  options: RebalanceOptions,
  signal: AbortSignal,
): Promise<void> {
  const { output, quietMs = 10_000, patienceMs = 30_000, timeoutSeconds } = options;
  const indexers = { share: ({ spec }: Placement) => Object.keys(spec?.shares ?? {}) };
  const informer = startInformer<Placement>(client, placements, { cluster: '*', signal, indexers });
  const [pathOf] = await Promise.all([pathsById(client), informer.synced]);
  const deadline = Date.now() + timeoutSeconds * 1000;
  const shown = new Map(names.map((name) => [name, new Map<string, string>()]));
  const tally = new Tally();
  let [moved, saidAt, calmSince] = [0, Date.now(), Date.now()];
  for (;;) {
    const { leaving, waiting } = underWay(names, informer, pathOf);
    const all = [...leaving.values()].flat();
    const progress = { ...tally.count(all, Date.now()), ...(waiting > 0 && { waiting }) };
    if (output === 'text')
      for (const [name, one] of leaving)
        if (report(one, shown.get(name) ?? new Map(), name)) saidAt = Date.now();
    if (progress.moved !== moved || Date.now() - saidAt >= quietMs) {
      if (output === 'text' && progress.total > 0) print(progressText(progress));
      saidAt = Date.now();
    }
    moved = progress.moved;
    const isCalm = all.length + waiting === 0;
    if (!isCalm) calmSince = Date.now();
    if (isCalm && (await isOver(client, names, { ...options, moved }))) return;
    const isLate = Date.now() >= deadline;
    if (isLate || Date.now() - calmSince > patienceMs) {
      if (output === 'json') printJson({ clusters: names, rebalanced: false, moved, remaining: all });
      const late = `after ${timeoutSeconds} s ${all.length} are still on their way, and ${waiting} wait for their turn`;
      throw failed(all, isLate ? late : stuck);
    }
    const quietUntil = isCalm ? Date.now() + 1000 : Math.max(Date.now() + 1, saidAt + quietMs);
    await changed(informer, Math.min(deadline, quietUntil) - Date.now(), signal);
  }
}

/** What leaves each of these clusters, whatever moves it, and how many wait for their turn. */
function underWay(names: readonly string[], informer: Informer<Placement>, pathOf: (id: string) => string) {
  const leaving = new Map<string, Remaining[]>();
  let waiting = 0;
  for (const name of names) {
    const there = remainingOn(name, informer.byIndex('share', name), pathOf).filter((one) => one.workload);
    waiting += there.filter((one) => one.waits).length;
    leaving.set(
      name,
      there.filter((one) => one.state !== undefined && !one.blocked && !one.waits),
    );
  }
  return { leaving, waiting };
}

/** Nothing is due: a plan, by the scheduler's own code, moves nothing more. Then also says so. */
async function isOver(
  client: Client,
  names: readonly string[],
  { output, moved }: RebalanceOptions & { moved: number },
): Promise<boolean> {
  const plan = await ask(client, { rebalance: [...names] }).catch((error: unknown) => {
    // One is made at a time.
    if (!isStatusError(error, 'TooManyRequests')) throw error;
    return undefined;
  });
  const isDue = ({ workload, outcome, from }: Planned) =>
    workload && outcome === 'moves' && from.some((name) => names.includes(name));
  if (!plan || plan.items.some(isDue)) return false;
  const kept = plan.items.filter((item) => item.kept !== undefined);
  if (output === 'json')
    printJson({ clusters: names, rebalanced: true, moved, room: plan.room?.after ?? {}, kept });
  else {
    const over = 'nothing more may leave for where there is clearly more room';
    print(`${moved} workload${moved === 1 ? '' : 's'} moved; ${over}`);
    if (kept.length > 0) print(keptText(kept, names));
    for (const line of plan.room ? roomText(plan.room) : []) print(line);
  }
  return true;
}

function keptText(kept: readonly Planned[], names: readonly string[]): string {
  const namespaces = new Set(kept.map((item) => `${item.logicalCluster}/${item.namespace}`)).size;
  const stay = `${namespaces} namespace${namespaces === 1 ? ' stays' : 's stay'}`;
  return `${stay} where there is less: atoll plan rebalance ${names.join(' ')} says why`;
}

const stuck = 'a plan still moves something, and nothing has begun to move: see atoll plan rebalance';

function failed(remaining: readonly Remaining[], why: string): FailedError {
  const lines = remaining.map((item) => `\n  ${keyOf(item)}: ${item.state}`);
  return new FailedError(`${why}${lines.join('')}\nthe rebalance has ended; the same command again goes on`);
}
