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

/** Ends a run, whatever its expression makes of failures. */
export abstract class Interruption extends Error {}

/** Raised instead of an answer when finding it takes more steps than there are. */
export class CostExceeded extends Interruption {
  constructor() {
    super('operation cancelled: actual cost limit exceeded');
  }
}

/** Raised while an answer is waited for: the run costs nothing, and is run anew when it is here. */
export class Unanswered extends Interruption {
  /** Never rejects. */
  readonly answered: Promise<void>;

  constructor(answered: Promise<void>) {
    super('an authorizer has not answered yet');
    this.answered = answered;
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
    let counts = true;
    try {
      return run(share);
    } catch (error) {
      counts = !(error instanceof Unanswered);
      throw error;
    } finally {
      if (counts) this.#left -= share.spent;
    }
  }

  /** For text and bytes: a tenth of a step each. */
  text(...texts: readonly { length: number }[]): void {
    for (const one of texts) this.charge(one.length / 10);
  }
}
