import {
  type Call,
  type Comprehension,
  type Expr,
  type List,
  qualifiedName,
  type Select,
  type Struct,
} from '../typed/expr.ts';
import { type Budget, RunError } from './budget.ts';
import { functions } from './functions.ts';
import { gathering } from './gather.ts';
import { member, memberOf } from './members.ts';
import { operators } from './operators.ts';
import { call, notIterable, operate } from './overloads.ts';
import { attempt, Failed, type Frame, nothing, type Step, settled } from './step.ts';
import { typeStep } from './type-names.ts';
import {
  entryOf,
  isMap,
  keysOf,
  Message,
  noOverload,
  Optional,
  setEntry,
  Uint,
  type Value,
} from './values.ts';

/** An expression made ready; `values` are those of its names, in their order. */
export type Program = (values: readonly Value[], budget: Budget) => Value;

/** Throws RunError for what no environment of ours knows. */
export function program(expr: Expr, names: readonly string[]): Program {
  const maker = new Maker(names);
  const run = maker.make(expr);
  return (values, budget) => run({ values: [...values], budget });
}

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

  slot(name: string): number | undefined {
    const slot = this.#scope.lastIndexOf(name);
    return slot < 0 ? undefined : slot;
  }

  #ident(name: string): Step {
    const slot = this.slot(name);
    if (slot === undefined) return typeStep(name) ?? unknown(name);
    return ({ values }) => {
      const value = values[slot];
      if (value instanceof Failed) throw value.error;
      return value;
    };
  }

  #select(expr: Select): Step {
    const name = qualifiedName(expr);
    const declared = name === undefined ? undefined : this.slot(name);
    if (declared !== undefined) return ({ values }) => values[declared];
    const type =
      name !== undefined && this.slot(name.split('.')[0] ?? '') === undefined ? typeStep(name) : undefined;
    if (type) return type;
    const of = this.make(expr.operand);
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
      return (frame) => operate(operator, name, frame.budget, a(frame), b(frame));
    }
    const prefix = target && qualifiedName(target);
    const full = `${prefix}.${name}`;
    const free = prefix !== undefined && this.slot(prefix.split('.')[0] ?? '') === undefined;
    const isNamespaced = free && Object.hasOwn(functions, full);
    const run = isNamespaced ? functions[full] : Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (!run) throw new RunError(`undeclared reference to '${name}' (in container '')`);
    const given = (target && !isNamespaced ? [target, ...args] : args).map((arg) => this.make(arg));
    const called = isNamespaced ? full : name;
    return (frame) =>
      call(
        run,
        called,
        frame.budget,
        given.map((one) => one(frame)),
      );
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
    if (type !== undefined && !isPatchType(type)) throw new RunError(`unknown type: ${type}`);
    const made = entries.map(({ key, field, value, optional }) => ({
      key: key ? this.make(key) : () => field,
      value: this.make(value),
      optional,
    }));
    return (frame) => {
      frame.budget.charge(type === undefined ? 30 : 40);
      const map = type === undefined ? new Map<Value, Value>() : new Message(type);
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
      const step = gathering(expr, this) ?? this.make(expr.step);
      const all = expr.condition.op === 'literal' && expr.condition.value === true;
      return (frame, over) => {
        const isList = Array.isArray(over);
        const keys = isList ? over : isMap(over) ? keysOf(over) : undefined;
        if (!keys) throw notIterable(over);
        if (!isList) frame.budget.charge(keys.length / 10);
        for (const [i, key] of keys.entries()) {
          if (condition(frame) !== true) return;
          frame.values[first] = isList && expr.variable2 !== undefined ? BigInt(i) : key;
          if (expr.variable2 !== undefined) frame.values[second] = isList ? key : entryOf(over as never, key);
          frame.values[slot] = all ? step(frame) : attempt(frame, step);
        }
      };
    });
  }
}

/** The types that admission policies make patches of. */
function isPatchType(type: string): boolean {
  return type === 'JSONPatch' || type === 'Object' || type.startsWith('Object.');
}

function literal(type: string, value: Value): Value {
  if (type === 'bytes') return Uint8Array.from(Buffer.from(String(value), 'latin1'));
  return value;
}

function unknown(name: string): Step {
  throw new RunError(`undeclared reference to '${name}' (in container '')`);
}

function addTo(list: Value[], value: Value, optional: boolean): void {
  if (!optional) list.push(value);
  else if (value instanceof Optional && value.hasValue) list.push(value.value);
}
