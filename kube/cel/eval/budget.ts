/** An expression that fails; the text is kube-apiserver's. */
export class RunError extends Error {
  /** Without a stack: an expression may fail at every step of a loop. */
  constructor(message: string) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Raised instead of an answer when finding it takes more steps than there are. Nothing absorbs it. */
export class CostExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded');
  }
}

/** The most steps of one expression, and of all that one request has to evaluate, in kube-apiserver's units. */
export const perCall = 1_000_000;
export const perRequest = 10_000_000;
export const perConditions = perRequest / 4;

/** What one run may still cost. A step is a constant amount of work: what a function walks through is charged first. */
export class Budget {
  #left: number;
  readonly #given: number;

  constructor(steps: number = perCall) {
    this.#left = steps;
    this.#given = steps;
  }

  get spent(): number {
    return this.#given - this.#left;
  }

  step(): void {
    if (--this.#left < 0) throw new CostExceeded();
  }

  charge(steps: number): void {
    this.#left -= Math.ceil(steps);
    if (this.#left < 0) throw new CostExceeded();
  }

  get isSpent(): boolean {
    return this.#left <= 0;
  }

  /** Nothing more is run on it. */
  spend(): void {
    this.#left = 0;
  }

  /** Runs one expression on a part of it. */
  within<T>(run: (budget: Budget) => T): T {
    const share = new Budget(Math.min(perCall, Math.max(this.#left, 0)));
    try {
      return run(share);
    } finally {
      this.#left -= share.spent;
    }
  }

  /** For text and bytes: a tenth of a step each. */
  text(...texts: readonly { length: number }[]): void {
    for (const one of texts) this.charge(one.length / 10);
  }
}
