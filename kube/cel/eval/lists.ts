import { type Budget, RunError } from './budget.ts';
import { optionalOf } from './members.ts';
import { add, isEqual, ordered } from './operators.ts';
import type { Run } from './run.ts';
import { strings } from './strings.ts';
import { noOverload, type Optional, type Value } from './values.ts';

/** Every item is walked over: that much it costs. */
function items(budget: Budget, list: Value): Value[] {
  if (!Array.isArray(list)) throw noOverload();
  budget.charge(list.length);
  return list;
}

function best(budget: Budget, list: Value, sign: 1 | -1, name: string): Value {
  const [first, ...rest] = items(budget, list);
  if (first === undefined) throw new RunError(`${name} called on empty list`);
  return rest.reduce((so, item) => (ordered(item, so, budget) * sign < 0 ? item : so), first);
}

function sum(budget: Budget, list: Value): Value {
  const [first, ...rest] = items(budget, list);
  return first === undefined ? 0n : rest.reduce((so, item) => add(so, item, budget), first);
}

function place(budget: Budget, of: Value, what: Value, offset: Value, last: boolean): bigint {
  if (typeof of === 'string') {
    if (typeof what !== 'string') throw noOverload();
    return strings.find(budget, of, what, offset, last);
  }
  const is = (item: Value) => isEqual(item, what, budget);
  const list = items(budget, of);
  return BigInt(last ? list.findLastIndex(is) : list.findIndex(is));
}

function sorted(budget: Budget, list: readonly Value[], keys: readonly Value[]): Value[] {
  budget.charge(list.length * Math.ceil(Math.log2(list.length + 1)));
  const order = list.map((_, i) => i);
  order.sort((a, b) => ordered(keys[a], keys[b], budget) || a - b);
  return order.map((i) => list[i]);
}

function distinct(budget: Budget, list: Value): Value[] {
  const found: Value[] = [];
  for (const item of items(budget, list))
    if (!found.some((one) => isEqual(one, item, budget))) found.push(item);
  return found;
}

function flat(budget: Budget, list: Value, depth: bigint): Value[] {
  return items(budget, list).flatMap((item) =>
    Array.isArray(item) && depth > 0n ? flat(budget, item, depth - 1n) : [item],
  );
}

function slice(budget: Budget, list: Value, from: Value, to: Value): Value[] {
  if (!Array.isArray(list) || typeof from !== 'bigint' || typeof to !== 'bigint') throw noOverload();
  if (from < 0n || to < 0n)
    throw new RunError(`cannot slice(${from}, ${to}), negative indexes not supported`);
  if (from > to)
    throw new RunError(`cannot slice(${from}, ${to}), start index must be less than or equal to end index`);
  if (to > list.length) throw new RunError(`cannot slice(${from}, ${to}), list is length ${list.length}`);
  budget.charge(Number(to - from));
  return list.slice(Number(from), Number(to));
}

function held(of: Optional): Value {
  if (!of.hasValue) throw new RunError('optional.none() dereference');
  return of.value;
}

const functions: Readonly<Record<string, Run>> = {
  isSorted: (budget, list) => {
    const all = items(budget, list);
    return all.every((item, i) => i === 0 || ordered(all[i - 1], item, budget) <= 0);
  },
  sum,
  min: (budget, list) => best(budget, list, 1, 'min'),
  max: (budget, list) => best(budget, list, -1, 'max'),
  indexOf: (budget, of, what, offset) => place(budget, of, what, offset, false),
  lastIndexOf: (budget, of, what, offset) => place(budget, of, what, offset, true),
  sort: (budget, list) => sorted(budget, items(budget, list), items(budget, list)),
  '@sortByAssociatedKeys': (budget, list, keys) => sorted(budget, items(budget, list), items(budget, keys)),
  distinct,
  reverse: (budget, list) => [...items(budget, list)].reverse(),
  flatten: (budget, list, depth) => {
    if (depth !== undefined && typeof depth !== 'bigint') throw noOverload();
    return flat(budget, list, depth ?? 1n);
  },
  first: (budget, list) => optionalOf(items(budget, list)[0]),
  last: (budget, list) => optionalOf(items(budget, list).at(-1)),
  slice,
  'lists.range': (budget, count) => {
    if (typeof count !== 'bigint') throw noOverload();
    budget.charge(Number(count > 0n ? count : 0n));
    return Array.from({ length: Math.max(Number(count), 0) }, (_, i) => BigInt(i));
  },
};

export const lists = { functions, held };
