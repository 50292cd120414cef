import type { Informer } from '../client/informer.ts';
import { objectKey, parseKey } from '../client/url.ts';
import { placedKind } from '../cluster/kinds.ts';
import { silenceOf } from '../cluster/silence.ts';
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
