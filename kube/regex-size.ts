/** `{n}`, `{n,}`, `{n,m}`; what else is in braces is text. */
const repeat = /^\{(\d{1,4})(?:(,)(\d{0,4}))?\}/;

/**
 * About how many instructions a regular expression becomes: each part as often as it is repeated. An expression that is none
 * has some size, too.
 */
export function regexSize(expression: string): number {
  /** Of each group that is open, what is before it; and of what is read now. */
  const outer: number[] = [];
  let total = 0;
  let last = 0;
  for (let at = 0; at < expression.length; ) {
    const times = expression[at] === '{' ? repeat.exec(expression.slice(at, at + 12)) : null;
    if (times) {
      const [whole, least = '', comma, most = ''] = times;
      const more = last * (Math.max(Number(least), Number(most), 1) - 1 + (comma && !most ? 1 : 0));
      total += more;
      last += more;
      at += whole.length;
      continue;
    }
    const end = partEnd(expression, at);
    const sign = expression[at];
    if (sign === '(') {
      outer.push(total);
      total = 0;
      last = 0;
    } else if (sign === ')' && outer.length > 0) {
      last = total + 2;
      total = last + (outer.pop() ?? 0);
    } else if (sign === '?' || sign === '*' || sign === '+' || sign === '|') {
      total++;
      last++;
    } else {
      last = sign === '\\' ? end - at : 2;
      total += last;
    }
    at = end;
  }
  return total + outer.reduce((sum, before) => sum + before, 0);
}

/** Where the next begins: a class, what is escaped, text between \Q and \E, or one character. */
function partEnd(expression: string, at: number): number {
  const sign = expression[at];
  if (expression.startsWith('\\Q', at)) {
    const end = expression.indexOf('\\E', at);
    return end < 0 ? expression.length : end + 2;
  }
  if (sign === '\\') return at + 2;
  if (sign !== '[') return at + 1;
  let end = at + 1;
  if (expression[end] === '^') end++;
  if (expression[end] === ']') end++;
  while (end < expression.length && expression[end] !== ']') end += expression[end] === '\\' ? 2 : 1;
  return end + 1;
}
