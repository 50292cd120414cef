import { Client } from '../client/client.ts';
import { pathOf } from '../client/url.ts';
import { type PodMetrics, podMetrics } from '../cluster/pod-metrics.ts';
import { isHeld, reflectedFrom } from '../cluster/reflected.ts';
import { DurationError, parseDuration } from '../kube/duration.ts';
import type { KubeObject } from '../kube/object.ts';
import { parseQuantity, QuantityError } from '../kube/quantity.ts';
import { Slots } from '../kube/slots.ts';
import { isStatusError } from '../kube/status.ts';
import { listAt, mapAt, textAt } from '../kube/untyped.ts';
import { within } from '../kube/within.ts';
import { type Connecting, homeOf, isOurs, placedOn, reach } from './connect.ts';

/** How long all clusters together may take to say it. */
const budgetMs = 8_000;
/** How many namespaces of one cluster are asked about at a time, by whomever: its syncer has the same sockets. */
const atOnce = 4;
/** Of one answer, which many may ask for at a time: what some 20 000 pods use. */
const maxBytes = 16 << 20;
/** For how long a cluster that did not answer is not asked again. */
const restMs = 10_000;
/** Who has been asked for less time than this when that of all together is over is not silent. */
const silentMs = budgetMs / 2;

export interface PodUsage {
  /** What is known, by the pods that were asked for. */
  found: Map<KubeObject, PodMetrics>;
  /** A sentence for each cluster of which something is not known. */
  unknown: string[];
  /** Some cluster has told, were it of no pod, or that it tells nobody: as of pods that nobody has measured yet. */
  answered: boolean;
}

export type UsageReader = (
  cluster: string,
  pods: readonly KubeObject[],
  signal?: AbortSignal,
) => Promise<PodUsage>;

/**
 * What these pods of a logical cluster use, as the clusters that run them say. A cluster that does not tell spoils nothing of
 * the others, and nobody's asking holds up its syncer.
 */
export function usageReader(connecting: Connecting): UsageReader {
  const slots = new Map<string, Slots>();
  const resting = new Map<string, number>();
  const slotsOf = (where: string) => {
    const known = slots.get(where) ?? new Slots(atOnce);
    slots.set(where, known);
    return known;
  };
  const rests = (where: string) => (resting.get(where) ?? 0) > Date.now();
  return async (cluster, pods, caller) => {
    const found: PodUsage['found'] = new Map();
    const unknown = new Map<string, string>();
    let answered = false;
    const ended = caller ? AbortSignal.any([caller, connecting.signal]) : connecting.signal;
    const ofCluster = async (
      where: string,
      places: ReadonlyMap<string, KubeObject[]>,
      signal: AbortSignal,
    ) => {
      const way = { ...connecting, signal };
      for (const [namespace, there] of places) {
        const release = await slotsOf(where).take(signal);
        const began = performance.now();
        try {
          // Whoever had the slot may have found it silent.
          if (rests(where)) return void unknown.set(where, silent(where));
          const told = await usageIn(way, { cluster, where, namespace, only: there });
          answered = true;
          for (const pod of there) {
            const of = told.get(pod.metadata.name ?? '');
            if (of) found.set(pod, of);
          }
        } catch (error) {
          ended.throwIfAborted();
          if (tellsNobody(error)) answered = true;
          const wasCut = signal.aborted && performance.now() - began < silentMs;
          if (!wasCut && !isRefusal(error)) resting.set(where, Date.now() + restMs);
          throw error;
        } finally {
          release();
        }
      }
    };
    await within(budgetMs, ended, async (signal) => {
      const all = [...(await placesOf({ ...connecting, signal }, cluster, pods))];
      await Promise.all(
        all.map(async ([where, places]) => {
          if (rests(where)) return void unknown.set(where, silent(where));
          await ofCluster(where, places, signal).catch((error: unknown) => {
            ended.throwIfAborted();
            unknown.set(where, wordsOf(where, error));
          });
        }),
      );
    });
    return { found, unknown: [...unknown.values()].sort(), answered };
  };
}

