import { startInformer } from '../../client/informer.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { UnservedCluster } from '../../sim/cluster.ts';
import { contentsOf, readBy } from '../../sim/volumes/contents.ts';
import { resources } from '../world/objects.ts';

/** What was last written under the name of a claim, wherever; and whether whoever starts with it finds that. */
export class Contents {
  readonly #last = new Map<string, number>();
  readonly #fail: (text: string) => void;

  constructor(fail: (text: string) => void) {
    this.#fail = fail;
  }

  async follow(cluster: UnservedCluster, signal: AbortSignal): Promise<void> {
    const claims = startInformer(cluster.client, resources.persistentvolumeclaims, { signal });
    const written = (claim: KubeObject) => {
      const { name = '' } = claim.metadata;
      this.#last.set(name, Math.max(contentsOf(claim), this.#last.get(name) ?? 0));
    };
    claims.on({ add: written, update: written });
    const pods = startInformer(cluster.client, resources.pods, { signal });
    const looked = new Set<string>();
    const look = (pod: KubeObject) => {
      const { uid = '', name } = pod.metadata;
      const read = readBy(pod);
      if (read.size === 0 || looked.has(uid)) return;
      looked.add(uid);
      // Each writes one more than it found, and is seen to have written before it says what it found.
      for (const [claim, found] of read) {
        const last = this.#last.get(claim) ?? 0;
        if (found + 1 < last)
          this.#fail(
            `pod ${name} on ${cluster.name} found ${found} in ${claim}, where ${last} was written last`,
          );
        this.#last.set(claim, Math.max(last, found + 1));
      }
    };
    pods.on({ add: look, update: look });
    await Promise.all([claims.synced, pods.synced]);
  }
}
