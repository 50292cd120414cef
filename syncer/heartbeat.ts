import type { Client } from '../client/client.ts';
import type { Informer } from '../client/informer.ts';
import { identifyingNamespace } from '../cluster/identity.ts';
import { isReady } from '../cluster/life.ts';
import { physicalClusters } from '../cluster/names.ts';
import { readability } from '../cluster/readable.ts';
import { silenceSince } from '../cluster/silence.ts';
import type { Condition, PhysicalCluster, PhysicalClusterStatus } from '../cluster/types.ts';
import { sleep } from '../kube/clock.ts';
import type { Logger } from '../kube/log.ts';
import { isStatusError } from '../kube/status.ts';
import { textAt } from '../kube/untyped.ts';
import { within } from '../kube/within.ts';
import { allocatable } from './allocatable.ts';
import { busyMs, isBusy } from './busy.ts';
import type { Outage } from './outage.ts';
import { Served } from './served.ts';
import type { Unreadable } from './unreadable.ts';

const namespaces = { group: '', version: 'v1', resource: 'namespaces' };

export interface HeartbeatOptions {
  name: string;
  upstream: Client;
  client: Client;
  signal: AbortSignal;
  logger: Logger;
  /** Hears what each beat found. */
  outage: Outage;
  intervalMs: number;
  /** Why the cluster of this uid may not be taken under this name, as a sentence. */
  whyNotTaken?(clusterUID: string): Promise<string | undefined>;
  /** Asks for a beat before its time. */
  questions: Questions;
  /** The cluster has become Ready, or became so with the beat before, or may have been taken for silent: what is made of that is done by then. */
  heardAgain?(): void;
  nodes: Informer;
  /** The kinds that may not be read. */
  unreadable: Unreadable;
  /** How many namespaces of ours are there; undefined while that is not known. */
  namespaces(): number | undefined;
}

/** A beat answers for all that was asked before it began; so many questions in a moment are one beat. */
const minIntervalMs = 100;

/** However often a cluster is asked, so long it may take to answer. */
const leastProbeMs = 3_000;

/** After so many intervals without a beat somebody may have taken the cluster for silent. */
const silentBeats = 3;

/** What it serves, and its version, are asked for with each so many-th beat: they change seldom. */
const servedBeats = 3;

/** The splitter asks in a share for a word since a moment: what is done on the strength of this cluster waits for it. */
export class Questions {
  /** When the last beat began; milliseconds since 1970. */
  #answered = 0;
  #asked = 0;
  #wake: () => void = () => {};

