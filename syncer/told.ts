import type { Client } from '../client/client.ts';
import { startInformer } from '../client/informer.ts';
import { heartbeatsIn, heartbeatsLabel } from '../cluster/heartbeats.ts';
import type { Logger } from '../kube/log.ts';
import type { KubeObject } from '../kube/object.ts';

export const heartbeatLeases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' } as const;
export const heartbeatsNamespace = 'kube-system';
const labelled = { namespace: heartbeatsNamespace, labelSelector: heartbeatsLabel };

interface Lease {
  said: ReadonlyMap<string, number>;
  /** The same as far as it is believed. */
  heard: ReadonlyMap<string, number>;
  /** When it was told of last, by a clock that nobody sets. */
  at: number;
}

/** What servers say together of physical clusters of which nothing is new: heartbeats.ts. */
export class Told {
  readonly #client: Client;
  readonly #signal: AbortSignal;
  /** All that was said before is known. */
  readonly synced: Promise<void>;
  readonly #leases = new Map<string, Lease>();
  #less: (cluster: string) => void = () => {};
  #word: (cluster: string) => void = () => {};

  /** `client`: of root. */
  constructor(client: Client, { signal, logger }: { signal: AbortSignal; logger: Logger }) {
    this.#client = client;
    this.#signal = signal;
    const informer = startInformer(client, heartbeatLeases, { ...labelled, signal, logger });
    const put = (lease: KubeObject) => this.#put(lease.metadata.name ?? '', heartbeatsIn(lease));
    informer.on({ add: put, update: put, delete: ({ metadata }) => this.#put(metadata.name ?? '') });
    this.synced = informer.synced;
  }

  /** When a cluster was last heard of, in milliseconds since 1970; undefined: nobody says so of it. */
  at(cluster: string): number | undefined {
    return lastOf(cluster, this.#leases.values());
  }

  /**
   * The same as it is stored. What was told may be late, and no conflict says so to who writes to a cluster by it: the words are not
   * on that.
   */
  async now(cluster: string): Promise<number | undefined> {
    const { items } = await this.#client.list(heartbeatLeases, { ...labelled, signal: this.#signal });
    return lastOf(
      cluster,
      items.map((lease) => ({ heard: this.#believed(lease.metadata.name ?? '', heartbeatsIn(lease)) })),
    );
  }

  /** Told of a cluster that was heard of less lately than was said before. */
  onLess(less: (cluster: string) => void): void {
    this.#less = less;
  }

  /** Told of a cluster as often as somebody says that it was heard of, whatever the time that they name. */
  onWord(word: (cluster: string) => void): void {
    this.#word = word;
  }

  /** The names of those of which nothing was told for so long. */
  unchanged(ms: number): string[] {
    const since = performance.now() - ms;
    return [...this.#leases].filter(([, { at }]) => at < since).map(([name]) => name);
  }

  /** A server's clock may run ahead, and the server be gone: a word counts from when it was told at the latest, and not from then on for ever. */
  #believed(name: string, said: ReadonlyMap<string, number>): Map<string, number> {
    const known = this.#leases.get(name);
    const now = Date.now();
    const one = (cluster: string, time: number) =>
      (known?.said.get(cluster) === time ? known.heard.get(cluster) : undefined) ?? Math.min(time, now);
    return new Map([...said].map(([cluster, time]) => [cluster, one(cluster, time)]));
  }

  #put(name: string, said?: ReadonlyMap<string, number>): void {
    const { heard: before, said: words } = this.#leases.get(name) ?? { heard: new Map(), said: new Map() };
    if (said) this.#leases.set(name, { said, heard: this.#believed(name, said), at: performance.now() });
    else this.#leases.delete(name);
    for (const [cluster, at] of said ?? []) if (words.get(cluster) !== at) this.#word(cluster);
    for (const [cluster, at] of before) if ((this.at(cluster) ?? 0) < at) this.#less(cluster);
  }
}

function lastOf(cluster: string, leases: Iterable<Pick<Lease, 'heard'>>): number | undefined {
  let last: number | undefined;
  for (const { heard } of leases) {
    const at = heard.get(cluster);
    if (at !== undefined && (last === undefined || at > last)) last = at;
  }
  return last;
}
