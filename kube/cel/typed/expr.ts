/** An expression as cel-go's parser builds it, macros expanded. `offset` is where messages about it point to. */
export type Expr = Literal | Ident | Select | Call | List | Struct | Comprehension;

export type Scalar = 'bool' | 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'null_type';

export interface Literal {
  op: 'literal';
  offset: number;
  type: Scalar;
  value: string | number | bigint | boolean | null;
}

export interface Ident {
  op: 'ident';
  offset: number;
  name: string;
}

export interface Select {
  op: 'select';
  offset: number;
  operand: Expr;
  field: string;
  /** `has(operand.field)` */
  test: boolean;
}

export interface Call {
  op: 'call';
  offset: number;
  name: string;
  target?: Expr;
  args: Expr[];
}

export interface List {
  op: 'list';
  offset: number;
  items: Expr[];
  optional: ReadonlySet<number>;
}

/** A map, or a message when it has a type's name. */
export interface Struct {
  op: 'struct';
  offset: number;
  type?: string;
  entries: Entry[];
}

export interface Entry {
  offset: number;
  /** Of a map's entry. */
  key?: Expr;
  /** Of a message's field. */
  field?: string;
  value: Expr;
  optional: boolean;
}

export interface Comprehension {
  op: 'fold';
  offset: number;
  range: Expr;
  variable: string;
  variable2?: string;
  accumulator: string;
  init: Expr;
  condition: Expr;
  step: Expr;
  result: Expr;
}

/** A problem of an expression that can be read, at an offset. */
export interface Issue {
  offset: number;
  message: string;
}

export function children(expr: Expr): Expr[] {
  switch (expr.op) {
    case 'select':
      return [expr.operand];
    case 'call':
      return expr.target ? [expr.target, ...expr.args] : expr.args;
    case 'list':
      return expr.items;
    case 'struct':
      return expr.entries.flatMap(({ key, value }) => (key ? [key, value] : [value]));
    case 'fold':
      return [expr.range, expr.init, expr.condition, expr.step, expr.result];
    default:
      return [];
  }
}

/** `a.b.c` for a chain of fields of a name. */
export function qualifiedName(expr: Expr): string | undefined {
  const fields: string[] = [];
  let at = expr;
  for (; at.op === 'select' && !at.test; at = at.operand) fields.push(at.field);
  if (at.op !== 'ident') return undefined;
  return fields.length === 0 ? at.name : `${at.name}.${fields.reverse().join('.')}`;
}
