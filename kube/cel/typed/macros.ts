import { Unparsable } from './cursor.ts';
import {
  type Call,
  type Comprehension,
  children,
  type Expr,
  type Ident,
  type Issue,
  type List,
  type Literal,
} from './expr.ts';

/** What a fold gathers is in this variable; no expression can name it. */
export const accumulator = '@result';

/** Of one target, whose chains double with each, and of one expression: nobody needs more. */
const mostCopied = 2000;
const mostCopiedAtAll = 10_000;

/** What the macros of one expression copy of it. Throws Unparsable for more than it may be. */
export class Copies {
  #count = 0;

  get count(): number {
    return this.#count;
  }

  of(target: Expr): Expr {
    let count = 0;
    const pending = [target];
    for (let at = pending.pop(); at; at = pending.pop()) {
      this.#count++;
      if (++count > mostCopied || this.#count > mostCopiedAtAll) throw new Unparsable();
      for (const below of children(at)) pending.push(below);
    }
    return structuredClone(target);
  }
}

/** A call that stands for something longer, written out; undefined for every other call. */
export function expandMacro(call: Call, bindings: boolean, copies: Copies): Expr | Issue | undefined {
  if (!call.target) return call.name === 'has' && call.args.length === 1 ? has(call) : undefined;
  if (bindings && call.name === 'bind' && call.target.op === 'ident' && call.target.name === 'cel')
    return bind(call);
  const expand = macros[`${call.name}/${call.args.length}`];
  return expand?.(new Maker(call.offset, copies), call.target, call.args);
}

function has({ offset, args: [about] }: Call): Expr | Issue {
  if (about?.op === 'select' && !about.test) return { ...about, offset, test: true };
  return { offset: about?.offset ?? offset, message: 'invalid argument to has() macro' };
}

function bind({ offset, args }: Call): Expr | Issue | undefined {
  const [name, value, result] = args;
  if (!name || !value || !result || args.length > 3) return undefined;
  if (name.op !== 'ident')
    return { offset: name.offset, message: 'cel.bind() variable names must be simple identifiers' };
  return new Maker(offset, new Copies()).bind(name.name, value, result);
}

type Macro = (make: Maker, target: Expr, args: readonly Expr[]) => Expr | Issue;

/** Makes expressions that stand where the macro's call was. */
class Maker {
  readonly offset: number;
  readonly copies: Copies;

  constructor(offset: number, copies: Copies) {
    this.offset = offset;
    this.copies = copies;
  }

  accu(): Ident {
    return this.ident(accumulator);
  }

  ident(name: string): Ident {
    return { op: 'ident', offset: this.offset, name };
  }

  call(name: string, ...args: Expr[]): Call {
    return { op: 'call', offset: this.offset, name, args };
  }

  on(target: Expr, name: string, ...args: Expr[]): Call {
    return { op: 'call', offset: this.offset, name, target, args };
  }

  bool(value: boolean): Literal {
    return { op: 'literal', offset: this.offset, type: 'bool', value };
  }

  int(value: number): Literal {
    return { op: 'literal', offset: this.offset, type: 'int', value: BigInt(value) };
  }

  list(...items: Expr[]): List {
    return { op: 'list', offset: this.offset, items, optional: new Set() };
  }

  fold(parts: Omit<Comprehension, 'op' | 'offset'>): Comprehension {
    return { op: 'fold', offset: this.offset, ...parts };
  }

