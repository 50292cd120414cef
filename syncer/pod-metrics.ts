import { Client } from '../client/client.ts';
import { pathOf } from '../client/url.ts';
import { type PodMetrics, podMetrics } from '../cluster/pod-metrics.ts';
import { reflectedFrom } from '../cluster/reflected.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import { listAt, mapAt, textAt } from '../kube/untyped.ts';
import { within } from '../kube/within.ts';
import { type Connecting, homeOf, isOurs, placedOn, reach } from './connect.ts';

/** How long a cluster may take to say what the pods of one namespace use. */
const answerMs = 5_000;
/** How many namespaces of clusters are asked at a time. */
const atOnce = 8;

export interface PodUsage {
  /** What is known, by the pods that were asked for. */
  found: Map<KubeObject, PodMetrics>;
  /** A sentence for each cluster of which nothing is known. */
  unknown: string[];
}

/** What these pods of a logical cluster use, as the clusters that run them say. A cluster that does not tell spoils nothing of the others. */
export async function podUsage(
  connecting: Connecting,
  cluster: string,
  pods: readonly KubeObject[],
): Promise<PodUsage> {
  const found: PodUsage['found'] = new Map();
  const unknown = new Map<string, string>();
  const places = [...(await placesOf(connecting, cluster, pods))];
  const work = async () => {
    for (let place = places.pop(); place; place = places.pop()) {
      const [key, there] = place;
      const [where = '', namespace = ''] = key.split('/');
      // Who does not answer once is not waited for again.
      if (unknown.has(where)) continue;
      try {
        const told = await usageIn(connecting, { cluster, where, namespace, only: there });
        for (const pod of there) {
          const of = told.get(pod.metadata.name ?? '');
          if (of) found.set(pod, of);
        }
      } catch (error) {
        if (connecting.signal.aborted) throw error;
        unknown.set(where, wordsOf(where, error));
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return { found, unknown: [...unknown.values()].sort() };
}

/** Which of them are in which namespace of which cluster: `<physical cluster>/<namespace>`. */
async function placesOf(
  { client, signal }: Connecting,
  cluster: string,
  pods: readonly KubeObject[],
): Promise<Map<string, KubeObject[]>> {
  const places = new Map<string, KubeObject[]>();
  for (const pod of pods) {
    if (!textAt(pod, 'spec', 'nodeName')) continue;
    const where = reflectedFrom(pod)[0] ?? (await placedOn(client, cluster, pod, 'pods', signal))[0];
    if (where === undefined) continue;
    const key = `${where}/${pod.metadata.namespace ?? ''}`;
    places.set(key, [...(places.get(key) ?? []), pod]);
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
  const home = way && (await homeOf(client, cluster, namespace, signal));
  if (!home || !(await isOurs(way, home, signal))) return new Map();
  const there = new Client(way.transport, { userAgent: 'atoll-syncer' });
  const [one] = only;
  const name = only.length === 1 ? one?.metadata.name : undefined;
  const path = pathOf(podMetrics, { namespace: home.name, ...(name !== undefined && { name }) });
  try {
    const answer = await within(answerMs, signal, (soon) => there.json(path, { signal: soon }));
    const items = (name === undefined ? listAt(answer, 'items') : [answer]).map(read);
    return new Map(items.map((item) => [item.metadata.name ?? '', item]));
  } catch (error) {
    // It has not been measured yet; without the name nobody there serves such a path.
    if (name !== undefined && isMeasuredLater(error)) return new Map();
    throw error;
  }
}

/** Whatever a cluster says, its kind and its numbers alone. */
function read(told: unknown): PodMetrics {
  const [timestamp, window] = [textAt(told, 'timestamp'), textAt(told, 'window')];
  return {
    kind: 'PodMetrics',
    apiVersion: `${podMetrics.group}/${podMetrics.version}`,
    metadata: { name: textAt(told, 'metadata', 'name') ?? '' },
    ...(timestamp !== undefined && { timestamp }),
    ...(window !== undefined && { window }),
    containers: listAt(told, 'containers').map((container) => ({
      name: textAt(container, 'name') ?? '',
      usage: Object.fromEntries(
        Object.entries(mapAt(container, 'usage') ?? {}).flatMap(([resource, amount]) =>
          typeof amount === 'string' ? [[resource, amount]] : [],
        ),
      ),
    })),
  };
}

/** As metrics-server says it: with the namespace in the name. */
function isMeasuredLater(error: unknown): boolean {
  return isStatusError(error, 'NotFound') && Boolean(error.details?.name);
}

function wordsOf(where: string, error: unknown): string {
  if (isStatusError(error, 'NotFound')) return `cluster ${where} serves no ${podMetrics.group}`;
  const message = error instanceof Error ? error.message : String(error);
  return message.includes(where) ? message : `cluster ${where}: ${message}`;
}
