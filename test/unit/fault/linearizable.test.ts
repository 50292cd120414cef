import { expect, it } from 'vitest';
import type { Input, Operation, Output } from '../../fault/history.ts';
import { checkLinearizable } from '../../fault/linearizable.ts';
import { Random } from '../../fault/random.ts';

const ok = (revision: number): Output => ({ result: 'ok', revision });
const found = (revision: number, value: string): Output => ({ result: 'found', revision, value });
const create = (value: string): Input => ({ op: 'create', value });
const update = (value: string, expected: number): Input => ({ op: 'update', value, expected });
const remove = (expected: number): Input => ({ op: 'delete', expected });
const get: Input = { op: 'get' };
const absent: Output = { result: 'absent' };

type Row = [called: number, returned: number, input: Input, output?: Output];
const history = (rows: readonly Row[]): Operation[] =>
  rows.map(([called, returned, input, output]) => ({ key: '/k', called, returned, input, output }));

const explained: Record<string, Row[]> = {
  'one after the other': [
    [0, 1, create('a'), ok(1)],
    [2, 3, update('b', 1), ok(2)],
    [4, 5, get, found(2, 'b')],
    [6, 7, remove(2), ok(3)],
    [8, 9, get, absent],
    [10, 11, create('c'), ok(4)],
  ],
  'a read that overlaps a write sees either': [
    [0, 1, create('a'), ok(1)],
    [2, 9, update('b', 1), ok(2)],
    [3, 4, get, found(1, 'a')],
    [5, 6, get, found(2, 'b')],
  ],
  'of two updates one loses': [
    [0, 1, create('a'), ok(1)],
    [2, 9, update('b', 1), ok(2)],
    [2, 9, update('c', 1), { result: 'conflict', revision: 2, value: 'b' }],
  ],
  'a lost write that nobody saw': [
    [0, 1, create('a'), ok(1)],
    [2, Infinity, update('b', 1)],
    [4, 5, get, found(1, 'a')],
  ],
  'a lost write that shows late': [
    [0, 1, create('a'), ok(1)],
    [2, Infinity, update('b', 1)],
    [4, 5, get, found(1, 'a')],
    [6, 7, get, found(2, 'b')],
  ],
  'a lost delete that happened': [
    [0, 1, create('a'), ok(1)],
    [2, Infinity, remove(1)],
    [4, 5, get, absent],
  ],
  'a lost delete between two creates': [
    [0, 1, create('a'), ok(1)],
    [2, Infinity, remove(1)],
    [4, 5, create('b'), ok(3)],
  ],
  'an update of what a lost create made': [
    [0, Infinity, create('a')],
    [2, 3, get, found(1, 'a')],
    [4, 5, update('b', 1), ok(2)],
    [6, 7, create('c'), { result: 'exists', revision: 2, value: 'b' }],
  ],
};

