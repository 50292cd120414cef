import type { Client } from '../client/client.ts';
import type { InformerSet } from '../client/informers.ts';
import { parseKey } from '../client/url.ts';
import { type Retry, runController } from '../controller/controller.ts';
import { EventRecorder } from '../controller/events.ts';
import { WorkQueue } from '../controller/queue.ts';
import { byLogicalCluster } from '../controller/scope.ts';
import type { Logger } from '../kube/log.ts';
import { consider, considerPart } from './consider.ts';
import { type Reading, type Unheard, unheardOf } from './heard.ts';
import { takeStock } from './stock.ts';
import { limitOf } from './turns.ts';
import type { NamespaceDecision } from './types.ts';
import { wake } from './wake.ts';
import { clusterNamed, keysOn, observe, type World } from './world.ts';
import { type Begin, type Writer, writeDecision } from './write.ts';

export interface SchedulerOptions {
  /** May write placements and annotate every placed kind, in all logical clusters. */
  client: Client;
  /** Reading across all logical clusters. */
  informers: InformerSet;
  /** May read what these read, when they may be behind. */
  reader: Client;
  signal: AbortSignal;
  logger: Logger;
  workers?: number;
  /** See Reading. */
  readMs?: number;
  /** See Writer. */
  begin?: Begin;
  /** See RecorderOptions. */
  rush?: { readonly isOn: boolean };
}

/** Room may also appear without any event about a cluster: when other workloads shrink. */
const blockedRetryMs = 15_000;
/** Until the cache has what others wrote. */
const outrunMs = 100;
/** How long all wait for custom resources; what is placed of them waits on. */
const ruledMs = 5_000;
/** So many looks, three seconds in all, at whether a watch tells of what was read; then the others are decided without. */
const patience = 6;
/** More than a timer takes: something else comes by before. */
const longestMs = 2 ** 31;

/** WHERE. Keys are those of Namespaces. Resolves when `signal` has aborted. */
export async function startScheduler(options: SchedulerOptions): Promise<void> {
  const { client, informers, reader, signal, logger, workers = 4, readMs } = options;
  const queue = new WorkQueue({ fair: byLogicalCluster(workers) });
  const writer = {
    client,
    reader,
    signal,
    logger,
    readMs,
    begin: options.begin,
    recorder: new EventRecorder({ ...options, component: 'atoll-scheduler' }),
  };
  const world = observe(informers);
  wake(world, queue);
  const { namespaces, placements, clusters, copies, policies, clusterPolicies } = world;
  const { rules, definitions } = world.ruled;
  const all = [namespaces, placements, clusters, copies, policies, clusterPolicies, rules, definitions];
  const synced = Promise.all([...all, ...world.objects.values()].map((informer) => informer.synced)).then(
    () => world.ruled.settled(ruledMs, signal),
  );
  await runController({
    name: 'scheduler',
    queue,
    reconcile: (key) => reconcile(key, world, writer, queue),
    signal,
    logger,
    workers,
    goesFirst: true,
    ready: [synced.then(() => begin(world))],
  });
}

function begin(world: World): void {
  world.startedAt = Date.now();
  takeStock(world);
}

async function reconcile(
  key: string,
  world: World,
  writer: Writer & Reading & { logger: Logger },
  queue: WorkQueue,
): Promise<Retry | undefined> {
  let isDone = false;
  try {
    const retry = await decideAndWrite(key, world, writer, queue);
    isDone = retry === undefined || retry.isDone === true;
    return retry;
  } finally {
    // What was not written, or waits for a time, is looked at with all else; when a turn ends is known to whoever looks at a part.
    if (!isDone) world.standings.touch(key);
  }
}

async function decideAndWrite(
  key: string,
  world: World,
  writer: Writer & Reading & { logger: Logger },
  queue: WorkQueue,
): Promise<(Retry & { isDone?: boolean }) | undefined> {
  const { cluster } = parseKey(key);
  // Whatever put it off is in the caches that it is decided by; what it has to wait for itself it says anew.
  queue.overtake(key);
  const unread = new Map<string, string>();
  for (;;) {
    const decision = decided(key, world, queue, unread);
    const leavers = decision.leaveData.filter(({ placed }) => !unread.has(placed.object.metadata.uid ?? ''));
    const unheard = await unheardOf(key, leavers, world, writer);
    if (unheard.size > 0) {
      if (isSoon(unheard) && queue.failures(key) < patience) return { after: 'growing' };
      for (const [uid, { why }] of unheard) unread.set(uid, why);
      continue;
    }
    const outrun = await writeDecision(cluster, decision, writer);
    if (outrun > 0 && unread.size === 0) return { after: Math.max(outrunMs, world.pace.wait(key)) };
    if (unread.size > 0) {
      const [why] = unread.values();
      writer.logger.warn({ key, objects: unread.size, why }, 'what would leave its data stays for now');
      return { after: 'growing', atMost: blockedRetryMs };
    }
    const { toleratedUntil, turnUntil, blocked, lookAgain } = decision;
    const left = Math.max(0, Math.min(toleratedUntil, turnUntil) - Date.now());
    const after = Math.min(left, blocked || lookAgain ? blockedRetryMs : longestMs);
    const isDone = !blocked && !lookAgain && toleratedUntil === Number.POSITIVE_INFINITY;
    return after < longestMs ? { after, isDone } : undefined;
  }
}

/** All of it was read, and is on its way to our caches. */
function isSoon(unheard: ReadonlyMap<string, Unheard>): boolean {
  return [...unheard.values()].every(({ isLate }) => isLate);
}

function decided(
  key: string,
  world: World,
  queue: WorkQueue,
  unread: ReadonlyMap<string, string>,
): NamespaceDecision {
  const decision = (unread.size === 0 && considerPart(key, world)) || consider(key, world, unread);
  const limit = (name: string) => limitOf(clusterNamed(world, name));
  const whole = (next: string, ms: number) => {
    world.standings.touch(next);
    queue.addAfter(next, ms);
  };
  for (const next of world.leavers.next(limit, key)) whole(next, 0);
  for (const next of nextRound(decision, world)) whole(next, world.pace.wait(next));
  return decision;
}

/** Whom else this decision is news for. */
function nextRound({ leaving }: NamespaceDecision, world: World): Set<string> {
  const { leavers, rounds, settled } = world;
  const next = rounds.next(world.known().fleet.list, {
    settled: settled.total,
    leaves: new Set(leaving.keys()),
    isCalm: (name) => leavers.isCalm(name),
  });
  return new Set(next.flatMap((name) => [...keysOn(world, name)]));
}
