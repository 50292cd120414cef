import {
  type Call,
  type Comprehension,
  type Expr,
  type List,
  qualifiedName,
  type Select,
  type Struct,
} from '../typed/expr.ts';
import { type Budget, CostExceeded, RunError } from './budget.ts';
import { functions } from './functions.ts';
import { member, memberOf } from './members.ts';
import { operators } from './operators.ts';
import {
  entryOf,
  isMap,
  keysOf,
  noOverload,
  Optional,
  setEntry,
  TypeName,
  Uint,
  type Value,
} from './values.ts';

/** One run: what names stand for, and what it may still cost. */
interface Frame {
  values: Value[];
  budget: Budget;
}

type Step = (frame: Frame) => Value;

/** An expression made ready; `values` are those of its names, in their order. */
export type Program = (values: readonly Value[], budget: Budget) => Value;

/** What an accumulator holds while its test fails: a later element may settle it. */
class Failed {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

/** Throws RunError for what no environment of ours knows. */
export function program(expr: Expr, names: readonly string[]): Program {
  const maker = new Maker(names);
  const run = maker.make(expr);
  return (values, budget) => run({ values: [...values], budget });
}

const types = new Set(
  'bool bytes double duration int list map null_type string timestamp type uint net.IP net.CIDR google.protobuf.Timestamp google.protobuf.Duration'.split(
    ' ',
  ),
);
const typeAliases: Readonly<Record<string, string>> = {
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
};

/** Every part becomes a function that is a step; what it walks through is charged beside. */
class Maker {
  readonly #scope: string[];
  #next: number;

  constructor(names: readonly string[]) {
    this.#scope = [...names];
    this.#next = names.length;
  }

  make(expr: Expr): Step {
    const run = this.#make(expr);
    return (frame) => {
      frame.budget.step();
      return run(frame);
    };
  }

  #make(expr: Expr): Step {
    switch (expr.op) {
      case 'literal': {
        const value = expr.type === 'uint' ? new Uint(expr.value as bigint) : literal(expr.type, expr.value);
        return () => value;
      }
      case 'ident':
        return this.#ident(expr.name);
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return this.#list(expr);
      case 'struct':
        return this.#struct(expr);
      case 'fold':
        return this.#fold(expr);
    }
  }