const unexplained: Record<string, Row[]> = {
  'an acknowledged create is gone': [
    [0, 1, create('a'), ok(1)],
    [2, 3, get, absent],
  ],
  'a stale read': [
    [0, 1, create('a'), ok(1)],
    [2, 3, update('b', 1), ok(2)],
    [4, 5, get, found(1, 'a')],
  ],
  'a read goes back in time during a write': [
    [0, 1, create('a'), ok(1)],
    [2, 9, update('b', 1), ok(2)],
    [3, 4, get, found(2, 'b')],
    [5, 6, get, found(1, 'a')],
  ],
  'both of two updates win': [
    [0, 1, create('a'), ok(1)],
    [2, 9, update('b', 1), ok(2)],
    [2, 9, update('c', 1), ok(3)],
  ],
  'a lost write shows, then is gone': [
    [0, 1, create('a'), ok(1)],
    [2, Infinity, update('b', 1)],
    [4, 5, get, found(2, 'b')],
    [6, 7, get, found(1, 'a')],
  ],
  'a lost write happens before it was called': [
    [0, 1, create('a'), ok(1)],
    [2, 3, get, found(2, 'b')],
    [4, Infinity, update('b', 1)],
  ],
  'two creates without a delete': [
    [0, 1, create('a'), ok(1)],
    [2, 3, create('b'), ok(2)],
  ],
  'a value that nobody wrote': [[0, 1, get, found(7, 'x')]],
  'a value at the wrong revision': [
    [0, 1, create('a'), ok(1)],
    [2, 3, get, found(2, 'a')],
  ],
  'a conflict that was none': [
    [0, 1, create('a'), ok(1)],
    [2, 3, update('b', 1), { result: 'conflict', revision: 1, value: 'a' }],
  ],
  'exists, where nothing is': [
    [0, 1, create('a'), ok(1)],
    [2, 3, remove(1), ok(2)],
    [4, 5, create('b'), { result: 'exists', revision: 1, value: 'a' }],
  ],
  'missing, where something is': [
    [0, 1, create('a'), ok(1)],
    [2, 3, update('b', 1), { result: 'missing' }],
  ],
  'a delete that did not delete': [
    [0, 1, create('a'), ok(1)],
    [2, 3, remove(1), ok(2)],
    [4, 5, get, found(1, 'a')],
  ],
};

it.each(Object.entries(explained))('explains %s', (_name, rows) => {
  expect(checkLinearizable(history(rows))).toEqual([]);
});

it.each(Object.entries(unexplained))('does not explain %s', (_name, rows) => {
  expect(checkLinearizable(history(rows))).toHaveLength(1);
});

it('looks at each key alone', () => {
  const [a, b] = history([
    [0, 1, create('a'), ok(1)],
    [2, 3, get, absent],
  ]);
  expect(checkLinearizable([a!, { ...b!, key: '/other' }])).toEqual([]);
});

/** A register with 16 clients whose operations take effect at a moment between call and return. */
function simulate(random: Random, count: number): Operation[] {
  let state: { value: string; revision: number } | undefined;
  let revision = 0;
  const operations: Operation[] = [];
  const known: number[] = [0];
  for (let i = 0; i < count; i++) {
    const moment = i * 10;
    const called = moment - random.below(80);
    const returned = moment + random.below(80);
    const value = `v${i}`;
    // As in life, only revisions that somebody was told.
    const guess = known[random.below(known.length)] ?? 0;
    const expected =
      state !== undefined && known.includes(state.revision) && random.chance(0.6) ? state.revision : guess;
    const input: Input = random.pick([get, create(value), update(value, expected), remove(expected)]);
    let output: Output;
    if (input.op === 'get') output = state === undefined ? absent : found(state.revision, state.value);
    else if (input.op === 'create') {
      if (state === undefined) {
        state = { value, revision: ++revision };
        output = ok(revision);
      } else output = { result: 'exists', ...state };
    } else if (state === undefined) output = { result: 'missing' };
    else if (state.revision !== expected) output = { result: 'conflict', ...state };
    else {
      state = input.op === 'update' ? { value, revision: revision + 1 } : undefined;
      output = ok(++revision);
    }
    const lost = random.chance(0.02);
    if (!lost && 'revision' in output) known.push(output.revision);
    operations.push({
      key: '/k',
      input,
      called,
      returned: lost ? Infinity : returned,
      output: lost ? undefined : output,
    });
  }
  return operations;
}

it('explains every history of a real register, and none with one answer from long before', () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = new Random(seed);
    const operations = simulate(random, 400);
    expect(checkLinearizable(operations), `seed ${seed}`).toEqual([]);
    const reads = operations.filter(({ input, output }) => input.op === 'get' && output?.result === 'found');
    const early = reads[0]!;
    const late = reads.at(-1)!;
    const changed = operations.map((o) => (o === late ? { ...o, output: early.output } : o));
    expect(checkLinearizable(changed), `seed ${seed}`).toHaveLength(1);
  }
});
