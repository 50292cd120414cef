import { getOwn, isRecord } from '../untyped.ts';

/** The values that a step makes of those that the step before it has found. */
type Step = (values: readonly unknown[]) => unknown[];

/** What a path asks of a value that it is not: nothing is found then. */
class PathError extends Error {}

/**
 * The first value at a path of kubectl's JSONPath, `.status.conditions[?(@.type=="Ready")].status`; undefined: there is
 * none, or it is no path. https://kubernetes.io/docs/reference/kubectl/jsonpath/
 */
export function jsonPath(path: string): (object: unknown) => unknown {
  const steps = stepsOf(path);
  return (object) => {
    try {
      return steps?.reduce<unknown[]>((values, step) => step(values), [object])[0];
    } catch (error) {
      if (error instanceof PathError) return undefined;
      throw error;
    }
  };
}

const name = /((?:[^ .,[\]$@{}\\]|\\.)*)/y;

function stepsOf(path: string): Step[] | undefined {
  const steps: Step[] = [];
  for (let at = 0; at < path.length; ) {
    if (path[at] === '@' || path[at] === '$') at++;
    else if (path[at] === '[') {
      const end = path.startsWith('[?(', at) ? filterEnd(path, at) : path.indexOf(']', at) + 1;
      const step = end > 0 ? bracket(path.slice(at + 1, end - 1)) : undefined;
      if (step === undefined) return undefined;
      steps.push(step);
      at = end;
    } else {
      if (path.startsWith('..', at)) steps.push((values) => values.flatMap(containers));
      const dots = /^\.{0,2}/.exec(path.slice(at, at + 2))?.[0].length ?? 0;
      if (dots === 0) return undefined;
      name.lastIndex = at + dots;
      const text = name.exec(path)?.[1] ?? '';
      at += dots + text.length;
      if (dots === 1 || text !== '') steps.push(text === '*' ? every : field(unescaped(text)));
      else if (path[at] !== '[') return undefined;
    }
  }
  return steps;
}

function unescaped(key: string): string {
  return key.replaceAll(/\\(.)/g, '$1');
}

/** A parenthesis in quotes ends nothing. */
function filterEnd(path: string, at: number): number {
  let quote = '';
  for (let i = at + 3; i < path.length; i++) {
    const one = path[i] ?? '';
    if (quote === '' && one === ')') return path[i + 1] === ']' ? i + 2 : 0;
    if (quote === '' && (one === '"' || one === "'")) quote = one;
    else if (one === quote && path[i - 1] !== '\\') quote = '';
  }
  return 0;
}

const field =
  (key: string): Step =>
  (values) =>
    values.flatMap((value) => (isRecord(value) && Object.hasOwn(value, key) ? [getOwn(value, key)] : []));

const every: Step = (values) => values.flatMap(members);

function members(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return isRecord(value) ? Object.values(value) : [];
}

/** A value and all within it that hold others, from the outside in. */
function containers(value: unknown): unknown[] {
  const within = members(value);
  return within.length === 0 ? [] : [value, ...within.flatMap(containers)];
}

function bracket(text: string): Step | undefined {
  if (text.startsWith('?(')) return filter(text.slice(2, -1));
  const parts = text.split(',');
  if (parts.length > 1) {
    const steps = parts.map((part) => bracket(part.trim()));
    return steps.every((step) => step !== undefined)
      ? (values) => steps.flatMap((step) => step(values))
      : undefined;
  }
  const [, single, double] = /^(?:'([^']*)'|"([^"]*)")$/.exec(text) ?? [];
  if (single !== undefined || double !== undefined) return field(unescaped(single ?? double ?? ''));
  const [all, from = '', to, by] = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/.exec(text === '*' ? ':' : text) ?? [];
  return all === undefined
    ? undefined
    : slice(number(from), to === undefined, number(to?.slice(1)), number(by?.slice(1)));
}

function number(text = ''): number | undefined {
  return text === '' ? undefined : Number(text);
}

function slice(from = 0, single: boolean, to: number | undefined, by = 1): Step {
  return (values) =>
    values.flatMap((value) => {
      if (value === undefined || value === null) return [];
      if (!Array.isArray(value)) throw new PathError();
      const start = from < 0 ? from + value.length : from;
      const given = single ? start + 1 : (to ?? value.length);
      const end = given < 0 ? given + value.length : given;
      if (start === end) return [];
      if (start < 0 || start >= value.length || end < start || end > value.length || by < 1)
        throw new PathError();
      return value.slice(start, end).filter((_, i) => i % by === 0);
    });
}

function filter(text: string): Step | undefined {
  const [, left = text, operator, right = ''] = /^([^!<>=]+)([!<>=]+)(.+)$/s.exec(text) ?? [];
  const [a, b] = [operand(left), operator === undefined ? undefined : operand(right)];
  if (a === undefined || (operator !== undefined && b === undefined)) return undefined;
  const passes = (item: unknown): boolean => {
    const found = a(item);
    if (operator === undefined || b === undefined) return found.length > 0;
    const other = b(item);
    if (found.length === 0 || other.length === 0) return false;
    return holds(found[0], operator, other[0]);
  };
  return (values) =>
    values.flatMap((value) => {
      if (!Array.isArray(value)) throw new PathError();
      return value.filter(passes);
    });
}

/** A path from the item, or a literal. */
function operand(text: string): ((item: unknown) => unknown[]) | undefined {
  const plain = text.trim();
  const [, single, double] = /^(?:'([^']*)'|"([^"]*)")$/.exec(plain) ?? [];
  if (single !== undefined || double !== undefined) return () => [single ?? double];
  if (/^[-+]?\d+(\.\d+)?$/.test(plain)) return () => [Number(plain)];
  if (plain === 'true' || plain === 'false') return () => [plain === 'true'];
  const steps = stepsOf(plain);
  return steps && ((item) => steps.reduce<unknown[]>((values, step) => step(values), [item]));
}

function holds(a: unknown, operator: string, b: unknown): boolean {
  if (typeof a !== typeof b || typeof a === 'object') throw new PathError();
  if (operator === '==' || operator === '!=') return (a === b) === (operator === '==');
  if (typeof a === 'boolean') throw new PathError();
  const [x, y] = [a, b] as [number, number];
  if (operator === '<') return x < y;
  if (operator === '>') return x > y;
  if (operator === '<=') return x <= y;
  if (operator === '>=') return x >= y;
  throw new PathError();
}
