import type { Informer } from '../client/informer.ts';
import { objectKey, parseKey } from '../client/url.ts';
import { placedKind } from '../cluster/kinds.ts';
import { graceLeft, type Silence, silenceOf } from '../cluster/silence.ts';
import type { PhysicalCluster, Placement } from '../cluster/types.ts';
import type { EventRecorder } from '../controller/events.ts';

/** What runs on a cluster is told when nothing is heard of that any more. */
export function tellSilences(
  clusters: Informer<PhysicalCluster>,
  placedOn: (cluster: string) => Placement[],
  recorder: EventRecorder,
): void {
  clusters.on({
    update(now, old) {
      const silence = silenceOf(old) ? undefined : silenceOf(now);
      if (!silence) return;
      const word = { type: 'Warning', reason: 'ClusterSilent', message: silence.words } as const;
      for (const placement of placedOn(now.metadata.name ?? '')) {
        const { cluster, namespace } = parseKey(objectKey(placement));
        if (!placement.spec || placedKind(placement.spec.ref)?.role !== 'workload') continue;
        recorder.say({ cluster, namespace, ...placement.spec.ref }, [word]);
      }
    },
  });
}

export interface Silences {
  of(cluster: string): Silence | undefined;
  /** When the grace of one that has just fallen silent is over. */
  lookAgainAfter: number | undefined;
}

/** Those of these clusters that have been silent for longer than the grace: what they said of their pods is void. */
export function silencesOf(
  names: readonly string[],
  clusterAt: (name: string) => PhysicalCluster | undefined,
  { now, graceMs }: { now: number; graceMs: number },
): Silences {
  const silent = new Map<string, Silence>();
  const left: number[] = [];
  for (const name of names) {
    const cluster = clusterAt(name);
    const silence = cluster && silenceOf(cluster);
    if (!silence) continue;
    const ms = graceLeft(silence, now, graceMs);
    if (ms > 0) left.push(ms);
    else silent.set(name, silence);
  }
  return { of: (name) => silent.get(name), lookAgainAfter: left.length > 0 ? Math.min(...left) : undefined };
}

/** The earlier of two moments, where there are any. */
export function sooner(...all: (number | undefined)[]): { after: number } | undefined {
  const times = all.filter((ms) => ms !== undefined);
  return times.length > 0 ? { after: Math.min(...times) } : undefined;
}