  #slot(name: string): number | undefined {
    const slot = this.#scope.lastIndexOf(name);
    return slot < 0 ? undefined : slot;
  }

  #ident(name: string): Step {
    const slot = this.#slot(name);
    if (slot === undefined) return typeStep(name) ?? unknown(name);
    return ({ values }) => {
      const value = values[slot];
      if (value instanceof Failed) throw value.error;
      return value;
    };
  }

  #select(expr: Select): Step {
    const name = qualifiedName(expr);
    const type =
      name !== undefined && this.#slot(name.split('.')[0] ?? '') === undefined ? typeStep(name) : undefined;
    if (type) return type;
    const of = this.make(expr.of);
    const { field } = expr;
    if (expr.test) return (frame) => memberOf(of(frame), field) !== undefined;
    return (frame) => member(of(frame), field);
  }

  #call(expr: Call): Step {
    const { name, args, target } = expr;
    const logical = this.#logical(expr);
    if (logical) return logical;
    const operator = Object.hasOwn(operators, name) ? operators[name] : undefined;
    if (operator) {
      const [a, b = nothing] = args.map((arg) => this.make(arg)) as [Step, Step?];
      return (frame) => operator(frame.budget, a(frame), b(frame));
    }
    const prefix = target && qualifiedName(target);
    const full = `${prefix}.${name}`;
    const free = prefix !== undefined && this.#slot(prefix.split('.')[0] ?? '') === undefined;
    const isNamespaced = free && Object.hasOwn(functions, full);
    const run = isNamespaced ? functions[full] : Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (!run) throw new RunError(`undeclared reference to '${name}' (in container '')`);
    const given = (target && !isNamespaced ? [target, ...args] : args).map((arg) => this.make(arg));
    return (frame) => run(frame.budget, ...given.map((one) => one(frame)));
  }

  /** What does not evaluate all of its arguments, or takes failures. */
  #logical({ name, args }: Call): Step | undefined {
    const [a = nothing, b = nothing, c = nothing] = ['_&&_', '_||_', '_?_:_', '@not_strictly_false'].includes(
      name,
    )
      ? args.map((arg) => this.make(arg))
      : [];
    switch (name) {
      case '_&&_':
        return (frame) => settled(frame, a, b, false);
      case '_||_':
        return (frame) => settled(frame, a, b, true);
      case '_?_:_':
        return (frame) => {
          const test = a(frame);
          if (typeof test !== 'boolean') throw noOverload();
          return test ? b(frame) : c(frame);
        };
      case '@not_strictly_false':
        return (frame) => attempt(frame, a) !== false;
      default:
        return undefined;
    }
  }

  #list({ items, optional }: List): Step {
    const made = items.map((item) => this.make(item));
    return (frame) => {
      frame.budget.charge(10);
      const list: Value[] = [];
      for (const [i, item] of made.entries()) addTo(list, item(frame), optional.has(i));
      return list;
    };
  }

  #struct({ entries, type }: Struct): Step {
    if (type !== undefined) throw new RunError(`unknown type: ${type}`);
    const made = entries.map(({ key, value, optional }) => ({
      key: key ? this.make(key) : nothing,
      value: this.make(value),
      optional,
    }));
    return (frame) => {
      frame.budget.charge(30);
      const map = new Map<Value, Value>();
      for (const { key, value, optional } of made) {
        const [name, held] = [key(frame), value(frame)];
        if (!optional) setEntry(map, name, held);
        else if (held instanceof Optional && held.hasValue) setEntry(map, name, held.value);
      }
      return map;
    };
  }

  /** Names are in scope for what is made by `within`. */
  #with<T>(names: readonly string[], within: () => T): T {
    while (this.#scope.length < this.#next) this.#scope.push('');
    const before = this.#scope.length;
    this.#scope.push(...names);
    this.#next = Math.max(this.#next, this.#scope.length);
    const made = within();
    this.#scope.length = before;
    return made;
  }

  #fold(expr: Comprehension): Step {
    const range = this.make(expr.range);
    const init = this.make(expr.init);
    return this.#with([expr.accumulator], () => {
      const slot = this.#scope.length - 1;
      const loop = this.#loop(expr, slot);
      const result = this.make(expr.result);
      return (frame) => {
        const over = range(frame);
        frame.values[slot] = init(frame);
        loop(frame, over);
        return result(frame);
      };
    });
  }

  #loop(expr: Comprehension, slot: number): (frame: Frame, over: Value) => void {
    return this.#with([expr.variable, expr.variable2 ?? ''], () => {
      const [first, second] = [slot + 1, slot + 2];
      const condition = this.make(expr.condition);
      const step = this.#gathers(expr) ?? this.make(expr.step);
      const all = expr.condition.op === 'literal' && expr.condition.value === true;
      return (frame, over) => {
        const isList = Array.isArray(over);
        const keys = isList ? over : isMap(over) ? keysOf(over) : undefined;
        if (!keys) throw noOverload();
        for (const [i, key] of keys.entries()) {
          if (condition(frame) !== true) return;
          frame.values[first] = isList && expr.variable2 !== undefined ? BigInt(i) : key;
          if (expr.variable2 !== undefined) frame.values[second] = isList ? key : entryOf(over as never, key);
          frame.values[slot] = all ? step(frame) : attempt(frame, step);
        }
      };
    });
  }

  /** A step that adds to the list or map that is gathered: in place, since nobody else has it. */
  #gathers({ accumulator, step }: Comprehension): Step | undefined {
    const isOwn = (expr: Expr | undefined) => expr?.op === 'ident' && expr.name === accumulator;
    if (step.op !== 'call') return undefined;
    if (step.name === '_?_:_' && isOwn(step.args[2])) {
      const [test, added] = step.args as [Expr, Expr];
      const add = this.#adds(added, isOwn);
      if (!add) return undefined;
      const slot = this.#slot(accumulator) as number;
      const passes = this.make(test);
      return (frame) => {
        const holds = passes(frame);
        if (typeof holds !== 'boolean') throw noOverload();
        return holds ? add(frame) : frame.values[slot];
      };
    }
    return this.#adds(step, isOwn);
  }

  #adds(step: Expr, isOwn: (expr: Expr | undefined) => boolean): Step | undefined {
    if (step.op !== 'call' || !isOwn(step.args[0])) return undefined;
    const [own, more, value] = step.args as [Expr & { name: string }, Expr, Expr?];
    const slot = this.#slot(own.name) as number;
    if (step.name === '_+_' && more.op === 'list' && more.items.length === 1 && more.optional.size === 0) {
      const item = this.make(more.items[0] as Expr);
      return (frame) => {
        const list = frame.values[slot];
        if (!Array.isArray(list)) throw noOverload();
        list.push(item(frame));
        return list;
      };
    }
    if (step.name !== 'cel.@mapInsert') return undefined;
    const [key, held] = [this.make(more), value && this.make(value)];
    return (frame) => {
      const map = frame.values[slot];
      if (!(map instanceof Map)) throw noOverload();
      if (held) setEntry(map, key(frame), held(frame));
      else insertAll(map, key(frame), frame.budget);
      return map;
    };
  }
}

const nothing: Step = () => undefined;

function insertAll(map: Map<Value, Value>, from: Value, budget: Budget): void {
  if (!isMap(from)) throw noOverload();
  for (const key of keysOf(from)) {
    budget.step();
    setEntry(map, key, entryOf(from, key));
  }
}

function literal(type: string, value: Value): Value {
  if (type === 'bytes') return Uint8Array.from(Buffer.from(String(value)));
  return value;
}

function typeStep(name: string): Step | undefined {
  if (!types.has(name)) return undefined;
  const type = new TypeName(typeAliases[name] ?? name);
  return () => type;
}

function unknown(name: string): Step {
  throw new RunError(`undeclared reference to '${name}' (in container '')`);
}

function addTo(list: Value[], value: Value, optional: boolean): void {
  if (!optional) list.push(value);
  else if (value instanceof Optional && value.hasValue) list.push(value.value);
}

/** A failure costs more than a look at a value. */
const failureSteps = 50;

/** The value, or the failure, which is told when nothing settles the matter. */
function attempt(frame: Frame, step: Step): Value {
  try {
    return step(frame);
  } catch (error) {
    if (error instanceof CostExceeded) throw error;
    frame.budget.charge(failureSteps);
    return new Failed(error);
  }
}

/** `and` and `or`: the operand that settles them does so whatever becomes of the other. */
function settled(frame: Frame, a: Step, b: Step, by: boolean): boolean {
  const left = attempt(frame, a);
  if (left === by) return by;
  const right = attempt(frame, b);
  if (right === by) return by;
  for (const one of [left, right]) if (one instanceof Failed) throw one.error;
  if (typeof left !== 'boolean' || typeof right !== 'boolean') throw noOverload();
  return !by;
}
