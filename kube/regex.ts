import { RE2JS } from 're2js';
import { regexSize } from './regex-size.ts';

interface Known {
  /** Undefined where the expression is none. */
  compiled: RE2JS | undefined;
  problem: string;
}

const cache = new Map<string, Known>();
const mostCached = 1000;

/** Of one expression, and of all that are kept: each takes about a kilobyte. */
const largest = 50_000;
const mostKept = 200_000;
let kept = 0;

/**
 * Go's regular expressions (RE2): time linear in the input, whatever the expression. Undefined where the expression
 * is none, or says in a few characters what takes hundreds of megabytes. https://github.com/google/re2/wiki/Syntax
 */
export function regex(expression: string): RE2JS | undefined {
  return known(expression).compiled;
}

/** Why an expression is none, in Go's words; undefined for one that is. */
export function regexProblem(expression: string): string | undefined {
  const { compiled, problem } = known(expression);
  return compiled ? undefined : problem;
}

function known(expression: string): Known {
  const before = cache.get(expression);
  if (before) return before;
  const size = regexSize(expression);
  if (cache.size >= mostCached || kept + size > mostKept) {
    cache.clear();
    kept = 0;
  }
  const made = size > largest ? tooLarge : compile(expression);
  if (made.compiled) kept += size;
  cache.set(expression, made);
  return made;
}

const tooLarge: Known = { compiled: undefined, problem: 'error parsing regexp: expression too large' };

function compile(expression: string): Known {
  try {
    return { compiled: RE2JS.compile(expression), problem: '' };
  } catch (error) {
    return { compiled: undefined, problem: error instanceof Error ? error.message : String(error) };
  }
}
