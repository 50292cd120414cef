import type { Operand } from './cost-call.ts';
import type { Comprehension, Expr } from './expr.ts';
import { accumulator } from './macros.ts';
import { Path } from './path.ts';
import { exactly, most, none, type Range, union, unknown } from './range.ts';
import type { CelType } from './types.ts';

/** The size of the value at a path of fields, `@items`, `@keys` and `@values` from a variable. */
export type SizeAt = (path: readonly string[]) => Range | undefined;

/** Sizes of what is in a list or map. */
export interface Inner {
  list: boolean;
  key: Range;
  value: Range;
}

interface Local {
  path: Path;
  size?: Range;
  inner?: Inner;
}

const one = exactly(1);

/** Of the parts of one expression: how large their values can be, and where those come from. */
export class Sizes {
  readonly #typeOf: (expr: Expr) => CelType;
  readonly #sizeAt: SizeAt;
  readonly #paths = new Map<Expr, Path>();
  readonly #sizes = new Map<Expr, Range>();
  readonly #inner = new Map<Expr, Inner>();
  readonly #locals = new Map<string, Local[]>();

  constructor(typeOf: (expr: Expr) => CelType, sizeAt: SizeAt) {
    this.#typeOf = typeOf;
    this.#sizeAt = sizeAt;
  }

  setPath(expr: Expr, path: Path): void {
    this.#paths.set(expr, path);
  }

  setSize(expr: Expr, size: Range): void {
    this.#sizes.set(expr, size);
  }

  setInner(expr: Expr, inner: Inner): void {
    this.#inner.set(expr, inner);
  }

  local(name: string): Local | undefined {
    return this.#locals.get(name)?.at(-1);
  }

  push(name: string, local: Local): void {
    const list = this.#locals.get(name) ?? [];
    list.push(local);
    this.#locals.set(name, list);
  }

  pop(name: string): void {
    this.#locals.get(name)?.pop();
  }

  path(expr: Expr): Path {
    const local = expr.op === 'ident' ? this.local(expr.name) : undefined;
    return local?.path ?? this.#paths.get(expr) ?? Path.empty;
  }

  copy(to: Expr, from: Expr): void {
    const [size, inner] = [this.size(from), this.innerOf(from)];
    if (size) this.#sizes.set(to, size);
    if (inner) this.#inner.set(to, inner);
  }

  pushValue(name: string, value: Expr): void {
    const [size, inner] = [this.size(value), this.innerOf(value)];
    this.push(name, { path: this.path(value), ...(size && { size }), ...(inner && { inner }) });
  }

  pushLoop({ range, variable, variable2 }: Comprehension): void {
    const inner = this.innerOf(range);
    const list = inner ? inner.list : this.#typeOf(range).kind === 'list';
    const path = this.path(range);
    const local = (step: string, size: Range | undefined): Local => ({
      path: path.to(step),
      ...(size && { size }),
    });
    const value = () => local(list ? '@items' : '@values', inner?.value);
    if (variable2 !== undefined) {
      this.push(variable, local(list ? '@indices' : '@keys', inner?.key));
      this.push(variable2, value());
    } else this.push(variable, list ? value() : local('@keys', inner?.key));
  }

  operand(expr: Expr): Operand {
    const type = this.#typeOf(expr);
    const path = this.path(expr).steps;
    const isKnown = path.length > 0 && path[0] !== accumulator;
    const items = isKnown ? this.#sizeAt([...path, '@items']) : undefined;
    return { type, expr, size: this.size(expr) ?? unknown, items: items ?? unknown };
  }

  size(expr: Expr): Range | undefined {
    const known = this.#sizes.get(expr) ?? literalSize(expr);
    if (known) return known;
    const path = this.path(expr);
    const declared = path.length === 0 ? undefined : this.#sizeAt(path.steps);
    if (declared) {
      this.#sizes.set(expr, declared);
      return declared;
    }
    if (isScalar(this.#typeOf(expr))) return one;
    return expr.op === 'ident' ? this.local(expr.name)?.size : undefined;
  }

  innerOf(expr: Expr): Inner | undefined {
    return this.#inner.get(expr) ?? (expr.op === 'ident' ? this.local(expr.name)?.inner : undefined);
  }

  all(exprs: readonly Expr[]): Range {
    if (exprs.length === 0) return none;
    return exprs.map((expr) => this.size(expr) ?? unknown).reduce(union, { min: most, max: 0 });
  }
}

function literalSize(expr: Expr): Range | undefined {
  if (expr.op === 'list') return exactly(expr.items.length);
  if (expr.op === 'struct' && expr.type === undefined) return exactly(expr.entries.length);
  if (expr.op !== 'literal') return undefined;
  if (expr.type !== 'string' && expr.type !== 'bytes') return one;
  const text = String(expr.value);
  return exactly(expr.type === 'bytes' ? Buffer.byteLength(text) : [...text].length);
}

function isScalar({ kind, name, params }: CelType): boolean {
  if (kind === 'opaque' && name === 'optional_type') return params[0] !== undefined && isScalar(params[0]);
  return ['bool', 'double', 'duration', 'int', 'timestamp', 'uint'].includes(kind);
}
