/** One step of a path, as client-go's util/jsonpath reads it. */
export type Step =
  | { is: 'field'; name: string }
  | { is: 'constant'; value: string | number | boolean }
  | { is: 'all' }
  | { is: 'below' }
  | { is: 'slice'; start?: number; end?: number; step?: number; single: boolean }
  | { is: 'union'; paths: readonly Path[] }
  | { is: 'filter'; left: Path; operator: string; right: Path };

export type Path = readonly Step[];

const field = /^(?:\\.|[^\\\s.,[\]$@{}])*/s;
const key = /^'([^']*)'$/;
const slice = /^(-?\d*)(?::(-?\d*))?(?::(-?\d*))?$/;
const comparison = /^([^!<>=]+)([!<>=]+)(.+)$/s;
const quoted = /^("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')/s;
const number = /^[+-]?\d[\d.]*/;
const word = /^\w+/;

/** Undefined: it is none. */
export function parsePath(text: string): Path | undefined {
  const steps: Step[] = [];
  let rest = text;
  while (rest !== '') {
    const read = stepOf(rest);
    if (!read) return undefined;
    const [step, length] = read;
    const last = steps.at(-1);
    if (step?.is === 'below' && last?.is === 'below') return undefined;
    if (step?.is === 'union' && step.paths.length === 1) steps.push(...(step.paths[0] as Path));
    else if (step) steps.push(step);
    rest = rest.slice(length);
  }
  return steps;
}

type Read = [step: Step | undefined, length: number] | undefined;

function stepOf(rest: string): Read {
  if (rest.startsWith('[?(')) return filterOf(rest);
  if (rest.startsWith('..')) return [{ is: 'below' }, /^\.\.\w/.test(rest) ? 1 : 2];
  const first = rest.charAt(0);
  if (' @$'.includes(first)) return [undefined, 1];
  if (first === '[') return bracketOf(rest);
  if (first === '.') {
    const [name = ''] = field.exec(rest.slice(1)) ?? [];
    const step: Step = name === '*' ? { is: 'all' } : { is: 'field', name: name.replace(/\\/g, '') };
    return [step, 1 + name.length];
  }
  return constantOf(rest);
}

function constantOf(rest: string): Read {
  const [text] = quoted.exec(rest) ?? [];
  if (text !== undefined)
    return [{ is: 'constant', value: text.slice(1, -1).replace(/\\(.)/gs, '$1') }, text.length];
  const [digits] = number.exec(rest) ?? [];
  if (digits !== undefined) {
    const value = Number(digits);
    return Number.isNaN(value) ? undefined : [{ is: 'constant', value }, digits.length];
  }
  const [said] = word.exec(rest) ?? [];
  const isWord = said === 'true' || said === 'false';
  return isWord ? [{ is: 'constant', value: said === 'true' }, said.length] : undefined;
}

function bracketOf(rest: string): Read {
  const end = rest.indexOf(']');
  if (end < 0) return undefined;
  const paths: Path[] = [];
  for (const part of rest.slice(1, end).split(',')) {
    const path = insideOf(part.trim());
    if (!path) return undefined;
    paths.push(path);
  }
  return [{ is: 'union', paths }, end + 1];
}

/** A key in quotes is read as it would be after a dot: a dot that belongs to it has a backslash before it. */
function insideOf(text: string): Path | undefined {
  const [, name] = key.exec(text) ?? [];
  if (name !== undefined) return parsePath(`.${name}`);
  const found = slice.exec(text === '*' ? ':' : text);
  if (!found) return undefined;
  const [start, end, step] = found.slice(1).map((digits) => (digits ? Number(digits) : undefined));
  return [
    {
      is: 'slice',
      single: found[2] === undefined,
      ...(start !== undefined && { start }),
      ...(end !== undefined && { end }),
      ...(step !== undefined && { step }),
    },
  ];
}

/** A parenthesis in its one quoted text does not end it. */
function filterOf(rest: string): Read {
  const found = /^\[\?\(((?:[^"')]|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')*)\)\]/s.exec(rest);
  if (!found) return undefined;
  const [whole, text = ''] = found;
  const [, left = text, operator = 'exists', right = ''] = comparison.exec(text) ?? [];
  const paths = [parsePath(left), parsePath(right)] as const;
  if (!paths[0] || !paths[1]) return undefined;
  return [{ is: 'filter', left: paths[0], operator, right: paths[1] }, whole.length];
}
