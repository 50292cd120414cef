import { regexProblem } from '../../regex.ts';
import type { Checked } from './check.ts';
import { children, type Expr, type Issue } from './expr.ts';
import { type CelType, formatType, sameType, unwrapped } from './types.ts';

/** What literals of a well typed expression are not: patterns, durations and times that can be read; lists of one type. */
export function literalIssues(checked: Checked): Issue[] {
  const issues: Issue[] = [];
  visit(checked.expr, checked, issues, false);
  return issues;
}

const readable: Readonly<Record<string, (text: string) => boolean>> = {
  duration: (text) => /^[-+]?(0|((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$/.test(text),
  timestamp: (text) =>
    /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(text) &&
    !Number.isNaN(Date.parse(text)),
  matches: (text) => regexProblem(text) === undefined,
};

/** `mixed`: within the arguments of `format`, which are of all types. */
function visit(expr: Expr, checked: Checked, issues: Issue[], mixed: boolean): void {
  if (expr.op === 'call') literalArgument(expr.name, expr.args[0], issues);
  if (expr.op === 'list' && !mixed) {
    alike(
      expr.items.map((item, i) => [item, held(checked.typeOf(item), expr.optional.has(i))]),
      issues,
    );
  }
  if (expr.op === 'struct' && expr.type === undefined && !mixed) {
    const keys = expr.entries.flatMap(({ key }) => (key ? [key] : []));
    alike(
      keys.map((key) => [key, checked.typeOf(key)]),
      issues,
    );
    alike(
      expr.entries.map(({ value, optional }) => [value, held(checked.typeOf(value), optional)]),
      issues,
    );
  }
  const below = mixed || (expr.op === 'call' && expr.name === 'format');
  for (const child of children(expr)) visit(child, checked, issues, below);
}

function held(type: CelType, optional: boolean): CelType {
  return optional ? unwrapped(type).type : type;
}

function literalArgument(name: string, argument: Expr | undefined, issues: Issue[]): void {
  if (argument?.op !== 'literal' || argument.type !== 'string') return;
  const isReadable = Object.hasOwn(readable, name) ? readable[name] : undefined;
  if (isReadable && !isReadable(String(argument.value)))
    issues.push({ offset: argument.offset, message: `invalid ${name} argument` });
}

function alike(parts: readonly (readonly [Expr, CelType])[], issues: Issue[]): void {
  const [first, ...rest] = parts;
  const other = first && rest.find(([, type]) => !sameType(first[1], type));
  if (!first || !other) return;
  const message = `expected type '${formatType(first[1])}' but found '${formatType(other[1])}'`;
  issues.push({ offset: other[0].offset, message });
}
