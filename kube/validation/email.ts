import { isAddress } from './ip.ts';

const atom = "[-A-Za-z0-9!#$%&'*+/=?^_`{|}~\\u0080-\\u{10ffff}]+";
const dotted = new RegExp(`${atom}(?:\\.${atom})*`, 'uy');
const word = /[-.A-Za-z0-9!#$%&'*+/=?^_`{|}~\u0080-\u{10ffff}]+/uy;
const quoted = /"(?:[\t !#-[\]-~\u0080-\u{10ffff}]|\\[\t -~])*"/uy;
const literal = /\[[^\]]*\]/y;
const spaces = /[\t ]*/y;

/** An address as RFC 5322 has it, alone or after a name: `Ann <ann@example.com>`. */
export function isEmail(value: string): boolean {
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(value)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  const address = (): boolean => {
    const local = value[at] === '"' ? take(quoted) : take(dotted);
    take(spaces);
    if (local === undefined || local === '""' || value[at] !== '@') return false;
    at++;
    take(spaces);
    if (value[at] !== '[') return take(dotted) !== undefined;
    return isAddress((take(literal) ?? '').slice(1, -1).replace(/^IPv6:/i, ''));
  };
  take(spaces);
  if (!address()) {
    at = 0;
    take(spaces);
    // Its name, in words.
    while (value[at] !== '<') {
      if ((value[at] === '"' ? take(quoted) : take(word)) === undefined) return false;
      take(spaces);
    }
    at++;
    take(spaces);
    if (!address() || value[at] !== '>') return false;
    at++;
  }
  take(spaces);
  return at === value.length;
}
