import type { Client } from '../client/client.ts';
import { startInformer } from '../client/informer.ts';
import { heartbeatsLabel, timeOf, wordsIn } from '../cluster/heartbeats.ts';
import type { Logger } from '../kube/log.ts';
import type { KubeObject } from '../kube/object.ts';

export const heartbeatLeases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' } as const;
export const heartbeatsNamespace = 'kube-system';
const labelled = { namespace: heartbeatsNamespace, labelSelector: heartbeatsLabel };

/** Of a Lease that is gone. */
const none: Lease['said'] = {};

interface Lease {
  /** By cluster, as it stands there. */
  said: Readonly<Record<string, unknown>>;
  /** The times of that as far as they are believed. */
  heard: Map<string, number>;
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
    const put = (lease: KubeObject) => this.#put(lease.metadata.name ?? '', wordsIn(lease));
    informer.on({ add: put, update: put, delete: ({ metadata }) => this.#put(metadata.name ?? '', none) });
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
    const times = items.flatMap((lease) => {
      const known = this.#leases.get(lease.metadata.name ?? '');
      return believed(cluster, wordsIn(lease), known) ?? [];
    });
    return times.length > 0 ? Math.max(...times) : undefined;
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

  /** Each word of a server names all of its clusters, of which most are as before: those cost no more than a look. */
  #put(name: string, said: Lease['said']): void {
    const known = this.#leases.get(name);
    const heard = known?.heard ?? new Map<string, number>();
    const changed = (cluster: string) => said[cluster] !== known?.said[cluster];
    const others = Object.keys(known?.said ?? {}).filter((cluster) => !Object.hasOwn(said, cluster));
    if (said === none) this.#leases.delete(name);
    else this.#leases.set(name, { said, heard, at: performance.now() });
    for (const cluster of [...Object.keys(said).filter(changed), ...others]) {
      const before = heard.get(cluster);
      const time = believed(cluster, said, known);
      if (time === undefined) heard.delete(cluster);
      else heard.set(cluster, time);
      if (time !== undefined) this.#word(cluster);
      if (before !== undefined && (this.at(cluster) ?? 0) < before) this.#less(cluster);
    }
  }
}

/** A server's clock may run ahead, and the server be gone: a word counts from when it was told at the latest, and not from then on for ever. */
function believed(cluster: string, said: Lease['said'], known: Lease | undefined): number | undefined {
  if (!Object.hasOwn(said, cluster)) return undefined;
  if (known && known.said[cluster] === said[cluster]) return known.heard.get(cluster);
  const time = timeOf(said[cluster]);
  return time === undefined ? undefined : Math.min(time, Date.now());
}

function lastOf(cluster: string, leases: Iterable<Pick<Lease, 'heard'>>): number | undefined {
  let last: number | undefined;
  for (const { heard } of leases) {
    const at = heard.get(cluster);
    if (at !== undefined && (last === undefined || at > last)) last = at;
  }
  return last;
}
