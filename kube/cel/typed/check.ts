import { Aggregates } from './aggregates.ts';
import { Calls, type ResolvedCall } from './calls.ts';
import type { Checking } from './checking.ts';
import { type Declarations, lookup } from './environment.ts';
import {
  type Call,
  type Comprehension,
  type Expr,
  type Issue,
  qualifiedName,
  type Scalar,
  type Select,
} from './expr.ts';
import { type Overload, overloadsOf } from './functions.ts';
import { Inference } from './inference.ts';
import {
  bool,
  bytes,
  type CelType,
  double,
  dyn,
  errorType,
  formatType,
  int,
  nullType,
  optionalOf,
  string,
  uint,
  unwrapped,
} from './types.ts';

/** An expression with the type of each of its parts, and the overloads that its calls can be. */
export interface Checked {
  expr: Expr;
  type: CelType;
  issues: Issue[];
  /** How many types were looked at for it: what it cost, beside its length. */
  steps(): number;
  typeOf(expr: Expr): CelType;
  /** Names of functions as they were found, `a.b` for one with a prefix; and what they were called on. */
  callOf(call: Call): ResolvedCall | undefined;
  /** Whether it is the name of a type, with dots in it. */
  isName(select: Select): boolean;
}

/** Gives every part its type, as cel-go's checker does. https://github.com/google/cel-spec/blob/master/doc/langdef.md#overview */
export function check(expr: Expr, declarations: Declarations): Checked {
  const checker = new Checker(declarations);
  checker.check(expr);
  return {
    expr,
    type: checker.final(expr),
    issues: checker.issues,
    steps: () => checker.infer.steps,
    typeOf: (part) => checker.final(part),
    callOf: (call) => checker.calls.resolved(call),
    isName: (select) => checker.constants.has(select),
  };
}

const scalars: Readonly<Record<Scalar, CelType>> = {
  bool,
  int,
  uint,
  double,
  string,
  bytes,
  null_type: nullType,
};

class Checker implements Checking {
  readonly issues: Issue[] = [];
  readonly calls: Calls = new Calls(this);
  readonly constants = new Set<Select>();
  readonly #types = new Map<Expr, CelType>();
  readonly #declarations: Declarations;
  readonly #aggregates = new Aggregates(this);
  #scopes: ReadonlyMap<string, CelType>[] = [];
  readonly infer: Inference = new Inference();

  constructor(declarations: Declarations) {
    this.#declarations = declarations;
  }

  final(expr: Expr): CelType {
    return this.infer.known(this.typeOf(expr), true);
  }

  typeOf(expr: Expr): CelType {
    return this.#types.get(expr) ?? dyn;
  }

  check(expr: Expr): CelType {
    const type = this.#infer(expr);
    this.#types.set(expr, type);
    return type;
  }

