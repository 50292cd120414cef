import { describe, type Operation } from './history.ts';

/**
 * Whether there is one order of the operations on each key that explains every answer and in which nothing
 * comes before what had been answered when it was called. The search is Wing and Gong's with Lowe's memory of
 * configurations that were tried; keys are independent, so each is searched alone. Answers what cannot be
 * explained, a sentence for each key.
 */
export function checkLinearizable(operations: readonly Operation[]): string[] {
  const byKey = new Map<string, Operation[]>();
  for (const operation of operations) {
    const list = byKey.get(operation.key);
    if (list === undefined) byKey.set(operation.key, [operation]);
    else list.push(operation);
  }
  const failures: string[] = [];
  for (const list of byKey.values()) {
    const problem = new Search(list).run();
    if (problem !== undefined) failures.push(problem);
  }
  return failures;
}

/** A key's state: which write made its value, by index; ABSENT when there is none. */
const ABSENT = -1;
const MOST_CONFIGURATIONS = 1_000_000;

/** Which operations an order contains so far, and the state that they lead to. */
interface Configuration {
  /** All answered operations before this one are in. */
  readonly low: number;
  /** Answered operations after `low` that are in, ascending. */
  readonly ahead: readonly number[];
  /** Unanswered operations that are in, ascending. */
  readonly lost: readonly number[];
  readonly state: number;
}

class Search {
  /** By the time of the call. */
  readonly #answered: Operation[];
  readonly #unanswered: Operation[];
  /** Value to the index of its write: answered ones from 0, unanswered ones after them. */
  readonly #writes = new Map<string, number>();
  /** The revision of each write, as far as anybody was told. */
  readonly #revisions = new Map<number, number>();

