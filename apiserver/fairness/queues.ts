import type { Queuing } from './configuration.ts';

/** What a request is taken to last until it has: in the milliseconds of kube-apiserver. */
const estimateMs = 3;

/** Something that wants seats. */
export interface Waiter {
  readonly seats: number;
  readonly queue: Queue;
}

/** Requests of the flows that were dealt it, in the order in which they came. */
export class Queue {
  readonly waiting: Waiter[] = [];
  /** Seats. */
  executing = 0;
  /** How much it was given, in seats x milliseconds; the queue that was given least is next. */
  given = 0;

  get idle(): boolean {
    return this.waiting.length === 0 && this.executing === 0;
  }
}

/**
 * The queues of a priority level, and which is next: each is given the same share of the time of all seats, however much
 * waits in it. One that was idle has saved nothing: it begins where the others are. Nothing here knows a clock.
 */
export class Queues {
  #lengthLimit: number;
  readonly #all = new Map<number, Queue>();
  readonly #waiting = new Set<Queue>();
  /** What the queue that was served last had been given by then. */
  #now = 0;
  length = 0;

  constructor({ queueLengthLimit }: Pick<Queuing, 'queueLengthLimit'>) {
    this.#lengthLimit = queueLengthLimit;
  }

  configure({ queueLengthLimit }: Pick<Queuing, 'queueLengthLimit'>): void {
    this.#lengthLimit = queueLengthLimit;
  }

  /** That of the hand in which there is least. */
  choose(hand: readonly number[]): Queue {
    let best: Queue | undefined;
    for (const number of hand) {
      const queue = this.#at(number);
      if (best === undefined || work(queue) < work(best)) best = queue;
      if (work(best) === 0) break;
    }
    return best as Queue;
  }

  #at(number: number): Queue {
    let queue = this.#all.get(number);
    if (queue === undefined) {
      queue = new Queue();
      this.#all.set(number, queue);
    }
    return queue;
  }

  /** False: the queue is full. */
  enqueue(waiter: Waiter): boolean {
    const { queue } = waiter;
    if (queue.waiting.length >= this.#lengthLimit) return false;
    if (queue.idle) queue.given = Math.max(queue.given, this.#now);
    queue.waiting.push(waiter);
    this.#waiting.add(queue);
    this.length++;
    return true;
  }

  /** Who waited gave up. */
  leave(waiter: Waiter): void {
    const { queue } = waiter;
    const place = queue.waiting.indexOf(waiter);
    if (place < 0) return;
    queue.waiting.splice(place, 1);
    if (queue.waiting.length === 0) this.#waiting.delete(queue);
    this.length--;
  }

  /** Who is to be served next of those that may; stays where it is until it leaves. */
  next(may: (waiter: Waiter) => boolean = () => true): Waiter | undefined {
    let best: Queue | undefined;
    for (const queue of this.#waiting) {
      const first = queue.waiting[0];
      if (first === undefined || (best !== undefined && ends(queue) >= ends(best))) continue;
      if (may(first)) best = queue;
    }
    return best?.waiting[0];
  }

  /** Seats were given to a request of this queue. */
  began({ queue, seats }: Waiter): void {
    if (queue.idle) queue.given = Math.max(queue.given, this.#now);
    this.#now = Math.max(this.#now, queue.given);
    queue.executing += seats;
    queue.given += seats * estimateMs;
  }

  /** And given back, after so long. */
  ended({ queue, seats }: Waiter, millis: number): void {
    queue.executing -= seats;
    queue.given += seats * (millis - estimateMs);
  }
}

function work({ waiting, executing }: Queue): number {
  return waiting.length + executing;
}

/** What the queue will have been given when its first has ended. */
function ends(queue: Queue): number {
  return queue.given + (queue.waiting[0]?.seats ?? 0) * estimateMs;
}
