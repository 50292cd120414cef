import { startInformer } from '../../client/informer.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { UnservedCluster } from '../../sim/cluster.ts';
import { resources } from '../world/objects.ts';

type Pod = KubeObject<unknown, { conditions?: { type: string; status: string }[] }>;

/** What the physical clusters run, read from themselves at every moment; nothing that Atoll says of it counts here. */
export class Pods {
  /** Whether something has changed since somebody last set it to false. */
  changed = true;
  readonly #of = new Map<string, Map<string, Pod>>();

  follow(cluster: UnservedCluster, signal: AbortSignal): Promise<void> {
    const pods = new Map<string, Pod>();
    this.#of.set(cluster.name, pods);
    const informer = startInformer<Pod>(cluster.client, resources.pods, { signal });
    const put = (pod: Pod, key: string) => {
      pods.set(key, pod);
      this.changed = true;
    };
    informer.on({
      add: put,
      update: (pod, _old, key) => put(pod, key),
      delete: (_, key) => {
        pods.delete(key);
        this.changed = true;
      },
    });
    return informer.synced;
  }

  /** Of one app: those that serve, on whichever cluster. */
  ready(app: string): number {
    return this.#all(app).filter(({ pod }) => isServing(pod)).length;
  }

  /** All that are there, those on their way out, too. */
  on(cluster: string, app: string): Pod[] {
    return this.#all(app).flatMap((found) => (found.cluster === cluster ? [found.pod] : []));
  }

  serving(cluster: string, app: string): Pod[] {
    return this.on(cluster, app).filter(isServing);
  }

  /** Names that two clusters have at once, on their way out or not. */
  twins(app: string): string[] {
    const names = this.#all(app).map(({ pod }) => pod.metadata.name ?? '');
    return names.filter((name, i) => names.indexOf(name) !== i);
  }

  #all(app: string): { cluster: string; pod: Pod }[] {
    return [...this.#of].flatMap(([cluster, pods]) =>
      [...pods.values()].flatMap((pod) => (pod.metadata.labels?.['app'] === app ? [{ cluster, pod }] : [])),
    );
  }
}

function isServing({ metadata, status }: Pod): boolean {
  const isReady = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True');
  return isReady === true && metadata.deletionTimestamp === undefined;
}
