import { RE2JS } from 're2js';

const cache = new Map<string, RE2JS | undefined>();
const mostCached = 1000;

/**
 * Go's regular expressions (RE2): time linear in the input, whatever the expression. Undefined where the expression
 * is none. https://github.com/google/re2/wiki/Syntax
 */
export function regex(expression: string): RE2JS | undefined {
  if (cache.has(expression)) return cache.get(expression);
  if (cache.size >= mostCached) cache.clear();
  const compiled = compile(expression);
  cache.set(expression, compiled);
  return compiled;
}

/** Why an expression is none, in Go's words; undefined for one that is. */
export function regexProblem(expression: string): string | undefined {
  if (regex(expression)) return undefined;
  try {
    RE2JS.compile(expression);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function compile(expression: string): RE2JS | undefined {
  try {
    return RE2JS.compile(expression);
  } catch {
    return undefined;
  }
}
