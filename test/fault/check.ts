import { checkChanges, Replay } from './changes.ts';
import { describe, type Operation } from './history.ts';
import type { Line } from './journal.ts';
import { checkLinearizable } from './linearizable.ts';
import { checkWatches } from './watches.ts';

export interface CheckOptions {
  /** Whether revisions have no gaps: a store that is nobody else's. */
  readonly contiguous: boolean;
}

/** Judges everything that happened in a trial, across all its crashes. Answers what was promised and broken. */
export function check(lines: readonly Line[], options: CheckOptions): { ops: number; failures: string[] } {
  const operations = operationsOf(lines);
  const { changes, failures } = checkChanges(lines, options.contiguous);
  const replay = new Replay(changes);
  failures.push(...replay.problems);
  failures.push(...checkAnswers(operations, replay));
  failures.push(...checkOrder(operations));
  failures.push(...checkLists(lines, operations, replay));
  failures.push(...checkWatches(lines, changes));
  failures.push(...checkLinearizable(operations));
  return { ops: operations.length, failures: failures.slice(0, 20) };
}

/** Times are positions in the journal. */
export function operationsOf(lines: readonly Line[]): Operation[] {
  const calls = new Map<string, Operation>();
  for (const [time, line] of lines.entries()) {
    if (line[0] === 'call') {
      const [, id, key, input] = line;
      calls.set(id, { key, input, called: time, returned: Infinity, output: undefined });
    } else if (line[0] === 'done') {
      const [, id, output] = line;
      const call = calls.get(id);
      if (call === undefined) throw new Error(`call ${id} was answered, but never made`);
      calls.set(id, { ...call, returned: time, output });
    }
  }
  // A read that was not answered says nothing.
  return [...calls.values()].filter(({ input, output }) => input.op !== 'get' || output !== undefined);
}

/** Every acknowledged write is in the history as it was asked for, and nothing else is. */
function checkAnswers(operations: readonly Operation[], replay: Replay): string[] {
  const failures: string[] = [];
  const claimed = new Set<number>();
  const maybe: Operation[] = [];
  for (const operation of operations) {
    const { input, output } = operation;
    if (input.op === 'get') continue;
    if (output === undefined) maybe.push(operation);
    if (output?.result !== 'ok') continue;
    claimed.add(output.revision);
    const change = replay.changes.get(output.revision);
    if (change === undefined) failures.push(`acknowledged, then lost: ${describe(operation)}`);
    else if (!made(operation, change))
      failures.push(`acknowledged as something else: ${describe(operation)}`);
  }
  const unanswered = new Map<string, Operation[]>();
  for (const operation of maybe) {
    const list = unanswered.get(operation.key);
    if (list === undefined) unanswered.set(operation.key, [operation]);
    else list.push(operation);
  }
  for (const [revision, change] of replay.changes) {
    if (claimed.has(revision)) continue;
    const candidates = unanswered.get(change.key) ?? [];
    const maker = candidates.findIndex((operation) => made(operation, change));
    // Each unanswered write may have happened once.
    if (maker >= 0) candidates.splice(maker, 1);
    else
      failures.push(`revision ${revision} changed ${change.key} to ${change.value}, which nobody asked for`);
  }
  return failures;
}

function made({ key, input }: Operation, change: NonNullable<ReturnType<Replay['changes']['get']>>): boolean {
  if (key !== change.key || input.op === 'get') return false;
  if (input.op === 'delete') return change.type === 'delete' && change.previous?.revision === input.expected;
  if (change.type !== 'put' || change.value !== input.value) return false;
  return input.op === 'create' ? change.previous === undefined : change.previous?.revision === input.expected;
}

/** One order for all keys: a write that was called after another was acknowledged has the later revision. */
function checkOrder(operations: readonly Operation[]): string[] {
  const failures: string[] = [];
  const answered = operations
    .flatMap((operation) =>
      operation.output?.result === 'ok' ? [{ operation, revision: operation.output.revision }] : [],
    )
    .sort((a, b) => a.operation.returned - b.operation.returned);
  const byCall = [...answered].sort((a, b) => a.operation.called - b.operation.called);
  let newest = 0;
  let i = 0;
  for (const { operation, revision } of byCall) {
    for (
      let next = answered[i];
      next !== undefined && next.operation.returned < operation.called;
      next = answered[++i]
    ) {
      newest = Math.max(newest, next.revision);
    }
    if (revision <= newest) {
      failures.push(`revision ${newest} was acknowledged before this was called: ${describe(operation)}`);
    }
  }
  return failures;
}

/** A list shows exactly the state at its revision, and the newest one all that was acknowledged before. */
function checkLists(lines: readonly Line[], operations: readonly Operation[], replay: Replay): string[] {
  const failures: string[] = [];
  const acknowledged = operations
    .flatMap(({ returned, output }) =>
      output?.result === 'ok' ? [{ returned, revision: output.revision }] : [],
    )
    .sort((a, b) => a.returned - b.returned);
  const asked = new Map<string, { start: string; end: string; atLeast: number; exactly: number | null }>();
  let newest = 0;
  let i = 0;
  for (const [time, line] of lines.entries()) {
    for (let next = acknowledged[i]; next !== undefined && next.returned < time; next = acknowledged[++i]) {
      newest = Math.max(newest, next.revision);
    }
    if (line[0] === 'list') {
      const [, id, start, end, revision] = line;
      asked.set(id, { start, end, atLeast: revision ?? newest, exactly: revision });
    } else if (line[0] === 'listed') {
      const [, id, revision, digest] = line;
      const ask = asked.get(id);
      if (ask === undefined) throw new Error(`list ${id} was answered, but never made`);
      const what = `the list ${id} of ${ask.start} at revision ${revision}`;
      if (revision < ask.atLeast) failures.push(`${what} is older than ${ask.atLeast}, acknowledged before`);
      if (ask.exactly !== null && ask.exactly !== revision)
        failures.push(`${what} was asked for at ${ask.exactly}`);
      if (digest !== replay.digest(revision, ask.start, ask.end))
        failures.push(`${what} is not what was written`);
    }
  }
  return failures;
}
