import { type Budget, RunError } from './budget.ts';
import { inTime } from './times.ts';
import {
  belowMillis,
  compare,
  Duration,
  equal,
  noOverload,
  shared,
  Timestamp,
  Uint,
  type Value,
} from './values.ts';

export function int(value: bigint): bigint {
  if (BigInt.asIntN(64, value) !== value) throw new RunError('integer overflow');
  return value;
}

export function uint(value: bigint): Uint {
  if (BigInt.asUintN(64, value) !== value) throw new RunError('unsigned integer overflow');
  return new Uint(value);
}

type Whole = (a: bigint, b: bigint) => bigint;
type Broken = (a: number, b: number) => number;

/** Both of one type: what is mixed has no overload. */
function arithmetic(a: Value, b: Value, whole: Whole, broken?: Broken): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') return int(whole(a, b));
  if (a instanceof Uint && b instanceof Uint) return uint(whole(a.value, b.value));
  if (broken && typeof a === 'number' && typeof b === 'number') return broken(a, b);
  throw noOverload();
}

const million = 1_000_000n;

/** Since 1970. */
const nanosOf = (time: Date) => BigInt(time.getTime()) * million + BigInt(belowMillis(time));

function moved(time: Date, by: bigint): Date {
  const nanos = nanosOf(time) + by;
  const below = ((nanos % million) + million) % million;
  const offset = time instanceof Timestamp ? time.offset : 0;
  return inTime(Number((nanos - below) / million), Number(below), offset);
}

function span(nanos: bigint): Duration {
  return new Duration(int(nanos));
}

export function add(a: Value, b: Value, budget: Budget): Value {
  if (typeof a === 'string' && typeof b === 'string') {
    budget.text(a, b);
    return a + b;
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    budget.charge(a.length + b.length);
    return [...a, ...b];
  }
  if (a instanceof Uint8Array && b instanceof Uint8Array) {
    budget.text(a, b);
    return Uint8Array.from(Buffer.concat([a, b]));
  }
  if (a instanceof Duration && b instanceof Duration) return span(a.nanos + b.nanos);
  if (a instanceof Date && b instanceof Duration) return moved(a, b.nanos);
  if (a instanceof Duration && b instanceof Date) return moved(b, a.nanos);
  return arithmetic(
    a,
    b,
    (x, y) => x + y,
    (x, y) => x + y,
  );
}

export function subtract(a: Value, b: Value): Value {
  if (a instanceof Duration && b instanceof Duration) return span(a.nanos - b.nanos);
  if (a instanceof Date && b instanceof Duration) return moved(a, -b.nanos);
  if (a instanceof Date && b instanceof Date) return span(nanosOf(a) - nanosOf(b));
  return arithmetic(
    a,
    b,
    (x, y) => x - y,
    (x, y) => x - y,
  );
}

const multiply = (a: Value, b: Value) =>
  arithmetic(
    a,
    b,
    (x, y) => x * y,
    (x, y) => x * y,
  );

const divide = (a: Value, b: Value) =>
  arithmetic(
    a,
    b,
    (x, y) => {
      if (y === 0n) throw new RunError('division by zero');
      return x / y;
    },
    (x, y) => x / y,
  );

const modulo = (a: Value, b: Value) =>
  arithmetic(a, b, (x, y) => {
    if (y === 0n) throw new RunError('modulus by zero');
    return x % y;
  });

export function ordered(a: Value, b: Value, budget: Budget): number {
  budget.charge(shared(a, b) / 10);
  return compare(a, b);
}

function negate(value: Value): Value {
  if (typeof value === 'bigint') return int(-value);
  if (typeof value === 'number') return -value;
  throw noOverload();
}

export function isEqual(a: Value, b: Value, budget: Budget): boolean {
  return equal(a, b, (steps) => budget.charge(steps));
}

export type Operator = (budget: Budget, a: Value, b: Value) => Value;

export const operators: Readonly<Record<string, Operator>> = {
  '_+_': (budget, a, b) => add(a, b, budget),
  '_-_': (_, a, b) => subtract(a, b),
  '_*_': (_, a, b) => multiply(a, b),
  '_/_': (_, a, b) => divide(a, b),
  '_%_': (_, a, b) => modulo(a, b),
  '_==_': (budget, a, b) => isEqual(a, b, budget),
  '_!=_': (budget, a, b) => !isEqual(a, b, budget),
  '_<_': (budget, a, b) => ordered(a, b, budget) < 0,
  '_<=_': (budget, a, b) => ordered(a, b, budget) <= 0,
  '_>_': (budget, a, b) => ordered(a, b, budget) > 0,
  '_>=_': (budget, a, b) => ordered(a, b, budget) >= 0,
  '-_': (_, a) => negate(a),
  '!_': (_, a) => {
    if (typeof a !== 'boolean') throw noOverload();
    return !a;
  },
};
