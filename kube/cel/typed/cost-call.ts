import type { Expr } from './expr.ts';
import type { Overload } from './functions.ts';
import { exactly, most, none, plus, type Range, scaled, times, unknown } from './range.ts';
import { type CelType, sameType } from './types.ts';

/** An operand of a call as far as its cost needs it. */
export interface Operand {
  type: CelType;
  expr?: Expr;
  size: Range;
  /** The size of the items of a list. */
  items: Range;
}

export interface CallCost {
  cost: Range;
  /** The size of the result. */
  size?: Range;
}

/** Of reading a text once, for each character; of matching, for each character of the pattern. */
const traverse = 0.1;
const perPattern = 0.25;
const one = exactly(1);
const listBase = 10;

const isText = ({ kind }: CelType) => kind === 'string' || kind === 'bytes';
const read = (operand: Operand | undefined, factor = 1) =>
  scaled(operand?.size ?? unknown, traverse * factor);

type Estimate = (
  args: readonly Operand[],
  target: Operand | undefined,
  overload: Overload,
) => CallCost | undefined;

const fixed =
  (cost: number): Estimate =>
  () => ({ cost: exactly(cost) });

const readsArgument: Estimate = ([text]) => ({ cost: read(text) });
const readsTarget: Estimate = (_, target) => target && { cost: read(target), size: target.size };

const matching: Estimate = ([pattern], target) =>
  target && {
    cost: times(scaled(plus(target.size, one), traverse), scaled(pattern?.size ?? unknown, perPattern)),
  };

const finding: Estimate = (args, target, overload) => {
  const found = matching(args, target, overload);
  return found && target && { ...found, size: { min: 0, max: target.size.max } };
};

/** Compares each item once. */
const comparing: Estimate = (_, target) => {
  if (!target) return undefined;
  const item = target.type.params[0];
  if (!item) return { cost: scaled(target.size, traverse) };
  return { cost: times(target.size, isText(item) ? plus(one, scaled(target.items, traverse)) : one) };
};

const replacing: Estimate = ([from, to], target) => {
  if (!target || !from || !to) return undefined;
  const { size } = target;
  const count = { min: 0, max: 0 };
  const kept = { min: 0, max: 0 };
  if (from.size.min === 0) {
    count.max = Math.min(size.max + 1, most);
    kept.max = size.max;
  } else if (to.size.max <= from.size.min) kept.max = size.max;
  else count.max = Math.ceil(size.max / from.size.min);
  if (from.size.max === 0) {
    count.min = Math.min(size.min + 1, most);
    kept.min = size.min;
  } else if (from.size.max <= to.size.min) kept.min = size.min;
  else count.min = Math.ceil(size.min / from.size.max);
  return { cost: scaled(size, 2 * traverse), size: plus(times(count, to.size), kept) };
};

const splitting: Estimate = (args, target) => {
  if (!target) return undefined;
  const limit = literalInt(args[1]);
  return {
    cost: read(target, 2),
    size: { min: 0, max: limit === undefined ? target.size.max : unsigned(limit) },
  };
};

const joining: Estimate = ([separator], target) => {
  if (!target) return undefined;
  const between = { min: Math.max(target.size.min - 1, 0), max: Math.max(target.size.max - 1, 0) };
  const texts = target.type.params.length > 0 ? times(target.size, target.items) : none;
  const size = plus(texts, separator ? times(separator.size, between) : none);
  return { cost: scaled(size, traverse), size };
};

const prefix = { min: 8, max: 32 };
const containing =
  (twice: boolean): Estimate =>
  ([other], _target, { args }) => {
    let cost = scaled(prefix, traverse);
    if (twice) cost = plus(cost, scaled({ min: 4, max: 16 }, traverse), one);
    return { cost: args[1]?.kind === 'string' ? plus(cost, read(other)) : cost };
  };

const selecting: Estimate = ([selector]) => {
  const size = selector?.size ?? unknown;
  return { cost: plus(exactly(listBase), scaled(size, traverse), scaled(scaled(size, 0.5), 50)) };
};

/** A new list, whose size is the result's. */
function listCall(size: Range, factor = 1): CallCost {
  return { cost: plus(scaled(size, factor), exactly(1 + listBase)), size };
}

const sets =
  (factor: number): Estimate =>
  ([a, b]) => ({ cost: plus(scaled(times(a?.size ?? unknown, b?.size ?? unknown), factor), one) });

const sorting = (list: Operand | undefined, item: CelType | undefined): CallCost | undefined =>
  list && listCall(times(list.size, list.size), item && isText(item) ? 2 + traverse : 2);

function literalInt(operand: Operand | undefined): number | undefined {
  const expr = operand?.expr;
  return expr?.op === 'literal' && expr.type === 'int' ? Number(expr.value) : undefined;
}

/** A negative number as Go converts it to one without a sign. */
const unsigned = (value: number) => (value < 0 ? most + value : value);

const slicing: Estimate = ([from, to], target) => {
  if (!target) return undefined;
  const length = (literalInt(to) ?? target.size.max) - (literalInt(from) ?? 0);
  return listCall(exactly(unsigned(length)));
};

