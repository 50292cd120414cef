const blank = /[ \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** Without what Go calls a space at both ends, as far as a text in JSON can hold it: a tab or a new line is written in other letters there. */
export function withoutBlanks(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && blank.test(text[start] ?? '')) start++;
  while (start < end && blank.test(text[end - 1] ?? '')) end--;
  return text.slice(start, end);
}

/** Without the `last` characters at its end; not by a regular expression, which of many elsewhere would try each as the first. */
export function withoutLast(text: string, last: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === last) end--;
  return text.slice(0, end);
}
