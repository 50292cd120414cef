import type { Checked } from './check.ts';
import { type CallCost, callCost, type Operand } from './cost-call.ts';
import type { Call, Comprehension, Expr, List, Select, Struct } from './expr.ts';
import { accumulator } from './macros.ts';
import { Path } from './path.ts';
import { exactly, most, none, plus, type Range, times, union, unknown } from './range.ts';
import { type Inner, type SizeAt, Sizes } from './sizes.ts';

/** What evaluating costs at most, in CEL's units: cel-go's estimate, which decides what a definition may hold. */
export function costOf(checked: Checked, sizeAt: SizeAt): Range {
  return new Coster(checked, sizeAt).cost(checked.expr);
}

const one = exactly(1);

class Coster {
  readonly #checked: Checked;
  readonly #sizes: Sizes;

  constructor(checked: Checked, sizeAt: SizeAt) {
    this.#checked = checked;
    this.#sizes = new Sizes(checked.typeOf, sizeAt);
  }

  cost(expr: Expr): Range {
    switch (expr.op) {
      case 'literal':
        return none;
      case 'ident':
        this.#sizes.setPath(expr, this.#sizes.local(expr.name)?.path ?? Path.of(expr.name));
        return one;
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return this.#list(expr);
      case 'struct':
        return this.#struct(expr);
      case 'fold':
        return isBind(expr) ? this.#bind(expr) : this.#fold(expr);
    }
  }

  #select(expr: Select): Range {
    if (this.#checked.isName(expr)) {
      this.#sizes.setPath(expr, Path.of(expr.field));
      return one;
    }
    const of = this.cost(expr.operand);
    if (expr.test) return of;
    const { kind } = this.#checked.typeOf(expr.operand);
    this.#sizes.setPath(expr, this.#sizes.path(expr.operand).to(expr.field));
    return kind === 'map' || kind === 'struct' ? plus(of, one) : of;
  }

  #call(expr: Call): Range {
    if (expr.name === 'dyn' && expr.args[0]) return this.#dyn(expr, expr.args[0]);
    const costs: Range[] = [];
    const args: Operand[] = [];
    for (const arg of expr.args) {
      costs.push(this.cost(arg));
      args.push(this.#sizes.operand(arg));
    }
    const called = this.#checked.callOf(expr);
    if (!called) return none;
    const before = called.target ? this.cost(called.target) : none;
    const target = called.target && this.#sizes.operand(called.target);
    let cost: Range = { min: most, max: 0 };
    let size: Range | undefined;
    for (const overload of called.overloads) {
      const own = this.#special(expr, args, costs) ?? {
        ...callCost(called.name, overload, target, args),
      };
      const whole = own.alone ? own.cost : plus(own.cost, ...costs);
      cost = union(cost, whole);
      if (own.size) size = size ? union(size, own.size) : own.size;
      if (called.name === '_[_]' && (overload.args[0]?.kind === 'list' || overload.args[0]?.kind === 'map')) {
        size = expr.args[0] && this.#sizes.innerOf(expr.args[0])?.value;
        const step = overload.args[0].kind === 'list' ? '@items' : '@values';
        this.#sizes.setPath(expr, (expr.args[0] ? this.#sizes.path(expr.args[0]) : Path.empty).to(step));
      }
      size ??= this.#sizes.size(expr);
    }
    if (called.name === '_+_') this.#addInner(expr);
    if (size) this.#sizes.setSize(expr, size);
    return plus(before, cost);
  }

  /** Calls that do not evaluate all of their arguments. */
  #special(
    expr: Call,
    args: readonly Operand[],
    costs: readonly Range[],
  ): (CallCost & { alone?: true }) | undefined {
    const [a = none, b = none, c = none] = costs;
    if (expr.name === '_&&_' || expr.name === '_||_')
      return { cost: { min: a.min, max: plus(a, b).max }, alone: true };
    if (expr.name !== '_?_:_') return undefined;
    const [, yes, no] = expr.args;
    const inner = yes && no && joined(this.#sizes.innerOf(yes), this.#sizes.innerOf(no));
    if (inner) this.#sizes.setInner(expr, inner);
    const size = union(args[1]?.size ?? unknown, args[2]?.size ?? unknown);
    return { cost: plus(a, union(b, c)), size, alone: true };
  }

  #addInner(expr: Call): void {
    const [a, b] = expr.args;
    const { kind } = this.#checked.typeOf(expr);
    if (!a || !b || !['string', 'bytes', 'list', 'dyn'].includes(kind)) return;
    const inner = joined(this.#sizes.innerOf(a), this.#sizes.innerOf(b));
    if (inner) this.#sizes.setInner(expr, inner);
  }

  #dyn(expr: Call, arg: Expr): Range {
    const cost = plus(one, this.cost(arg));
    this.#sizes.copy(expr, arg);
    return cost;
  }

  #list(expr: List): Range {
    const costs = expr.items.map((item) => this.cost(item));
    const value = this.#sizes.all(expr.items);
    this.#sizes.setInner(expr, { list: true, key: one, value });
    return plus(...costs, exactly(10));
  }

  #struct(expr: Struct): Range {
    const { entries } = expr;
    const costs = entries.flatMap(({ key, value }) => [key ? this.cost(key) : none, this.cost(value)]);
    if (expr.type !== undefined) return plus(...costs, exactly(40));
    const keys = entries.flatMap(({ key }) => (key ? [key] : []));
    const value = this.#sizes.all(entries.map((entry) => entry.value));
    this.#sizes.setInner(expr, { list: false, key: this.#sizes.all(keys), value });
    return plus(...costs, exactly(30));
  }

  #bind(expr: Comprehension): Range {
    const before = plus(this.cost(expr.range), this.cost(expr.init));
    this.#sizes.pushValue(expr.accumulator, expr.init);
    const cost = plus(before, this.cost(expr.result));
    this.#sizes.pop(expr.accumulator);
    this.#sizes.copy(expr, expr.result);
    return cost;
  }

  #fold(expr: Comprehension): Range {
    const before = plus(this.cost(expr.range), this.cost(expr.init));
    this.#sizes.pushValue(expr.accumulator, expr.init);
    this.#sizes.pushLoop(expr);
    const loop = this.cost(expr.condition);
    const step = this.cost(expr.step);
    this.#sizes.pop(expr.variable);
    if (expr.variable2 !== undefined) this.#sizes.pop(expr.variable2);
    const after = this.cost(expr.result);
    this.#sizes.pop(expr.accumulator);
    const count = this.#sizes.size(expr.range) ?? unknown;
    if (expr.init.op === 'literal') {
      const size = this.#sizes.size(expr.init);
      if (size) this.#sizes.setSize(expr, size);
    } else if (expr.init.op === 'list' || expr.init.op === 'struct') {
      this.#sizes.setSize(expr, count);
      const inner = this.#sizes.innerOf(expr.step);
      if (inner) this.#sizes.setInner(expr, inner);
    }
    return plus(before, after, times(count, plus(step, loop)));
  }
}

function joined(a: Inner | undefined, b: Inner | undefined): Inner | undefined {
  return a && b && { list: a.list, key: union(a.key, b.key), value: union(a.value, b.value) };
}

function isBind({ range, condition, accumulator: name }: Comprehension): boolean {
  const never = condition.op === 'literal' && condition.value === false;
  return range.op === 'list' && range.items.length === 0 && never && name !== accumulator;
}