/** Which of them are on which cluster, by their namespaces. */
async function placesOf(
  { client, signal }: Connecting,
  cluster: string,
  pods: readonly KubeObject[],
): Promise<Map<string, Map<string, KubeObject[]>>> {
  const places = new Map<string, Map<string, KubeObject[]>>();
  for (const pod of pods) {
    if (!textAt(pod, 'spec', 'nodeName') || isHeld(pod)) continue;
    const where = reflectedFrom(pod)[0] ?? (await placedOn(client, cluster, pod, 'pods', signal))[0];
    if (where === undefined) continue;
    const { namespace = '' } = pod.metadata;
    const there = places.get(where) ?? new Map<string, KubeObject[]>();
    const of = there.get(namespace) ?? [];
    of.push(pod);
    places.set(where, there.set(namespace, of));
  }
  return places;
}

interface Asked {
  cluster: string;
  where: string;
  namespace: string;
  only: readonly KubeObject[];
}

async function usageIn(
  { client, signal, ...ways }: Connecting,
  { cluster, where, namespace, only }: Asked,
): Promise<Map<string, PodMetrics>> {
  const way = reach(ways, where);
  if (!way) throw new Error('there is no way to it');
  const home = await homeOf(client, cluster, namespace, signal);
  if (!home || !(await isOurs(way, home, signal))) return new Map();
  const there = new Client(way.transport, { userAgent: 'atoll-syncer' });
  const [one] = only;
  const name = only.length === 1 ? one?.metadata.name : undefined;
  const path = pathOf(podMetrics, { namespace: home.name, ...(name !== undefined && { name }) });
  try {
    const answer = await there.json(path, { signal, maxBytes });
    const items = (name === undefined ? listAt(answer, 'items') : [answer]).flatMap(read);
    return new Map(items.map((item) => [item.metadata.name ?? '', item]));
  } catch (error) {
    // It has not been measured yet; without the name nobody there serves such a path.
    if (name !== undefined && isMeasuredLater(error)) return new Map();
    throw error;
  }
}

/** Whatever a cluster says, its kind and its numbers alone: what does not parse would spoil the whole list for who reads it. */
function read(told: unknown): PodMetrics[] {
  const [timestamp, window] = [textAt(told, 'timestamp') ?? '', textAt(told, 'window') ?? ''];
  const containers = listAt(told, 'containers').map((container) => ({
    name: textAt(container, 'name') ?? '',
    usage: mapAt(container, 'usage') ?? {},
  }));
  try {
    if (!time.test(timestamp) || Number.isNaN(Date.parse(timestamp))) return [];
    parseDuration(window);
    for (const { usage } of containers) for (const amount of Object.values(usage)) parseQuantity(amount);
  } catch (error) {
    if (error instanceof QuantityError || error instanceof DurationError || error instanceof TypeError)
      return [];
    throw error;
  }
  const apiVersion = `${podMetrics.group}/${podMetrics.version}`;
  const metadata = { name: textAt(told, 'metadata', 'name') ?? '' };
  return [{ kind: 'PodMetrics', apiVersion, metadata, timestamp, window, containers }];
}

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** As metrics-server says it: with the namespace in the name. */
function isMeasuredLater(error: unknown): boolean {
  return isStatusError(error, 'NotFound') && Boolean(error.details?.name);
}

/** It has answered, and will say the same again. */
function isRefusal(error: unknown): boolean {
  return tellsNobody(error) || isStatusError(error, 'Unauthorized');
}

function tellsNobody(error: unknown): boolean {
  return isStatusError(error, 'NotFound') || isStatusError(error, 'Forbidden');
}

/** Nothing of what the cluster itself says: it tells of addresses and names that are nobody's business here. */
function wordsOf(where: string, error: unknown): string {
  if (isStatusError(error, 'NotFound')) return `cluster ${where} serves no ${podMetrics.group}`;
  if (isRefusal(error)) return `cluster ${where} does not let Atoll read what its pods use`;
  return silent(where);
}

function silent(where: string): string {
  return `cluster ${where} does not say what its pods use`;
}
