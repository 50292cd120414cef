import type { Comprehension, Expr } from '../typed/expr.ts';
import type { Budget } from './budget.ts';
import type { Step } from './step.ts';
import { entryOf, isMap, keysOf, noOverload, setEntry, type Value } from './values.ts';

/** What makes the parts of an expression, with the names that are in scope. */
interface Making {
  make(expr: Expr): Step;
  /** Where the value of a name is; undefined: it is not in scope. */
  slot(name: string): number | undefined;
}

/**
 * The step of a loop, where it adds to the list or map that is gathered: in place, since nobody else has it. Undefined
 * for any other.
 */
export function gathering({ accumulator, step }: Comprehension, making: Making): Step | undefined {
  const isOwn = (expr: Expr | undefined) => expr?.op === 'ident' && expr.name === accumulator;
  if (step.op !== 'call') return undefined;
  if (step.name === '_?_:_' && isOwn(step.args[2])) {
    const [test, added] = step.args as [Expr, Expr];
    const add = adding(added, making, isOwn);
    if (!add) return undefined;
    const slot = making.slot(accumulator) as number;
    const passes = making.make(test);
    return (frame) => {
      const holds = passes(frame);
      if (typeof holds !== 'boolean') throw noOverload();
      return holds ? add(frame) : frame.values[slot];
    };
  }
  return adding(step, making, isOwn);
}

function adding(step: Expr, making: Making, isOwn: (expr: Expr | undefined) => boolean): Step | undefined {
  if (step.op !== 'call' || !isOwn(step.args[0])) return undefined;
  const [own, more, value] = step.args as [Expr & { name: string }, Expr, Expr?];
  const slot = making.slot(own.name) as number;
  if (step.name === '_+_' && more.op === 'list' && more.items.length === 1 && more.optional.size === 0) {
    const item = making.make(more.items[0] as Expr);
    return (frame) => {
      const list = frame.values[slot];
      if (!Array.isArray(list)) throw noOverload();
      list.push(item(frame));
      return list;
    };
  }
  if (step.name !== 'cel.@mapInsert') return undefined;
  const [key, held] = [making.make(more), value && making.make(value)];
  return (frame) => {
    const map = frame.values[slot];
    if (!(map instanceof Map)) throw noOverload();
    if (held) setEntry(map, key(frame), held(frame));
    else insertAll(map, key(frame), frame.budget);
    return map;
  };
}

function insertAll(map: Map<Value, Value>, from: Value, budget: Budget): void {
  if (!isMap(from)) throw noOverload();
  for (const key of keysOf(from)) {
    budget.step();
    setEntry(map, key, entryOf(from, key));
  }
}