  /** A value named for one expression. */
  bind(variable: string, value: Expr, result: Expr): Comprehension {
    const parts = { range: this.list(), variable: '#unused', accumulator: variable, init: value };
    return this.fold({ ...parts, condition: this.bool(false), step: this.ident(variable), result });
  }
}

type Names = Pick<Comprehension, 'variable' | 'variable2'>;

const overwrites = 'iteration variable overwrites accumulator variable';

/** The variables of a fold from the macro's first arguments. */
function names(args: readonly Expr[], count: number, otherwise: string): Names | Issue {
  const found: string[] = [];
  for (const arg of args.slice(0, count)) {
    if (arg.op !== 'ident') return { offset: arg.offset, message: otherwise };
    if (found.includes(arg.name))
      return { offset: arg.offset, message: `duplicate variable name: ${arg.name}` };
    if (arg.name === accumulator || arg.name === '__result__')
      return { offset: arg.offset, message: overwrites };
    found.push(arg.name);
  }
  const [variable = '', variable2] = found;
  return { variable, ...(variable2 !== undefined && { variable2 }) };
}

type Step = (
  make: Maker,
  names: Names,
  args: readonly Expr[],
) => Omit<Comprehension, 'op' | 'offset' | 'range' | 'accumulator' | keyof Names>;

function folding(count: number, step: Step, otherwise = 'argument must be a simple name'): Macro {
  return (make, range, args) => {
    const named = names(args, count, otherwise);
    if ('message' in named) return named;
    return make.fold({ range, ...named, accumulator, ...step(make, named, args.slice(count)) });
  };
}

const all: Step = (make, _, [test]) => ({
  init: make.bool(true),
  condition: make.call('@not_strictly_false', make.accu()),
  step: make.call('_&&_', make.accu(), test as Expr),
  result: make.accu(),
});

const exists: Step = (make, _, [test]) => ({
  init: make.bool(false),
  condition: make.call('@not_strictly_false', make.call('!_', make.accu())),
  step: make.call('_||_', make.accu(), test as Expr),
  result: make.accu(),
});

const existsOne: Step = (make, _, [test]) => ({
  init: make.int(0),
  condition: make.bool(true),
  step: make.call('_?_:_', test as Expr, make.call('_+_', make.accu(), make.int(1)), make.accu()),
  result: make.call('_==_', make.accu(), make.int(1)),
});

/** Gathers what `add` makes of each element, of those that pass the test where there is one. */
function gathering(init: (make: Maker) => Expr, add: (make: Maker, names: Names, value: Expr) => Expr): Step {
  return (make, named, args) => {
    const [filter, value] = args.length > 1 ? args : [undefined, args[0]];
    const added = add(make, named, value as Expr);
    const step = filter ? make.call('_?_:_', filter, added, make.accu()) : added;
    return { init: init(make), condition: make.bool(true), step, result: make.accu() };
  };
}

const inList = gathering(
  (make) => make.list(),
  (make, _, value) => make.call('_+_', make.accu(), make.list(value)),
);
const emptyMap = (make: Maker): Expr => ({ op: 'struct', offset: make.offset, entries: [] });
const inMap = gathering(emptyMap, (make, { variable }, value) =>
  make.call('cel.@mapInsert', make.accu(), make.ident(variable), value),
);
const entryInMap = gathering(emptyMap, (make, _, value) => make.call('cel.@mapInsert', make.accu(), value));
const noIdentifier = 'argument is not an identifier';
const mapping = folding(1, inList, noIdentifier);

const filter: Macro = (make, range, args) => {
  const [variable, test] = args as [Expr, Expr];
  return mapping(make, range, [variable, test, variable]);
};

const optional =
  (name: string, wrap: (make: Maker, inner: Expr) => Expr): Macro =>
  (make, target, [variable, value]) => {
    if (variable?.op !== 'ident')
      return {
        offset: variable?.offset ?? 0,
        message: `${name}() variable name must be a simple identifier`,
      };
    const inner = make.bind(variable.name, make.on(make.copies.of(target), 'value'), value as Expr);
    return make.call('_?_:_', make.on(target, 'hasValue'), wrap(make, inner), make.call('optional.none'));
  };

const sortBy: Macro = (make, target, args) => {
  if (target.op === 'literal' || target.op === 'struct') {
    const message =
      'sortBy can only be applied to a list, identifier, comprehension, call or select expression';
    return { offset: target.offset, message };
  }
  const input = '@__sortBy_input__';
  const keys = mapping(make, make.ident(input), args);
  if ('message' in keys) return keys;
  return make.bind(input, target, make.on(make.ident(input), '@sortByAssociatedKeys', keys));
};

const macros: Readonly<Record<string, Macro>> = {
  'all/2': folding(1, all),
  'exists/2': folding(1, exists),
  'exists_one/2': folding(1, existsOne),
  'map/2': mapping,
  'map/3': mapping,
  'filter/2': filter,
  'optMap/2': optional('optMap', (make, inner) => make.call('optional.of', inner)),
  'optFlatMap/2': optional('optFlatMap', (_, inner) => inner),
  'all/3': folding(2, all),
  'exists/3': folding(2, exists),
  'existsOne/3': folding(2, existsOne),
  'exists_one/3': folding(2, existsOne),
  'transformList/3': folding(2, inList),
  'transformList/4': folding(2, inList),
  'transformMap/3': folding(2, inMap),
  'transformMap/4': folding(2, inMap),
  'transformMapEntry/3': folding(2, entryInMap),
  'transformMapEntry/4': folding(2, entryInMap),
  'sortBy/2': sortBy,
};
