import { regexProblem } from '../../regex.ts';
import { regexSize } from '../../regex-size.ts';
import { RunError } from '../eval/budget.ts';
import { inTime, readDuration, readTimestamp } from '../eval/times.ts';
import type { Checked } from './check.ts';
import { children, type Expr, type Issue } from './expr.ts';
import { formatIssue } from './format-literal.ts';
import { type CelType, formatType, sameType, unwrapped } from './types.ts';

/** What literals of a well typed expression are not: patterns, durations and times that can be read; lists of one type. */
export function literalIssues(checked: Checked): { issues: Issue[]; steps: number } {
  const found: Found = { issues: [], patterns: new Set(), steps: 0 };
  visit(checked.expr, checked, found, false);
  return { issues: found.issues, steps: found.steps };
}

interface Found {
  issues: Issue[];
  patterns: Set<string>;
  steps: number;
}

/** To read a pattern takes this often what it takes to look at a type, for each instruction that it becomes. */
const stepsPerInstruction = 20;
/** Of one expression; patterns beyond are not looked at before they are used. */
const mostSteps = 500_000;

const readable: Readonly<Record<string, (text: string) => boolean>> = {
  duration: (text) => readDuration(text) !== undefined,
  timestamp: (text) => isTimestamp(() => readTimestamp(text)),
  matches: (text) => regexProblem(text) === undefined,
};

function isTimestamp(read: () => Date): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof RunError) return false;
    throw error;
  }
}

/** `mixed`: within the arguments of `format`, which are of all types. */
function visit(expr: Expr, checked: Checked, found: Found, mixed: boolean): void {
  const { issues } = found;
  if (expr.op === 'call') {
    literalArgument(expr.name, expr.args[0], found);
    const wrong = formatIssue(expr, checked);
    if (wrong) issues.push(wrong);
  }
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
  for (const child of children(expr)) visit(child, checked, found, below);
}

function held(type: CelType, optional: boolean): CelType {
  return optional ? unwrapped(type).type : type;
}

function literalArgument(name: string, argument: Expr | undefined, found: Found): void {
  if (argument?.op !== 'literal') return;
  const { type, value } = argument;
  const isSeconds = name === 'timestamp' && type === 'int';
  if (type !== 'string' && !isSeconds) return;
  if (name === 'matches' && !isToBeRead(String(value), found)) return;
  const isReadable = Object.hasOwn(readable, name) ? readable[name] : undefined;
  const isRead = isSeconds ? isTimestamp(() => inTime(Number(value) * 1000)) : isReadable?.(String(value));
  if (isRead === false) found.issues.push({ offset: argument.offset, message: `invalid ${name} argument` });
}

function isToBeRead(pattern: string, found: Found): boolean {
  if (found.patterns.has(pattern)) return true;
  if (found.steps > mostSteps) return false;
  found.patterns.add(pattern);
  found.steps += stepsPerInstruction * regexSize(pattern);
  return true;
}

function alike(parts: readonly (readonly [Expr, CelType])[], issues: Issue[]): void {
  const [first, ...rest] = parts;
  const other = first && rest.find(([, type]) => !sameType(first[1], type));
  if (!first || !other) return;
  const message = `expected type '${formatType(first[1])}' but found '${formatType(other[1])}'`;
  issues.push({ offset: other[0].offset, message });
}
