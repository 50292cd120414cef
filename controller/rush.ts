import { performance } from 'node:perf_hooks';

/** Looks at a shorter time tell nothing. */
const lookMs = 25;
/** A process that keeps up does not work for more of its time than this. */
const full = 0.9;
/** What comes in a row comes with small gaps. */
const gapMs = 50;
/** One thing is told in this time, of what can wait. */
const turnMs = 50;
/** By then somebody else may wait for it. */
const newMs = 60_000;

/** What it goes by; milliseconds. */
export interface Load {
  now(): number;
  /** Which part of the time since `before` the process worked, and how long that is. */
  since(before: unknown): { utilization: number; ms: number };
  look(): unknown;
}

/** What was made, and whose work it is that it is told. */
export interface News {
  /** By Rush's own clock; undefined: somebody else made it. */
  madeAt: number | undefined;
  signal: AbortSignal;
}

/**
 * While a process has more to do than it can, what is to be made on a cluster goes before what is to be told of what has just been made: of that
 * one thing at a time, in order. So what is applied is there soon, and its status comes a little later; without, each would wait for the other's
 * whole queue. Of a process that keeps up nothing waits. Shared by all in a process.
 */
export class Rush {
  readonly #load: Load;
  #making = 0;
  #lastAt = Number.NEGATIVE_INFINITY;
  #looked: unknown;
  #isFull = false;
  /** In order. */
  readonly #waiting: { news: News; go: () => void }[] = [];

  constructor(load: Load = systemLoad) {
    this.#load = load;
    this.#looked = load.look();
  }

  get isOn(): boolean {
    const { utilization, ms } = this.#load.since(this.#looked);
    if (ms >= lookMs) {
      this.#isFull = utilization >= full;
      this.#looked = this.#load.look();
    }
    return this.#isFull && (this.#making > 0 || this.#load.now() - this.#lastAt < gapMs);
  }

  async make<T>(work: () => Promise<T>): Promise<T> {
    this.#making++;
    try {
      return await work();
    } finally {
      this.#making--;
      this.#lastAt = this.#load.now();
    }
  }

  /** What is new waits for its turn, for as long as it is new, and nobody who has ended for any. */
  async tell<T>(news: News, work: () => Promise<T>): Promise<T> {
    if (this.#canWait(news) && this.isOn)
      await new Promise<void>((go) => {
        if (this.#waiting.push({ news, go }) === 1) this.#wait();
      });
    return work();
  }

  /** By its own clock, when something is made. */
  now(): number {
    return this.#load.now();
  }

  /** What was made at that time can wait to be told of. */
  isNew(madeAt: number | undefined): boolean {
    return madeAt !== undefined && this.#load.now() - madeAt < newMs;
  }

  #canWait({ madeAt, signal }: News): boolean {
    return this.isNew(madeAt) && !signal.aborted;
  }

  #wait(): void {
    setTimeout(() => {
      const { isOn } = this;
      const all = this.#waiting.splice(0);
      for (const [i, one] of all.entries())
        if (isOn && i > 0 && this.#canWait(one.news)) this.#waiting.push(one);
        else one.go();
      if (this.#waiting.length > 0) this.#wait();
    }, turnMs);
  }
}

export type Turns = Pick<Rush, 'make' | 'tell' | 'now' | 'isNew'>;

/** Where nobody waits for anybody. */
export const noRush: Turns = {
  make: (work) => work(),
  tell: (_news, work) => work(),
  now: () => 0,
  isNew: () => false,
};

type Utilization = ReturnType<typeof performance.eventLoopUtilization>;

const systemLoad: Load = {
  now: () => performance.now(),
  look: () => performance.eventLoopUtilization(),
  since(before) {
    const { utilization, idle, active } = performance.eventLoopUtilization(before as Utilization);
    return { utilization, ms: idle + active };
  },
};
