import type { Flow, LevelSpec } from './configuration.ts';
import type { LevelLimits } from './limits.ts';
import type { Refusal } from './observer.ts';
import { type Queue, Queues, type Waiter } from './queues.ts';
import { deal, dealWithin } from './shuffle.ts';

/** How many flows' hands are remembered. */
const mostHands = 4096;

/** A request that was sorted into a level. */
export interface Ticket extends Waiter {
  readonly level: Level;
  readonly flow: Flow;
  /** The logical cluster; empty for root, which has no share but the level's. */
  readonly cluster: string;
  /** Of a clock that only goes on, in milliseconds. */
  readonly came: number;
  began: number;
  /** Called while it waits: it may begin, or is refused for a reason. */
  decided(reason?: Refusal): void;
}

/** A priority level at work. It lives on under another specification of its name. */
export class Level {
  spec: LevelSpec;
  limits: LevelLimits;
  /** Seats. */
  inUse = 0;
  readonly queues: Queues;
  readonly #held = new Map<string, number>();
  readonly #hands = new Map<string, readonly number[]>();
  readonly #lone: Queue;

  constructor(spec: LevelSpec, limits: LevelLimits) {
    this.spec = spec;
    this.limits = limits;
    this.queues = new Queues(spec.queuing ?? { queueLengthLimit: 0 });
    this.#lone = this.queues.choose([-1]);
  }

  configure(spec: LevelSpec, limits: LevelLimits): void {
    const { queues, handSize } = this.spec.queuing ?? {};
    if (spec.queuing?.queues !== queues || spec.queuing?.handSize !== handSize) this.#hands.clear();
    this.spec = spec;
    this.limits = limits;
    this.queues.configure(spec.queuing ?? { queueLengthLimit: 0 });
  }

  /** Seats of a logical cluster. */
  heldBy(cluster: string): number {
    return this.#held.get(cluster) ?? 0;
  }

  /** Seats were taken by a request, or given back. */
  used(cluster: string, seats: number): void {
    this.inUse += seats;
    if (cluster === '') return;
    const held = this.heldBy(cluster) + seats;
    if (held === 0) this.#held.delete(cluster);
    else this.#held.set(cluster, held);
  }

  /** `own`: what tells this flow from others of its FlowSchema in its logical cluster; of root's, each is dealt its own hand. */
  queueOf(schema: string, cluster: string, own: string): Queue {
    const { queuing } = this.spec;
    if (queuing === undefined) return this.#lone;
    const flow = `${schema}\0${cluster}\0${own}`;
    let hand = this.#hands.get(flow);
    if (hand === undefined) {
      const { queues, handSize } = queuing;
      hand =
        cluster === ''
          ? deal(flow, queues, handSize)
          : dealWithin(deal(cluster, queues, handSize), `${schema}\0${own}`);
      if (this.#hands.size >= mostHands) this.#hands.clear();
      this.#hands.set(flow, hand);
    }
    return this.queues.choose(hand);
  }
}
