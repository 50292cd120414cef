import type { Client } from '../client/client.ts';
import { startInformer } from '../client/informer.ts';
import { heartbeatsIn, heartbeatsLabel } from '../cluster/heartbeats.ts';
import type { Logger } from '../kube/log.ts';
import type { KubeObject } from '../kube/object.ts';

export const heartbeatLeases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' } as const;
export const heartbeatsNamespace = 'kube-system';

interface Lease {
  heard: ReadonlyMap<string, number>;
  /** When it was told of last, by a clock that nobody sets. */
  at: number;
}

/** What servers say together of physical clusters of which nothing is new: heartbeats.ts. */
export class Told {
  /** All that was said before is known. */
  readonly synced: Promise<void>;
  readonly #leases = new Map<string, Lease>();
  #less: (cluster: string) => void = () => {};

  /** `client`: of root. */
  constructor(client: Client, { signal, logger }: { signal: AbortSignal; logger: Logger }) {
    const informer = startInformer(client, heartbeatLeases, {
      namespace: heartbeatsNamespace,
      labelSelector: heartbeatsLabel,
      signal,
      logger,
    });
    const put = (lease: KubeObject) => this.#put(lease.metadata.name ?? '', heartbeatsIn(lease));
    informer.on({ add: put, update: put, delete: ({ metadata }) => this.#put(metadata.name ?? '') });
    this.synced = informer.synced;
  }

  /** When a cluster was last heard of, in milliseconds since 1970; undefined: nobody says so of it. */
  at(cluster: string): number | undefined {
    let last: number | undefined;
    for (const { heard } of this.#leases.values()) {
      const at = heard.get(cluster);
      if (at !== undefined && (last === undefined || at > last)) last = at;
    }
    return last;
  }

  /** Told of a cluster that was heard of less lately than was said before. */
  onLess(less: (cluster: string) => void): void {
    this.#less = less;
  }

  /** The names of those of which nothing was told for so long. */
  unchanged(ms: number): string[] {
    const since = performance.now() - ms;
    return [...this.#leases].filter(([, { at }]) => at < since).map(([name]) => name);
  }

  #put(name: string, heard?: ReadonlyMap<string, number>): void {
    const before = this.#leases.get(name)?.heard ?? new Map<string, number>();
    if (heard) this.#leases.set(name, { heard, at: performance.now() });
    else this.#leases.delete(name);
    for (const [cluster, at] of before) if ((this.at(cluster) ?? 0) < at) this.#less(cluster);
  }
}
