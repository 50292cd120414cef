import { performance } from 'node:perf_hooks';

/** Shorter looks tell nothing. */
const lookMs = 25;
/** More of its time than this a process that keeps up does not work. */
const full = 0.9;
/** What comes in a row comes with small gaps. */
const gapMs = 50;

/** What takes longer waits for somebody: its turn is over. */
const turnMs = 250;

/** What it goes by; milliseconds. */
export interface Load {
  now(): number;
  /** Which part of the time since `before` the process worked, and how long that is. */
  since(before: unknown): { utilization: number; ms: number };
  look(): unknown;
}

/**
 * While a process has more to do than it can, what is to be made on a cluster goes before what is to be told of it: of all that its
 * syncers tell one thing at a time, in order. So what was applied is there soon, and its status comes a little later; without, each would wait for
 * the other's whole queue. Of one that keeps up nothing waits. Shared by the syncers of a process.
 */
export class Rush {
  readonly #load: Load;
  #making = 0;
  #lastAt = Number.NEGATIVE_INFINITY;
  #looked: unknown;
  #isFull = false;
  /** In order. */
  readonly #waiting: (() => void)[] = [];
  #isTelling = false;

  constructor(load: Load = systemLoad) {
    this.#load = load;
    this.#looked = load.look();
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

  async tell<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#isOn()) return work();
    if (this.#isTelling) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#isTelling = true;
    let isOver = false;
    const end = () => {
      if (!isOver) this.#next();
      isOver = true;
    };
    const timer = setTimeout(end, turnMs);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      end();
    }
  }

  /** All of them, once it is over. */
  #next(): void {
    this.#isTelling = this.#waiting.length > 0;
    const going = this.#isOn() ? this.#waiting.splice(0, 1) : this.#waiting.splice(0);
    for (const go of going) go();
  }

  #isOn(): boolean {
    const { utilization, ms } = this.#load.since(this.#looked);
    if (ms >= lookMs) {
      this.#isFull = utilization >= full;
      this.#looked = this.#load.look();
    }
    return this.#isFull && (this.#making > 0 || this.#load.now() - this.#lastAt < gapMs);
  }
}

/** Where nobody waits for anybody. */
export const noRush: Pick<Rush, 'make' | 'tell'> = { make: (work) => work(), tell: (work) => work() };

type Utilization = ReturnType<typeof performance.eventLoopUtilization>;

const systemLoad: Load = {
  now: () => performance.now(),
  look: () => performance.eventLoopUtilization(),
  since(before) {
    const { utilization, idle, active } = performance.eventLoopUtilization(before as Utilization);
    return { utilization, ms: idle + active };
  },
};
