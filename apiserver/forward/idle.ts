import type { Duplex } from 'node:stream';

const most = { ofCluster: 8, ofAll: 256 };

/** Which connections wait for their next request: so many of a logical cluster, and of all. What has no room is closed. */
export class Idle {
  readonly #most: typeof most;
  readonly #waiting = new Map<Duplex, { cluster: string; end(): void }>();
  readonly #counts = new Map<string, number>();

  constructor(limits = most) {
    this.#most = limits;
  }

  get count(): number {
    return this.#waiting.size;
  }

  /** Whether it may wait. It is forgotten when it is closed; what says anything while it waits is. */
  keep(socket: Duplex, cluster: string): boolean {
    const count = this.#counts.get(cluster) ?? 0;
    if (socket.destroyed || count >= this.#most.ofCluster || this.count >= this.#most.ofAll) return false;
    const end = () => {
      this.forget(socket);
      socket.destroy();
    };
    this.#waiting.set(socket, { cluster, end });
    this.#counts.set(cluster, count + 1);
    socket.once('close', end).once('data', end);
    return true;
  }

  forget(socket: Duplex): void {
    const waiting = this.#waiting.get(socket);
    if (waiting === undefined) return;
    const { cluster, end } = waiting;
    this.#waiting.delete(socket);
    socket.off('close', end).off('data', end);
    const left = (this.#counts.get(cluster) ?? 1) - 1;
    if (left > 0) this.#counts.set(cluster, left);
    else this.#counts.delete(cluster);
  }
}