  constructor(operations: readonly Operation[]) {
    const seen = new Set<string>();
    for (const { output } of operations)
      if (output !== undefined && 'value' in output) seen.add(output.value);
    this.#answered = operations.filter((o) => o.output !== undefined).sort((a, b) => a.called - b.called);
    this.#unanswered = operations.filter((o) => o.output === undefined && mayMatter(o, seen));
    for (const [i, { input, output }] of [...this.#answered, ...this.#unanswered].entries()) {
      if ('value' in input) this.#writes.set(input.value, i);
      if ('value' in input && output?.result === 'ok') this.#revisions.set(i, output.revision);
    }
    for (const { output } of this.#answered) {
      if (output === undefined || !('value' in output)) continue;
      const write = this.#writes.get(output.value);
      if (write !== undefined && !this.#revisions.has(write)) this.#revisions.set(write, output.revision);
    }
  }

  /** `undefined` when there is an order. */
  run(): string | undefined {
    const tried = new Set<string>();
    const stack: Configuration[] = [{ low: 0, ahead: [], lost: [], state: ABSENT }];
    let furthest = stack[0];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      const at = this.#takeReads(next);
      if (at.low === this.#answered.length) return undefined;
      const name = `${at.low} ${at.state} ${at.ahead.join()} ${at.lost.join()}`;
      if (tried.has(name)) continue;
      tried.add(name);
      if (tried.size > MOST_CONFIGURATIONS) return `${this.#key()}: too many orders to try`;
      if (furthest === undefined || progress(at) >= progress(furthest)) furthest = at;
      // Last in, first out: the answered write that returned first is the best guess.
      stack.push(...this.#lostWrites(at), ...this.#writesFrom(at));
    }
    return furthest && this.#explain(furthest);
  }

  /**
   * An operation that changes nothing and whose answer fits now may as well come now: whatever order has it
   * later is still right without it there. So it needs no choice.
   */
  #takeReads(from: Configuration): Configuration {
    let at = from;
    for (let found = true; found; ) {
      found = false;
      for (const i of this.#next(at)) {
        const operation = this.#answered[i];
        if (operation === undefined || operation.output?.result === 'ok') continue;
        if (!this.#fits(operation, at.state)) continue;
        at = this.#with(at, i, at.state);
        found = true;
      }
    }
    return at;
  }

  /** The answered writes that may come next, the first to return last. */
  #writesFrom(at: Configuration): Configuration[] {
    return this.#next(at)
      .filter((i) => {
        const operation = this.#answered[i];
        return operation?.output?.result === 'ok' && this.#fits(operation, at.state);
      })
      .sort((a, b) => (this.#answered[b]?.returned ?? 0) - (this.#answered[a]?.returned ?? 0))
      .map((i) => this.#with(at, i, this.#answered[i]?.input.op === 'delete' ? ABSENT : i));
  }

  /** The unanswered writes that may come next. */
  #lostWrites(at: Configuration): Configuration[] {
    const deadline = this.#deadline(at);
    const found: Configuration[] = [];
    for (const [i, operation] of this.#unanswered.entries()) {
      if (operation.called > deadline || at.lost.includes(i) || !this.#fits(operation, at.state)) continue;
      const state = operation.input.op === 'delete' ? ABSENT : this.#answered.length + i;
      found.push({ ...at, lost: insert(at.lost, i), state });
    }
    return found;
  }

  /** Answered operations that were called before any that is not in yet had returned. */
  #next(at: Configuration): number[] {
    const deadline = this.#deadline(at);
    const indices: number[] = [];
    for (let i = at.low; i < this.#answered.length; i++) {
      if ((this.#answered[i]?.called ?? Infinity) > deadline) break;
      if (!at.ahead.includes(i)) indices.push(i);
    }
    return indices;
  }

  #deadline(at: Configuration): number {
    let deadline = Infinity;
    for (let i = at.low; i < this.#answered.length; i++) {
      const operation = this.#answered[i];
      if (operation === undefined || operation.called > deadline) break;
      if (!at.ahead.includes(i)) deadline = Math.min(deadline, operation.returned);
    }
    return deadline;
  }

  /** Whether the operation, done now, is answered as it was. */
  #fits({ input, output }: Operation, state: number): boolean {
    if (output !== undefined && 'value' in output) {
      const same = this.#writes.get(output.value) === state && this.#revisions.get(state) === output.revision;
      return (
        same && !(output.result === 'conflict' && 'expected' in input && input.expected === output.revision)
      );
    }
    if (output?.result === 'absent' || output?.result === 'missing') return state === ABSENT;
    if (input.op === 'create') return state === ABSENT;
    return 'expected' in input && state !== ABSENT && this.#revisions.get(state) === input.expected;
  }

  #with(at: Configuration, index: number, state: number): Configuration {
    let { low } = at;
    const ahead = insert(at.ahead, index);
    while (ahead[0] === low) {
      ahead.shift();
      low++;
    }
    return { low, ahead, lost: at.lost, state };
  }

  #key(): string {
    return this.#answered[0]?.key ?? this.#unanswered[0]?.key ?? '';
  }

  #explain(at: Configuration): string {
    const all = [...this.#answered, ...this.#unanswered];
    const write = at.state === ABSENT ? undefined : all[at.state];
    const stuck = this.#next(at).map((i) => this.#answered[i]);
    const state = write === undefined ? 'absent' : `as written by ${describe(write)}`;
    const asked = stuck.flatMap((operation) => (operation === undefined ? [] : [describe(operation)]));
    return `${this.#key()}: no order explains the answers; with the key ${state}, none of these can be next: ${asked.join('; ')}`;
  }
}

/** An unanswered put of a value that nobody ever saw may be left out: nothing could have followed it. */
function mayMatter({ input }: Operation, seen: ReadonlySet<string>): boolean {
  return input.op === 'delete' || (input.op !== 'get' && seen.has(input.value));
}

function insert(sorted: readonly number[], value: number): number[] {
  const at = sorted.findIndex((other) => other > value);
  return at === -1 ? [...sorted, value] : [...sorted.slice(0, at), value, ...sorted.slice(at)];
}

function progress({ low, ahead }: Configuration): number {
  return low + ahead.length;
}
