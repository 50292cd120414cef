import { startInformer } from '../../client/informer.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { UnservedCluster } from '../../sim/cluster.ts';
import { readBy } from '../../sim/volumes/contents.ts';
import { resources } from '../world/objects.ts';

/** What pods have written last under the name of a claim, wherever; and whether whoever starts with it finds that. */
export class Contents {
  readonly #written = new Map<string, number>();
  readonly #fail: (text: string) => void;

  constructor(fail: (text: string) => void) {
    this.#fail = fail;
  }

  async follow(cluster: UnservedCluster, signal: AbortSignal): Promise<void> {
    const pods = startInformer(cluster.client, resources.pods, { signal });
    const looked = new Set<string>();
    const look = (pod: KubeObject) => {
      const { uid = '', name } = pod.metadata;
      const read = readBy(pod);
      if (read.size === 0 || looked.has(uid)) return;
      looked.add(uid);
      for (const [claim, found] of read) {
        const last = this.#written.get(claim) ?? 0;
        if (found < last)
          this.#fail(
            `pod ${name} on ${cluster.name} found ${found} in ${claim}, where ${last} was written last`,
          );
        // Each writes one more than it found.
        this.#written.set(claim, Math.max(last, found + 1));
      }
    };
    pods.on({ add: look, update: look });
    await pods.synced;
  }
}
