/**
 * One kind of fault, run again and again with a different seed. A part is added by a file `parts/<name>.ts` that
 * exports one of these, and a line in parts/index.ts; the runner (runner.ts) does the rest.
 */
export interface FaultPart {
  /** As `--only` names it. */
  readonly name: string;
  /** One line for `--help`. */
  readonly about: string;
  /** How many runs make the part complete in the default ten minutes; more minutes ask for more. */
  readonly runs: number;
  /** Its share of the time, relative to the other parts'. */
  readonly weight: number;
  /** Minutes of its own; then it runs only where somebody asks for it, and the time of the others is not touched. */
  readonly minutes?: number | undefined;
  /** How many runs at once. */
  readonly parallel: number;
  /** Faults of the program under test that the part can put back in, and must notice. */
  readonly bugs: readonly KnownBug[];
  /**
   * Once, before the first run: builds or starts what all runs need. Throws when a tool is missing: a part that
   * cannot run has failed, it is never skipped. Answers what to do after the last run.
   */
  prepare(context: PartContext): Promise<() => Promise<void>>;
  /** All choices of a run come from its seed. Throws, or answers failures, when a promise was broken. */
  run(run: Run): Promise<RunResult>;
}

export interface KnownBug {
  /** As `--bug` names it. */
  readonly name: string;
  readonly about: string;
  /** A seed that shows it soon; the runner counts up from it. */
  readonly seed: number;
  /** In how many runs from that seed on it must have been noticed. */
  readonly within: number;
}

export interface PartContext {
  /** A temporary folder for this part, removed at the end. */
  readonly directory: string;
  /** Aborts when the whole suite is to stop; a run may finish, slowly made ones should not. */
  readonly signal: AbortSignal;
  /** Which of the part's known bugs to put in. */
  readonly bug: string | undefined;
}

export interface Run extends PartContext {
  readonly seed: number;
  /** When the part's time is over, in `performance.now()` milliseconds: what takes as long as it is given ends then. */
  readonly until: number;
}

export interface RunResult {
  /** How many operations were judged. */
  readonly ops: number;
  /** How often the fault itself happened: most often once. */
  readonly faults: number;
  /** What was promised and not kept, a sentence each. */
  readonly failures: readonly string[];
  /** Counts worth adding up over all runs of a part, by name: how many were refused, repaired, ... */
  readonly counts?: Readonly<Record<string, number>>;
}