  ask(since: number | undefined): void {
    if (since === undefined || since <= Math.max(this.#answered, this.#asked)) return;
    this.#asked = since;
    this.#wake();
  }

  begin(): number {
    this.#answered = Date.now();
    return this.#answered;
  }

  /** Until the next beat is due. */
  async wait(intervalMs: number, signal: AbortSignal): Promise<void> {
    await sleep(Math.min(minIntervalMs, intervalMs), signal);
    if (this.#asked > this.#answered) return;
    const stop = new AbortController();
    this.#wake = () => stop.abort();
    await sleep(intervalMs, AbortSignal.any([signal, stop.signal]));
  }
}

/** Says every `intervalMs`, and when asked, that the syncer lives, and whether the physical API answers it. */
export async function runHeartbeat(options: HeartbeatOptions): Promise<void> {
  const { name, upstream, signal, logger, intervalMs } = options;
  const served = new Served(options.client);
  let unsettled = 0;
  let beats = 0;
  let last: number | undefined;
  // While it says so in time the syncer alone says this of it, and need not read it again after each word: of one that was late
  // others say that nothing is heard, and since when counts.
  let known: PhysicalCluster | undefined;
  while (!signal.aborted) {
    let busyFor: number | undefined;
    try {
      const began = Date.now();
      const isLate = began - (last ?? began) > silentBeats * intervalMs;
      const before =
        (isLate ? undefined : known) ??
        (await upstream.get<PhysicalCluster>(physicalClusters, { name }, signal));
      known = undefined;
      known = await beat(options, before, beats++ % servedBeats === 0 ? served : undefined);
      const becameReady = isReady(known) && !isReady(before);
      // One beat may have taken so long that the cluster counted as silent, and not silent, while it was under way.
      if (becameReady || Date.now() - (last ?? began) > silentBeats * intervalMs) unsettled = 2;
      last = began;
      if (unsettled > 0) options.heardAgain?.();
      unsettled = Math.max(0, unsettled - 1);
    } catch (err) {
      if (isBusy(err)) busyFor = busyMs(err, intervalMs);
      if (!signal.aborted) logger[isBusy(err) ? 'debug' : 'warn']({ err }, 'heartbeat failed');
    }
    // Nor is it asked before its time because somebody wants to know.
    if (busyFor !== undefined) await sleep(busyFor, signal);
    else await options.questions.wait(intervalMs, signal);
  }
}

/**
 * Says what is found: the cluster with it. Of a cluster that is busy nothing is said as long as it is not silent for it: it throws
 * what that answered.
 */
async function beat(
  options: HeartbeatOptions,
  before: PhysicalCluster,
  served: Served | undefined,
): Promise<PhysicalCluster> {
  const { name, upstream, client, nodes, signal, intervalMs } = options;
  // Of what happens while it is asked nothing is said.
  const now = new Date(options.questions.begin()).toISOString();
  const timeoutMs = Math.max(leastProbeMs, intervalMs);
  const found = await probe(client, signal, timeoutMs, served !== undefined);
  if (found.busy !== undefined) {
    const last = Date.parse(before.status?.lastHeartbeatTime ?? '') || 0;
    const next = Date.now() + busyMs(found.busy, intervalMs);
    if (isReady(before) && next < last + silentBeats * intervalMs) throw found.busy;
  }
  options.outage.heard(found.error);
  const clusterUID = found.clusterUID ?? before.status?.clusterUID;
  const refused = clusterUID && (await options.whyNotTaken?.(clusterUID));
  const namespaces = found.error === undefined ? options.namespaces() : undefined;
  const serves = found.error === undefined ? await served?.ask({ signal, timeoutMs }) : undefined;
  const ready = conditionOf(before, 'Ready', verdictOf(before, found, refused || undefined), now);
  const { Unanswered, ...unread } = options.unreadable.list();
  // Of one that answers nothing at all Ready says it.
  const readable = readability(found.error === undefined ? { ...unread, Unanswered } : unread);
  const status: PhysicalClusterStatus = {
    conditions: [ready, conditionOf(before, 'Readable', readable, now)],
    lastHeartbeatTime: now,
    ...(found.error === undefined && { lastAnswerTime: now.replace(/\.\d+/, '') }),
    ...(clusterUID && { clusterUID }),
    ...(found.version && { version: found.version }),
    ...(namespaces !== undefined && { namespaces }),
    ...(serves && { serves }),
    ...(nodes.hasSynced && { allocatable: allocatable(nodes.values()) }),
  };
  const to = { name, subresource: 'status' };
  return await upstream.patch<PhysicalCluster>(physicalClusters, to, 'merge', { status }, { signal });
}

interface Found {
  version?: string;
  clusterUID?: string;
  error?: string;
  /** The error, where that is all it is. */
  busy?: unknown;
}

/** Whether the API server answers, of which cluster, and, where that is asked, which version it is. */
async function probe(
  client: Client,
  signal: AbortSignal,
  timeoutMs: number,
  isAsked: boolean,
): Promise<Found> {
  try {
    return await within(timeoutMs, signal, async (soon) => {
      const clusterUID = await uidOf(client, soon);
      const version = isAsked
        ? textAt(await client.json('/version', { signal: soon }), 'gitVersion')
        : undefined;
      return {
        ...(version !== undefined && { version }),
        ...(clusterUID && { clusterUID }),
      };
    });
  } catch (error) {
    signal.throwIfAborted();
    const message = error instanceof Error ? error.message : String(error);
    return { error: message, ...(isBusy(error) && { busy: error }) };
  }
}

/** Undefined where it may not be asked for, or is not there (yet): all else must work without. */
async function uidOf(client: Client, signal: AbortSignal): Promise<string | undefined> {
  try {
    return (await client.get(namespaces, { name: identifyingNamespace }, signal)).metadata.uid;
  } catch (error) {
    if (isStatusError(error, 'NotFound') || isStatusError(error, 'Forbidden')) return undefined;
    throw error;
  }
}

type Verdict = Pick<Condition, 'status' | 'reason' | 'message'>;

function verdictOf(cluster: PhysicalCluster, { error }: Found, refused: string | undefined): Verdict {
  if (error !== undefined)
    return {
      status: 'False',
      reason: 'Unreachable',
      message: `${silenceSince(cluster).words}: ${error}`,
    };
  if (refused !== undefined) return { status: 'False', reason: 'SameCluster', message: refused };
  return { status: 'True', reason: 'SyncerConnected', message: 'the cluster answers' };
}

function conditionOf(
  { status: before }: PhysicalCluster,
  type: 'Ready' | 'Readable',
  verdict: Verdict,
  now: string,
): Condition {
  const old = before?.conditions?.find((condition) => condition.type === type);
  const lastTransitionTime = old?.status === verdict.status ? old.lastTransitionTime : now;
  return { type, ...verdict, lastTransitionTime };
}
