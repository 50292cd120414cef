import { setMaxListeners } from 'node:events';
import { runLeader, type Term } from '../../controller/leader.ts';
import { sleep } from '../../kube/clock.ts';
import type { Logger } from '../../kube/log.ts';
import type { Store } from '../../storage/store.ts';
import type { Random } from '../fault/random.ts';
import { type Death, Wire } from './wire.ts';

/** What is started anew by whoever watches over processes, so long after it died. */
const restartMs = [200, 3000] as const;

export interface Host {
  store: Store;
  random: Random;
  logger: Logger;
  signal: AbortSignal;
}

/**
 * One of the programs that meet only through objects. It leads by a lease, as in a server; when it dies nobody tidies
 * up: its lease runs out, what it was about to write is written or is not, and a new life begins with empty caches.
 */
export class Component {
  readonly name: string;
  readonly #lease: string;
  /** Of the present life. */
  wire: Wire;
  deaths = 0;
  readonly #host: Host;
  readonly #lead: (term: Term, wire: Wire) => Promise<void>;
  #life = new AbortController();

  /** `lease`: who has the same lead one after the other. */
  constructor(
    name: string,
    host: Host,
    lead: (term: Term, wire: Wire) => Promise<void>,
    lease: string = name,
  ) {
    this.name = name;
    this.#lease = lease;
    this.#host = host;
    this.#lead = lead;
    this.wire = this.#newWire();
  }

  /** One life after the other, until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { store, logger, random } = this.#host;
    while (!signal.aborted) {
      const { wire } = this;
      const ending = AbortSignal.any([signal, this.#life.signal]);
      setMaxListeners(0, ending);
      await runLeader({
        store: { acquire: (name, ttlMs) => this.#acquire(store, wire, name, ttlMs) },
        name: this.#lease,
        lead: (term) => this.#lead(term, wire),
        signal: ending,
        logger,
      });
      if (signal.aborted) return;
      await sleep(random.between(...restartMs), signal);
      this.#life = new AbortController();
      this.wire = this.#newWire();
    }
  }

  dieAt(death: Death): void {
    this.wire.dieAt(death);
  }

  #newWire(): Wire {
    return new Wire(this.#host.random, () => {
      this.deaths++;
      this.#life.abort(new Error(`${this.name} died`));
    });
  }

  /** Who is dead gives nothing back. */
  async #acquire(store: Store, wire: Wire, name: string, ttlMs: number) {
    const lease = await store.acquire(name, ttlMs);
    if (!lease) return undefined;
    return {
      name: lease.name,
      token: lease.token,
      keepAlive: async () => {
        await wire.stalled();
        return !wire.dead && (await lease.keepAlive());
      },
      release: async () => {
        if (!wire.dead) await lease.release();
      },
    };
  }
}