const adding: Estimate = ([a, b], _target, { result }) => {
  if (!a || !b || !(isText(result) || result.kind === 'list')) return undefined;
  const size = plus(a.size, b.size);
  return { cost: result.kind === 'list' ? one : scaled(size, traverse), size };
};

const equality: Estimate = ([a, b]) => {
  if (!a || !b) return undefined;
  const max = Math.min(a.size.max, b.size.max);
  return { cost: scaled({ min: max > 0 ? 1 : 0, max }, traverse) };
};

const cheaplyEqual = new Set([
  'net.IP',
  'net.CIDR',
  'kubernetes.Quantity',
  'kubernetes.Semver',
  ...['Authorizer', 'PathCheck', 'GroupCheck', 'ResourceCheck', 'Decision'].map(
    (name) => `kubernetes.authorization.${name}`,
  ),
]);

const equals: Estimate = (args, target, overload) => {
  const [a, b] = args;
  if (a && b && sameType(a.type, b.type)) {
    if (cheaplyEqual.has(a.type.name)) return { cost: one };
    if (a.type.name === 'kubernetes.NamedFormat') return { cost: scaled({ min: 1, max: 64 }, traverse) };
    if (a.type.name === 'kubernetes.URL') return { cost: scaled({ min: 1, max: b.size.max }, traverse) };
  }
  return equality(args, target, overload);
};

const comparison: Estimate = (args, target, overload) =>
  overload.args[0] && isText(overload.args[0]) ? equality(args, target, overload) : undefined;

const converting =
  (from: CelType['kind'], grown: (size: Range) => Range): Estimate =>
  ([text], _target, { args }) =>
    args[0]?.kind === from && text ? { cost: read(text), size: grown(text.size) } : undefined;

const each = (names: string, estimate: Estimate): [string, Estimate][] =>
  names.split(' ').map((name) => [name, estimate]);

const estimates: ReadonlyMap<string, Estimate> = new Map([
  ...each('check', fixed(350_000)),
  ...each(
    'serviceAccount path group resource subresource namespace name allowed reason error errored',
    fixed(1),
  ),
  ...each('fieldSelector labelSelector', selecting),
  ...each('isSorted sum max min indexOf lastIndexOf', comparing),
  ...each('url jsonpatch.escapeKey', ([text]) => text && { cost: read(text), size: text.size }),
  ...each('lowerAscii upperAscii substring trim', readsTarget),
  ...each('replace', replacing),
  ...each('split', splitting),
  ...each('join', joining),
  ...each('find findAll', finding),
  ...each('cidr isIP isCIDR quantity isQuantity semver isSemver', readsArgument),
  ...each('ip', (args, target, overload) => (target ? { cost: one } : readsArgument(args, target, overload))),
  ...each('ip.isCanonical', ([text]) => ({ cost: read(text, 2) })),
  ...each('containsIP', containing(false)),
  ...each('containsCIDR', containing(true)),
  ...each('validate', ([text]) => ({ cost: scaled(read(text), 128 * perPattern) })),
  ...each('_==_', equals),
  ...each('_!=_', equality),
  ...each('_<_ _<=_ _>_ _>=_', comparison),
  ...each('_+_', adding),
  ...each('@in', ([, list], _target, { args }) =>
    args[1]?.kind === 'list' && list ? { cost: list.size } : undefined,
  ),
  ...each('startsWith endsWith', readsArgument),
  ...each('contains', ([part], target) => target && { cost: times(read(target), read(part)) }),
  ...each('matches', matching),
  ...each('format', (_, target) => target && { cost: read(target) }),
  ...each(
    'bytes',
    converting('string', ({ min, max }) => ({ min, max: max * 4 })),
  ),
  ...each(
    'string',
    converting('bytes', ({ min, max }) => ({ min: Math.floor(min / 4), max })),
  ),
  ...each(
    'strings.quote',
    ([text]) =>
      text && { cost: read(text), size: plus(scaled(text.size, 1), { min: 2, max: text.size.max + 2 }) },
  ),
  ...each('sets.contains sets.intersects', sets(1)),
  ...each('sets.equivalent', sets(2)),
  ...each('slice', slicing),
  ...each('lists.range', ([count]) => listCall(exactly(unsigned(literalInt(count) ?? most)))),
  ...each('reverse', (_, target) => target && listCall(target.size)),
  ...each(
    'flatten',
    ([depth], target) => target && listCall(target.size, depth ? unsigned(literalInt(depth) ?? most) : 1),
  ),
  ...each('distinct', (_, target) => target && listCall(times(target.size, target.size), 2)),
  ...each('sort', (_, target, { args }) => sorting(target, args[0]?.params[0])),
  ...each('@sortByAssociatedKeys', ([keys], _target, { args }) => sorting(keys, args[1]?.params[0])),
]);

/** What a call costs beside its arguments, and how large its result is; most cost 1. */
export function callCost(
  name: string,
  overload: Overload,
  target: Operand | undefined,
  args: readonly Operand[],
): CallCost {
  return estimates.get(name)?.(args, target, overload) ?? { cost: one };
}
