import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Client } from '../client/client.ts';
import { heartbeatsAnnotation, heartbeatsLabel, heartbeatsText } from '../cluster/heartbeats.ts';
import { isServerName } from '../cluster/names.ts';
import type { PhysicalCluster } from '../cluster/types.ts';
import { type Clock, sleep } from '../kube/clock.ts';
import type { Logger } from '../kube/log.ts';
import { isStatusError } from '../kube/status.ts';
import { within } from '../kube/within.ts';
import { heartbeatLeases as leases, heartbeatsNamespace as namespace, type Told } from './told.ts';

export interface HeartbeatsOptions {
  /** Of root: may write Leases in its kube-system. */
  client: Client;
  told: Pick<Told, 'unchanged'>;
  signal: AbortSignal;
  logger: Logger;
  clock: Clock;
  /** How often a cluster is asked; half of that is how long its word may wait for others, and all of it that of one that rests. */
  intervalMs: number;
}

/** What one syncer sees of it, and what all see of its cluster. */
export interface Together {
  /** See Heartbeats.note. */
  note(began: number, again: () => void, mayWait: boolean): boolean;
  /** When it was last said so, also by who led before. */
  heardAt(): number | undefined;
  seen(): PhysicalCluster | undefined;
}

/** So many intervals after its last word a cluster is named no more: it speaks for itself, or has long been taken for silent. */
const namedBeats = 60;
/** The annotations of an object may have 256 KiB. Whoever finds no room speaks for itself. */
const mostBytes = 200 << 10;
const timeBytes = 30;
const writeMs = 3_000;
/** What a server that is gone had said is of no use to anybody then. */
const staleMs = 600_000;

/**
 * That nothing is new of a cluster is said of all such clusters of a process in one write, as a Node's kubelet says it in a Lease and not in the
 * Node's status. A word counts from when its cluster was asked, whoever leads it by then.
 */
export class Heartbeats {
  readonly #options: HeartbeatsOptions;
  readonly #name = `atoll-${randomUUID()}`;
  readonly #times = new Map<string, number>();
  /** What to do for those whose words are not written yet, should they be lost. */
  #unwritten = new Map<string, () => void>();
  #isDue = false;
  /** Somebody's word is due that may not wait for long. */
  #isUrgent = false;
  #wake: () => void = () => {};
  /** The last write was acknowledged: until there is one nobody relies on it. */
  #works = false;
  #bytes = 0;

  constructor(options: HeartbeatsOptions) {
    this.#options = options;
  }

  /**
   * The cluster answers, and was asked at `began` (of Date.now()). False: it is to be said of it alone. `again`: what was noted could not
   * be written. `mayWait`: it says that it may be silent for long, so that its word may come twice as late.
   */
  note(name: string, began: number, again: () => void, mayWait = false): boolean {
    if (!this.#times.has(name)) {
      if (this.#bytes + name.length + timeBytes > mostBytes) return false;
      this.#bytes += name.length + timeBytes;
    }
    this.#times.set(name, began);
    this.#isDue = true;
    if (!mayWait) this.#isUrgent = true;
    this.#wake();
    if (this.#works) this.#unwritten.set(name, again);
    return this.#works;
  }

  /** Until the signal aborts. What was said stays, and what was noted is said: whoever starts next is not to take all for silent. */
  async run(): Promise<void> {
    const { signal, clock, intervalMs } = this.#options;
    while (!signal.aborted) {
      await this.#due();
      await sleep(intervalMs / 2, signal, clock);
      if (!this.#isUrgent) await sleep(intervalMs / 2, signal, clock);
      if (!signal.aborted) await this.#write();
    }
    if (this.#isDue) await this.#put(undefined).catch(() => undefined);
  }

  async #due(): Promise<void> {
    const { signal } = this.#options;
    if (this.#isDue || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        signal.removeEventListener('abort', end);
        this.#wake = () => {};
        resolve();
      };
      signal.addEventListener('abort', end, { once: true });
      this.#wake = end;
    });
  }

  async #write(): Promise<void> {
    const { signal, logger } = this.#options;
    const waiting = this.#unwritten;
    this.#unwritten = new Map();
    this.#isDue = false;
    this.#isUrgent = false;
    try {
      await this.#put(signal).catch(() => this.#put(signal));
      this.#works = true;
    } catch (err) {
      if (signal.aborted) return;
      this.#works = false;
      logger.warn({ err }, 'it cannot be said together of which physical clusters nothing is new');
      for (const again of waiting.values()) again();
      return;
    }
    await this.#clean();
  }

  async #put(signal: AbortSignal | undefined): Promise<void> {
    const { client, intervalMs } = this.#options;
    const since = Date.now() - namedBeats * intervalMs;
    for (const [name, at] of this.#times) if (at < since) this.#times.delete(name);
    const text = heartbeatsText(this.#times);
    this.#bytes = text.length;
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    const leaseDurationSeconds = Math.ceil((4 * intervalMs) / 1000);
    const body = {
      metadata: { labels: { [heartbeatsLabel]: 'true' }, annotations: { [heartbeatsAnnotation]: text } },
      spec: { holderIdentity: hostname(), leaseDurationSeconds, renewTime },
    };
    const name = this.#name;
    await within(writeMs, signal, async (soon) => {
      try {
        await client.patch(leases, { namespace, name }, 'merge', body, { signal: soon });
      } catch (error) {
        if (!isStatusError(error, 'NotFound')) throw error;
        const metadata = { name, namespace, ...body.metadata };
        const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: body.spec };
        await client.create(leases, lease, { namespace, signal: soon });
      }
    });
  }

  /** Each start has another name. */
  async #clean(): Promise<void> {
    const { client, told, signal } = this.#options;
    // A label is easily copied: what no server is called is not ours to delete.
    const stale = told.unchanged(staleMs).filter((name) => name !== this.#name && isServerName(name));
    for (const name of stale)
      await client.delete(leases, { namespace, name }, {}, signal).catch(() => undefined);
  }
}