  #infer(expr: Expr): CelType {
    switch (expr.op) {
      case 'literal':
        return scalars[expr.type];
      case 'ident':
        return this.find(expr.name) ?? this.undeclared(expr.offset, expr.name);
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return this.#aggregates.list(expr);
      case 'struct':
        return expr.type === undefined
          ? this.#aggregates.map(expr)
          : this.#aggregates.message(expr, expr.type);
      case 'fold':
        return this.#fold(expr);
    }
  }

  find(name: string): CelType | undefined {
    for (let i = this.#scopes.length - 1; i >= 0; i--) {
      const found = this.#scopes[i]?.get(name);
      if (found) return found;
    }
    return lookup(this.#declarations, name);
  }

  report(offset: number, message: string): void {
    this.issues.push({ offset, message });
  }

  undeclared(offset: number, name: string): CelType {
    this.report(offset, `undeclared reference to '${name}' (in container '')`);
    return errorType;
  }

  mismatch(offset: number, expected: CelType, found: CelType): void {
    this.report(offset, `expected type '${formatType(expected)}' but found '${formatType(found)}'`);
  }

  #select(expr: Select): CelType {
    const name = qualifiedName(expr);
    const known = name === undefined ? undefined : this.find(name);
    if (known) {
      this.constants.add(expr);
      return known;
    }
    const type = this.#field(expr.offset, expr.operand, expr.field, false);
    return expr.test ? bool : this.infer.known(type);
  }

  #field(offset: number, of: Expr, field: string, asOptional: boolean): CelType {
    this.check(of);
    const { type: target, optional } = unwrapped(this.infer.known(this.typeOf(of)));
    const result = this.#fieldOf(offset, target, field);
    return optional || asOptional ? optionalOf(result) : result;
  }

  #fieldOf(offset: number, target: CelType, field: string): CelType {
    if (target.kind === 'map') return target.params[1] ?? dyn;
    if (target.kind === 'struct') return this.fieldOfMessage(offset, target.name, field) ?? errorType;
    if (target.kind === 'param') this.infer.assign(dyn, target);
    else if (target.kind !== 'dyn' && target.kind !== 'error')
      this.report(offset, `type '${formatType(target)}' does not support field selection`);
    return dyn;
  }

  fieldOfMessage(offset: number, message: string, field: string): CelType | undefined {
    const fields = this.#declarations.fields(message);
    if (!fields) {
      this.report(offset, `unexpected failed resolution of '${message}'`);
      return undefined;
    }
    const type = fields(field);
    if (!type) this.report(offset, `undefined field '${field}'`);
    return type;
  }

  #call(expr: Call): CelType {
    const { args, target } = expr;
    if (expr.name === '_?._') {
      const [of, name] = args;
      const field = name?.op === 'literal' ? String(name.value) : '';
      const type = of ? this.#field(expr.offset, of, field, true) : dyn;
      this.calls.note(expr, { name: expr.name, overloads: overloadsOf(expr.name) ?? [] });
      return this.infer.known(type);
    }
    for (const arg of args) this.check(arg);
    if (target) {
      const prefix = qualifiedName(target);
      const name = `${prefix}.${expr.name}`;
      const overloads = prefix === undefined ? undefined : this.#overloads(name);
      if (overloads) return this.calls.resolve(expr, { name, overloads });
      this.check(target);
    }
    const overloads = this.#overloads(expr.name);
    if (!overloads) return this.undeclared(expr.offset, expr.name);
    return this.calls.resolve(expr, { name: expr.name, overloads, ...(target && { target }) });
  }

  #overloads(name: string): readonly Overload[] | undefined {
    return overloadsOf(name) ?? this.#declarations.functions?.get(name);
  }

  #fold(expr: Comprehension): CelType {
    this.check(expr.range);
    const accumulated = this.check(expr.init);
    const range = this.infer.known(this.typeOf(expr.range));
    this.#scopes.push(new Map([[expr.accumulator, accumulated]]));
    const [first, second] = this.#loopTypes(expr, range);
    this.#scopes.push(
      new Map([
        [expr.variable, first],
        ...(expr.variable2 === undefined ? [] : [[expr.variable2, second] as const]),
      ]),
    );
    this.#assert(expr.condition, bool);
    this.#assert(expr.step, accumulated);
    this.#scopes.pop();
    const type = this.check(expr.result);
    this.#scopes.pop();
    return this.infer.known(type);
  }

  #assert(expr: Expr, type: CelType): void {
    const found = this.check(expr);
    if (!this.infer.assign(type, found)) this.mismatch(expr.offset, type, found);
  }

  #loopTypes({ range: offset, variable2 }: Comprehension, range: CelType): [CelType, CelType] {
    const [first = dyn, second = dyn] = range.params;
    if (range.kind === 'list') return variable2 === undefined ? [first, dyn] : [int, first];
    if (range.kind === 'map') return [first, second];
    if (['dyn', 'error', 'param'].includes(range.kind)) {
      this.infer.assign(dyn, range);
      return [dyn, dyn];
    }
    const rule = 'cannot be range of a comprehension (must be list, map, or dynamic)';
    this.report(offset.offset, `expression of type '${formatType(range)}' ${rule}`);
    return [errorType, errorType];
  }
}
