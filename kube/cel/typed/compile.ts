import { located } from '../syntax.ts';
import { type Checked, check } from './check.ts';
import { conversionProblem } from './constants.ts';
import type { Declarations } from './environment.ts';
import { children, type Expr, type Issue } from './expr.ts';
import { parse } from './parser.ts';
import { literalIssues } from './validators.ts';

/** What is wrong with an expression, in cel-go's words, or what it evaluates to. */
export type Compiled = { steps: number } & (
  | { problem: string }
  | { checked: Checked; names: ReadonlySet<string>; unstartable?: string }
);

const mostCharacters = 100_000;

/** Reads and checks an expression; undefined when it is not by CEL's grammar. */
export function compile(expression: string, declarations: Declarations): Compiled | undefined {
  const size = expression.length > mostCharacters ? [...expression].length : 0;
  if (size > mostCharacters) {
    const rule = `expression code point size exceeds limit: size: ${size}, limit ${mostCharacters}`;
    return { problem: `ERROR: <input>:-1:0: ${rule}`, steps: 0 };
  }
  const parsed = parse(expression, declarations.bindings);
  if (!parsed) return undefined;
  if (parsed.issues.length > 0) return { problem: told(expression, parsed.issues), steps: parsed.copied };
  const checked = check(parsed.expr, declarations);
  let steps = parsed.copied + checked.steps();
  if (checked.issues.length > 0) return { problem: told(expression, checked.issues), steps };
  const literals = literalIssues(checked);
  steps += literals.steps;
  if (literals.issues.length > 0) return { problem: told(expression, literals.issues), steps };
  const names = new Set<string>();
  named(parsed.expr, names);
  const unstartable = conversionProblem(parsed.expr);
  return { checked, names, steps, ...(unstartable !== undefined && { unstartable }) };
}

const mostIssues = 100;
/** In characters: each issue is told with its line, which may be long. The first one is told however long it is. */
const mostTold = 20_000;

function told(expression: string, issues: readonly Issue[]): string {
  const shown = issues.slice(0, mostIssues).sort((a, b) => a.offset - b.offset);
  const lines: string[] = [];
  let length = 0;
  for (const { offset, message } of shown) {
    const line = located(expression, offset, message);
    length += line.length;
    if (lines.length > 0 && length > mostTold) break;
    lines.push(line);
  }
  const left = issues.length - lines.length;
  if (left > 0) lines.push(`${left} more errors were truncated`);
  return lines.join('\n');
}

function named(expr: Expr, names: Set<string>): void {
  if (expr.op === 'ident') names.add(expr.name);
  for (const child of children(expr)) named(child, names);
}
